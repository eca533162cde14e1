package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/cook/diff"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/partition"
	"github.com/untoldkit/untold/runtime/remote"
)

func newDiff(a *app) *cobra.Command {
	var asJSON bool
	var limit int
	var only []string
	var o diff.Options
	cmd := &cobra.Command{
		Use:     "diff A B",
		Short:   "Say what changed between two cooked scenes or two containers",
		GroupID: "look",
		Long: `diff compares two cooked scenes (manifests, or folders with one manifest each) or two .untold
files, and says what changed: tiles, levels, nodes of the pyramid, materials, textures and settings,
and in each tile which meshes, and how many triangles were added, removed, moved, or have other
attributes in the same place. A triangle with the same corners is the same, wherever it is stored.

Tiles are matched by their ids. If the scenes are cut into other tiles, diff says so and compares
totals, materials, textures and settings.

Exit code 0: no differences. 1: there are some, or a file that was read is damaged. 2: wrong usage,
or a file is missing or cannot be read. With --quiet the exit code is all.`,
		Example: `  untold diff old/city new/city
  untold diff old/city/city.json new/city/city.json --only materials,textures
  untold diff old/city new/city --manifest-only
  untold diff old/city new/city --tolerance 0.001 --quiet
  untold diff a/tile_0_0_0.untold b/tile_0_0_0.untold --json`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.checkAsked(cmd.Flags(), []need{
				{"limit", !asJSON, "JSON lists all"},
				{"limit", !a.quiet, "--quiet prints nothing"},
				{"json", !a.quiet, "--quiet prints nothing"},
			}); err != nil {
				return err
			}
			if !(o.Tolerance >= 0) || math.IsInf(o.Tolerance, 1) {
				return fmt.Errorf("--tolerance is %v; use metres from 0 on", o.Tolerance)
			}
			var err error
			if o.Only, err = parseParts(only); err != nil {
				return err
			}
			var paths [2]string
			for i, arg := range args {
				if remote.IsURL(arg) {
					return errors.New("diff reads files on the disk: download the scenes, then compare the copies")
				}
				if isGLTF(arg) {
					return fmt.Errorf("%s is a glTF scene, and diff compares what is cooked: untold cook %[2]s -o %s", arg, shellWord(arg), shellWord(cookedName(arg)))
				}
				if paths[i], err = manifestPath("diff", "", arg); err != nil {
					return err
				}
			}
			scene := !strings.EqualFold(filepath.Ext(paths[0]), partition.PayloadExt)
			if err := a.checkAsked(cmd.Flags(), []need{{"manifest-only", scene, "a container has no manifest"}}); err != nil {
				return err
			}
			if o.Jobs <= 0 {
				o.Jobs = runtime.GOMAXPROCS(0)
			}
			if report := a.progress(); report != nil && isTerminal(a.stderr) {
				o.Progress = func(done, total int) { report("compare", done, total) }
			}
			r, err := diff.Compare(cmd.Context(), paths[0], paths[1], o)
			if err != nil {
				return judgedDiff(err)
			}
			switch {
			case a.quiet:
			case asJSON:
				err = writeJSON(a.stdout, r)
			default:
				err = r.WriteText(a.stdout, limit)
			}
			switch {
			case err != nil:
				return err
			case r.Err() != nil:
				return judgedDiff(r.Err())
			case r.Differ:
				return errFindings
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print JSON; docs/diff.md lists the fields")
	f.IntVar(&limit, "limit", 40, "tiles, materials and so on listed in text output, 0 for all")
	f.Float64Var(&o.Tolerance, "tolerance", 0, "metres by which positions may differ; 0: bit for bit")
	f.StringSliceVar(&only, "only", nil, "compare only these, separated by commas: "+strings.Join(diff.Parts(), ", "))
	f.BoolVar(&o.ManifestOnly, "manifest-only", false, "read no payload: go by the hashes and sizes in the manifests")
	f.IntVarP(&o.Jobs, "jobs", "j", 0, "files compared at a time (default: all processors); the output does not depend on it")
	return cmd
}

// parseParts checks the names of --only.
func parseParts(names []string) ([]string, error) {
	known := strings.Join(diff.Parts(), ", ")
	for _, n := range names {
		if !strings.Contains(", "+known+",", ", "+n+",") || n == "" {
			return nil, fmt.Errorf("--only is %q; use %s", n, known)
		}
	}
	return names, nil
}

// judgedDiff marks errors that lie in the content of a file, so that the exit code
// is 1.
func judgedDiff(err error) error {
	var e *manifest.DecodeError
	if errors.As(err, &e) || errors.Is(err, payloadpath.ErrEscapes) || errors.Is(err, diff.ErrOverlap) {
		return &badFile{err}
	}
	return asInputError(err)
}
