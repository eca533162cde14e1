package partition

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// cellsOf makes one object per cell of an n x n lattice on 10 m tiles, whose
// first cell is at the given column and row.
func cellsOf(n, column, row int) []Object {
	var out []Object
	for i := range n * n {
		x, v := float64(10*(column+i%n)), float64(10*(row+i/n))
		out = append(out, Object{ID: i, Box: box(x+4, 0, -v-6, x+6, 1, -v-4)})
	}
	return out
}

// picture draws the plan's tiles from above, row 0 at the top.
func picture(p *Plan, n int) (out []string) {
	for z := range n {
		line := ""
		for x := range n {
			c := "."
			if slices.ContainsFunc(p.Tiles, func(t Tile) bool { return t.Coord == [3]int{x, 0, z} }) {
				c = "#"
			}
			line += c
		}
		out = append(out, line)
	}
	return out
}

func TestPerimeter(t *testing.T) {
	for depth, want := range map[int][]string{
		0: {"#####", "#####", "#####", "#####", "#####"},
		1: {"#####", "#...#", "#...#", "#...#", "#####"},
		2: {"#####", "#####", "##.##", "#####", "#####"},
		3: {"#####", "#####", "#####", "#####", "#####"},
		9: {"#####", "#####", "#####", "#####", "#####"},
	} {
		p := mustGrid(t, cellsOf(5, 0, 0), GridOptions{TileSize: tens.TileSize, PerimeterDepth: depth})
		if got := picture(p, 5); !slices.Equal(got, want) {
			t.Errorf("depth %d: %v", depth, got)
		}
		if len(p.Tiles)+len(p.Skipped) != 25 {
			t.Errorf("depth %d: skipped %v", depth, p.Skipped)
		}
	}
}

func TestPerimeterOfAHole(t *testing.T) {
	objects := cellsOf(5, 0, 0)
	objects = slices.Delete(objects, 12, 13) // the middle
	p := mustGrid(t, objects, GridOptions{TileSize: tens.TileSize, PerimeterDepth: 1})
	if got := picture(p, 5); !slices.Equal(got, []string{"#####", "#.#.#", "##.##", "#.#.#", "#####"}) {
		t.Error(got)
	}
}

func TestSample(t *testing.T) {
	for _, c := range []struct {
		fraction    float64
		column, row int
		want        []string
	}{
		{0.01, -2, -2, []string{".....", ".....", "..#..", ".....", "....."}},
		{0.36, -2, -2, []string{".....", ".###.", ".###.", ".###.", "....."}},
		{0.4, -2, -2, []string{"#....", ".###.", ".###.", ".###.", "....."}},
		{0.16, 0, 0, []string{"##...", "##...", ".....", ".....", "....."}},
		{0.2, 100, 0, []string{"#....", "#....", "#....", "#....", "#...."}},
		{1, 0, 0, []string{"#####", "#####", "#####", "#####", "#####"}},
	} {
		p := mustGrid(t, cellsOf(5, c.column, c.row), GridOptions{TileSize: tens.TileSize, SampleFraction: c.fraction})
		if got := picture(p, 5); !slices.Equal(got, c.want) {
			t.Errorf("%v from %d, %d: %v", c.fraction, c.column, c.row, got)
		}
	}
}

func TestSampleKeepsTheRoundedUpPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects := genObjects(t, 30)
		all, err := Grid(objects, tens)
		if err != nil {
			t.Fatal(err)
		}
		f := rapid.Float64Range(0.01, 0.99).Draw(t, "fraction")
		opts := tens
		opts.SampleFraction = f
		p, err := Grid(objects, opts)
		if err != nil {
			t.Fatal(err)
		}
		if want := int(math.Ceil(f * float64(len(all.Tiles)))); len(p.Tiles) != want {
			t.Fatalf("%d of %d tiles, want %d", len(p.Tiles), len(all.Tiles), want)
		}
		// The tiles that are kept are the same as without a sample.
		ids := layout(all)
		for _, tile := range p.Tiles {
			if fmt.Sprint(ids[tile.ID]) != fmt.Sprint(tile.Objects) {
				t.Fatalf("%s differs", tile.ID)
			}
		}
		if p.SceneBounds != all.SceneBounds || p.Defaults != all.Defaults {
			t.Fatal("the sample changes the scene")
		}
	})
}
