package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/scripts/lodbench/model"
)

// TestRun measures a small rock and reads the table.
func TestRun(t *testing.T) {
	var out, log bytes.Buffer
	if err := run([]string{"-quick", "-no-seen", "-models", "rock360", "-ratios", "0.5,0.1"}, &out, &log); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "model") || !strings.HasPrefix(lines[2], "rock360") {
		t.Errorf("the table is\n%s", out.String())
	}
}

// TestMeasure asserts what holds for every result on a small rock.
func TestMeasure(t *testing.T) {
	o := &options{models: []string{"rock360"}, ratios: []float64{0.5, 0.2, 0.1}, samples: 5000, repeat: 1, small: true}
	var seen []cell
	cells, err := measureAll(o, func(c cell) { seen = append(seen, c) })
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(cells, seen); d != "" {
		t.Error("cells were not passed on as they are: ", d)
	}
	for i, c := range cells {
		if c.Short || c.Reached > int(c.Ratio*float64(c.Source)) {
			t.Errorf("%g: %d of %d triangles are left: %s", c.Ratio, c.Reached, c.Source, c.Stop)
		}
		if !(c.RMS > 0 && c.RMS < c.Max && c.Max < 5 && c.Normal > 0 && c.Normal < 30) {
			t.Errorf("%g: RMS %g, maximum %g, normals %g", c.Ratio, c.RMS, c.Max, c.Normal)
		}
		if i > 0 && c.RMS <= cells[i-1].RMS {
			t.Errorf("%g: RMS %g does not grow from %g", c.Ratio, c.RMS, cells[i-1].RMS)
		}
	}
}

func TestFlagErrors(t *testing.T) {
	for _, args := range [][]string{
		{"-ratios", "1.5"},
		{"-ratios", "x"},
		{"-models", "teapot"},
		{"-seams", "tear"},
		{"-weights", "1,2"},
		{"-weights", "1,2,x"},
		{"-samples", "0"},
		{"-quick", "-update"},
		{"-no-seen", "-update"},
		{"-no-seen", "-pictures", "x"},
		{"-models", "teapot", "-update"},
		{"city24"},
		{"-peers", "nowhere", "-models", "rock360"},
	} {
		var out, log bytes.Buffer
		if err := run(args, &out, &log); err == nil {
			t.Errorf("%v is no error", args)
		}
	}
}

// TestReferences asserts that every cell of the tables has its references.
func TestReferences(t *testing.T) {
	refs, err := references(false)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range model.Names {
		for _, ratio := range []float64{0.5, 0.2, 0.1} {
			r := refs[key{name, ratio}]
			if r.blender == nil || r.update == nil || r.normal == nil {
				t.Errorf("%s at %g lacks a reference: %+v", name, ratio, r)
			}
			if len(r.blenderSeen) != rungs || len(r.updateSeen) != rungs {
				t.Errorf("%s at %g: what is seen of others is not known", name, ratio)
			}
		}
	}
	if small, _ := references(true); small[key{"city24", 0.1}].blender != nil {
		t.Error("small models are compared with the references of large ones")
	}
}

func TestVerdict(t *testing.T) {
	ref := 0.0296
	for _, c := range []struct {
		v    float64
		ref  *float64
		mark string
		ok   bool
	}{
		{0.02964, &ref, "<=", true}, // the reference is rounded
		{0.02966, &ref, ">", false},
		{1, nil, "", true},
	} {
		if mark, ok := verdict(c.v, c.ref, 4); mark != c.mark || ok != c.ok {
			t.Errorf("%g: %q, %t, want %q, %t", c.v, mark, ok, c.mark, c.ok)
		}
	}
}

func TestJudge(t *testing.T) {
	a, b, n := 1.0, 2.0, 3.0
	worse, better := make([]float64, rungs), make([]float64, rungs)
	for i := range worse {
		worse[i], better[i] = 0.2, 0.1
	}
	refs := map[key]reference{
		{"m", 0.5}: {blender: &a, update: &b, normal: &n, blenderSeen: worse, updateSeen: better},
		{"m", 0.2}: {blender: &a, update: &b, normal: &n, stuck: true},
		{"m", 0.1}: {blender: &a, update: &b, normal: &n, blenderStuck: true},
	}
	got := judge([]cell{
		{Model: "m", Ratio: 0.5, RMS: 1, Normal: 4, Across: 100, Seen: 0.15},
		{Model: "m", Ratio: 0.2, RMS: 1, Short: true},
		{Model: "m", Ratio: 0.1, RMS: 3, Normal: 3},
		{Model: "other", Ratio: 0.1},
	}, refs)
	want := tallies{blender: tally{1, 2}, update: tally{1, 2}, normal: tally{1, 2}, blenderSeen: tally{1, 1}, updateSeen: tally{0, 1}, reached: tally{3, 4}}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestDocument asserts that docs/lod.md shows the committed figures.
func TestDocument(t *testing.T) {
	res, err := readResults("results.json")
	if err != nil {
		t.Fatal(err)
	}
	data := testfile.Read(t, filepath.Join("..", "..", "docs", "lod.md"))
	want, err := fill(string(data), res)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, string(data)); d != "" {
		t.Errorf("docs/lod.md is not what results.json and reference.json make of it: run go run ./scripts/lodbench -update (-want +got):\n%s", d)
	}
	if _, err := fill("no markers", res); err == nil {
		t.Error("a document without markers is no error")
	}
}

