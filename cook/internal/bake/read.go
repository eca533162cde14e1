package bake

import (
	"image"

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
	hand := 0.0
	for k, v := range corners {
		t, by := &tangents[v], w[k]
		tangent[0] += float64(float64(t[0]) * by)
		tangent[1] += float64(float64(t[1]) * by)
		tangent[2] += float64(float64(t[2]) * by)
		hand += float64(by * float64(t[3]))
	}
	if tangent = tangent.Sub(n.Scale(n.Dot(tangent))).Normalize(1e-12, geom.Vec3{}); tangent == (geom.Vec3{}) {
		tangent = across(n)
	}
	bitangent = n.Cross(tangent)
	if hand < 0 {
		bitangent = bitangent.Scale(-1)
	}
	return tangent, bitangent
}
