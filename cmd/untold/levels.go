package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/manifest"
)

// levelFlags are the flags of LODs and HLODs, as texts.
type levelFlags struct {
	lod, hlod   bool
	lods, hlods []string
}

func (x *levelFlags) register(f *pflag.FlagSet, o *cook.Options) {
	f.BoolVar(&x.lod, "lod", false, "make the default LODs: half and a fifth of the triangles")
	f.BoolVar(&x.hlod, "hlod", false, "make the default HLOD: a tenth of the triangles, small textures")
	f.StringArrayVar(&x.lods, "lod-level", nil, "DISTANCE:RATIO of a LOD; a distance up to 1 is a fraction of the band between the radii, a larger one metres; repeatable")
	f.StringArrayVar(&x.hlods, "hlod-level", nil, "SUFFIX:DISTANCE:RATIO of an HLOD, such as _hlod:1:0.1; repeatable")
	f.Float64Var(&o.LODErrorPixels, "lod-error-pixels", 0, "switch where a level's measured error is this many pixels high, instead of at fractions (0: off)")
	f.Float64Var(&o.LODMaxErrorPixels, "lod-max-error-pixels", o.LODMaxErrorPixels, "a level keeps more triangles than its ratio rather than an error of more pixels where it begins (below 0: no limit)")
	f.Float64Var(&o.LevelFovY, "lod-fov", o.LevelFovY, "vertical field of view in degrees that errors in pixels are for")
	f.IntVar(&o.LevelHeight, "lod-height", o.LevelHeight, "screen height in pixels that errors in pixels are for")
	f.IntVar(&o.LODMinTriangles, "lod-min-triangles", o.LODMinTriangles, "levels with fewer triangles are left out")
	f.BoolVar(&o.HLODAtlas, "hlod-atlas", false, "bake an HLOD's base colours into one texture, so that it is one draw")
	f.IntVar(&o.HLODMaxTexture, "hlod-max-texture", o.HLODMaxTexture, "longest side of an HLOD's textures in pixels")
}

// resolve parses the levels. --lod=false and --hlod=false switch them off.
func (x *levelFlags) resolve(f *pflag.FlagSet, o *cook.Options) error {
	o.LODs, o.HLODs = nil, nil
	for _, text := range x.lods {
		l, err := cook.ParseLODLevel(text)
		if err != nil {
			return fmt.Errorf("--lod-level %w", err)
		}
		o.LODs = append(o.LODs, l)
	}
	for _, text := range x.hlods {
		l, err := cook.ParseHLODLevel(text)
		if err != nil {
			return fmt.Errorf("--hlod-level %w", err)
		}
		o.HLODs = append(o.HLODs, l)
	}
	if len(o.LODs) == 0 && x.lod {
		o.LODs = manifest.DefaultLODLevels()
	}
	if len(o.HLODs) == 0 && x.hlod {
		o.HLODs = manifest.DefaultHLODLevels()
	}
	if f.Changed("lod") && !x.lod {
		o.LODs = nil
	}
	if f.Changed("hlod") && !x.hlod {
		o.HLODs = nil
	}
	if o.LODErrorPixels > 0 && len(o.LODs)+len(o.HLODs) == 0 {
		return fmt.Errorf("--lod-error-pixels places levels, and there are none: add --lod or --hlod")
	}
	return nil
}
