package cook

import (
	"image"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/internal/geom"
)

// Islands of triangles move by whole repeats, each by its own number.
func TestFoldIslands(t *testing.T) {
	m := &mesh.Mesh{
		Positions: make([]geom.Vec3, 6), Indices: []uint32{0, 1, 2, 5, 4, 3},
		UV: [2][][2]float32{{{3.25, -1}, {4, -.5}, {3.5, 0}, {-7.5, 9}, {-7, 9.5}, {-6.5, 9.25}}},
	}
	want := [][2]float32{{.25, 0}, {1, .5}, {.5, 1}, {.5, 0}, {1, .5}, {1.5, .25}}
	if d := cmp.Diff(want, foldIslands(m)); d != "" {
		t.Error(d)
	}
}

// Areas never overlap and never leave the picture.
func TestLayoutAtlas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var areas []*atlasArea
		for range rapid.IntRange(1, 60).Draw(t, "areas") {
			a := &atlasArea{ground: rapid.Float64Range(0, 1e4).Draw(t, "ground")}
			if rapid.Bool().Draw(t, "textured") {
				a.image = image.NewNRGBA(image.Rect(0, 0, rapid.IntRange(2, 256).Draw(t, "w"), rapid.IntRange(1, 256).Draw(t, "h")))
				a.hi = [2]float64{rapid.Float64Range(0, 8).Draw(t, "u"), rapid.Float64Range(0, 8).Draw(t, "v")}
			}
			areas = append(areas, a)
		}
		side := rapid.SampledFrom([]int{64, 256, 512}).Draw(t, "side")
		img := layoutAtlas(areas, side)
		if img.Rect.Dx() > side || img.Rect.Dx() != img.Rect.Dy() {
			t.Fatalf("%v for a side of %d", img.Rect, side)
		}
		for i, a := range areas {
			if !a.at.In(img.Rect) || a.at.Inset(atlasPadding).Empty() {
				t.Fatalf("area %v of %v", a.at, img.Rect)
			}
			for _, b := range areas[:i] {
				if a.at.Overlaps(b.at) && len(areas) < 60 && side > 64 {
					t.Fatalf("%v overlaps %v", a.at, b.at)
				}
			}
		}
	})
}
