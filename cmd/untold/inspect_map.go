package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/cook/report"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest"
)

// mapFlags are the flags of inspect that draw a manifest from above.
type mapFlags struct {
	file  string
	color string
	tile  string
	size  int
	whole bool
}

// mapFlagNames are those that mean nothing without --map.
var mapFlagNames = []string{"map-color", "map-tile", "map-size", "map-whole"}

func (f *mapFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.file, "map", "", "draw a manifest's tiles from above into this .svg or .png file")
	fl.StringVar(&f.color, "map-color", "auto", "with --map: colour tiles by tier, bytes or triangles; auto is tier with floors, else bytes")
	fl.StringVar(&f.tile, "map-tile", "", "with --map: draw the streaming, unload, LOD and HLOD distances of this tile")
	fl.BoolVar(&f.whole, "map-whole", false, "with --map: show all of tiles that are far larger than the others")
	fl.IntVar(&f.size, "map-size", report.DefaultMapSize, "with --map: longest side of the picture in pixels")
}

// check refuses combinations that mean nothing.
func (f *mapFlags) check(cmd *cobra.Command) error {
	if f.file == "" {
		for _, name := range mapFlagNames {
			if cmd.Flags().Changed(name) {
				return fmt.Errorf("--%s goes with --map FILE.svg or FILE.png", name)
			}
		}
		return nil
	}
	if f.picture() == "" {
		return fmt.Errorf("--map %s: the name must end in .svg or .png", f.file)
	}
	return nil
}

// picture returns svg or png, by the file's name.
func (f *mapFlags) picture() string {
	switch ext := strings.ToLower(filepath.Ext(f.file)); ext {
	case ".svg", ".png":
		return ext[1:]
	}
	return ""
}

// drawMap writes the map of a manifest.
func drawMap(a *app, m *manifest.Manifest, f *mapFlags) error {
	color, err := report.ParseColorBy(f.color)
	if err != nil {
		return fmt.Errorf("--map-color: %w", err)
	}
	p, err := report.NewMap(m, report.MapOptions{Color: color, Tile: f.tile, Size: f.size, Whole: f.whole})
	switch {
	case errors.Is(err, report.ErrNoTile):
		return fmt.Errorf("--map-tile: %w", err)
	case err != nil:
		return fmt.Errorf("--map-size: %w", err)
	}
	write := p.WriteSVG
	if f.picture() == "png" {
		write = p.WritePNG
	}
	if err := atomicfile.Write(f.file, func(w io.Writer) error { return write(w) }); err != nil {
		return err
	}
	a.info("drew %s into %s", human.Plural(len(m.Tiles), "tile"), oneLine(f.file))
	return nil
}
