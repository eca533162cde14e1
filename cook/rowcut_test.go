package cook

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/internal/geom"
)

// sheet draws a primitive of squares over 100 x 100 m, with seams where vertices are there
// twice and triangles in any order.
func sheet(t *rapid.T, side int) *gltfscene.Primitive {
	p := &gltfscene.Primitive{Material: -1}
	normals := rapid.Bool().Draw(t, "normals")
	uv, second, colors := rapid.Bool().Draw(t, "uv"), rapid.Bool().Draw(t, "second uv"), rapid.Bool().Draw(t, "colors")
	tangents := normals && rapid.IntRange(0, 3).Draw(t, "tangents") == 0
	mirrored := rapid.IntRange(0, side).Draw(t, "mirrored from")
	vertex := func(x, y int, other bool) uint32 {
		h := rapid.Float32Range(0, 3).Draw(t, "height")
		if other {
			h = 1
		}
		p.Positions = append(p.Positions, [3]float32{float32(x) * 100 / float32(side), h, float32(y) * 100 / float32(side)})
		if normals {
			p.Normals = append(p.Normals, [3]float32{0.1 * h, 1, 0})
		}
		if u := float32(x); uv {
			if other {
				u = float32(2*mirrored - x)
			}
			p.UV[0] = append(p.UV[0], [2]float32{u + h/9, float32(y) + 0.3*h})
		}
		if second {
			p.UV[1] = append(p.UV[1], [2]float32{h, float32(x) + h/7})
		}
		if tangents {
			p.Tangents = append(p.Tangents, [4]float32{1, -0.1 * h, h, 1})
		}
		if colors {
			p.Colors = append(p.Colors, [4]float32{h / 3, float32(x%3) / 2, 0.5, 1})
		}
		return uint32(len(p.Positions) - 1)
	}
	at, seam := map[[2]int]uint32{}, map[[2]int]uint32{}
	for y := range side + 1 {
		for x := range side + 1 {
			at[[2]int{x, y}] = vertex(x, y, x == mirrored)
			if x == mirrored {
				seam[[2]int{x, y}] = vertex(x, y, true)
			} else if x > mirrored {
				seam[[2]int{x, y}] = vertex(x, y, true)
			}
		}
	}
	var list [][3]uint32
	for y := range side {
		for x := range side {
			of := at
			if x >= mirrored {
				of = seam
			}
			a, b, c, d := of[[2]int{x, y}], of[[2]int{x, y + 1}], of[[2]int{x + 1, y}], of[[2]int{x + 1, y + 1}]
			list = append(list, [3]uint32{a, b, c}, [3]uint32{c, b, d})
		}
	}
	for _, tri := range rapid.Permutation(list).Draw(t, "order") {
		p.Indices = append(p.Indices, tri[:]...)
	}
	return p
}

// TestRowCut: a primitive that is cut some rows at a time gives the pieces of all of it,
// with the same tangents and the same order, or is cut as a whole.
func TestRowCut(t *testing.T) {
	o := ClassicOptions()
	b := newTileBuilder(&gltfscene.Scene{}, nil, nil, &o, &notes{})
	divided := 0
	unmoved := b.plans[b.material(-1)]
	rapid.Check(t, func(t *rapid.T) {
		p := sheet(t, rapid.IntRange(2, 9).Draw(t, "side"))
		plan := &b.plans[b.material(-1)]
		*plan = unmoved
		if p.UV[1] != nil {
			plan.set = rapid.IntRange(0, 1).Draw(t, "set")
		}
		if rapid.Bool().Draw(t, "uv transform") {
			plan.transform.Scale = [2]float64{-2, 3}
		}
		if rapid.IntRange(0, 9).Draw(t, "flat") == 0 && p.UV[0] != nil { // a triangle with no direction
			p.UV[0][p.Indices[0]] = p.UV[0][p.Indices[1]]
		}
		if rapid.IntRange(0, 9).Draw(t, "zero") == 0 && p.Normals != nil {
			p.Normals[p.Indices[0]] = [3]float32{}
		}
		scale := rapid.SampledFrom([]geom.Vec3{{1, 1, 1}, {-1, 1, 1}, {2, 0.5, 1}}).Draw(t, "scale")
		turn := rapid.SampledFrom([]float64{0, 0.4, math.Pi / 2}).Draw(t, "turn")
		sin, cos := geom.Sincos(turn / 2)
		world := geom.TRS(geom.Vec3{3, 0, -7}, [4]float64{0, sin, 0, cos}, scale)
		if rapid.Bool().Draw(t, "identity") {
			world = geom.Identity()
		}
		var planes []float64
		for x := -200.0; x <= 200; x += 41.3 {
			planes = append(planes, x)
		}
		grid := mesh.ClipGrid{Planes: [3][]float64{planes, nil, planes}}
		var got []mesh.Piece
		whole := b.bakePrimitive(placed{}, p, &world)
		want := whole.shape.Split(grid)
		c := newRowCut(b, placed{}, p, &world, grid)
		if !c.divides() {
			return
		}
		if whole.normals > 0 || whole.tangents > 0 {
			t.Fatal("something was repaired")
		}
		divided++
		most := rapid.Int64Range(0, 1<<14).Draw(t, "most")
		if err := c.each(most, func(of *part, p *mesh.Piece) error {
			if of.shape != nil || of.material != whole.material {
				t.Fatalf("%+v", of)
			}
			got = append(got, *p)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%.2000s", d)
		}
	})
	if divided == 0 {
		t.Error("nothing was cut by rows")
	}
}
