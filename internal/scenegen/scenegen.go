// Package scenegen makes scenes to test and to measure with: a procedural city, a forest,
// a coast, an office building or a field of box buildings as glTF, deterministic by seed and of any
// size. docs/test-scenes.md lists what the scenes hold.
package scenegen

import (
	"context"
	"fmt"
	"math"

	"github.com/untoldkit/untold/internal/glbwrite"
)

// Options say what a scene is. Zero values are no defaults but of Blocks, Size, Triangles,
// Nodes, Unique and Textures; Default returns those of the programs.
type Options struct {
	Kind      string  // one of Kinds
	Seed      uint64  // the same seed gives the same bytes
	Blocks    int     // city, forest and coast: blocks of Pitch metres a side; else buildings a side; 0: by kind
	Size      float64 // side of the city, forest or coast in metres, instead of Blocks; 0: by Blocks
	Floors    int     // of office buildings
	Triangles int     // grow until at least this many triangles are drawn
	Nodes     int     // grow until there are at least this many nodes
	Detail    int     // fineness of round things and trees, 0 to 3
	Unique    bool    // every node has geometry of its own
	// Textures are painted and compressed as PNG and JPEG: their bytes are those of the
	// encoders of the Go version. All else is the same with every version.
	Textures    bool
	TextureSize int // side of a texture in pixels, 16 to 4096
}

// Kinds are what can be built.
var Kinds = []string{"city", "forest", "coast", "office", "boxes"}

const (
	// MaxSide is the most blocks or buildings a side.
	MaxSide = 400
	// Pitch is the side of a block with half of the streets around it, in metres.
	Pitch = pitch
)

// generator is what the files say that made them; it is part of their bytes.
const generator = "untold scripts/gen"

// Stats count what a scene holds. A mesh that several nodes draw counts once in
// MeshTriangles. Bytes is the size of the files without images beside a .gltf, 0 of a
// scene that was not written.
type Stats struct {
	Nodes, Meshes, Materials      int
	DrawnTriangles, MeshTriangles int
	Bytes                         int64
}

// Default is a textured city of seed 1 and a side that Side chooses.
func Default() Options {
	return Options{Kind: "city", Seed: 1, Floors: 4, Detail: 1, Textures: true, TextureSize: 256}
}

// build adds the wanted kind with n blocks or buildings a side.
func (o *Options) build(s *scene, n int) {
	switch o.Kind {
	case "office":
		buildOffice(s, o.Seed, n, o.Floors)
	case "boxes":
		buildBoxes(s, o.Seed, n)
	case "forest":
		buildForest(s, o.Seed, n)
	case "coast":
		buildCoast(s, o.Seed, n)
	default:
		buildCity(s, o.Seed, n)
	}
}

// Count lays the scene out with n blocks or buildings a side, without writing it.
func (o *Options) Count(n int) Stats {
	s := newScene(context.Background(), nil, nil, o.Unique, o.Detail)
	o.build(s, n)
	return s.stats
}

// Side returns the blocks or buildings a side that reach the wanted size and numbers. It
// is an error when MaxSide of them do not.
func (o *Options) Side() (int, error) {
	n := o.Blocks
	if o.Size > 0 {
		n = max(n, int(math.Ceil(o.Size/pitch)))
	}
	if n == 0 {
		n = map[string]int{"city": 4, "forest": 6, "coast": 3, "office": 1, "boxes": 24}[o.Kind]
		if o.Triangles > 0 || o.Nodes > 0 {
			n = 1
		}
	}
	for o.Triangles > 0 || o.Nodes > 0 {
		c := o.Count(n)
		lack := max(float64(o.Triangles)/float64(c.DrawnTriangles), float64(o.Nodes)/float64(c.Nodes))
		if lack <= 1 {
			break
		}
		// Grow by area; the count is nearly proportional to it.
		next := max(n+1, int(math.Floor(float64(n)*math.Sqrt(lack))))
		if n = min(next, MaxSide+1); n > MaxSide {
			return 0, fmt.Errorf("%d blocks per side do not reach the wanted size; ask for less or a higher detail", MaxSide)
		}
	}
	return n, nil
}

// Write writes the scene with n blocks or buildings a side (Side) to path, which ends in
// .glb or .gltf. Nothing is left of it when that fails or ctx ends first.
func (o *Options) Write(ctx context.Context, path string, n int) (Stats, error) {
	w, err := glbwrite.Create(path, generator)
	if err != nil {
		return Stats{}, err
	}
	s := newScene(ctx, w, newPalette(w, o.Textures, o.TextureSize), o.Unique, o.Detail)
	o.build(s, n)
	if err := ctx.Err(); err != nil {
		w.Abort()
		return Stats{}, err
	}
	st, err := s.close(fmt.Sprintf("%s_%d", o.Kind, o.Seed))
	if err != nil {
		w.Abort()
	}
	return st, err
}
