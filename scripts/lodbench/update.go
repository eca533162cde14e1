package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/untoldkit/untold/scripts/lodbench/model"
)

// results is results.json: what docs/lod.md shows and the tests compare with.
type results struct {
	// Machine tells what Speed was measured on.
	Machine string `json:"machine"`
	// Cells are measured with 200,000 samples.
	Cells []cell `json:"cells"`
	// Gate are those that TestQuality measures again, with gateSamples.
	Gate []cell `json:"gate"`
	// Stuck are meshes that stop other simplifiers, with several options.
	Stuck []variant `json:"stuck"`
	// Creases are levels with more and fewer second normals.
	Creases []variant `json:"creases"`
	// Survey has every shared model at 10 %, measured with gateSamples.
	Survey []cell `json:"survey"`
}

// variant is a cell with other options than the default ones.
type variant struct {
	Options string `json:"options"`
	Cell    cell   `json:"cell"`
}

const gateSamples = 20_000

// gateOptions are what TestQuality measures: FlightHelmet, quickly. It is looked
// at where pictures are smallest.
func gateOptions(assets string) *options {
	return &options{models: []string{"FlightHelmet"}, ratios: []float64{0.5, 0.2, 0.1}, samples: gateSamples, repeat: 1, seenTo: 0.1, assets: assets}
}

// stuckModels are those that stop meshoptimizer short of 10 %.
var stuckModels = []string{"dutch_ship", "city24"}

// way is a set of options.
type way struct {
	name   string
	change func(*options)
}

// stuckOptions are the ways out, in the order of the table.
var stuckOptions = []way{
	{"`keep`: seams stay", func(o *options) { o.simplify.Seams = keepSeams }},
	{"default: seams relax", func(*options) {}},
	{"default, components below 1 % of the diagonal may go", func(o *options) { o.simplify.PruneBelow = 0.01 }},
	{"`weld`: seams closed first", func(o *options) { o.simplify.Seams = weldSeams }},
	{"`weld`, components below 1 % may go", func(o *options) { o.simplify.Seams, o.simplify.PruneBelow = weldSeams, 0.01 }},
}

// creaseModels are measured with several crease options.
var creaseModels = []string{"FlightHelmet", "Mountains", "rock360"}

var creaseOptions = []way{
	{"none", func(o *options) { o.simplify.Creases = -1 }},
	{"0.2", func(o *options) { o.simplify.Creases = 0.2 }},
	{"0.4, the default", func(*options) {}},
	{"1", func(o *options) { o.simplify.Creases = 1 }},
	{"none, normals weigh three times as much", func(o *options) { o.simplify.Creases, o.simplify.Weights.Normal = -1, 0.95 }},
}

// update measures and rewrites both files. Cells of models that were not
// selected stay as they are.
func update(o *options, f *files, out io.Writer) error {
	refs, err := references(false)
	if err != nil {
		return err
	}
	res, err := readResults(f.results)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var known *results
	if o.keepSpeed {
		known = res.copy()
	} else {
		res.Machine = machine()
	}
	head(out)
	cells, err := measureAll(o, func(c cell) { row(out, c, refs) })
	if err != nil {
		return err
	}
	res.merge(cells)
	if slices.Contains(o.models, "FlightHelmet") {
		if res.Gate, err = measureAll(gateOptions(o.assets), func(cell) {}); err != nil {
			return err
		}
	}
	each := func(c cell) { row(out, c, refs) }
	if res.Stuck, err = measureWays(res.Stuck, stuckModels, stuckOptions, o, each); err != nil {
		return err
	}
	if res.Creases, err = measureWays(res.Creases, creaseModels, creaseOptions, o, each); err != nil {
		return err
	}
	if slices.Equal(o.models, model.Names) {
		if err := res.survey(o.assets, each); err != nil {
			return err
		}
	}
	if known != nil {
		res.takeSpeed(known)
	}
	if err := writeJSON(f.results, res); err != nil {
		return err
	}
	return rewrite(f.doc, res)
}

