package runtime

import (
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

// How much of a rectangle others in front of it cover, worked out by hand.
func TestOcclusionVectors(t *testing.T) {
	screen := rect{-1, -1, 1, 1}
	left, right := rect{-1, -1, 0, 1}, rect{0, -1, 1, 1}
	middle := rect{-0.5, -0.5, 0.5, 0.5}
	far := 100.0
	type occ struct {
		r rect
		d float64
	}
	for _, c := range []struct {
		name      string
		candidate rect
		occluders []occ
		want      float64
	}{
		{"left half", screen, []occ{{left, 1}}, 0.375},
		{"y to 0.4", screen, []occ{{rect{-1, -1, 1, 0.4}, 1}}, 0.25},
		{"y to 0.5", screen, []occ{{rect{-1, -1, 1, 0.5}, 1}}, 0.05},
		{"the same twice", screen, []occ{{left, 1}, {left, 2}}, 0.375},
		{"occluder farther", screen, []occ{{left, 200}}, 1},
		{"disjoint", rect{0.6, 0.6, 1, 1}, []occ{{rect{-1, -1, -0.6, -0.6}, 1}}, 1},
		{"both halves", screen, []occ{{left, 1}, {right, 2}}, 0.05},
		{"small against left half", middle, []occ{{left, 1}}, 0.4},
		{"no footprint", rect{0, 0, 0, 0}, []occ{{left, 1}}, 1},
	} {
		o := occlusion{full: 0.85, minimum: 0.05}
		for i, x := range c.occluders {
			o.list = append(o.list, occluder{x.d, int32(i), x.r.mask()})
		}
		o.sort()
		if got := o.score(c.candidate.mask(), far); !near(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestFootprint(t *testing.T) {
	id := geom.Identity()
	c := Camera{Forward: [3]float64{0, 0, -1}, FovYDegrees: 90, Aspect: 1, Near: 0.1, Far: 1000}
	v := makeView(&c, c.Position, c.Forward, &id, &id, 0)
	ahead := geom.Box{Min: geom.Vec3{-5, -5, -12}, Max: geom.Vec3{5, 5, -10}}
	if r, ok := v.footprint(&ahead, false); !ok || !near(r.x0, -0.5) || !near(r.y1, 0.5) {
		t.Errorf("ahead: %v %v", r, ok)
	}
	behind := geom.Box{Min: geom.Vec3{-5, -5, 10}, Max: geom.Vec3{5, 5, 12}}
	around := geom.Box{Min: geom.Vec3{-5, -5, -5}, Max: geom.Vec3{5, 5, 5}}
	for _, candidate := range []bool{false, true} {
		if _, ok := v.footprint(&behind, candidate); ok {
			t.Error("a box behind the camera has a footprint")
		}
		r, ok := v.footprint(&around, candidate)
		if ok != candidate || ok && r != (rect{-1, -1, 1, 1}) {
			t.Errorf("a box around the camera: %v %v as a candidate: %v", r, ok, candidate)
		}
	}
}

func TestImportance(t *testing.T) {
	v := view{forward: geom.Vec3{0, 0, -1}}
	b := geom.Box{Min: geom.Vec3{-1, -1, -52}, Max: geom.Vec3{1, 1, -50}}
	// Facing its 2 m x 2 m side: half extents 1, so 2*(1*1*1) at 50 m.
	if got := solidAngle(&b, &v, 50); !near(got, 2.0/2500) {
		t.Errorf("solid angle %v", got)
	}
	if got := solidAngle(&b, &v, 0); !near(got, 2) {
		t.Errorf("at no distance %v, want the area", got)
	}
	side := geom.Box{Min: geom.Vec3{50, -1, -1}, Max: geom.Vec3{52, 1, 1}}
	inside := geom.Box{Min: geom.Vec3{-1, -1, -1}, Max: geom.Vec3{1, 1, 1}}
	for _, c := range []struct {
		b    geom.Box
		want float64
	}{{b, 1}, {side, 0.2}, {inside, 1}} {
		if got := alignment(&c.b, &v, 0.2); !near(got, c.want) {
			t.Errorf("alignment %v, want %v", got, c.want)
		}
	}
}
