package cook

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// crown is n x n x n cards of 1 m, of group 1, above a ground of group 0.
func crown(n int) *simplify.Mesh {
	m := &simplify.Mesh{}
	add := func(at, u, v geom.Vec3, group int32) {
		first := uint32(len(m.Positions))
		m.Positions = append(m.Positions, at, at.Add(u), at.Add(u).Add(v), at.Add(v))
		m.Indices = append(m.Indices, first, first+1, first+2, first, first+2, first+3)
		m.Groups = append(m.Groups, group, group)
	}
	add(geom.Vec3{-50, 0, -50}, geom.Vec3{0, 0, 100}, geom.Vec3{100, 0, 0}, 0)
	for i := range n * n * n {
		at := geom.Vec3{float64(i%n) * 1.7, 3 + float64(i/n%n)*1.7, float64(i/n/n) * 1.7}
		add(at, geom.Vec3{1, 0, 0}, geom.Vec3{0, 0.6, 0.8}, 1)
	}
	return m
}

// leave returns a mesh with the ground and every step-th card.
func leave(m *simplify.Mesh, step int) *simplify.Mesh {
	out := *m
	out.Positions = append([]geom.Vec3(nil), m.Positions...)
	out.Indices, out.Groups = nil, nil
	for q := range len(m.Groups) / 2 {
		if q == 0 || q%step == 0 {
			out.Indices = append(out.Indices, m.Indices[6*q:6*q+6]...)
			out.Groups = append(out.Groups, m.Groups[2*q:2*q+2]...)
		}
	}
	return &out
}

// The cards that stay in each cube have the area of all, as far as they may grow, and the ground
// stays as it is.
func TestFoliageKeepsItsArea(t *testing.T) {
	area := func(m *simplify.Mesh, group int32) (sum float64) {
		for k, g := range m.Groups {
			if g == group {
				sum += normalOf(m, k).Len() / 2
			}
		}
		return sum
	}
	full := crown(6)
	f := newFoliage(full, []bool{false, true})
	if f == nil {
		t.Fatal("no foliage")
	}
	for _, step := range []int{1, 2, 50} {
		m := leave(full, step)
		left := area(m, 1)
		f.grow(m, nil)
		want := min(area(full, 1), float64(left*mostGrowth)*mostGrowth)
		if got := area(m, 1); math.Abs(got-want) > 0.1*want {
			t.Errorf("every %d. card: %.1f m2 of %.1f, want %.1f", step, got, area(full, 1), want)
		}
		if area(m, 0) != area(full, 0) {
			t.Error("the ground grew")
		}
		for _, p := range m.Positions {
			for axis, x := range p {
				if x < f.box.Min[axis]-1e-9 || x > f.box.Max[axis]+1e-9 {
					t.Fatalf("%v is outside of %v", p, f.box)
				}
			}
		}
	}
	// A card that was cut at the border fits the one in the next tile.
	m := leave(full, 3)
	before := append([]geom.Vec3(nil), m.Positions...)
	cell := geom.Box{Min: geom.Vec3{0, -100, -100}, Max: geom.Vec3{100, 100, 100}}
	f.grow(m, &cell)
	for i, p := range before {
		if p[0] == 0 && m.Positions[i] != p {
			t.Errorf("%v at the border moved to %v", p, m.Positions[i])
		}
	}
	if newFoliage(full, []bool{false, false}) != nil {
		t.Error("foliage of no group")
	}
}

func TestIsFoliage(t *testing.T) {
	leaf := gltfscene.Material{AlphaMode: gltfscene.AlphaMask, DoubleSided: true}
	for name, c := range map[string]struct {
		change func(m *gltfscene.Material)
		want   bool
	}{
		"a leaf":    {func(*gltfscene.Material) {}, true},
		"opaque":    {func(m *gltfscene.Material) { m.AlphaMode = gltfscene.AlphaOpaque }, false},
		"one side":  {func(m *gltfscene.Material) { m.DoubleSided = false }, false},
		"no cutout": {func(m *gltfscene.Material) { m.BaseColorTex.Image = -1 }, false},
	} {
		m := leaf
		if c.change(&m); isFoliage(&m) != c.want {
			t.Errorf("%s: %t", name, !c.want)
		}
	}
}