// merge replaces and adds cells and sorts them in the order of tables.
func (r *results) merge(cells []cell) {
	for _, c := range cells {
		same := func(o cell) bool { return o.Model == c.Model && o.Ratio == c.Ratio }
		if i := slices.IndexFunc(r.Cells, same); i >= 0 {
			r.Cells[i] = c
		} else {
			r.Cells = append(r.Cells, c)
		}
	}
	slices.SortStableFunc(r.Cells, func(a, b cell) int {
		if d := slices.Index(model.Names, a.Model) - slices.Index(model.Names, b.Model); d != 0 {
			return d
		}
		switch {
		case a.Ratio > b.Ratio:
			return -1
		case a.Ratio < b.Ratio:
			return 1
		}
		return 0
	})
}

// copy returns the cells as they are now.
func (r *results) copy() *results {
	return &results{Cells: slices.Clone(r.Cells), Gate: slices.Clone(r.Gate), Stuck: slices.Clone(r.Stuck), Creases: slices.Clone(r.Creases), Survey: slices.Clone(r.Survey)}
}

// takeSpeed replaces speed and memory by what is known of the same cells, 0 for
// nothing.
func (r *results) takeSpeed(known *results) {
	take := func(to *cell, from cell) { to.Speed, to.Memory = from.Speed, from.Memory }
	list := func(to, from []cell) {
		for i := range to {
			take(&to[i], cell{})
			for _, c := range from {
				if c.Model == to[i].Model && c.Ratio == to[i].Ratio {
					take(&to[i], c)
				}
			}
		}
	}
	variants := func(to, from []variant) {
		for i := range to {
			take(&to[i].Cell, cell{})
			for _, v := range from {
				if v.Cell.Model == to[i].Cell.Model && v.Options == to[i].Options {
					take(&to[i].Cell, v.Cell)
				}
			}
		}
	}
	list(r.Cells, known.Cells)
	list(r.Gate, known.Gate)
	list(r.Survey, known.Survey)
	variants(r.Stuck, known.Stuck)
	variants(r.Creases, known.Creases)
}

// measureWays measures the selected ones of some models at 10 % in several ways.
// What is known of others stays.
func measureWays(known []variant, models []string, ways []way, o *options, each func(cell)) ([]variant, error) {
	var list []variant
	for _, name := range models {
		if !slices.Contains(o.models, name) {
			for _, v := range known {
				if v.Cell.Model == name {
					list = append(list, v)
				}
			}
			continue
		}
		m, err := model.Get(name, o.assets, false)
		if err != nil {
			return nil, err
		}
		s := newSubject(m)
		for _, way := range ways {
			own := &options{samples: o.samples, repeat: 1}
			way.change(own)
			c, _, err := s.measure(own, 0.1)
			if err != nil {
				return nil, err
			}
			list = append(list, variant{way.name, c})
			each(c)
		}
	}
	return list, nil
}

// survey measures every glTF file below folder at 10 %. Files that hold no
// triangles, or that the importer refuses, are left out.
func (r *results) survey(folder string, each func(cell)) error {
	r.Survey = nil
	return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); err != nil || d.IsDir() || ext != ".gltf" && ext != ".glb" {
			return err
		}
		m, err := model.Get(path, "", false)
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		c, _, err := newSubject(m).measure(&options{samples: gateSamples, repeat: 1}, 0.1)
		if err != nil {
			return err
		}
		r.Survey = append(r.Survey, c)
		each(c)
		return nil
	})
}

func readResults(path string) (*results, error) {
	r := &results{}
	data, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, r); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// writeJSON writes v with one line per element of its lists, so that changes
// show row by row.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(joinObjects(data), '\n'), 0o644)
}

// joinObjects puts the innermost objects of indented JSON on one line.
func joinObjects(data []byte) []byte {
	var out []byte
	for len(data) > 0 {
		open := bytes.IndexByte(data, '{')
		if open < 0 {
			break
		}
		shut := bytes.IndexAny(data[open+1:], "{}")
		if shut < 0 || data[open+1+shut] == '{' || len(out) == 0 && open == 0 {
			out = append(out, data[:open+1]...)
			data = data[open+1:]
			continue
		}
		out = append(out, data[:open]...)
		object := data[open : open+2+shut]
		for line := range bytes.Lines(object) {
			out = append(out, bytes.TrimSpace(line)...)
			if n := len(out); out[n-1] == ',' {
				out = append(out, ' ')
			}
		}
		data = data[open+2+shut:]
	}
	return append(out, data...)
}
