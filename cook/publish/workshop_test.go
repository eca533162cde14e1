package publish

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/blob"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/manifest"
)

// TestRepackedWithin: whatever memory and however many jobs there are, what is published is
// what its manifest promises, containers that fit are compressed and others are as they were
// cooked and counted, and the jobs together keep to the memory.
func TestRepackedWithin(t *testing.T) {
	base := t.TempDir()
	n := 0
	race.Checks(t, 10)
	rapid.Check(t, func(rt *rapid.T) {
		n++
		m := city()
		for name := range m.tiles {
			m.tiles[name] = tileModel{rapid.IntRange(1, finelyDivided+20).Draw(rt, "shape"), m.tiles[name].textures}
		}
		dir := filepath.Join(base, fmt.Sprint(n), "cooked")
		m.cook(rt, dir)
		delta := format.ModeDelta
		o := Options{
			Compress: &delta, Jobs: rapid.IntRange(1, 9).Draw(rt, "jobs"),
			Memory: rapid.SampledFrom([]int64{0, 1, 400e3, 1e6, 2e6, 256 << 20}).Draw(rt, "memory"),
		}
		r := &run{o: o, report: &Report{}, memory: newWorkshop(&o)}
		var publishTo Place
		for _, jobs := range []int{o.Jobs, 1} {
			to, err := blob.OpenFolder(filepath.Join(base, fmt.Sprint(n), fmt.Sprint("place", jobs)))
			if err != nil {
				rt.Fatal(err)
			}
			to.NoSync = true
			r.to, r.o.Jobs, r.report, publishTo = to, jobs, &Report{}, to
			if err := r.publish(t.Context(), dir); err != nil {
				rt.Fatal(err)
			}
			if peak := r.memory.budget.Peak(); peak > r.memory.size+compressorBytes {
				rt.Fatalf("%d bytes are in use, %d may be", peak, r.memory.size)
			}
		}
		if jobs := tree(t, publishTo); !reflect.DeepEqual(jobs, treeAt(t, filepath.Join(base, fmt.Sprint(n), fmt.Sprint("place", o.Jobs)))) {
			rt.Fatal("other files with one job")
		}
		doc, err := manifest.Decode(get(rt, publishTo, "city.json"))
		if err != nil {
			rt.Fatal(err)
		}
		large := map[string]bool{}
		was := m.files(rt)
		for _, p := range promises(doc) {
			data := get(rt, publishTo, p.path)
			if p.size != int64(len(data)) || p.sha != hashOf(data) {
				rt.Fatalf("%s is not what is promised", p.path)
			}
			reader, err := format.NewBytesReader(data)
			if err != nil {
				rt.Fatal(err)
			}
			for name, cooked := range was {
				if strings.HasSuffix(name, ".untold") && hashOf(cooked) == p.sha && reader.RepackMemory() > r.memory.size {
					large[p.path] = true
				}
			}
		}
		if len(large) != r.report.TooLarge || (len(large) > 0) != (len(r.report.Notes) > 0) {
			rt.Fatalf("%d are too large, %d are said to be: %q", len(large), r.report.TooLarge, r.report.Notes)
		}
	})
}

// treeAt is tree of a folder.
func treeAt(t *testing.T, dir string) []string {
	t.Helper()
	to, err := blob.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	return tree(t, to)
}

// TestTooLarge: a container that would take too much is sent as it was cooked, and the report
// says so with a number and a size.
func TestTooLarge(t *testing.T) {
	to, dir := place(t)
	m := city()
	m.tiles["d"] = tileModel{finelyDivided, nil}
	m.cook(t, dir)
	delta := format.ModeDelta
	r := must2(t)(Run(t.Context(), dir, to, Options{Compress: &delta, Memory: 1}))
	cooked := 0 // the five tiles and the bucket
	for name, data := range m.files(t) {
		if strings.HasSuffix(name, ".untold") {
			cooked += len(data)
		}
	}
	if r.TooLarge != 6 || r.TooLargeBytes != int64(cooked) || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "6 containers (") {
		t.Errorf("%+v", r)
	}
	newReader(t, to, m, "city.json").load(t, to)
	if r := must2(t)(Run(t.Context(), dir, to, Options{Compress: &delta})); r.TooLarge != 0 || len(r.Sent) != 6 || len(r.Notes) != 0 {
		t.Errorf("%+v", r)
	}
}
