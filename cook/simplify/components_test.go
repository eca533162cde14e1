package simplify

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// faces makes a part of each face of boxes, and prices them by their area.
func faces(m *Mesh) (o Options) {
	for t := range m.Triangles() {
		o.Parts = append(o.Parts, int32(t/2))
		if t%2 == 0 {
			a, b, c := m.Positions[m.Indices[3*t]], m.Positions[m.Indices[3*t+1]], m.Positions[m.Indices[3*t+2]]
			area := b.Sub(a).Cross(c.Sub(a)).Len()
			o.PartCosts = append(o.PartCosts, float64(area*area))
			o.PartWhole = append(o.PartWhole, true)
		}
	}
	o.PruneBelow = math.Inf(1)
	return o
}

// The faces of boxes go as a whole, the cheapest first, and none loses one of its
// two triangles.
func TestPartsGoWhole(t *testing.T) {
	m := boxes(12)
	o := faces(m)
	s, err := New(m, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, ratio := range []float64{0.7, 0.4, 0.1} {
		target := int(ratio * float64(m.Triangles()))
		r := s.Reduce(target, 0)
		if r.Triangles > target || r.Triangles < target-2 {
			t.Errorf("%v: %v", ratio, r)
		}
		out := s.Mesh()
		checkMesh(t, m, out, r, o)
		for c := 0; c < len(out.Indices); c += 6 {
			a, b := out.Indices[c:c+3], out.Indices[c+3:c+6]
			if out.Normals[a[0]] != out.Normals[b[0]] || !slices.Contains(a, b[0]) && !slices.Contains(a, b[1]) {
				t.Fatalf("%v: half a face is left", ratio)
			}
		}
	}
	lost, kept := 0.0, math.Inf(1)
	for i := range s.given {
		if s.given[i].corners == 0 {
			lost = max(lost, o.PartCosts[i])
		} else {
			kept = min(kept, o.PartCosts[i])
		}
	}
	if lost > kept {
		t.Errorf("a face of %v m2 squared is gone, one of %v is left", lost, kept)
	}
}

// What must not go, because of its price, its size or a locked corner, stays.
func TestPartsStay(t *testing.T) {
	m := boxes(4)
	for _, c := range []struct {
		name   string
		change func(o *Options)
		limit  float64
	}{
		{"too dear", func(o *Options) {
			for i := range o.PartCosts {
				o.PartCosts[i] = math.Inf(1)
			}
		}, 0},
		{"too large", func(o *Options) { o.PruneBelow = 1 }, 0},
		{"more than the error limit", func(*Options) {}, 0.5},
		{"locked", func(o *Options) {
			o.Locked = make([]bool, len(m.Positions))
			for i := range o.Locked {
				o.Locked[i] = true
			}
		}, 0},
	} {
		o := faces(m)
		c.change(&o)
		out, r, err := Simplify(m, o, 10, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		if out.Triangles() != m.Triangles() || r.Pruned != 0 {
			t.Errorf("%s: %v", c.name, r)
		}
	}
}

func TestPartsHostile(t *testing.T) {
	m := boxes(1)
	for name, change := range map[string]func(o *Options){
		"too few":        func(o *Options) { o.Parts = o.Parts[1:] },
		"beyond the end": func(o *Options) { o.Parts[3] = 6 },
		"negative":       func(o *Options) { o.Parts[3] = -1 },
		"no costs":       func(o *Options) { o.PartCosts = nil },
		"not said":       func(o *Options) { o.PartWhole = o.PartWhole[1:] },
	} {
		o := faces(m)
		change(&o)
		if _, err := New(m, o); !errors.Is(err, ErrMesh) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Each triangle of the result is what is left of one of the source, of the same group, and
// no two are left of the same one.
func TestLeft(t *testing.T) {
	m := boxes(12)
	m.Groups = make([]int32, m.Triangles())
	for i := range m.Groups {
		m.Groups[i] = int32(i / 12)
	}
	for _, o := range []Options{{}, {Seams: SeamsWeld, Sloppy: true, PruneBelow: math.Inf(1)}} {
		s, err := New(m, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range []int{m.Triangles(), m.Triangles() / 2, 9} {
			s.Reduce(target, 0)
			out, left := s.Mesh(), s.Left()
			if len(left) != out.Triangles() || !slices.IsSorted(left) || len(slices.Compact(slices.Clone(left))) != len(left) {
				t.Fatalf("%d triangles, which are left of %v", out.Triangles(), left)
			}
			for k, from := range left {
				if out.Groups[k] != m.Groups[from] {
					t.Errorf("triangle %d of group %d is left of one of group %d", k, out.Groups[k], m.Groups[from])
				}
			}
		}
	}
}
