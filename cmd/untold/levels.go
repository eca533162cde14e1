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
	pyramid     string
}

// Values of --pyramid. "true" and "false" are understood, too.
const (
	pyramidAuto = "auto"
	pyramidOn   = "on"
	pyramidOff  = "off"
)

func (x *levelFlags) register(f *pflag.FlagSet, o *cook.Options) {
	f.BoolVar(&x.lod, "lod", true, "make LODs: half and a fifth of the triangles (false: none; off with --compat engine)")
	f.BoolVar(&x.hlod, "hlod", true, "make an HLOD: 6 % of the triangles, small textures (false: none; off with --compat engine, a tenth there)")
	f.StringArrayVar(&x.lods, "lod-level", nil, "DISTANCE:RATIO of a LOD; a distance up to 1 is a fraction of the band between the radii, a larger one metres; repeatable")
	f.StringArrayVar(&x.hlods, "hlod-level", nil, "SUFFIX:DISTANCE:RATIO of an HLOD, such as _hlod:1:0.1; repeatable")
	f.Float64Var(&o.LODErrorPixels, "lod-error-pixels", 0, "a level begins where what is seen of its error is this many pixels high (default 2; with --lod-level, --hlod-level or --compat engine the greatest distance counts, and 0 is off)")
	f.Var((*sizeOrNone)(&o.WholeLimit), "whole-limit", "bytes of video memory up to which a scene is wanted whole and gets no levels, such as 64M (0: levels for every scene)")
	f.Float64Var(&o.ViewDistance, "view-distance", 0, "metres into which all switches and ends are fitted (0: as far as anything is seen; 500 suits the reference engine)")
	f.Float64Var(&o.LODMaxErrorPixels, "lod-max-error-pixels", o.LODMaxErrorPixels, "a level keeps more triangles than its ratio rather than an error of more pixels where it begins (below 0: no limit)")
	f.Float64Var(&o.LevelFovY, "lod-fov", o.LevelFovY, "vertical field of view in degrees that errors in pixels are for")
	f.IntVar(&o.LevelHeight, "lod-height", o.LevelHeight, "screen height in pixels that errors in pixels are for")
	f.IntVar(&o.LODMinTriangles, "lod-min-triangles", o.LODMinTriangles, "levels with fewer triangles are left out")
	f.StringVar(&x.pyramid, "pyramid", pyramidAuto, "merged HLODs above the tiles, up to one for the whole scene, with baked textures: on, off, or auto: for scenes of more than 400 tiles (off with --compat engine, --lod-level and --hlod-level)")
	f.Lookup("pyramid").NoOptDefVal = pyramidOn
	f.BoolVar(&o.HLODAtlas, "hlod-atlas", false, "bake an HLOD's base colours into one texture, so that it is one draw")
	f.IntVar(&o.HLODMaxTexture, "hlod-max-texture", o.HLODMaxTexture, "longest side of an HLOD's textures in pixels")
}

// needs are those of levels that are given and switched off.
func (x *levelFlags) needs() []need {
	return []need{
		{"lod-level", x.lod, "--lod=false makes no LODs; leave one of them out"},
		{"hlod-level", x.hlod, "--hlod=false makes no HLODs; leave one of them out"},
	}
}

// resolve parses the levels. --lod=false and --hlod=false switch them off.
// Levels with distances of their own lie between the exporter's radii, like all
// of --compat engine.
func (x *levelFlags) resolve(f *pflag.FlagSet, o *cook.Options) error {
	lods, hlods := cook.DefaultLevels()
	classic := o.Compat || len(x.lods)+len(x.hlods) > 0
	if classic {
		o.FitDistances = false
		lods, hlods = manifest.DefaultLODLevels(), manifest.DefaultHLODLevels()
	}
	switch x.pyramid {
	case pyramidAuto:
		o.Pyramid, o.AutoPyramid = false, !classic
	case pyramidOn, "true":
		o.Pyramid, o.AutoPyramid = true, false
	case pyramidOff, "false":
		o.Pyramid, o.AutoPyramid = false, false
	default:
		return fmt.Errorf("--pyramid is %q; it must be on, off or auto", x.pyramid)
	}
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
	wanted := func(name string, flag bool) bool { return flag && (f.Changed(name) || !o.Compat) }
	if len(o.LODs) == 0 && wanted("lod", x.lod) {
		o.LODs = lods
	}
	if len(o.HLODs) == 0 && wanted("hlod", x.hlod) {
		o.HLODs = hlods
	}
	if !x.lod {
		o.LODs = nil
	}
	if !x.hlod {
		o.HLODs = nil
	}
	if asked := f.Changed("lod") && x.lod || f.Changed("hlod") && x.hlod || o.Pyramid; asked && !f.Changed("whole-limit") {
		o.WholeLimit = 0 // who asks for levels gets them, of small scenes too
	}
	o.AutoPyramid = o.AutoPyramid && len(o.HLODs) > 0
	if o.LODErrorPixels > 0 && len(o.LODs)+len(o.HLODs) == 0 {
		return fmt.Errorf("--lod-error-pixels places levels, and there are none: add --lod or --hlod")
	}
	return nil
}
