package levelcheck

import (
	"context"
	"fmt"
	"math"
	"path/filepath"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
)

// Options control Check. The zero value judges for a screen 1080 pixels high and a
// field of view of 60 degrees, and draws nothing.
type Options struct {
	Height int     // of the screen, pixels
	FovY   float64 // degrees
	// Look draws the tiles and their levels as they are seen where the levels begin.
	// It takes seconds a tile; without it, what comes of pictures stays 0.
	Look bool
	// Each, if not nil, is called after each tile with its levels.
	Each func(levels []Level)
}

// Level is what is known of one level of one tile.
type Level struct {
	Tile string `json:"tile_id"`
	Path string `json:"path"` // as in the manifest
	HLOD bool   `json:"hlod"`

	Triangles     int `json:"triangles"`
	FullTriangles int `json:"full_triangles"` // of the tile

	Begins         float64  `json:"begins"`                    // metres
	GeometricError *float64 `json:"geometric_error,omitempty"` // metres, nil if the manifest has none
	VisualError    *float64 `json:"visual_error,omitempty"`    // the same
	// Pixels is how high the visual error is on the screen where the level begins;
	// the geometric error, where that is the only one; 0, where there is none.
	Pixels float64 `json:"pixels"`

	// Quads is how many of the full tile's quads, which are two triangles in one
	// plane that share no vertex with others, are left with both of them, and
	// HalfQuads of how many only one is.
	Quads     int `json:"quads"`
	HalfQuads int `json:"half_quads"`

	Look *Look `json:"look,omitempty"`
}

// Look is how a level looks beside the full tile where it begins, from eight
// sides, lit and with its base colours.
type Look struct {
	FLIP     float64 `json:"flip"`     // mean of the covered pixels, 0 to 1
	Drift    float64 `json:"drift"`    // of the mean colour, sRGB, 0 to 255
	Coverage float64 `json:"coverage"` // covered area, in parts of the full tile's
	Across   float64 `json:"across"`   // pixels along the diagonal of the tile's box
}

// Check reads all levels of the scene of a manifest: by tile, from fine to coarse.
// Levels of shared buckets are ignored, as by the runtime.
func Check(ctx context.Context, path string, o Options) ([]Level, error) {
	if o.Height == 0 {
		o.Height = 1080
	}
	if o.FovY == 0 {
		o.FovY = 60
	}
	m, err := manifest.Load(path)
	if err != nil {
		return nil, err
	}
	c := &checker{dir: filepath.Dir(path), o: o, textures: map[string]*appearance.Texture{}}
	var out []Level
	for i := range m.Tiles {
		t := &m.Tiles[i]
		if len(t.LODLevels)+len(t.HLODLevels) == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		levels, err := c.tile(t)
		if err != nil {
			return nil, fmt.Errorf("levels of %s: %w", t.ID, err)
		}
		if o.Each != nil {
			o.Each(levels)
		}
		out = append(out, levels...)
	}
	return out, nil
}

type checker struct {
	dir       string
	o         Options
	textures  map[string]*appearance.Texture // by file; nil: it cannot be drawn
	materials []appearance.Material          // of the present tile and its levels
	kindOf    []int32                        // by material
	known     map[materialKey]int32
	kinds     map[kindKey]int32
}

// tile judges the levels of a tile.
func (c *checker) tile(t *manifest.Tile) ([]Level, error) {
	c.materials, c.kindOf = nil, nil
	c.known, c.kinds = map[materialKey]int32{}, map[kindKey]int32{}
	full, err := c.read(t.Path)
	if err != nil {
		return nil, err
	}
	quads := findQuads(full)
	var out []Level
	var meshes []*appearance.Mesh
	for _, list := range [][]manifest.Level{t.LODLevels, t.HLODLevels} {
		for i := range list {
			l := &list[i]
			m, err := c.read(l.Path)
			if err != nil {
				return nil, err
			}
			meshes = append(meshes, m)
			x := Level{
				Tile: t.ID, Path: l.Path, HLOD: len(out) >= len(t.LODLevels), Triangles: len(m.Indices) / 3, FullTriangles: len(full.Indices) / 3,
				Begins: l.SwitchDistance, GeometricError: l.GeometricError, VisualError: l.VisualError,
			}
			if e := x.err(); e > 0 && x.Begins > 0 {
				x.Pixels = e / float64(x.Begins*c.o.pixelAngle())
			}
			x.Quads, x.HalfQuads = c.countQuads(full, quads, m)
			out = append(out, x)
		}
	}
	if !c.o.Look {
		return out, nil
	}
	// The reference knows the materials of all.
	r := appearance.New(full, c.materials)
	for i := range out {
		look, err := c.look(r, full, meshes[i], out[i].Begins)
		if err != nil {
			return nil, err
		}
		out[i].Look = look
	}
	return out, nil
}

// err returns the error that decides where a level may begin, metres.
func (l *Level) err() float64 {
	return band.LevelError(l.VisualError, l.GeometricError, 0)
}

// pixelAngle is the size in metres of one pixel at a distance of one metre.
func (o *Options) pixelAngle() float64 {
	return 2 * geom.Tan(o.FovY*math.Pi/360) / float64(o.Height)
}
