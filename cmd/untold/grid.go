package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/cook"
)

// gridFlags are the flags of the grid and of the preset for everything.
type gridFlags struct {
	tileSize float64
	compat   string
}

// gridFlagNames are refused with the trees.
var gridFlagNames = []string{"auto-tile-size", "sample-fraction", "perimeter-depth", "clip", "split-max-tiles"}

func (x *gridFlags) register(f *pflag.FlagSet, o *cook.Options) {
	f.StringVar(&x.compat, "compat", "", `"engine" cooks as the reference exporter does: no clipping, its bounds, floors, tiers, distances and folder; flags beside it win. Engines of the first release read container version 1 with textures as copies, later ones 1 to 4 and ASTC`)
	f.Float64Var(&x.tileSize, "tile-size", 0, "edge of a grid tile in metres, x and z (default: follows from the scene; 25 with --compat engine)")
	f.IntVar(&o.TileTriangles, "tile-triangles", o.TileTriangles, "triangles a tile that the size of tiles is chosen for")
	f.Float64Var(&o.TileSize[0], "tile-size-x", o.TileSize[0], "edge of a grid tile along x in metres")
	f.Float64Var(&o.TileSize[1], "tile-size-y", o.TileSize[1], "height of a grid tile in metres")
	f.Float64Var(&o.TileSize[2], "tile-size-z", o.TileSize[2], "edge of a grid tile along z in metres")
	f.BoolVar(&o.AutoTileSize, "auto-tile-size", false, "choose x and z for at most 2000 tiles of at most 32 objects")
	f.BoolVar(&o.Clip, "clip", true, "cut geometry exactly at tile borders; false writes whole objects into every tile they overlap")
	f.IntVar(&o.SplitMaxTiles, "split-max-tiles", o.SplitMaxTiles, "spanning objects over more tiles go to the shared bucket, unless they have 64 triangles or more for each of them")
	f.Float64Var(&o.SampleFraction, "sample-fraction", 0, "cook only this part of the grid's tiles, around the world's origin, for a quick look (0 to 1)")
	f.IntVar(&o.PerimeterDepth, "perimeter-depth", 0, "cook only this many rings of tiles at the outside of the scene (0: all)")
	f.Var(recenterFlag{&o.Recenter}, "recenter", "what is taken off all coordinates before they are stored in single precision, as origin_offset in the manifest: auto (the scene's middle, where coordinates exceed 10 km), none, or X,Y,Z in metres (none with --compat engine)")
	f.StringVar(&o.PayloadDir, "payload-dir", o.PayloadDir, "folder of the tiles inside the output folder")
}

// resolve puts the flags into the options. A size from a higher source
// (command line, environment, profile) wins over one from a lower.
func (x *gridFlags) resolve(f *pflag.FlagSet, o *cook.Options) error {
	if err := x.preset(f, o); err != nil {
		return err
	}
	if o.Partition == cook.PartitionQuadtree || o.Partition == cook.PartitionKDTree {
		for _, name := range gridFlagNames {
			if source(f, name) == fromCommandLine {
				return fmt.Errorf("--%s is for --partition grid: a tree puts every object whole into one tile", name)
			}
		}
		o.AutoTileSize, o.SampleFraction, o.PerimeterDepth = false, 0, 0
	}
	if o.SplitMaxTiles < 1 {
		return fmt.Errorf("--split-max-tiles is %d; it must be 1 or more", o.SplitMaxTiles)
	}
	both, x1, z1 := source(f, "tile-size"), source(f, "tile-size-x"), source(f, "tile-size-z")
	if side := max(both, x1, z1); source(f, "auto-tile-size") == side && o.AutoTileSize && side > fromDefault {
		return errors.New("--auto-tile-size chooses what --tile-size sets; leave one out")
	} else if source(f, "auto-tile-size") < side {
		o.AutoTileSize = false
	}
	if both == fromDefault {
		return nil
	}
	if both == x1 || both == z1 {
		return errors.New("--tile-size sets x and z; leave out --tile-size-x and --tile-size-z")
	}
	if !(x.tileSize > 0) {
		return fmt.Errorf("the tile size %v (--tile-size) is not above 0 metres", x.tileSize)
	}
	if x1 < both {
		o.TileSize[0] = x.tileSize
	}
	if z1 < both {
		o.TileSize[2] = x.tileSize
	}
	return nil
}

// preset applies --compat to what was not given.
func (x *gridFlags) preset(f *pflag.FlagSet, o *cook.Options) error {
	switch x.compat {
	case "":
		return nil
	case "engine":
	default:
		return fmt.Errorf("--compat is %q; the one preset is engine", x.compat)
	}
	e := cook.EngineOptions()
	o.Compat = e.Compat
	if !f.Changed("clip") {
		o.Clip = e.Clip
	}
	if !f.Changed("recenter") {
		o.Recenter = e.Recenter
	}
	if !f.Changed("payload-dir") {
		o.PayloadDir = e.PayloadDir
	}
	return nil
}
