package main

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/manifest"
)

// TestEveryPictureHasARecipe: what lies in docs/images is made by exactly one recipe, and what
// recipes make lies there and is shown by a document.
func TestEveryPictureHasARecipe(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	entries, err := os.ReadDir(filepath.Join(docs, "images"))
	if err != nil {
		t.Fatal(err)
	}
	var there, made []string
	for _, e := range entries {
		there = append(there, e.Name())
	}
	for _, r := range recipes {
		made = append(made, r.files...)
		if r.take == nil {
			t.Errorf("%s: nothing takes it", r.name)
		}
	}
	slices.Sort(made)
	if !slices.Equal(there, made) {
		t.Errorf("docs/images has\n %v\nrecipes make\n %v", there, made)
	}
	pages, err := filepath.Glob(filepath.Join(docs, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for _, p := range pages {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, data...)
	}
	for _, name := range there {
		if !bytes.Contains(text, []byte("(images/"+name+")")) {
			t.Errorf("no document shows %s", name)
		}
	}
}

func TestChoose(t *testing.T) {
	names := func(o *options) string {
		list, err := choose(o)
		if err != nil {
			return err.Error()
		}
		var out []string
		for _, r := range list {
			out = append(out, r.name)
		}
		return strings.Join(out, ",")
	}
	if got := names(&options{only: "forest,demo"}); got != "demo,forest" {
		t.Errorf("of two: %s", got)
	}
	if got := names(&options{only: "demo,nothing"}); !strings.Contains(got, `no recipe "nothing"`) {
		t.Errorf("an unknown name: %s", got)
	}
	if list, _ := choose(&options{}); slices.ContainsFunc(list, func(r recipe) bool { return r.apart != "" }) {
		t.Error("what needs more is taken without being asked for")
	}
}

// TestReportCells: pictures are found in a report of any text size, with any number of lines.
func TestReportCells(t *testing.T) {
	const w, h, gap = 20, 10, 8
	for _, c := range []struct{ line, head, above, n int }{{13, 2, 2, 2}, {19, 2, 2, 2}, {19, 5, 4, 3}, {19, 3, 1, 1}} {
		row := h + c.above*c.line + 2*gap
		top := c.head*c.line + 3*gap
		m := image.NewNRGBA(image.Rect(0, 0, 3*w+4*gap, top+c.n*row))
		for i := range c.n {
			for line := range c.above { // text, with a space below each line of it
				for y := range c.line - 4 {
					m.SetNRGBA(gap, top+i*row+line*c.line+y, color.NRGBA{255, 255, 255, 255})
				}
			}
			for k := range 3 {
				for y := range h {
					for x := range w {
						m.SetNRGBA(gap+k*(w+gap)+x, top+i*row+c.above*c.line+gap/2+y, color.NRGBA{uint8(1 + 3*i + k), 0, 0, 255})
					}
				}
			}
		}
		rows, err := reportCells(m, w, h, c.n)
		if err != nil {
			t.Fatal(err)
		}
		for i, cells := range rows {
			for k, cell := range cells {
				for _, at := range []image.Point{{0, 0}, {w - 1, h - 1}} {
					if r, _, _, _ := cell.At(at.X, at.Y).RGBA(); r>>8 != uint32(1+3*i+k) {
						t.Errorf("%+v: picture %d, %d has %d at %v", c, i, k, r>>8, at)
					}
				}
			}
		}
		if _, err := reportCells(m, w+1, h, c.n); err == nil {
			t.Error("pictures of another width")
		}
	}
}

// TestSizeIsOfItsTable: the plot of docs/performance.md shows the figures that stand there.
func TestSizeIsOfItsTable(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	page, err := os.ReadFile(filepath.Join(docs, "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := readSizes(page)
	if err != nil {
		t.Fatal(err)
	}
	there, err := os.ReadFile(filepath.Join(docs, "images", "size.svg"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(there, table.plot()) {
		t.Error("docs/images/size.svg is of other figures: go run ./scripts/pictures -only size")
	}
	for _, bad := range []string{
		"", "| drawn triangles | all memory |\n|---|---|\n| 16 thousand | 1 s, 0.05 GB |\n",
		"| drawn triangles | all memory |\n|---|---|\n| some | 1 s, 0.05 GB |\n| 1 million | 1 s, 1 GB |\n",
		"| drawn triangles | all memory |\n|---|---|\n| 16 thousand | 1 s |\n| 1 million | 1 s, 1 GB |\n",
		"| drawn triangles | all memory |\n|---|---|\n| 16 thousand | 1 s, 1 GB | 2 s, 2 GB |\n| 1 million | 1 s, 1 GB |\n",
	} {
		if table, err := readSizes([]byte(bad)); err == nil {
			t.Errorf("%q: %+v", bad, table)
		}
	}
}

func TestSheet(t *testing.T) {
	cell := image.NewNRGBA(image.Rect(5, 5, 305, 25))
	m, err := sheet([]row{{"a caption", []image.Image{cell, cell}}, {"", []image.Image{cell}}})
	if err != nil {
		t.Fatal(err)
	}
	if b := m.Bounds(); b.Dx() != 2*300+sheetGap || b.Dy() < 2*20+sheetGap+sheetText {
		t.Errorf("bounds %v", b)
	}
	if _, err := sheet([]row{{strings.Repeat("long ", 40), []image.Image{cell}}}); err == nil {
		t.Error("a caption that is cut off")
	}
}

// TestAtLevel: a tile without a level shows the coarsest before it, and does not count.
func TestAtLevel(t *testing.T) {
	full := func() *manifest.Manifest {
		return &manifest.Manifest{Pyramid: &manifest.Pyramid{}, Tiles: []manifest.Tile{
			{Path: "a", TriangleCount: 100, LODLevels: []manifest.Level{{Path: "a1", TriangleCount: 50}, {Path: "a2", TriangleCount: 20}}, HLODLevels: []manifest.Level{{Path: "ah", TriangleCount: 5}}},
			{Path: "b", TriangleCount: 10, LODLevels: []manifest.Level{{Path: "b1", TriangleCount: 5}}},
		}}
	}
	for level, want := range []struct {
		a, b      string
		triangles int64
		tiles     int
	}{{"a", "b", 110, 2}, {"a1", "b1", 55, 2}, {"a2", "b1", 20, 1}, {"ah", "b1", 5, 1}} {
		m := full()
		triangles, _, tiles := atLevel(m, level)
		if m.Tiles[0].Path != want.a || m.Tiles[1].Path != want.b || triangles != want.triangles || tiles != want.tiles || m.Pyramid != nil {
			t.Errorf("level %d: %s, %s, %d triangles of %d tiles", level, m.Tiles[0].Path, m.Tiles[1].Path, triangles, tiles)
		}
	}
}

// TestTurn: a circle ends where it began and looks at its middle.
func TestTurn(t *testing.T) {
	keys := turn(330, 160, 24)
	first, last := keys[0], keys[len(keys)-1]
	for k := range 3 {
		if math.Abs(first.position[k]-last.position[k]) > 1e-9 {
			t.Errorf("from %v to %v", first.position, last.position)
		}
	}
	if last.t != 30 || first.position[0] != 490 || first.forward[0] != -1 {
		t.Errorf("%v to %v", first, last)
	}
}
