package hud

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
)

func TestAppendBox(t *testing.T) {
	b := geom.Box{Min: geom.Vec3{0, 0, 0}, Max: geom.Vec3{1, 2, 3}}
	m := geom.TRS(geom.Vec3{10, 0, 0}, [4]float64{0, 0, 0, 1}, geom.Vec3{2, 2, 2})
	lines := AppendBox(nil, b, &m, ColorNone)
	if len(lines) != 12 {
		t.Fatalf("%d edges", len(lines))
	}
	sum := 0.0
	for _, l := range lines {
		sum += geom.FromF32(l.A).Sub(geom.FromF32(l.B)).Len()
		if l.A[0] < 10 || l.A[0] > 12 {
			t.Errorf("corner %v", l.A)
		}
	}
	if math.Abs(sum-2*4*(1+2+3)) > 1e-6 {
		t.Errorf("edges of %g m, want 48", sum)
	}
	if len(AppendBox(nil, geom.EmptyBox(), &m, ColorNone)) != 0 {
		t.Error("an empty box has edges")
	}
}

func TestAppendRing(t *testing.T) {
	for _, l := range AppendRing(nil, geom.Vec3{5, 1, 0}, 3, ColorNone) {
		if d := geom.FromF32(l.A).Sub(geom.Vec3{5, 1, 0}).Len(); math.Abs(d-3) > 1e-5 || l.A[1] != 1 {
			t.Errorf("%v is %g m from the middle", l.A, d)
		}
	}
	for _, r := range []float64{0, -1, math.Inf(1), math.NaN()} {
		if len(AppendRing(nil, geom.Vec3{}, r, ColorNone)) != 0 {
			t.Errorf("a ring of radius %g", r)
		}
	}
}

func TestRays(t *testing.T) {
	cam := runtime.Camera{Forward: [3]float64{0, 0, -1}, FovYDegrees: 90, Aspect: 2, Near: 0.1, Far: 10}
	for _, tc := range []struct {
		x, y float64
		want geom.Vec3
	}{
		{100, 50, geom.Vec3{0, 0, -1}},
		{100, 0, geom.Vec3{0, 1, -1}},
		{200, 100, geom.Vec3{2, -1, -1}},
	} {
		if got := RayAt(&cam, tc.x, tc.y, 200, 100); got.Dir.Sub(tc.want.Normalize(0, geom.Vec3{})).Len() > 1e-9 {
			t.Errorf("%g, %g: %v, want %v", tc.x, tc.y, got.Dir, tc.want)
		}
	}
	b := geom.Box{Min: geom.Vec3{-1, -1, -6}, Max: geom.Vec3{1, 1, -4}}
	if d, ok := (Ray{Dir: geom.Vec3{0, 0, -1}}).Hit(b); !ok || d != 4 {
		t.Errorf("hit at %g, %v", d, ok)
	}
	for _, r := range []Ray{{Dir: geom.Vec3{0, 0, 1}}, {Dir: geom.Vec3{1, 0, 0}}, {Origin: geom.Vec3{3, 0, 0}, Dir: geom.Vec3{0, 0, -1}}} {
		if _, ok := r.Hit(b); ok {
			t.Errorf("%+v hits", r)
		}
	}
	if d, ok := (Ray{Origin: geom.Vec3{0, 0, -5}, Dir: geom.Vec3{0, 1, 0}}).Hit(b); !ok || d != 0 {
		t.Errorf("from inside: %g, %v", d, ok)
	}
	if n := len(AppendFrustum(nil, &cam, 10, ColorNone)); n != 12 {
		t.Errorf("%d edges of a frustum", n)
	}
}
