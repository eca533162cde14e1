package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/untoldkit/untold/internal/glb"
	"github.com/untoldkit/untold/internal/glbwrite"
)

// options are the flags.
type options struct {
	kit, out, kind, front string
	cells                 int
	seed                  uint64
	pitch, scale          float64
	quiet                 bool
}

var fronts = map[string]int{"+z": sideS, "+x": sideE, "-z": sideN, "-x": sideW}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("assemble", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.kit, "kit", "", "`folder` of .gltf and .glb parts (required)")
	f.StringVar(&o.out, "o", "", "output `file`, .glb or .gltf (required)")
	f.StringVar(&o.kind, "kind", "city", "what to build: city or dungeon")
	f.IntVar(&o.cells, "cells", 16, "cells per side, 1 to 1000")
	f.Uint64Var(&o.seed, "seed", 1, "the same seed gives the same bytes")
	f.Float64Var(&o.pitch, "pitch", 0, "side of a cell in the kit's `metres`; 0 measures it")
	f.Float64Var(&o.scale, "scale", 1, "scale of the whole scene")
	f.StringVar(&o.front, "front", "+z", "side of building parts that faces the street: +z, +x, -z or -x")
	f.BoolVar(&o.quiet, "q", false, "do not list the parts")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	_, okFront := fronts[o.front]
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("assemble: unexpected argument %q; every option is a flag", f.Arg(0))
	case o.kit == "":
		return o, errors.New("assemble: no kit; give -kit FOLDER")
	case o.out == "":
		return o, errors.New("assemble: no output; give -o FILE.glb")
	case o.kind != "city" && o.kind != "dungeon":
		return o, fmt.Errorf("assemble: unknown kind %q; use city or dungeon", o.kind)
	case o.cells < 1 || o.cells > 1000:
		return o, fmt.Errorf("assemble: -cells %d is not in 1..1000", o.cells)
	case !(o.pitch >= 0 && o.pitch < 1e6), !(o.scale > 0 && o.scale < 1e6):
		return o, errors.New("assemble: -pitch must not be negative and -scale must be positive")
	case !okFront:
		return o, fmt.Errorf("assemble: unknown side %q; use +z, +x, -z or -x", o.front)
	}
	return o, nil
}

// run makes the scene that the arguments ask for. Notes and the summary go to
// stderr.
func run(args []string, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	parts, err := loadParts(o.kit)
	if err != nil {
		return err
	}
	warn := func(format string, args ...any) {
		fmt.Fprintf(stderr, "assemble: warning: "+format+"\n", args...)
	}
	k, err := newKit(parts, o.pitch, warn)
	if err != nil {
		return err
	}
	k.front = fronts[o.front]
	if !o.quiet {
		k.report(stderr)
	}
	w, err := glbwrite.Create(o.out, "untold scripts/assemble")
	if err != nil {
		return err
	}
	b := &builder{k: k, m: newMerger(w), seed: o.seed, cells: o.cells}
	build := buildCity
	if o.kind == "dungeon" {
		build = buildDungeon
	}
	roots, err := build(b, o.scale)
	if err != nil {
		w.Abort()
		return err
	}
	n, err := w.Close(fmt.Sprintf("%s_%d", o.kind, o.seed), roots)
	if err != nil {
		w.Abort()
		return err
	}
	fmt.Fprintf(stderr, "assemble: %s: %s of %d x %d cells of %g m, seed %d: %d nodes, %d meshes, %d materials, %d images, %d drawn triangles, %d bytes\n",
		o.out, o.kind, o.cells, o.cells, k.pitch*o.scale, o.seed, w.Count(glb.Nodes), w.Count(glb.Meshes),
		w.Count(glb.Materials), w.Count(glb.Images), b.m.tris, n)
	return nil
}
