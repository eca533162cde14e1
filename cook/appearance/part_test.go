package appearance

import (
	"math"
	"testing"

	"pgregory.net/rapid"

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

// TestPartsAreDrawnOnce: one pass finds what is behind each part, as a picture
// without that part shows it.
func TestPartsAreDrawnOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &Mesh{}
		var parts []int32
		n := rapid.IntRange(1, 12).Draw(t, "boxes")
		at := rapid.Float64Range(0, 3)
		for range n {
			// Few places and sizes: faces coincide, and parts have several boxes.
			low := geom.Vec3{math.Floor(at.Draw(t, "x")), math.Floor(at.Draw(t, "y")), math.Floor(at.Draw(t, "z"))}
			m.addBox(low, low.Add(geom.Vec3{1 + at.Draw(t, "size"), 1, 2}), int32(rapid.IntRange(0, len(paints)-1).Draw(t, "paint")))
			part := int32(rapid.IntRange(0, n-1).Draw(t, "part"))
			for len(parts) < len(m.Indices)/3 {
				parts = append(parts, part)
			}
		}
		r := New(m, paints)
		size := r.box.Size()
		v := newView(directions[rapid.IntRange(0, len(directions)-1).Draw(t, "side")], r.box, size.Len()/40)
		s := split{parts: parts}
		s.resize(v.w * v.h)
		split := canvas{split: &s}
		split.draw(&v, r.model)
		var whole canvas
		for i, p := range whole.draw(&v, r.model).pix {
			if p != split.pix[i] {
				t.Fatalf("pixel %d is %x with parts, %x without", i, split.pix[i], p)
			}
		}
		for part := range int32(n) {
			rest := *m
			rest.Indices, rest.Materials = nil, nil
			for k, p := range parts {
				if p != part {
					rest.Indices = append(rest.Indices, m.Indices[3*k:3*k+3]...)
					rest.Materials = append(rest.Materials, m.Materials[k])
				}
			}
			for i, p := range whole.draw(&v, newModel(&rest, r.model.paints)).pix {
				if split.depth[i] != 0 && s.owner[i] == part && p != s.behind[i].pix {
					t.Fatalf("pixel %d shows %x behind part %d, %x without it", i, s.behind[i].pix, part, p)
				}
			}
		}
	})
}
