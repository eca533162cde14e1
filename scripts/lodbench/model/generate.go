package model

import (
	"math"
	"math/bits"
	"slices"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/stable"
)

// rock returns a sphere of 2n x n squares displaced by noise, with a texture
// seam from pole to pole; 360 makes 516,960 triangles.
func rock(n int) *Mesh {
	m := &Mesh{Name: "rock360"}
	cols := 2 * n
	for j := range n + 1 {
		v := float64(j) / float64(n)
		for i := range cols + 1 {
			u := float64(i) / float64(cols)
			// The last column repeats the first: i % cols.
			turn := float64(i%cols) / float64(cols)
			r := stable.Sin(v / 2)
			d := geom.Vec3{float64(r * stable.Cos(turn)), stable.Cos(v / 2), float64(r * stable.Sin(turn))}
			if j == 0 || j == n {
				d = geom.Vec3{0, math.Copysign(1, 0.5-v), 0}
			}
			m.Positions = append(m.Positions, d.Scale(1+float64(0.3*fbm(d.Scale(1.5), 5, 11))))
			m.UV = append(m.UV, [2]float32{float32(u), float32(v)})
		}
	}
	for j := range n {
		for i := range cols {
			a := uint32(j*(cols+1) + i)
			b, c, d := a+1, a+uint32(cols)+1, a+uint32(cols)+2
			if j > 0 {
				m.Indices = append(m.Indices, a, b, c)
			}
			if j < n-1 {
				m.Indices = append(m.Indices, b, d, c)
			}
		}
	}
	m.Normals = smoothNormals(m.Positions, m.Indices)
	m.closeSeam(n, cols)
	return m.finish()
}

// closeSeam gives the vertices of the seam and of the poles one normal per
// position.
func (m *Mesh) closeSeam(n, cols int) {
	share := func(list ...int) {
		var sum geom.Vec3
		for _, v := range list {
			sum = sum.Add(geom.FromF32(m.Normals[v]))
		}
		for _, v := range list {
			m.Normals[v] = sum.Normalize(1e-30, geom.Vec3{0, 1, 0}).F32()
		}
	}
	for j := range n + 1 {
		row := j * (cols + 1)
		if j > 0 && j < n {
			share(row, row+cols)
			continue
		}
		// A corner of a pole that belongs to no triangle takes no part.
		var pole []int
		for i := range cols {
			pole = append(pole, row+i+(1-j/n))
		}
		share(pole...)
	}
}

// terrain returns a landscape of n x n squares of one metre; 1024 makes
// 2,097,152 triangles.
func terrain(n int) *Mesh {
	m := &Mesh{Name: "terrain1k"}
	// The last octave is two squares wide, whatever their number.
	octaves, height := bits.Len(uint(n))-3, 90*float64(n)/1024
	for j := range n + 1 {
		for i := range n + 1 {
			u, v := float64(i)/float64(n), float64(j)/float64(n)
			h := height * fbm(geom.Vec3{float64(u * 4), float64(v * 4), 0.5}, octaves, 5)
			m.Positions = append(m.Positions, geom.Vec3{float64(i), h, float64(j)})
			m.UV = append(m.UV, [2]float32{float32(u), float32(v)})
		}
	}
	for j := range n {
		for i := range n {
			a := uint32(j*(n+1) + i)
			b, c, d := a+1, a+uint32(n)+1, a+uint32(n)+2
			m.Indices = append(m.Indices, a, c, b, b, c, d)
		}
	}
	m.Normals = smoothNormals(m.Positions, m.Indices)
	return m.finish()
}

// finish rounds the positions to single precision and fills the groups; what has
// no materials is gray.
func (m *Mesh) finish() *Mesh {
	for i, p := range m.Positions {
		m.Positions[i] = geom.FromF32(p.F32())
	}
	if m.Groups == nil {
		m.Groups = make([]int32, m.Triangles())
	}
	if m.Materials == nil {
		m.Materials = make([]appearance.Material, slices.Max(m.Groups)+1)
		for i := range m.Materials {
			m.Materials[i].Color = [4]float32{0.6, 0.6, 0.6, 1}
		}
	}
	return m
}

// fbm adds octaves of gradient noise, each of twice the frequency and half the
// height of the one before.
func fbm(p geom.Vec3, octaves int, seed uint64) float64 {
	sum, height := 0.0, 1.0
	for o := range octaves {
		sum += float64(height * noise(p, seed+uint64(o)))
		p = p.Scale(2)
		height /= 2
	}
	return sum
}

// noise is gradient noise with a quintic fade (Perlin, Improving Noise, 2002),
// about -1 to 1.
func noise(p geom.Vec3, seed uint64) float64 {
	var cell [3]int64
	var f, fade geom.Vec3
	for k := range p {
		floor := math.Floor(p[k])
		cell[k], f[k] = int64(floor), p[k]-floor
		t := f[k]
		fade[k] = float64(float64(t*t)*t) * (float64(t*(float64(t*6)-15)) + 10)
	}
	var corner [8]float64
	for c := range corner {
		d := [3]int64{int64(c & 1), int64(c >> 1 & 1), int64(c >> 2)}
		h := seed
		for k := range d {
			h = stable.Mix(h ^ uint64(cell[k]+d[k])*0x9e3779b97f4a7c15)
		}
		corner[c] = gradient(h, f[0]-float64(d[0]), f[1]-float64(d[1]), f[2]-float64(d[2]))
	}
	lerp := func(a, b, t float64) float64 { return a + float64((b-a)*t) }
	var edge [4]float64
	for e := range edge {
		edge[e] = lerp(corner[2*e], corner[2*e+1], fade[0])
	}
	return lerp(lerp(edge[0], edge[1], fade[1]), lerp(edge[2], edge[3], fade[1]), fade[2])
}

// gradient is the dot product with one of the 12 directions to the edges of a
// cube.
func gradient(h uint64, x, y, z float64) float64 {
	a, b := x, y
	switch h % 12 / 4 {
	case 1:
		a = z
	case 2:
		b = z
	}
	if h&1 != 0 {
		a = -a
	}
	if h&2 != 0 {
		b = -b
	}
	return a + b
}
