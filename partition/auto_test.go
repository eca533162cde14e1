package partition

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

// lattice makes n x n objects of 1 m, pitch metres apart.
func lattice(n int, pitch float64) []Object {
	var out []Object
	for i := range n * n {
		x, z := float64(i%n)*pitch, -float64(i/n)*pitch
		out = append(out, Object{ID: i, Box: box(x, 0, z-1, x+1, 1, z)})
	}
	return out
}

func TestAutoTileSize(t *testing.T) {
	for _, c := range []struct {
		name    string
		objects []Object
		want    float64 // -1: only the targets count
	}{
		{"nothing", nil, 5},
		{"one object", of(box(0, 0, -1, 1, 1, 0)), 5},
		{"one large object", of(box(0, 0, -300, 300, 1, 0)), 300},
		{"one gigantic object", of(box(0, 0, -1e7, 1e7, 1, 0)), 100_000},
		{"a line", of(box(0, 0, 0, 1000, 1, 0)), 5},
		{"a lattice", lattice(64, 10), -1},
		{"a wide lattice", lattice(64, 5000), -1},
	} {
		got := AutoTileSize(c.objects)
		if c.want >= 0 && math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if c.want < 0 {
			p := mustGrid(t, c.objects, GridOptions{Auto: true})
			if !p.AutoTileSize || p.TileSize != (geom.Vec3{got, DefaultTileHeight, got}) {
				t.Errorf("%s: %v", c.name, p.TileSize)
			}
			for _, tile := range p.Tiles {
				if len(tile.Objects) > 2*autoMaxObjects {
					t.Errorf("%s: %d objects in %s of %v m", c.name, len(tile.Objects), tile.ID, got)
				}
			}
			if len(p.Tiles) > autoMaxTiles {
				t.Errorf("%s: %d tiles", c.name, len(p.Tiles))
			}
		}
	}
}

// A first round by hand: 128 objects in a corner of a large scene start with
// sqrt(w*d/5) and are then too many for their tile.
func TestAutoTileSizeRounds(t *testing.T) {
	objects := of(box(0, 0, -1000, 1000, 1, 0))
	for i := range 128 {
		objects = append(objects, Object{ID: i + 1, Box: box(float64(i%12), 0, -float64(i/12)-1, float64(i%12)+1, 1, -float64(i/12))})
	}
	side := math.Sqrt(1000.0 * 1000 / 5)
	for range 8 { // always 128 objects in the first tile, until it is 5 m
		if side > 20 {
			side /= math.Sqrt(128.0/32) * 1.05
		}
	}
	got := AutoTileSize(objects)
	if side > 20 || got > side+1e-9 || got < 5 {
		t.Errorf("%v, at most %v expected", got, side)
	}
	tiles, fullest := occupancy(geom.Box{Max: geom.Vec3{1000, 1, 0}, Min: geom.Vec3{0, 0, -1000}}, [][2]float64{{1, 1}, {2, 2}, {11, 1}}, make([][2]int64, 3), 10)
	if tiles != 2 || fullest != 2 {
		t.Error(tiles, fullest)
	}
}

func TestAutoTileSizeIsInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects := genObjects(t, 40)
		scale := math.Pow(10, rapid.Float64Range(-6, 25).Draw(t, "scale"))
		for i := range objects {
			objects[i].Box.Min = objects[i].Box.Min.Scale(scale)
			objects[i].Box.Max = objects[i].Box.Max.Scale(scale)
		}
		if side := AutoTileSize(objects); !(side >= autoMinSide && side <= autoMaxSide) {
			t.Fatal(side)
		}
	})
}
