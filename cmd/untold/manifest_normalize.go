package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/plainfile"
	"github.com/untoldkit/untold/manifest"
)

func newManifestNormalize(a *app) *cobra.Command {
	var out string
	var inPlace, check bool
	cmd := &cobra.Command{
		Use:   "normalize MANIFEST",
		Short: "Rewrite what the reference engine would change on load",
		Long: `normalize moves radii and switch distances to where the reference engine takes them as they
are and full geometry is wanted in the whole streaming radius: unload radii are widened, levels
without room are dropped, LODs coarsest first (their files stay). It sorts lod_levels, fills in
and corrects centres from the bounds, and writes paths with forward slashes. All else stays byte
for byte, unknown keys included. The changes go to stderr.

The result goes to stdout, or to -o FILE, or over the manifest with --in-place. With --check
nothing is written: the changes go to stdout and the exit code is 1 when there are any, or a
path that leads out of the folder.`,
		Example: `  untold manifest normalize old.json > new.json
  untold manifest normalize out/city/city.json --in-place
  untold manifest normalize out/city --check`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if inPlace && out != "" || check && (inPlace || out != "") {
				return errors.New("--check, --in-place and -o exclude each other")
			}
			path, err := manifestPath("manifest normalize", "", args[0])
			if err != nil {
				return err
			}
			data, err := readText(path)
			if err != nil {
				return err
			}
			n, err := manifest.Normalize(data)
			if err != nil {
				return judgedManifest(fmt.Errorf("%s: %w", path, err))
			}
			if check {
				return printChanges(a, a.stdout, n, true)
			}
			if inPlace {
				out = path
			}
			if out == "" {
				if _, err := a.stdout.Write(n.Text); err != nil {
					return err
				}
				return printChanges(a, a.stderr, n, false)
			}
			if !inPlace || len(n.Changes) > 0 { // a file that is right keeps its date
				if err := cook.Finish(filepath.Dir(out)); err != nil {
					return err
				}
				err := atomicfile.Write(out, func(w io.Writer) error {
					_, err := w.Write(n.Text)
					return err
				})
				if err != nil {
					return err
				}
			}
			return printChanges(a, a.stderr, n, false)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "", "the file to write")
	f.BoolVar(&inPlace, "in-place", false, "write over the manifest")
	f.BoolVar(&check, "check", false, "write nothing; exit code 1 when something would change")
	return cmd
}

// readText reads a manifest's text.
func readText(path string) ([]byte, error) {
	f, _, err := plainfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// One byte more, so that a text that is too long is refused.
	return io.ReadAll(io.LimitReader(f, manifest.MaxBytes+1))
}

// printChanges lists what changed. With check it is a verdict.
func printChanges(a *app, w io.Writer, n *manifest.Normalized, check bool) error {
	for _, r := range n.Refused {
		fmt.Fprintln(a.stderr, a.paint(yellow, "warning:"), oneLine(fmt.Sprintf("%s: %s; it stays as it is", r.Pointer, r.Message)))
	}
	if check || !a.quiet {
		for _, c := range n.Changes {
			fmt.Fprintf(w, "%s: %s\n", oneLine(c.Pointer), oneLine(c.Message))
		}
		fmt.Fprintf(w, "%d changes\n", len(n.Changes))
	}
	if check && len(n.Changes)+len(n.Refused) > 0 {
		return errFindings
	}
	return nil
}
