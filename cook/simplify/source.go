package simplify

import "slices"

// What wedges and triangles are given of the source's attributes.

// finite returns x, or 0 if it is NaN, infinite or too large to square.
func finite(x float32) float64 {
	if !isFinite(x) {
		return 0
	}
	return float64(x)
}

func isFinite(x float32) bool { return x > -1e15 && x < 1e15 }

// tame returns a mesh with the same attributes as far as they are finite.
func (m *Mesh) tame() *Mesh {
	t := *m
	t.Normals, t.Colors = tame(m.Normals), tame(m.Colors)
	for i, uv := range m.UV {
		t.UV[i] = tame(uv)
	}
	return &t
}

type tuple interface {
	[2]float32 | [3]float32 | [4]float32
}

// tame returns a list itself if all is finite.
func tame[T tuple](list []T) []T {
	for i := range list {
		x, n := &list[i], len(list[i])
		a, b, c, d := (*x)[0], (*x)[1], (*x)[n-2], (*x)[n-1]
		if float32(a*a)+float32(b*b)+float32(c*c)+float32(d*d) < 1e30 { // then each is finite
			continue
		}
		list = slices.Clone(list)
		for i := range list {
			for k := range len(list[i]) {
				list[i][k] = float32(finite(list[i][k]))
			}
		}
		return list
	}
	return list
}

// attributes writes a vertex's attributes, in internal units, into a record.
func (s *Simplifier) attributes(m *Mesh, v uint32, to *record) {
	at, scale := uint(1), s.scale
	if m.Normals != nil {
		x, f := &m.Normals[v], scale[0]
		to[1], to[4], to[7] = float32(x[0]*f), float32(x[1]*f), float32(x[2]*f)
		at = 10
	}
	for i := range m.UV {
		if uv := m.UV[i]; uv != nil && at < recordSize-3 { // it always is: no checks of bounds
			x, f := &uv[v], scale[at/3]
			to[at], to[at+3] = float32(x[0]*f), float32(x[1]*f)
			at += 6
		}
	}
	if m.Colors != nil {
		f := scale[at/3]
		for _, x := range m.Colors[v] {
			to[at] = float32(x * f)
			at += 3
		}
	}
}

// differences writes how much attributes change along the edges of a triangle
// from its first vertex: to the second where the attribute is in a record, and to
// the third behind that.
func (s *Simplifier) differences(m *Mesh, a, b, c uint32, to *record) {
	at, scale := uint(1), s.scale
	if m.Normals != nil {
		p, q, r, f := &m.Normals[a], &m.Normals[b], &m.Normals[c], scale[0]
		to[1], to[2] = float32((q[0]-p[0])*f), float32((r[0]-p[0])*f)
		to[4], to[5] = float32((q[1]-p[1])*f), float32((r[1]-p[1])*f)
		to[7], to[8] = float32((q[2]-p[2])*f), float32((r[2]-p[2])*f)
		at = 10
	}
	for i := range m.UV {
		if uv := m.UV[i]; uv != nil && at < recordSize-4 { // it always is
			p, q, r, f := &uv[a], &uv[b], &uv[c], scale[at/3]
			to[at], to[at+1] = float32((q[0]-p[0])*f), float32((r[0]-p[0])*f)
			to[at+3], to[at+4] = float32((q[1]-p[1])*f), float32((r[1]-p[1])*f)
			at += 6
		}
	}
	if m.Colors != nil {
		p, q, r, f := &m.Colors[a], &m.Colors[b], &m.Colors[c], scale[at/3]
		for i, x := range p {
			to[at], to[at+1] = float32((q[i]-x)*f), float32((r[i]-x)*f)
			at += 3
		}
	}
}
