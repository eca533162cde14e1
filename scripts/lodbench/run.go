package main

import (
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/scripts/lodbench/model"
)

const usage = `Usage: go run ./scripts/lodbench [flags]

Simplifies models to several ratios, measures how far each result lies from its
original, and compares the figures with other simplifiers. Run it from the top
of the repository.

  go run ./scripts/lodbench -quick -models FlightHelmet,Mountains
        a fast look: 20,000 samples, small generated models
  go run ./scripts/lodbench -models city24 -ratios 0.1 -prune 0.002
        one cell with another option
  go run ./scripts/lodbench -quick -models chair.glb,../scenes/house.gltf
        any other model; it has no references
  go run ./scripts/lodbench -models kit -pictures out/pictures
        what is seen: the model, its level, and what scripts/lodpeers made in
        out/lodpeers
  go run ./scripts/lodbench -update
        measure everything and rewrite the tables of docs/lod.md and the
        figures that the tests compare with

Distances are percent of the diagonal of the model's box, normals mean degrees.
What is seen is mean FLIP, 0 to 1, of pictures in which the diagonal has so many
pixels across as where the level begins.
Before a reference, "<=" says that the figure is no worse, ">" that it is, and
"/" that the other one did not reach the target.

Models: %s

`

// options are the parsed flags.
type options struct {
	models  []string
	ratios  []float64
	samples int
	repeat  int
	small   bool
	assets  string

	seenTo           float64 // the greatest ratio at which what is seen is looked at
	pictures, others string  // folders to write pictures to, and with results of others to show beside
	keepSpeed        bool    // -update leaves what it cannot measure well

	simplify simplify.Options // PruneBelow is in parts of the diagonal
	maxError float64          // in parts of the diagonal, 0 for no limit
}

// files are the flags that read or write files.
type files struct {
	doc, results, reference string
	export, peers           string
	update                  bool
}

func run(args []string, out, log io.Writer) error {
	o, f, err := parse(args, log)
	if err != nil {
		return err
	}
	switch {
	case f.export != "":
		return export(o, f.export, log)
	case f.peers != "":
		return updateReference(o, f.peers, f.reference, log)
	case f.update:
		return update(o, f, out)
	}
	refs, err := references(o.small)
	if err != nil {
		return err
	}
	head(out)
	_, err = measureAll(o, func(c cell) { row(out, c, refs) })
	return err
}

