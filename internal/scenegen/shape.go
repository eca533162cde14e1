package scenegen

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/glbwrite"
)

// shape is a mesh under construction: triangles grouped by material, in the
// order in which the materials were first used. All faces are
// counter-clockwise seen from outside.
type shape struct {
	parts []*part
	cur   *part
	tint  [4]uint8  // vertex colour of what follows; zero for none
	move  geom.Mat4 // applied to what follows
	set   bool      // move is not the identity
}

// part holds the triangles of one material.
type part struct {
	material string
	tile     float64 // metres per repeat of the texture
	p        glbwrite.Primitive
}

// mat chooses the material of the faces that follow.
func (s *shape) mat(name string) *shape {
	for _, p := range s.parts {
		if p.material == name {
			s.cur = p
			return s
		}
	}
	s.cur = &part{material: name, tile: materialTile(name)}
	s.parts = append(s.parts, s.cur)
	return s
}

// color sets the vertex colour of what follows, linear, 255 is 1. A material
// is used either with colours on all its vertices or with none.
func (s *shape) color(r, g, b uint8) *shape {
	s.tint = [4]uint8{r, g, b, 255}
	return s
}

// at moves and turns what follows.
func (s *shape) at(x xform) *shape {
	if x.s == (vec{}) {
		x.s = vec{1, 1, 1}
	}
	s.move, s.set = geom.TRS(x.t, x.quat(), x.s), true
	return s
}

// home ends the effect of at.
func (s *shape) home() *shape {
	s.set = false
	return s
}

// triangles returns the number of triangles.
func (s *shape) triangles() int {
	n := 0
	for _, p := range s.parts {
		n += len(p.p.Index) / 3
	}
	return n
}

// vertex adds one corner and returns its index in the current part.
func (s *shape) vertex(p, n vec, u, v float64) uint32 {
	if s.set {
		p, n = s.move.Point(p), s.move.Dir(n).Normalize(1e-12, n)
	}
	g := &s.cur.p
	g.Pos = append(g.Pos, p.F32())
	g.Normal = append(g.Normal, n.F32())
	g.UV0 = append(g.UV0, [2]float32{float32(u), float32(v)})
	if s.tint != ([4]uint8{}) {
		g.Color = append(g.Color, s.tint)
	}
	return uint32(len(g.Pos) - 1)
}

func (s *shape) tri(a, b, c uint32) { s.cur.p.Index = append(s.cur.p.Index, a, b, c) }

// quad adds the flat face a b c d with texture coordinates from (0,0) at d,
// the upper left corner, to (us,vs) at b, the lower right one.
func (s *shape) quad(a, b, c, d vec, us, vs float64) {
	n := b.Sub(a).Cross(d.Sub(a))
	n = n.Add(d.Sub(c).Cross(b.Sub(c))).Normalize(1e-12, vec{0, 1, 0})
	i := s.vertex(a, n, 0, vs)
	s.vertex(b, n, us, vs)
	s.vertex(c, n, us, 0)
	s.vertex(d, n, 0, 0)
	s.tri(i, i+1, i+2)
	s.tri(i, i+2, i+3)
}

// tiled is quad with texture coordinates in metres over the material's tile.
func (s *shape) tiled(a, b, c, d vec) {
	t := s.cur.tile
	s.quad(a, b, c, d, b.Sub(a).Len()/t, d.Sub(a).Len()/t)
}

// Faces of a box for boxOpen.
const (
	faceLeft = 1 << iota // -X
	faceRight
	faceBottom
	faceTop
	faceBack  // -Z
	faceFront // +Z
	faceAll   = 63
)

// box adds a closed box from lo to hi.
func (s *shape) box(lo, hi vec) { s.boxOpen(lo, hi, faceAll) }

// boxOpen adds the chosen faces of a box.
func (s *shape) boxOpen(lo, hi vec, faces int) {
	p := func(i int) vec {
		v := lo
		for k := range 3 {
			if i>>k&1 == 1 {
				v[k] = hi[k]
			}
		}
		return v
	}
	for k, f := range [6][4]int{{0, 4, 6, 2}, {5, 1, 3, 7}, {0, 1, 5, 4}, {6, 7, 3, 2}, {1, 0, 2, 3}, {4, 5, 7, 6}} {
		if faces>>k&1 == 1 {
			s.tiled(p(f[0]), p(f[1]), p(f[2]), p(f[3]))
		}
	}
}

