package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/runtime/remote"
)

// cacheFlags are the flags of untold cache.
type cacheFlags struct {
	dir    string
	budget byteSize
	asJSON bool
}

func newCache(a *app) *cobra.Command {
	var f cacheFlags
	cmd := &cobra.Command{
		Use:     "cache",
		Short:   "List, check and clear the disk cache of remote scenes",
		GroupID: "look",
		Long: `cache looks after the folder in which simulate and preview keep what they download. It may be
used while other programs stream through the same folder. A folder that holds anything else than
a cache is refused, and what others have put into a cache stays.`,
		Example: `  untold cache stat
  untold cache ls --limit 20
  untold cache verify && echo sound
  untold cache clear`,
	}
	p := cmd.PersistentFlags()
	p.StringVar(&f.dir, "cache-dir", "", "folder of the cache (default: untold in the user's cache folder)")
	p.Var(&f.budget, "cache-budget", "size that the cache may have for those who stream: told by stat, nothing is evicted here (default 500M)")
	p.BoolVar(&f.asJSON, "json", false, "print JSON")
	cmd.AddCommand(newCacheList(a, &f), newCacheStat(a, &f), newCacheVerify(a, &f), newCacheClear(a, &f))
	return cmd
}

// open opens the cache. A folder that is not there or empty is an empty cache, and
// not made one for a look: c is nil then.
func (f *cacheFlags) open() (dir string, c *remote.Cache, err error) {
	if dir = f.dir; dir == "" {
		if dir, err = remote.DefaultCacheDir(); err != nil {
			return "", nil, err
		}
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) || err == nil && isEmptyFolder(dir) {
		return dir, nil, nil
	}
	c, err = remote.OpenCache(dir, f.budget.or(remote.DefaultCacheBudget))
	return dir, c, err
}

func isEmptyFolder(dir string) bool {
	list, err := os.ReadDir(dir)
	return err == nil && len(list) == 0
}

// sum opens the cache for one thing that sums it up, and closes it. A folder that
// is not there has nothing in it.
func (f *cacheFlags) sum(do func(*remote.Cache) (remote.CacheStat, error)) (remote.CacheStat, error) {
	dir, c, err := f.open()
	if c == nil {
		return remote.CacheStat{Dir: dir, Budget: f.budget.or(remote.DefaultCacheBudget)}, err
	}
	s, err := do(c)
	return s, errors.Join(err, c.Close())
}

// printJSON prints a result for machines.
func (a *app) printJSON(v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%s\n", text)
	return err
}

func newCacheList(a *app, f *cacheFlags) *cobra.Command {
	limit := 50
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the files, the most recently used first",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, c, err := f.open()
			if err != nil {
				return err
			}
			list := []remote.Entry{}
			if c != nil {
				list = append(list, c.Entries()...)
				if err := c.Close(); err != nil {
					return err
				}
			}
			if f.asJSON {
				return a.printJSON(list)
			}
			t := newTable(limit, ">size", "last used (UTC)", "address", "file")
			for _, e := range list {
				address := e.URL
				if address == "" {
					address = "(not known)"
				}
				size := human.Bytes(e.Size)
				if e.Whole > 0 {
					size += " of " + human.Bytes(e.Whole)
				}
				t.add(size, e.LastAccess.UTC().Format("2006-01-02 15:04:05"), address, shortName(e.Name))
			}
			t.print(a.stdout)
			return nil
		},
	}
	cmd.Flags().IntVar(&limit, "limit", limit, "rows printed, 0 for all")
	return cmd
}

// shortName shortens the hashes in names; --json has them in full.
func shortName(name string) string {
	if rest, ok := strings.CutPrefix(name, "textures/"); ok {
		origin, rel, _ := strings.Cut(rest, "/")
		return "textures/" + origin[:min(len(origin), 8)] + ".../" + rel
	}
	stem, ext, dotted := strings.Cut(name, ".")
	if stem = stem[:min(len(stem), 16)] + "..."; dotted {
		stem += "." + ext
	}
	return stem
}

func newCacheStat(a *app, f *cacheFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "stat",
		Short: "Sum up",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := f.sum(func(c *remote.Cache) (remote.CacheStat, error) { return c.Stat(), nil })
			if err != nil {
				return err
			}
			if f.asJSON {
				return a.printJSON(s)
			}
			fmt.Fprintf(a.stdout, "folder    %s\nbudget    %s\nfiles     %s, %s\ntextures  %s of them, %s\n", oneLine(s.Dir), human.Bytes(s.Budget),
				human.Count(s.Files), human.Bytes(s.Bytes), human.Count(s.Textures), human.Bytes(s.TextureBytes))
			if s.Partial > 0 {
				fmt.Fprintf(a.stdout, "in parts  %s of them, %s of %s\n", human.Count(s.Partial), human.Bytes(s.PartialBytes), human.Bytes(s.PartialWhole))
			}
			return nil
		},
	}
}

// cacheVerdict is what cache verify --json prints.
type cacheVerdict struct {
	Files   int             `json:"files"` // that were read
	Damaged []remote.Damage `json:"damaged"`
	Removed bool            `json:"removed"` // the damaged ones
}

func newCacheVerify(a *app, f *cacheFlags) *cobra.Command {
	keep := false
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Read every file and remove those that are damaged",
		Long: `verify compares size and SHA-256 of every file with what was stored. What is damaged is removed,
to be downloaded again when it is needed, unless --keep is given. Exit code 1: there was damage.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, c, err := f.open()
			if err != nil {
				return err
			}
			bad, files := []remote.Damage{}, 0
			if c != nil {
				files = len(c.Entries())
				found, err := c.Verify(cmd.Context(), keep)
				bad = append(bad, found...)
				if err := errors.Join(err, c.Close()); err != nil {
					return err
				}
			}
			if f.asJSON {
				err = a.printJSON(cacheVerdict{files, bad, !keep})
			} else {
				for _, d := range bad {
					fmt.Fprintf(a.stdout, "%s %s: %s\n", a.paintResult(red, "damaged:"), oneLine(d.Entry.Name), oneLine(d.Reason))
				}
				fmt.Fprintf(a.stdout, "%s files, %s damaged\n", human.Count(files), human.Count(len(bad)))
			}
			if err == nil && len(bad) > 0 {
				return errFindings
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "report damage only")
	return cmd
}

func newCacheClear(a *app, f *cacheFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "clear",
		Short: "Remove all files",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := f.sum((*remote.Cache).Clear)
			if err != nil {
				return err
			}
			if f.asJSON {
				return a.printJSON(s)
			}
			a.info("%s files, %s removed from %s", human.Count(s.Files), human.Bytes(s.Bytes), oneLine(s.Dir))
			return nil
		},
	}
}