func parse(args []string, log io.Writer) (*options, *files, error) {
	fs := flag.NewFlagSet("lodbench", flag.ContinueOnError)
	fs.SetOutput(log)
	fs.Usage = func() {
		fmt.Fprintf(log, usage, strings.Join(model.Names, " "))
		fs.PrintDefaults()
	}
	o, f := &options{}, &files{}
	models := fs.String("models", strings.Join(model.Names, ","), "models to measure, by name or as paths of glTF files")
	ratios := fs.String("ratios", "0.5,0.2,0.1", "parts of the triangles to keep")
	quick := fs.Bool("quick", false, "the same as -small -samples 20000")
	fs.IntVar(&o.samples, "samples", 200_000, "samples on each surface")
	fs.IntVar(&o.repeat, "repeat", 1, "simplify so many times and take the best time")
	fs.BoolVar(&o.small, "small", false, "use small variants of the generated models; their references do not apply")
	fs.StringVar(&o.assets, "assets", filepath.Join("..", "shared", "assets", "models"), "`folder` of the models that are not generated")

	blind := fs.Bool("no-seen", false, "leave out what is seen, which takes most of the time of small models")
	fs.StringVar(&o.pictures, "pictures", "", "write pictures to this `folder`: the model, the level, and beside it what -others holds")
	fs.StringVar(&o.others, "others", filepath.Join("out", "lodpeers"), "`folder` with what scripts/lodpeers made, for -pictures")

	seams := fs.String("seams", "relax", "what may happen to seams: relax, keep or weld")
	weights := fs.String("weights", "0,0,0", "`normal,uv,colour` weights, 0 for the default")
	fs.Float64Var(&o.simplify.Creases, "creases", 0, "places with a second normal, as a `part` of all; 0 for the default, -1 for none")
	fs.Float64Var(&o.simplify.PruneBelow, "prune", 0, "remove components below this `part` of the diagonal")
	fs.BoolVar(&o.simplify.LockBorder, "lock-border", false, "lock open edges")
	fs.BoolVar(&o.simplify.Sloppy, "sloppy", false, "cluster vertices if collapses do not reach the target")
	fs.Float64Var(&o.maxError, "max-error", 0, "error limit as `part` of the diagonal, 0 for none")

	fs.BoolVar(&f.update, "update", false, "rewrite the tables of -o and the figures of -results")
	fs.BoolVar(&o.keepSpeed, "keep-speed", false, "with -update: keep the speed and memory of -results, where the machine has other things to do")
	fs.StringVar(&f.doc, "o", filepath.Join("docs", "lod.md"), "`file` with the tables")
	fs.StringVar(&f.results, "results", filepath.Join("scripts", "lodbench", "results.json"), "`file` with the figures that tests compare with")
	fs.StringVar(&f.reference, "reference", filepath.Join("scripts", "lodbench", "reference.json"), "`file` that -peers writes")
	fs.StringVar(&f.export, "export", "", "write the models to this `folder` for scripts/lodpeers, then stop")
	fs.StringVar(&f.peers, "peers", "", "measure what scripts/lodpeers made in this `folder`, write -reference, then stop")
	if err := fs.Parse(args); err != nil {
		return nil, nil, err
	}
	if fs.NArg() > 0 {
		return nil, nil, fmt.Errorf("unexpected argument %q: all input is given by flags", fs.Arg(0))
	}
	if *quick {
		o.small, o.samples = true, 20_000
	}
	if f.update && (o.small || o.samples != 200_000) {
		return nil, nil, fmt.Errorf("-update takes full models and 200,000 samples: leave -quick, -small and -samples out")
	}
	if !*blind {
		o.seenTo = 1
	} else if f.update || o.pictures != "" {
		return nil, nil, fmt.Errorf("-no-seen does not go with -update or -pictures")
	}
	if o.samples < 1 || o.repeat < 1 {
		return nil, nil, fmt.Errorf("-samples and -repeat are at least 1")
	}
	o.models = strings.Split(*models, ",")
	for _, name := range o.models {
		if (f.update || f.export != "" || f.peers != "") && !slices.Contains(model.Names, name) {
			return nil, nil, fmt.Errorf("-models: %q is none of %v: -update, -export and -peers know no others", name, model.Names)
		}
	}
	if err := parseLists(o, *ratios, *seams, *weights); err != nil {
		return nil, nil, err
	}
	return o, f, nil
}

func parseLists(o *options, ratios, seams, weights string) error {
	for _, s := range strings.Split(ratios, ",") {
		r, err := strconv.ParseFloat(s, 64)
		if err != nil || !(r > 0 && r < 1) {
			return fmt.Errorf("-ratios: %q is no number between 0 and 1", s)
		}
		o.ratios = append(o.ratios, r)
	}
	mode, ok := map[string]simplify.SeamMode{"relax": simplify.SeamsRelax, "keep": simplify.SeamsKeep, "weld": simplify.SeamsWeld}[seams]
	if !ok {
		return fmt.Errorf("-seams: %q is none of relax, keep and weld", seams)
	}
	o.simplify.Seams = mode
	w := strings.Split(weights, ",")
	to := []*float64{&o.simplify.Weights.Normal, &o.simplify.Weights.UV, &o.simplify.Weights.Color}
	if len(w) != len(to) {
		return fmt.Errorf("-weights: %q is not three numbers", weights)
	}
	for i := range to {
		v, err := strconv.ParseFloat(w[i], 64)
		if err != nil {
			return fmt.Errorf("-weights: %q is no number", w[i])
		}
		*to[i] = v
	}
	return nil
}
