package bake

import (
	"image"
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// readReach is how many texels beside a triangle belong to it, where no other is nearer:
// pixels there show their texels, too.
const readReach = 2

// ReadNormals returns what a square picture of baked normals says in the space of the
// mesh, texel by texel. uv are the places of the mesh's vertices, 0 to 1. Texels that are
// far from all triangles have no normal, 0.
func (c *Coarse) ReadNormals(uv [][2]float32, img *image.NRGBA) []geom.Vec3 {
	side := img.Rect.Dx()
	cells, off := make([]cell, side*side), make([]float64, side*side)
	for i := range cells {
		cells[i].triangle, off[i] = -1, readReach*readReach
	}
	// Most texels lie within a triangle: what is near others need not be known of them.
	for _, reach := range [2]float64{0, readReach} {
		for t := range len(c.Indices) / 3 {
			var p [3][2]float64
			for k, v := range c.Indices[3*t : 3*t+3] {
				p[k] = [2]float64{float64(uv[v][0]) * float64(side), float64(uv[v][1]) * float64(side)}
			}
			clamp := func(v float64) int { return int(min(max(v, 0), float64(side))) }
			x0, x1 := clamp(min(p[0][0], p[1][0], p[2][0])-reach), clamp(max(p[0][0], p[1][0], p[2][0])+reach+1)
			y0, y1 := clamp(min(p[0][1], p[1][1], p[2][1])-reach), clamp(max(p[0][1], p[1][1], p[2][1])+reach+1)
			for y := y0; y < y1; y++ {
				for x := x0; x < x1; x++ {
					i := y*side + x
					if off[i] == 0 {
						continue
					}
					at := [2]float64{float64(x) + 0.5, float64(y) + 0.5}
					if reach == 0 && misses(at, p[0], p[1], p[2]) {
						continue
					}
					if w, d := nearest(at, p[0], p[1], p[2]); d < off[i] && (reach > 0 || d == 0) {
						cells[i], off[i] = cell{int32(t), w}, d
					}
				}
			}
		}
	}
	b := &baker{coarse: c}
	out := make([]geom.Vec3, len(cells))
	for i := range cells {
		if cells[i].triangle < 0 {
			continue
		}
		var v [3]float64
		for k := range v {
			v[k] = float64(2*float64(img.Pix[4*i+k])/255) - 1
		}
		tangent, bitangent, shade := b.frame(&cells[i])
		out[i] = tangent.Scale(v[0]).Add(bitangent.Scale(v[1])).Add(shade.Scale(v[2])).Normalize(1e-12, shade)
	}
	return out
}

// frame returns the axes of a cell's normals in the space of the mesh.
func (b *baker) frame(c *cell) (tangent, bitangent, shade geom.Vec3) {
	shade = b.shade(c)
	i := b.coarse.Indices[3*c.triangle : 3*c.triangle+3]
	tangent, bitangent = axes(b.coarse.Tangents, i, &[3]float64{float64(c.w[0]), float64(c.w[1]), float64(c.w[2])}, shade)
	return tangent, bitangent, shade
}

// axes returns what the first two coordinates of tangent space are measured along at a point
// of a triangle, by the weights of its corners, where the normal is n.
func axes(tangents [][4]float32, corners []uint32, w *[3]float64, n geom.Vec3) (tangent, bitangent geom.Vec3) {
	// Vectors would lie in memory: these are registers.
	p, q, r := &tangents[corners[0]], &tangents[corners[1]], &tangents[corners[2]]
	tx, ty, tz, hand := mixed(w, p[0], q[0], r[0]), mixed(w, p[1], q[1], r[1]), mixed(w, p[2], q[2], r[2]), mixed(w, p[3], q[3], r[3])
	nx, ny, nz := n[0], n[1], n[2]
	along := float64(nx*tx) + float64(ny*ty) + float64(nz*tz)
	tx, ty, tz = tx-float64(nx*along), ty-float64(ny*along), tz-float64(nz*along)
	length := math.Sqrt(float64(tx*tx) + float64(ty*ty) + float64(tz*tz))
	if !(length > 1e-12) || math.IsInf(length, 0) {
		tangent = across(n)
		tx, ty, tz = tangent[0], tangent[1], tangent[2]
	} else {
		by := 1 / length
		tx, ty, tz = float64(tx*by), float64(ty*by), float64(tz*by)
	}
	bx, by, bz := float64(ny*tz)-float64(nz*ty), float64(nz*tx)-float64(nx*tz), float64(nx*ty)-float64(ny*tx)
	if hand < 0 {
		bx, by, bz = -bx, -by, -bz
	}
	return geom.Vec3{tx, ty, tz}, geom.Vec3{bx, by, bz}
}
