package main

import (
	"image"
	"image/color"
	"math"

	"github.com/untoldkit/untold/cook/texture"
	"github.com/untoldkit/untold/internal/geom"
)

// samples is the edge of the square of samples per pixel.
const samples = 2

// view is a camera: positions become screen x, y and depth.
type view struct {
	eye, right, up, back geom.Vec3
	scale                float64 // samples per metre at one metre
	cx, cy               float64
}

func newView(eye, target geom.Vec3, fov float64, w, h int) *view {
	back := eye.Sub(target).Normalize(0, geom.Vec3{0, 0, 1})
	right := geom.Vec3{0, 1, 0}.Cross(back).Normalize(1e-9, geom.Vec3{1, 0, 0})
	v := &view{eye: eye, right: right, up: back.Cross(right), back: back}
	v.cx, v.cy = float64(w*samples)/2, float64(h*samples)/2
	v.scale = v.cy / math.Tan(fov*math.Pi/360)
	return v
}

// corner is a vertex on its way to the screen.
type corner struct {
	p      geom.Vec3 // x, y, depth in camera space
	normal geom.Vec3
	uv     [2]float64
	color  [3]float64
}

type raster struct {
	w, h  int // samples
	cam   *view
	depth []float64
	pix   [][3]float64 // linear
	wire  bool
}

func newRaster(w, h int, cam *view, wire bool) *raster {
	r := &raster{w: w * samples, h: h * samples, cam: cam, wire: wire}
	r.depth, r.pix = make([]float64, r.w*r.h), make([][3]float64, r.w*r.h)
	for i := range r.depth {
		r.depth[i] = math.Inf(1)
		t := float64(i/r.w) / float64(r.h)
		r.pix[i] = [3]float64{0.42 + 0.3*t, 0.6 + 0.2*t, 0.85}
	}
	return r
}

const near = 0.05

func (r *raster) mesh(m *shape) {
	for i := 0; i+2 < len(m.indices); i += 3 {
		var tri [3]corner
		for k := range tri {
			v := m.indices[i+k]
			d := m.pos[v].Sub(r.cam.eye)
			tri[k] = corner{geom.Vec3{d.Dot(r.cam.right), d.Dot(r.cam.up), -d.Dot(r.cam.back)}, m.normal[v], m.uv[v], m.color[v]}
		}
		poly := clipNear(tri[:])
		for k := 2; k < len(poly); k++ {
			r.triangle(m, [3]corner{poly[0], poly[k-1], poly[k]})
		}
	}
}

// clipNear cuts what is behind the camera.
func clipNear(in []corner) []corner {
	var out []corner
	for i := range in {
		a, b := in[i], in[(i+1)%len(in)]
		if a.p[2] >= near {
			out = append(out, a)
		}
		if (a.p[2] >= near) != (b.p[2] >= near) {
			t := (near - a.p[2]) / (b.p[2] - a.p[2])
			out = append(out, mix(&a, &b, t))
		}
	}
	return out
}

func mix(a, b *corner, t float64) corner {
	c := *a
	for k := range 3 {
		c.p[k] += t * (b.p[k] - a.p[k])
		c.normal[k] += t * (b.normal[k] - a.normal[k])
		c.color[k] += t * (b.color[k] - a.color[k])
	}
	for k := range 2 {
		c.uv[k] += t * (b.uv[k] - a.uv[k])
	}
	return c
}