// TestUpdateKeeps asserts that an update of one model leaves the others.
func TestUpdateKeeps(t *testing.T) {
	r := &results{Cells: []cell{{Model: "rock360", Ratio: 0.5}, {Model: "city24", Ratio: 0.1, RMS: 1}}}
	r.merge([]cell{{Model: "rock360", Ratio: 0.1}, {Model: "rock360", Ratio: 0.5, RMS: 2}, {Model: "Mountains", Ratio: 0.2}})
	want := []cell{{Model: "Mountains", Ratio: 0.2}, {Model: "rock360", Ratio: 0.5, RMS: 2}, {Model: "rock360", Ratio: 0.1}, {Model: "city24", Ratio: 0.1, RMS: 1}}
	if d := cmp.Diff(want, r.Cells); d != "" {
		t.Error(d)
	}
}

// TestKeepSpeed asserts that figures of a busy machine do not replace those of
// another one.
func TestKeepSpeed(t *testing.T) {
	fresh := func() *results {
		return &results{
			Cells: []cell{{Model: "a", Ratio: 0.5, RMS: 2, Speed: 1, Memory: 10}, {Model: "new", Ratio: 0.5, Speed: 1, Memory: 10}},
			Stuck: []variant{{"x", cell{Model: "a", Speed: 1}}},
		}
	}
	r, known := fresh(), fresh().copy()
	known.Cells = known.Cells[:1]
	known.Cells[0] = cell{Model: "a", Ratio: 0.5, RMS: 1, Speed: 3, Memory: 11}
	known.Stuck[0].Cell.Speed = 4
	r.takeSpeed(known)
	want := &results{
		Cells: []cell{{Model: "a", Ratio: 0.5, RMS: 2, Speed: 3, Memory: 11}, {Model: "new", Ratio: 0.5}},
		Stuck: []variant{{"x", cell{Model: "a", Speed: 4}}},
	}
	if d := cmp.Diff(want, r); d != "" {
		t.Error(d)
	}
}

// TestPeers measures a result that another program could have made.
func TestPeers(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	if err := run([]string{"-quick", "-models", "rock360", "-export", dir}, &log, &log); err != nil {
		t.Fatal(err)
	}
	data := testfile.Read(t, filepath.Join(dir, "rock360.mesh"))
	for name, content := range map[string]string{"rock360.attr+update.50.mesh": string(data), "versions.tsv": "meshoptimizer\t9\n"} {
		testfile.Write(t, filepath.Join(dir, name), content)
	}
	out := filepath.Join(dir, "reference.json")
	if err := run([]string{"-quick", "-models", "rock360", "-peers", dir, "-reference", out}, &log, &log); err != nil {
		t.Fatal(err)
	}
	var file referenceFile
	data = testfile.Read(t, out)
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, c := range file.Cells {
		if c.Model != "rock360" {
			continue
		}
		found++
		if c.Peer != attrUpdate || c.Ratio != 0.5 || c.Triangles != c.Source || c.RMS > 1e-9 || len(c.Seen) != rungs || c.Seen[0] != 0 {
			t.Errorf("the model's distance from itself is %+v", c)
		}
	}
	if found != 1 || file.Versions["meshoptimizer"] != "9" {
		t.Errorf("%d cells, versions %v", found, file.Versions)
	}
}

func TestJoinObjects(t *testing.T) {
	in := "{\n  \"a\": [\n    {\n      \"b\": 1,\n      \"c\": 2\n    },\n    {\n      \"d\": {\n        \"e\": 3\n      }\n    }\n  ]\n}"
	got := joinObjects([]byte(in))
	var a, b any
	if json.Unmarshal([]byte(in), &a) != nil || json.Unmarshal(got, &b) != nil || !cmp.Equal(a, b) {
		t.Errorf("the value changed: %s", got)
	}
	if !strings.Contains(string(got), `{"b": 1, "c": 2}`) {
		t.Errorf("objects are not on one line: %s", got)
	}
}