// ring adds a closed rectangular frame of wall thickness t around the box
// from lo to hi (in x and z, outer size), such as a parapet or a cornice.
func (s *shape) ring(lo, hi vec, t float64) {
	in := func(v vec) vec {
		v[0] = min(max(v[0], lo[0]+t), hi[0]-t)
		v[2] = min(max(v[2], lo[2]+t), hi[2]-t)
		return v
	}
	c := [4]vec{{lo[0], 0, hi[2]}, {hi[0], 0, hi[2]}, {hi[0], 0, lo[2]}, {lo[0], 0, lo[2]}}
	y := func(v vec, h float64) vec { v[1] = h; return v }
	for i, a := range c {
		b := c[(i+1)%4]
		s.tiled(y(a, lo[1]), y(b, lo[1]), y(b, hi[1]), y(a, hi[1]))
		s.tiled(y(in(b), lo[1]), y(in(a), lo[1]), y(in(a), hi[1]), y(in(b), hi[1]))
		s.tiled(y(a, hi[1]), y(b, hi[1]), y(in(b), hi[1]), y(in(a), hi[1]))
		s.tiled(y(b, lo[1]), y(a, lo[1]), y(in(a), lo[1]), y(in(b), lo[1]))
	}
}

// cone adds a frustum on the Y axis of o: radius r0 at the bottom, r1 at the
// top, smooth around, with caps where the radius is not zero.
func (s *shape) cone(o vec, r0, r1, h float64, seg int, caps bool) {
	slope := r0 - r1
	l := math.Sqrt(float64(slope*slope) + float64(h*h))
	around := max(1, math.Round(2*math.Pi*max(r0, r1)/s.cur.tile))
	high := l / s.cur.tile
	first := uint32(len(s.cur.p.Pos))
	for i := range seg + 1 {
		t := float64(i) / float64(seg)
		x, z := sinTurn(t), cosTurn(t)
		n := vec{x * h / l, slope / l, z * h / l}
		s.vertex(vec{o[0] + float64(r0*x), o[1], o[2] + float64(r0*z)}, n, t*around, high)
		s.vertex(vec{o[0] + float64(r1*x), o[1] + h, o[2] + float64(r1*z)}, n, t*around, 0)
	}
	for i := range uint32(seg) {
		k := first + 2*i
		if r0 > 0 {
			s.tri(k, k+2, k+1)
		}
		if r1 > 0 {
			s.tri(k+1, k+2, k+3)
		}
	}
	if caps && r0 > 0 {
		s.disc(o, r0, seg, false)
	}
	if caps && r1 > 0 {
		s.disc(vec{o[0], o[1] + h, o[2]}, r1, seg, true)
	}
}

// disc adds a flat disc, seen from above when up.
func (s *shape) disc(o vec, r float64, seg int, up bool) {
	n := vec{0, -1, 0}
	if up {
		n[1] = 1
	}
	first := uint32(len(s.cur.p.Pos))
	for i := range seg {
		t := float64(i) / float64(seg)
		x, z := float64(r*sinTurn(t)), float64(r*cosTurn(t))
		s.vertex(vec{o[0] + x, o[1], o[2] + z}, n, 0.5+x/(2*r), 0.5+z/(2*r))
	}
	for i := uint32(1); i+1 < uint32(seg); i++ {
		if up {
			s.tri(first, first+i, first+i+1)
		} else {
			s.tri(first, first+i+1, first+i)
		}
	}
}

// ball adds an ellipsoid; bump deforms the radius, 1 for none.
func (s *shape) ball(o, r vec, seg, rings int, bump func(i, j int) float64) {
	first := uint32(len(s.cur.p.Pos))
	for j := range rings + 1 {
		a := float64(j) / float64(2*rings) // turns from the top
		y, f := cosTurn(a), sinTurn(a)
		for i := range seg + 1 {
			t := float64(i) / float64(seg)
			d := vec{float64(f * sinTurn(t)), y, float64(f * cosTurn(t))}
			k := 1.0
			if bump != nil && j > 0 && j < rings {
				k = bump(i%seg, j)
			}
			p := vec{
				o[0] + float64(r[0]*float64(k*d[0])),
				o[1] + float64(r[1]*float64(k*d[1])),
				o[2] + float64(r[2]*float64(k*d[2])),
			}
			n := vec{d[0] / r[0], d[1] / r[1], d[2] / r[2]}.Normalize(1e-12, d)
			s.vertex(p, n, t*4, a*4)
		}
	}
	w := uint32(seg + 1)
	for j := range uint32(rings) {
		for i := range uint32(seg) {
			k := first + j*w + i
			if j > 0 {
				s.tri(k, k+w, k+1)
			}
			if j+1 < uint32(rings) {
				s.tri(k+1, k+w, k+w+1)
			}
		}
	}
}

