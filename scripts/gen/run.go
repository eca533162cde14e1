package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/untoldkit/untold/scripts/internal/glbwrite"
)

// options are the flags.
type options struct {
	out         string
	kind        string
	seed        uint64
	blocks      int
	size        float64
	floors      int
	triangles   int
	nodes       int
	detail      int
	unique      bool
	textures    bool
	textureSize int
}

// maxSide bounds the blocks or buildings per side.
const maxSide = 400

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("gen", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.out, "o", "", "output `file`, .glb or .gltf (required)")
	f.StringVar(&o.kind, "kind", "city", "what to build: city, forest, office or boxes")
	f.Uint64Var(&o.seed, "seed", 1, "the same seed gives the same bytes")
	f.IntVar(&o.blocks, "blocks", 0, "city and forest: blocks of 80 m per side (default 4 and 6); office and boxes: buildings per side (default 1 and 24)")
	f.Float64Var(&o.size, "size", 0, "side of the city or forest in `metres`, instead of -blocks")
	f.IntVar(&o.floors, "floors", 4, "office: floors per building")
	f.IntVar(&o.triangles, "triangles", 0, "grow until at least this many triangles are drawn")
	f.IntVar(&o.nodes, "nodes", 0, "grow until there are at least this many nodes")
	f.IntVar(&o.detail, "detail", 1, "fineness of round things and trees, 0 to 3")
	f.BoolVar(&o.unique, "unique", false, "give every node geometry of its own, so that the file is large")
	f.BoolVar(&o.unique, "no-instancing", false, "the same as -unique")
	f.BoolVar(&o.textures, "textures", true, "write textures")
	f.IntVar(&o.textureSize, "texture-size", 256, "side of a texture in `pixels`, 16 to 4096")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("gen: unexpected argument %q; every option is a flag, the output is -o", f.Arg(0))
	}
	return o, o.check()
}

func (o *options) check() error {
	switch {
	case o.out == "":
		return errors.New("gen: no output; give -o FILE.glb or -o FILE.gltf")
	case !slices.Contains([]string{"city", "forest", "office", "boxes"}, o.kind):
		return fmt.Errorf("gen: unknown kind %q; use city, forest, office or boxes", o.kind)
	case o.blocks < 0 || o.blocks > maxSide:
		return fmt.Errorf("gen: -blocks %d is not in 1..%d", o.blocks, maxSide)
	case !(o.size >= 0 && o.size <= maxSide*pitch):
		return fmt.Errorf("gen: -size %g is not in 1..%g", o.size, maxSide*pitch)
	case o.floors < 1 || o.floors > 60:
		return fmt.Errorf("gen: -floors %d is not in 1..60", o.floors)
	case o.detail < 0 || o.detail > 3:
		return fmt.Errorf("gen: -detail %d is not in 0..3", o.detail)
	case o.textureSize < 16 || o.textureSize > 4096:
		return fmt.Errorf("gen: -texture-size %d is not in 16..4096", o.textureSize)
	case o.triangles < 0 || o.nodes < 0:
		return errors.New("gen: -triangles and -nodes must not be negative")
	}
	return nil
}

// build adds the wanted kind with n blocks or buildings per side.
func (o *options) build(s *scene, n int) {
	switch o.kind {
	case "office":
		buildOffice(s, o.seed, n, o.floors)
	case "boxes":
		buildBoxes(s, o.seed, n)
	case "forest":
		buildForest(s, o.seed, n)
	default:
		buildCity(s, o.seed, n)
	}
}

// count lays the scene out without writing it.
func (o *options) count(n int) stats {
	s := newScene(nil, nil, o.unique, o.detail)
	o.build(s, n)
	return s.stats
}

// side returns the blocks per side that reach the wanted numbers.
func (o *options) side() (int, error) {
	n := o.blocks
	if o.size > 0 {
		n = max(n, int(math.Ceil(o.size/pitch)))
	}
	if n == 0 {
		n = map[string]int{"city": 4, "forest": 6, "office": 1, "boxes": 24}[o.kind]
		if o.triangles > 0 || o.nodes > 0 {
			n = 1
		}
	}
	for o.triangles > 0 || o.nodes > 0 {
		c := o.count(n)
		lack := max(float64(o.triangles)/float64(c.DrawnTriangles), float64(o.nodes)/float64(c.Nodes))
		if lack <= 1 {
			break
		}
		// Grow by area; the count is nearly proportional to it.
		next := max(n+1, int(math.Floor(float64(n)*math.Sqrt(lack))))
		if n = min(next, maxSide+1); n > maxSide {
			return 0, fmt.Errorf("gen: %d blocks per side do not reach the wanted size; ask for less or a higher -detail", maxSide)
		}
	}
	return n, nil
}

// run makes the scene that the arguments ask for. The summary goes to stderr.
func run(args []string, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	n, err := o.side()
	if err != nil {
		return err
	}
	w, err := glbwrite.Create(o.out, "untold scripts/gen")
	if err != nil {
		return err
	}
	s := newScene(w, newPalette(w, o.textures, o.textureSize), o.unique, o.detail)
	o.build(s, n)
	st, err := s.close(fmt.Sprintf("%s_%d", o.kind, o.seed))
	if err != nil {
		w.Abort()
		return err
	}
	fmt.Fprintf(stderr, "gen: %s: %s of %d x %d, seed %d: %d nodes, %d meshes, %d materials, %d drawn triangles, %d mesh triangles, %d bytes\n",
		o.out, o.kind, n, n, o.seed, st.Nodes, st.Meshes, st.Materials, st.DrawnTriangles, st.MeshTriangles, st.Bytes)
	return nil
}
