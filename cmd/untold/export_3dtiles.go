package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/cook/tiles3d"
	"github.com/untoldkit/untold/internal/human"
)

// tileset writes 3D Tiles.
func (e *exportFlags) tileset(cmd *cobra.Command, a *app, path string) error {
	o := tiles3d.Options{Jobs: e.jobs, KTX2: e.textures == texturesKTX2, Generator: "untold " + version, Progress: a.progress()}
	o.Reuse, o.Verify = !e.full, e.verify
	o.Plain = cmd.Flags().Changed("compress") && !e.compress
	if e.jobs < 0 {
		return fmt.Errorf("--jobs is %d; it must be at least 1, or 0 for the number of processors", e.jobs)
	}
	if e.ecef != "" {
		p, err := parsePlace(e.ecef)
		if err != nil {
			return err
		}
		o.Place = p
	}
	res, err := tiles3d.Export(cmd.Context(), path, e.out, o)
	if err != nil {
		return judgedExport(err)
	}
	a.notes(res.Notes)
	if e.asJSON {
		return writeJSON(a.stdout, res)
	}
	return printTileset(a, res)
}

func printTileset(a *app, res *tiles3d.Result) error {
	if res.Unchanged {
		_, err := fmt.Fprintf(a.stdout, "%s: nothing has changed\n", res.Path)
		return err
	}
	kept := ""
	if res.Kept > 0 {
		kept = fmt.Sprintf("; %s of %s stayed as they were", human.Count(res.Kept), human.Plural(res.Tilesets+res.Contents+res.Textures, "file"))
	}
	_, err := fmt.Fprintf(a.stdout, "%s: %s; %s in %s; %s (%s), %s, %s (%s)%s\n",
		res.Path, human.Bytes(res.Bytes), human.Plural(res.Tiles, "tile"), human.Plural(res.Tilesets, "tileset"),
		human.Plural(res.Contents, "GLB file"), human.Bytes(res.ContentBytes), human.Plural(res.Triangles, "triangle"),
		human.Plural(res.Textures, "texture"), human.Bytes(res.TextureBytes), kept)
	return err
}

// parsePlace reads LON,LAT,HEIGHT[,HEADING].
func parsePlace(s string) (*tiles3d.Place, error) {
	parts := strings.Split(s, ",")
	if len(parts) < 3 || len(parts) > 4 {
		return nil, fmt.Errorf("--ecef is %q; use LON,LAT,HEIGHT or LON,LAT,HEIGHT,HEADING, such as 13.3777,52.5163,34", s)
	}
	var p tiles3d.Place
	for i, to := range []*float64{&p.Longitude, &p.Latitude, &p.Height, &p.Heading}[:len(parts)] {
		v, err := strconv.ParseFloat(strings.TrimSpace(parts[i]), 64)
		if err != nil {
			return nil, fmt.Errorf("--ecef is %q: %q is no number", s, parts[i])
		}
		*to = v
	}
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("--ecef is %q: %w", s, err)
	}
	return &p, nil
}

// alsoFolder is where cook --also 3dtiles writes, in the scene's folder.
const alsoFolder = "3dtiles"

// checkAlso refuses forms that there are not, and those of scenes that are not written.
func (c *cookFlags) checkAlso() error {
	for _, name := range c.also {
		if name != format3D {
			return fmt.Errorf("--also is %q; use 3dtiles", name)
		}
	}
	switch {
	case len(c.also) == 0:
		return nil
	case c.opts.DryRun:
		return errors.New("--also writes a form of the cooked scene, and --dry-run cooks none: leave one of them out")
	case c.out == "":
		return nil // which is told elsewhere
	case slices.Contains(strings.Split(path.Clean(filepath.ToSlash(c.opts.PayloadDir)), "/"), alsoFolder):
		return fmt.Errorf("--payload-dir %s: --also 3dtiles writes to a folder of that name", c.opts.PayloadDir)
	}
	if err := tiles3d.Check(filepath.Join(c.out, "scene.json"), filepath.Join(c.out, alsoFolder)); err != nil {
		return fmt.Errorf("--also 3dtiles: %w", err)
	}
	return nil
}

// alsoTileset writes the tileset that --also asks for; it is nil where none is wanted.
func (c *cookFlags) alsoTileset(ctx context.Context, a *app, r *cook.Result) (*tiles3d.Result, error) {
	if len(c.also) == 0 {
		return nil, nil
	}
	res, err := tiles3d.Export(ctx, r.ManifestPath, filepath.Join(c.out, alsoFolder), tiles3d.Options{
		Jobs: c.opts.Jobs, KTX2: c.opts.Textures == cook.TexturesKTX2, Generator: "untold " + version, Progress: a.progress(),
		Reuse: !c.opts.Full, Verify: c.opts.Verify,
	})
	if err != nil {
		return nil, fmt.Errorf("the scene is cooked, but --also 3dtiles: %w", err)
	}
	a.notes(res.Notes)
	return res, nil
}