// grid adds a height field over [x0,x1] x [z0,z1] with nx by nz cells, facing
// up; texture coordinates are world metres over the tile. Normals come from
// the height function by central differences.
func (s *shape) grid(x0, z0, x1, z1 float64, nx, nz int, h func(x, z float64) float64) {
	first := uint32(len(s.cur.p.Pos))
	t := s.cur.tile
	for j := range nz + 1 {
		z := lerp(z0, z1, float64(j)/float64(nz))
		for i := range nx + 1 {
			x := lerp(x0, x1, float64(i)/float64(nx))
			s.vertex(vec{x, h(x, z), z}, slopeNormal(h, x, z), x/t, z/t)
		}
	}
	w := uint32(nx + 1)
	for j := range uint32(nz) {
		for i := range uint32(nx) {
			k := first + j*w + i
			s.tri(k, k+w, k+1)
			s.tri(k+1, k+w, k+w+1)
		}
	}
}

func slopeNormal(h func(x, z float64) float64, x, z float64) vec {
	const e = 0.5
	dx, dz := h(x+e, z)-h(x-e, z), h(x, z+e)-h(x, z-e)
	return vec{-dx, 2 * e, -dz}.Normalize(1e-12, vec{0, 1, 0})
}

// leaf adds a double-sided card of size w x h at o whose normal is lit as if
// it belonged to a sphere around the crown's middle, so that crowns look full.
// Its front is the side that the normal points to: viewers turn the normals of
// backs around.
func (s *shape) leaf(o, right, up, lit vec) {
	a := o.Sub(right).Sub(up)
	b := o.Add(right).Sub(up)
	c := o.Add(right).Add(up)
	d := o.Sub(right).Add(up)
	i := s.vertex(a, lit, 0, 1)
	s.vertex(b, lit, 1, 1)
	s.vertex(c, lit, 1, 0)
	s.vertex(d, lit, 0, 0)
	if right.Cross(up).Dot(lit) < 0 {
		s.tri(i, i+2, i+1)
		s.tri(i, i+3, i+2)
		return
	}
	s.tri(i, i+1, i+2)
	s.tri(i, i+2, i+3)
}

// addTangents fills the tangents of a primitive from its texture coordinates.
func addTangents(p *glbwrite.Primitive) {
	sum := make([]vec, len(p.Pos))
	hand := make([]float64, len(p.Pos))
	for t := 0; t+2 < len(p.Index); t += 3 {
		a, b, c := p.Index[t], p.Index[t+1], p.Index[t+2]
		e1 := geom.FromF32(p.Pos[b]).Sub(geom.FromF32(p.Pos[a]))
		e2 := geom.FromF32(p.Pos[c]).Sub(geom.FromF32(p.Pos[a]))
		u1, v1 := float64(p.UV0[b][0]-p.UV0[a][0]), float64(p.UV0[b][1]-p.UV0[a][1])
		u2, v2 := float64(p.UV0[c][0]-p.UV0[a][0]), float64(p.UV0[c][1]-p.UV0[a][1])
		det := float64(u1*v2) - float64(u2*v1)
		if det == 0 {
			continue
		}
		tan := vec{}
		for k := range 3 {
			tan[k] = (float64(e1[k]*v2) - float64(e2[k]*v1)) / det
		}
		for _, i := range [3]uint32{a, b, c} {
			sum[i] = sum[i].Add(tan)
			// glTF's bitangent follows the texture upwards, against v.
			hand[i] += math.Copysign(1, det)
		}
	}
	p.Tangent = make([][4]float32, len(p.Pos))
	for i := range p.Pos {
		n := geom.FromF32(p.Normal[i])
		d := n.Dot(sum[i])
		t := vec{}
		for k := range 3 {
			t[k] = sum[i][k] - float64(n[k]*d)
		}
		side := vec{1, 0, 0}
		if math.Abs(n[0]) > 0.9 {
			side = vec{0, 0, 1}
		}
		t = t.Normalize(1e-9, side.Cross(n).Normalize(1e-9, vec{1, 0, 0}))
		f := t.F32()
		w := float32(-1)
		if hand[i] < 0 {
			w = 1
		}
		p.Tangent[i] = [4]float32{f[0], f[1], f[2], w}
	}
}
