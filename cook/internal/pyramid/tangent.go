package pyramid

import (
	"math"

	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/internal/geom"
)

// setTangents gives each vertex one tangent, the mean direction of u round it by area.
// Others would be split where that differs from corner to corner; here what is baked is
// made for these tangents and read with them, whatever they are. Charts are never
// mirrored seen with v downwards, so that all are left-handed with it upwards.
func setTangents(m *mesh.Mesh) {
	sums := make([]geom.Vec3, len(m.Positions))
	for t := 0; t < len(m.Indices); t += 3 {
		i := m.Indices[t : t+3]
		u := alongU(m, i)
		for _, v := range i {
			sums[v] = sums[v].Add(u)
		}
	}
	m.Tangents = make([][4]float32, len(sums))
	for v, sum := range sums {
		n := geom.FromF32(m.Normals[v])
		axis := geom.Vec3{1, 0, 0}
		if math.Abs(n[0]) > 0.9 {
			axis = geom.Vec3{0, 1, 0}
		}
		other := axis.Sub(n.Scale(n.Dot(axis))).Normalize(1e-12, axis)
		t := sum.Sub(n.Scale(n.Dot(sum))).Normalize(1e-12, other).F32()
		m.Tangents[v] = [4]float32{t[0], t[1], t[2], -1}
	}
}

// alongU returns the direction in which u grows on a triangle, as long as twice its area;
// 0 where the texture coordinates have no area.
func alongU(m *mesh.Mesh, i []uint32) geom.Vec3 {
	p, uv := m.Positions, m.UV[0]
	side := func(k int) (geom.Vec3, [2]float64) {
		a, b := uv[i[0]], uv[i[k]]
		return p[i[k]].Sub(p[i[0]]), [2]float64{float64(b[0]) - float64(a[0]), float64(b[1]) - float64(a[1])}
	}
	ab, f := side(1)
	ac, g := side(2)
	area := float64(f[0]*g[1]) - float64(g[0]*f[1])
	if area == 0 {
		return geom.Vec3{}
	}
	d := ab.Scale(g[1]).Sub(ac.Scale(f[1])) // v stays on it
	if area < 0 {
		d = d.Scale(-1)
	}
	return d.Normalize(1e-30, geom.Vec3{}).Scale(ab.Cross(ac).Len())
}