func (r *raster) triangle(m *shape, c [3]corner) {
	var x, y, iz [3]float64
	for k := range c {
		iz[k] = 1 / c[k].p[2]
		x[k] = r.cam.cx + c[k].p[0]*iz[k]*r.cam.scale
		y[k] = r.cam.cy - c[k].p[1]*iz[k]*r.cam.scale
	}
	area := (x[1]-x[0])*(y[2]-y[0]) - (x[2]-x[0])*(y[1]-y[0])
	if area == 0 || area > 0 && !m.twoSided { // y runs down: front faces are negative
		return
	}
	lod := mipOf(m, &c, area)
	x0, x1 := clampSpan(x[:], r.w)
	y0, y1 := clampSpan(y[:], r.h)
	for py := y0; py < y1; py++ {
		for px := x0; px < x1; px++ {
			sx, sy := float64(px)+.5, float64(py)+.5
			b0 := ((x[1]-sx)*(y[2]-sy) - (x[2]-sx)*(y[1]-sy)) / area
			b1 := ((x[2]-sx)*(y[0]-sy) - (x[0]-sx)*(y[2]-sy)) / area
			b2 := 1 - b0 - b1
			if b0 < 0 || b1 < 0 || b2 < 0 {
				continue
			}
			w := b0*iz[0] + b1*iz[1] + b2*iz[2]
			z := 1 / w
			if z >= r.depth[py*r.w+px] {
				continue
			}
			weights := [3]float64{b0 * iz[0] * z, b1 * iz[1] * z, b2 * iz[2] * z}
			col, ok := shade(m, &c, &weights, lod)
			if !ok {
				continue
			}
			if r.wire && min(b0*math.Abs(area), b1*math.Abs(area), b2*math.Abs(area)) < math.Sqrt(math.Abs(area))*1.2 {
				col = [3]float64{0.05, 0.05, 0.05}
			}
			r.depth[py*r.w+px] = z
			r.pix[py*r.w+px] = col
		}
	}
}

func clampSpan(v []float64, n int) (lo, hi int) {
	return int(max(0, min(v[0], v[1], v[2]))), int(min(float64(n), max(v[0], v[1], v[2])+1))
}

// mipOf picks the mip at which a texel is about a sample large.
func mipOf(m *shape, c *[3]corner, area float64) int {
	if m.tex == nil {
		return 0
	}
	du1, dv1 := c[1].uv[0]-c[0].uv[0], c[1].uv[1]-c[0].uv[1]
	du2, dv2 := c[2].uv[0]-c[0].uv[0], c[2].uv[1]-c[0].uv[1]
	texels := math.Abs(du1*dv2-du2*dv1) * float64(m.tex.Rect.Dx()*m.tex.Rect.Dy())
	level := 0.5 * math.Log2(max(texels/max(math.Abs(area), 1e-9), 1))
	return min(int(level), len(m.mips)-1)
}

// sun is where the light comes from.
var sun = geom.Vec3{-0.45, 0.75, 0.5}.Normalize(0, geom.Vec3{0, 1, 0})

// shade returns linear light; false where the material is cut out.
func shade(m *shape, c *[3]corner, w *[3]float64, lod int) ([3]float64, bool) {
	var n geom.Vec3
	var uv [2]float64
	col := m.base
	for a := range 3 {
		t := 0.0
		for k := range 3 {
			n[a] += w[k] * c[k].normal[a]
			t += w[k] * c[k].color[a]
		}
		col[a] *= t
	}
	for k := range 3 {
		uv[0] += w[k] * c[k].uv[0]
		uv[1] += w[k] * c[k].uv[1]
	}
	if m.tex != nil {
		img := m.mips[lod]
		at := func(f float64, n int) int { return min(n-1, int((f-math.Floor(f))*float64(n))) }
		p := img.Pix[at(uv[1], img.Rect.Dy())*img.Stride+4*at(uv[0], img.Rect.Dx()):]
		if float64(p[3])/255 < m.mask {
			return col, false
		}
		for a := range 3 {
			col[a] *= float64(texture.Linear(p[a]))
		}
	}
	n = n.Normalize(1e-9, geom.Vec3{0, 1, 0})
	light := 0.32 + 0.12*n[1] + 0.75*max(0, n.Dot(sun))
	for a := range 3 {
		col[a] *= light
	}
	return col, true
}

// picture averages the samples.
func (r *raster) picture() *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, r.w/samples, r.h/samples))
	for y := range r.h / samples {
		for x := range r.w / samples {
			var sum [3]float64
			for k := range samples * samples {
				p := r.pix[(y*samples+k/samples)*r.w+x*samples+k%samples]
				for a := range 3 {
					sum[a] += p[a] / (samples * samples)
				}
			}
			c := color.NRGBA{A: 255}
			c.R, c.G, c.B = texture.FromLinear(float32(sum[0])), texture.FromLinear(float32(sum[1])), texture.FromLinear(float32(sum[2]))
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}
