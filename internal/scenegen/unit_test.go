package scenegen

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/scenecheck"
)

// volume returns the signed volume of all triangles of a shape.
func volume(s *shape) (v float64, closed bool) {
	closed = true
	for _, p := range s.parts {
		pos := make([]vec, len(p.p.Pos))
		for i, q := range p.p.Pos {
			pos[i] = geom.FromF32(q)
		}
		x, c := scenecheck.Volume(pos, p.p.Index)
		v, closed = v+x, closed && c
	}
	return v, closed
}

func TestSolidsAreClosed(t *testing.T) {
	tests := []struct {
		name  string
		build func(b *shape)
		want  float64
	}{
		{"box", func(b *shape) { b.box(vec{-1, 0, -2}, vec{1, 3, 2}) }, 24},
		{"turned box", func(b *shape) {
			b.at(at(3, 1, 2).turned(0.13).tilted(0.3).rolled(0.7)).box(vec{-1, 0, -2}, vec{1, 3, 2})
		}, 24},
		{"ring", func(b *shape) { b.ring(vec{-2, 0, -2}, vec{2, 1, 2}, 0.5) }, 7},
		{"cylinder", func(b *shape) { b.cone(vec{1, 1, 1}, 1, 1, 2, 64, true) }, 2 * math.Pi},
		{"cone", func(b *shape) { b.cone(vec{}, 1, 0, 3, 64, true) }, math.Pi},
		{"ball", func(b *shape) { b.ball(vec{0, 5, 0}, vec{1, 2, 3}, 48, 24, nil) }, 8 * math.Pi},
		{"plate", func(b *shape) { b.plate(rect{0, 0, 10, 10}, -1, 0, rect{1, 1, 3, 4}, rect{5, 2, 6, 4}) }, 92},
		{"prism", func(b *shape) { b.prism([][2]float64{{-1, 0}, {1, 0}, {1, 2}, {-1, 2}}, 0.5) }, 4},
	}
	for _, c := range tests {
		b := (&shape{}).mat("Concrete")
		c.build(b)
		v, closed := volume(b)
		if !closed || math.Abs(v-c.want) > 0.01*c.want {
			t.Errorf("%s: volume %g, closed %v; want %g", c.name, v, closed, c.want)
		}
	}
}

func TestTangentsFollowTexture(t *testing.T) {
	b := (&shape{}).mat("Brick_Red")
	b.tiled(vec{0, 0, 0}, vec{2, 0, 0}, vec{2, 1, 0}, vec{0, 1, 0})
	p := &b.cur.p
	addTangents(p)
	for i, tan := range p.Tangent {
		// The wall faces +Z with u to the right and v down, so that the
		// bitangent n x t * w is up.
		if tan != [4]float32{1, 0, 0, 1} {
			t.Errorf("corner %d: tangent %v", i, tan)
		}
	}
}

func TestQuatMatchesRotation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		yaw := rapid.Float64Range(-2, 2).Draw(t, "yaw")
		v := vec{rapid.Float64Range(-9, 9).Draw(t, "x"), rapid.Float64Range(-9, 9).Draw(t, "y"), rapid.Float64Range(-9, 9).Draw(t, "z")}
		m := geom.TRS(vec{}, at(0, 0, 0).turned(yaw).quat(), vec{1, 1, 1})
		if d := m.Point(v).Sub(rotY(v, yaw)).Len(); d > 1e-8 {
			t.Fatalf("turn by %g moves %v %g apart", yaw, v, d)
		}
	})
}

func TestLookAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := func(n string) float64 { return rapid.Float64Range(-50, 50).Draw(t, n) }
		eye, target := vec{c("a"), c("b"), c("c")}, vec{c("d"), c("e"), c("f")}
		d := target.Sub(eye)
		if math.Hypot(d[0], d[2]) < 0.1 {
			t.Skip("straight up or down")
		}
		x := lookAt(eye, target)
		m := geom.TRS(vec{}, x.quat(), vec{1, 1, 1})
		got := m.Point(vec{0, 0, -1})
		if e := got.Sub(d.Normalize(0, d)).Len(); e > 1e-6 {
			t.Fatalf("the camera looks along %v, not %v", got, d)
		}
	})
}

func TestSurfacesRepeat(t *testing.T) {
	for name, f := range surfaces {
		for i := range 200 {
			r := newRNG(3, i)
			u, v := r.Float(), r.Float()
			x := f(u, v)
			for _, c := range []float64{x.r, x.g, x.b, x.a, x.rough, x.metal, x.glow} {
				if !(c >= 0 && c < 2) {
					t.Fatalf("%s at %g, %g: %+v", name, u, v, x)
				}
			}
		}
	}
	// Noise repeats at 1.
	for i := range 50 {
		v := float64(i) / 50
		if a, b := noise(1e-9, v, 7, 5, 1), noise(1-1e-9, v, 7, 5, 1); math.Abs(a-b) > 1e-6 {
			t.Errorf("the noise has a seam at v = %g: %g, %g", v, a, b)
		}
	}
}

func TestMaterialsAreComplete(t *testing.T) {
	for name, m := range materials {
		for _, s := range []string{m.base, m.normal, m.mr, m.emissive, m.occlusion} {
			if s != "" && surfaces[s] == nil {
				t.Errorf("%s: no surface %s", name, s)
			}
		}
		if m.tile <= 0 || m.color[3] <= 0 {
			t.Errorf("%s: tile %g, colour %v", name, m.tile, m.color)
		}
	}
}
