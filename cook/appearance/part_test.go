package appearance

import (
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

// What a part shows is how much of it is in sight, and how much that differs from
// what is behind.
func TestParts(t *testing.T) {
	m := &Mesh{}
	var parts []int32
	part := func(k int32, add func()) {
		add()
		for len(parts) < len(m.Indices)/3 {
			parts = append(parts, k)
		}
	}
	const wall, dark, plain, hidden, post = 0, 1, 2, 3, 4
	side, up := geom.Vec3{1}, geom.Vec3{0, 1.5}
	part(wall, func() { m.addBox(geom.Vec3{}, geom.Vec3{12, 9, 10}, 0) })
	part(dark, func() { m.quad(geom.Vec3{2, 2, 10.01}, side, up, 1) })
	part(plain, func() { m.quad(geom.Vec3{5, 2, 10.01}, side, up, 0) })
	part(hidden, func() { m.addBox(geom.Vec3{3, 3, 3}, geom.Vec3{6, 6, 6}, 1) })
	part(post, func() { m.addBox(geom.Vec3{14, 0, 5}, geom.Vec3{14.1, 8, 5.1}, 1) })

	got := New(m, paints).Parts(m, parts, 5)
	if p := got[hidden]; p != (Part{}) {
		t.Errorf("what is hidden shows %+v", p)
	}
	if p := got[plain]; !(p.Seen > 0.2 && p.Change == 0) {
		t.Errorf("a window in the colour of its wall shows %+v", p)
	}
	if p := got[dark]; !(p.Seen > 0.2 && p.Change > 0.1*p.Seen && p.Change < p.Seen) {
		t.Errorf("a dark window shows %+v", p)
	}
	if p := got[post]; !(p.Seen > 0.2 && p.Seen < 1.5 && p.Change > 0.1*p.Seen) {
		t.Errorf("a post shows %+v", p)
	}
	if p := got[wall]; !(p.Change > 10*got[dark].Change) {
		t.Errorf("a building shows %+v", p)
	}
	// The picture itself has no parts any more.
	if e := New(m, paints).Error(m); e != 0 {
		t.Errorf("the mesh itself has an error of %v m", e)
	}
	if p := New(&Mesh{}, nil).Parts(&Mesh{}, nil, 0); len(p) != 0 {
		t.Errorf("nothing has %v", p)
	}
}
