package model

import (
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/stable"
)

// Materials of the city.
const (
	wall int32 = iota
	glass
	concrete
	metal
)

// city returns n x n buildings of hard-edged boxes: a body, a slab per floor,
// a box per window and machines on the roof. Every face has vertices of its
// own. 24 makes 576 buildings with about 2.3 million triangles.
func city(n int) *Mesh {
	m := &Mesh{Name: "city24"}
	const pitch = 30
	for j := range n {
		for i := range n {
			m.building(stable.NewRNG(3, i, j), geom.Vec3{float64(i) * pitch, 0, float64(j) * pitch})
		}
	}
	return m.finish()
}

// building adds one building in the middle of at.
func (m *Mesh) building(r *stable.RNG, at geom.Vec3) {
	const storey, bay = 3.2, 3.0
	wide, deep := 5+r.Intn(4), 5+r.Intn(4) // in bays
	floors := 5 + r.Intn(15)
	w, d := float64(wide)*bay/2, float64(deep)*bay/2
	box := func(x0, y0, z0, x1, y1, z1 float64, material int32) {
		m.box(at.Add(geom.Vec3{x0, y0, z0}), at.Add(geom.Vec3{x1, y1, z1}), material)
	}
	top := float64(float64(floors) * storey)
	// No two faces lie in one plane, so that nearest points are unambiguous.
	box(-w, 0, -d, w, top-0.1, d, wall)
	for f := range floors {
		y := float64(float64(f) * storey)
		box(-w-0.3, y+storey-0.2, -d-0.3, w+0.3, y+storey, d+0.3, concrete)
		for b := range wide {
			x := -w + float64((float64(b)+0.5)*bay)
			box(x-0.7, y+0.9, -d-0.1, x+0.7, y+2.4, -d+0.1, glass)
			box(x-0.7, y+0.9, d-0.1, x+0.7, y+2.4, d+0.1, glass)
		}
		for b := range deep {
			z := -d + float64((float64(b)+0.5)*bay)
			box(-w-0.1, y+0.9, z-0.7, -w+0.1, y+2.4, z+0.7, glass)
			box(w-0.1, y+0.9, z-0.7, w+0.1, y+2.4, z+0.7, glass)
		}
	}
	for range 8 {
		x, z, s := r.Span(-w+1.5, w-1.5), r.Span(-d+1.5, d-1.5), r.Span(0.4, 1.2)
		box(x-s, top-0.05, z-s, x+s, top+s, z+s, metal)
	}
}

// box adds 24 vertices and 12 triangles.
func (m *Mesh) box(lo, hi geom.Vec3, material int32) {
	for axis := range 3 {
		for side := range 2 {
			n := [3]float32{}
			n[axis] = float32(2*side - 1)
			first := uint32(len(m.Positions))
			for c := range 4 {
				p := lo
				if side == 1 {
					p[axis] = hi[axis]
				}
				s, t := c&1, c>>1
				if s == 1 {
					p[(axis+1)%3] = hi[(axis+1)%3]
				}
				if t == 1 {
					p[(axis+2)%3] = hi[(axis+2)%3]
				}
				m.Positions = append(m.Positions, p)
				m.Normals = append(m.Normals, n)
				m.UV = append(m.UV, [2]float32{float32(s), float32(t)})
			}
			if side == 1 {
				m.Indices = append(m.Indices, first, first+1, first+3, first, first+3, first+2)
			} else {
				m.Indices = append(m.Indices, first, first+3, first+1, first, first+2, first+3)
			}
			m.Groups = append(m.Groups, material, material)
		}
	}
}
