package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/cook/store"
	"github.com/untoldkit/untold/internal/clock"
	"github.com/untoldkit/untold/internal/human"
)

// openStore opens the store in a place.
func openStore(cmd *cobra.Command, text string) (*store.Store, error) {
	place, err := openPlace(cmd.Context(), text)
	if err != nil {
		return nil, err
	}
	return store.New(place, clock.System{}.Now), nil
}

// newStore is untold store: what is done to a store beside cooking with it.
func newStore(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "store",
		Short:   "Look at, check and clear a store of results that cooks share",
		GroupID: "make",
		Long: `A store is a folder or a bucket in which cooks with --store keep what they make, so that
others need not make it again. Results are known by a hash of all that decides their bytes.

An address is a folder, or s3://BUCKET/PREFIX. Server and credentials of buckets come from the
environment, as for untold publish.`,
		Example: "  untold store stat s3://builds/store\n  untold store gc /srv/store --max-size 50G --max-age 720h",
	}
	cmd.AddCommand(newStoreStat(a), newStoreVerify(a), newStoreGC(a))
	return cmd
}

func newStoreStat(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "stat STORE", Short: "Count what a store holds", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := openStore(cmd, args[0])
			if err != nil {
				return err
			}
			st, err := s.Stat(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(a.stdout, st)
			}
			fmt.Fprintf(a.stdout, "%s: %s, %s (%s)\n", oneLine(s.String()), human.Plural(st.Results, "result"),
				human.Plural(st.Files, "file"), human.Bytes(st.ResultBytes+st.FileBytes))
			if st.Results > 0 {
				fmt.Fprintf(a.stdout, "put or last used from %s to %s\n", st.Oldest.UTC().Format(time.RFC3339), st.Newest.UTC().Format(time.RFC3339))
			}
			if st.Other > 0 {
				fmt.Fprintf(a.stdout, "%s of no store\n", human.Plural(st.Other, "object"))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the counts as JSON")
	return cmd
}

// errStoreFaults makes untold store verify exit with 1.
var errStoreFaults = errors.New("the store has damaged or missing objects")

func newStoreVerify(a *app) *cobra.Command {
	var asJSON, remove bool
	cmd := &cobra.Command{
		Use: "verify STORE", Short: "Read a whole store and compare it with its hashes", Args: cobra.ExactArgs(1),
		Long: `verify reads every object of a store. What is damaged is never taken by a cook; --remove lets
cooks put it again. It exits with 1 if something is wrong.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := openStore(cmd, args[0])
			if err != nil {
				return err
			}
			faults, err := s.Verify(cmd.Context(), remove)
			if err != nil {
				return err
			}
			if asJSON {
				if faults == nil {
					faults = []store.Fault{}
				}
				err = writeJSON(a.stdout, faults)
			} else {
				err = printFaults(a, s, faults)
			}
			if err == nil && len(faults) > 0 {
				return &badFile{errStoreFaults}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the faults as JSON")
	cmd.Flags().BoolVar(&remove, "remove", false, "remove what is damaged, and results of which a file is missing")
	return cmd
}

func printFaults(a *app, s *store.Store, faults []store.Fault) error {
	for _, f := range faults {
		text := map[string]string{"damaged-result": "result is damaged", "damaged-file": "file is damaged", "missing-file": "file is missing"}[f.Kind]
		if f.Result != "" {
			text += ", of result " + f.Result
		}
		fmt.Fprintf(a.stdout, "%s: %s\n", f.Object, text)
	}
	_, err := fmt.Fprintf(a.stdout, "%s: %s\n", oneLine(s.String()), human.Plural(len(faults), "fault"))
	return err
}

func newStoreGC(a *app) *cobra.Command {
	var asJSON bool
	var size byteSize
	o := store.Limits{Grace: time.Hour}
	cmd := &cobra.Command{
		Use: "gc STORE", Short: "Remove results that have not been used for longest", Args: cobra.ExactArgs(1),
		Long: `gc removes the results that have not been put or used for longest, until the store is no
larger than --max-size and no result older than --max-age, and the files that no result names
any more. Cooks may use the store meanwhile: files that were put within the last hour stay, also
where they are more than --max-size, since a cook may be about to name them. A use is seen a day
after the last at the latest.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := openStore(cmd, args[0])
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("max-size") && !cmd.Flags().Changed("max-age") {
				return errors.New("say what may stay: --max-size 50G, --max-age 720h, or both")
			}
			o.MaxBytes, o.Now = int64(size), clock.System{}.Now()
			r, err := s.GC(cmd.Context(), o)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(a.stdout, r)
			}
			removed := "removed"
			if o.DryRun {
				removed = "would be removed"
			}
			_, err = fmt.Fprintf(a.stdout, "%s: %s and %s (%s) %s, %s left\n", oneLine(s.String()), human.Plural(r.Results, "result"),
				human.Plural(r.Files, "file"), human.Bytes(r.Bytes), removed, human.Bytes(r.Left))
			if err == nil && r.Young > 0 {
				_, err = fmt.Fprintf(a.stdout, "of that %s in %s that no result names: put within the last hour, maybe by a cook that goes on\n",
					human.Bytes(r.YoungBytes), human.Plural(r.Young, "file"))
			}
			return err
		},
	}
	f := cmd.Flags()
	f.Var(&size, "max-size", "bytes that results and files may take, such as 50G")
	f.Var(timeVar(&o.MaxAge), "max-age", "how long results stay that are not used, such as 720h")
	f.BoolVar(&o.DryRun, "dry-run", false, "remove nothing, say what would be removed")
	f.BoolVar(&asJSON, "json", false, "print what was removed as JSON")
	return cmd
}
