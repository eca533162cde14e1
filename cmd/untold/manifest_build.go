package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/cook/manifestbuild"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest"
)

// buildFlags are the flags of manifest build.
type buildFlags struct {
	out, from     string
	force, asJSON bool
	opts          manifestbuild.Options
}

func newManifestBuild(a *app) *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use:   "build DIR|FILE...",
		Short: "Make a manifest out of the tiles on disk",
		Long: `build reads .untold containers, or all of them below a folder, and writes the manifest that
names them: ids, grid coordinates, floors and tiers out of the file names, bounds, triangles,
sizes and hashes out of the files, radii and switch distances by the formulas of cook.

--from takes what no file can tell (lights, cameras, names of objects, tile size, radii, switch
distances) from an older manifest or that of a dry run. Without it build says what is lost.

The manifest goes to the parent of the tiles' folder, with --from over the older one, or where -o
says; the tiles must lie in or below its folder. Another manifest is replaced with --force only.`,
		Example: `  untold manifest build out/city
  untold manifest build out/city --from out/city/city.json
  untold manifest build out/city/tiles/*.untold -o out/city/city.json --tile-size 25`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, a, args) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "the manifest to write")
	fl.StringVar(&f.from, "from", "", "an older manifest of the scene")
	fl.BoolVar(&f.force, "force", false, "replace a manifest that is not the one of --from")
	fl.Float64Var(&f.opts.TileSide, "tile-size", 0, "edge of a grid tile in metres; 0 takes the older manifest's, else estimates it")
	fl.StringVar(&f.opts.Profile, "scene-profile", "", "indoor or outdoor, for the radii of tiers; empty takes the older manifest's, else indoor")
	fl.IntVarP(&f.opts.Jobs, "jobs", "j", 0, "files read at a time (default: all processors)")
	fl.BoolVar(&f.asJSON, "json", false, "print the result as JSON")
	return cmd
}

func (f *buildFlags) run(cmd *cobra.Command, a *app, args []string) error {
	files, err := manifestbuild.Find(args)
	if err != nil {
		return err
	}
	if f.from != "" {
		if f.opts.From, err = manifest.LoadPlanned(f.from); err != nil {
			return judgedManifest(err)
		}
	}
	out, err := f.target(files)
	if err != nil {
		return judgedManifest(err)
	}
	f.opts.Dir, f.opts.Generator = filepath.Dir(out), "untold "+version
	if report := a.progress(); report != nil {
		f.opts.Progress = func(done, total int) { report("read", done, total) }
	}
	res, err := manifestbuild.Build(cmd.Context(), files, f.opts)
	if err != nil {
		return judgedManifest(err)
	}
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	if err := cook.Finish(filepath.Dir(out)); err != nil {
		return err
	}
	if err := res.Manifest.Save(out); err != nil {
		return err
	}
	return f.print(a, out, res)
}

// target decides where the manifest goes, and refuses to replace one that
// this one does not continue.
func (f *buildFlags) target(files []string) (string, error) {
	out := f.out
	switch {
	case out != "" && !strings.EqualFold(filepath.Ext(out), ".json"):
		return "", fmt.Errorf("-o is %q; a manifest's name ends in .json", out)
	case out == "" && f.from != "":
		out = f.from
	case out == "":
		var err error
		if out, err = manifestbuild.DefaultPath(files); err != nil {
			return "", err
		}
	}
	there, err := os.Stat(out)
	if errors.Is(err, fs.ErrNotExist) || f.force {
		return out, nil
	}
	if err != nil {
		return "", err
	}
	if f.from != "" {
		if from, err := os.Stat(f.from); err == nil && os.SameFile(there, from) {
			return out, nil
		}
	}
	return "", fmt.Errorf("%s exists; keep what it says with --from %s, replace it with --force, or choose another name with -o", out, out)
}

// builtResult is what build prints as JSON.
type builtResult struct {
	Manifest  string               `json:"manifest"`
	Mode      string               `json:"partitioning_mode"`
	Tiles     int                  `json:"tiles"`
	Levels    int                  `json:"lod_and_hlod_files"`
	Shared    bool                 `json:"shared_bucket"`
	Triangles int                  `json:"triangles"`
	Bytes     int64                `json:"payload_bytes"`
	Notes     []manifestbuild.Note `json:"notes"`
	Lost      []string             `json:"lost"`
}

func (f *buildFlags) print(a *app, out string, res *manifestbuild.Result) error {
	s := summarize(out, res.Manifest)
	if f.asJSON {
		r := builtResult{
			Manifest: out, Mode: s.Mode, Tiles: s.Tiles, Levels: s.Levels, Shared: res.Manifest.SharedBucket != nil,
			Triangles: s.Triangles, Bytes: s.PayloadBytes, Notes: append([]manifestbuild.Note{}, res.Notes...), Lost: append([]string{}, res.Lost...),
		}
		return writeJSON(a.stdout, r)
	}
	for _, n := range res.Notes {
		label := a.paint(dim, "note:")
		if n.Warning {
			label = a.paint(yellow, "warning:")
		} else if a.quiet {
			continue
		}
		fmt.Fprintf(a.stderr, "%s %s\n", label, oneLine(fmt.Sprintf("%s: %s [%s]", n.Where, n.Message, n.Code)))
	}
	if len(res.Lost) > 0 && !a.quiet {
		fmt.Fprintf(a.stderr, "%s no file tells the following; --from OLD.json would keep it:\n", a.paint(yellow, "warning:"))
		for _, l := range res.Lost {
			fmt.Fprintf(a.stderr, "  %s\n", l)
		}
	}
	shared := ""
	if res.Manifest.SharedBucket != nil {
		shared = " and a shared bucket"
	}
	_, err := fmt.Fprintf(a.stdout, "built %s: %s, %s%s, %s, %s, %s\n",
		out, s.Mode, human.Plural(s.Tiles, "tile"), shared, human.Plural(s.Levels, "LOD or HLOD file"), human.Plural(s.Triangles, "triangle"), human.Bytes(s.PayloadBytes))
	return err
}
