package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/untoldkit/untold/internal/scenegen"
)

// options are the flags.
type options struct {
	out string
	scenegen.Options
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{Options: scenegen.Default()}
	f := flag.NewFlagSet("gen", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.out, "o", "", "output `file`, .glb or .gltf (required)")
	f.StringVar(&o.Kind, "kind", o.Kind, "what to build: city, forest, coast, office or boxes")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "the same seed gives the same bytes")
	f.IntVar(&o.Blocks, "blocks", 0, "city, forest and coast: blocks of 80 m per side (default 4, 6 and 3); office and boxes: buildings per side (default 1 and 24)")
	f.Float64Var(&o.Size, "size", 0, "side of the city, forest or coast in `metres`, instead of -blocks")
	f.IntVar(&o.Floors, "floors", o.Floors, "office: floors per building")
	f.IntVar(&o.Triangles, "triangles", 0, "grow until at least this many triangles are drawn")
	f.IntVar(&o.Nodes, "nodes", 0, "grow until there are at least this many nodes")
	f.IntVar(&o.Detail, "detail", o.Detail, "fineness of round things and trees, 0 to 3")
	f.BoolVar(&o.Unique, "unique", false, "give every node geometry of its own, so that the file is large")
	f.BoolVar(&o.Unique, "no-instancing", false, "the same as -unique")
	f.BoolVar(&o.Textures, "textures", o.Textures, "write textures")
	f.IntVar(&o.TextureSize, "texture-size", o.TextureSize, "side of a texture in `pixels`, 16 to 4096")
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
	case !slices.Contains(scenegen.Kinds, o.Kind):
		return fmt.Errorf("gen: unknown kind %q; use city, forest, coast, office or boxes", o.Kind)
	case o.Blocks < 0 || o.Blocks > scenegen.MaxSide:
		return fmt.Errorf("gen: -blocks %d is not in 1..%d", o.Blocks, scenegen.MaxSide)
	case !(o.Size >= 0 && o.Size <= scenegen.MaxSide*scenegen.Pitch):
		return fmt.Errorf("gen: -size %g is not in 1..%g", o.Size, scenegen.MaxSide*scenegen.Pitch)
	case o.Floors < 1 || o.Floors > 60:
		return fmt.Errorf("gen: -floors %d is not in 1..60", o.Floors)
	case o.Detail < 0 || o.Detail > 3:
		return fmt.Errorf("gen: -detail %d is not in 0..3", o.Detail)
	case o.TextureSize < 16 || o.TextureSize > 4096:
		return fmt.Errorf("gen: -texture-size %d is not in 16..4096", o.TextureSize)
	case o.Triangles < 0 || o.Nodes < 0:
		return errors.New("gen: -triangles and -nodes must not be negative")
	}
	return nil
}

// run makes the scene that the arguments ask for. The summary goes to stderr.
func run(args []string, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	n, err := o.Side()
	if err != nil {
		return fmt.Errorf("gen: %w", err)
	}
	st, err := o.Write(context.Background(), o.out, n)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "gen: %s: %s of %d x %d, seed %d: %d nodes, %d meshes, %d materials, %d drawn triangles, %d mesh triangles, %d bytes\n",
		o.out, o.Kind, n, n, o.Seed, st.Nodes, st.Meshes, st.Materials, st.DrawnTriangles, st.MeshTriangles, st.Bytes)
	return nil
}
