package appearance

import (
	"image"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

// drawPlainly draws a model as canvas.draw must, with a division wherever there is one
// to be made.
func (c *canvas) drawPlainly(v *view, m *model) picture {
	n := v.w * v.h
	c.depth, c.pix, c.points = make([]int32, n), make([]pixel, n), make([]point, len(m.Positions))
	for i, p := range m.Positions {
		d := p.Sub(v.origin)
		c.points[i] = point{snap(d.Dot(v.right)/v.pixel - v.x0), snap(d.Dot(v.up)/v.pixel - v.y0), snap(d.Dot(v.toward) / v.pixel)}
	}
	for t := range len(m.Indices) / 3 {
		if c.split != nil {
			c.split.part = c.split.parts[t]
		}
		c.trianglePlainly(v, m, t)
	}
	return picture{v.w, v.h, c.pix}
}

func (c *canvas) trianglePlainly(v *view, m *model, t int) {
	i := [3]uint32(m.Indices[3*t : 3*t+3])
	paint := &m.paints[m.Materials[t]]
	area := edge(c.points[i[0]], c.points[i[1]], c.points[i[2]].x, c.points[i[2]].y)
	if area == 0 || area < 0 && !paint.DoubleSided {
		return
	}
	if area < 0 {
		i[1], i[2], area = i[2], i[1], -area
	}
	a, b, d := c.points[i[0]], c.points[i[1]], c.points[i[2]]
	s := shade{}
	if paint.Texture != nil && m.UV != nil {
		s.mip, s.textured = s.texture(m.Mesh, paint.Texture, i, area), true
	}
	if paint.Light != nil && m.UV != nil {
		s.bumps, s.bumped = s.texture(m.Mesh, paint.Light, i, area), true
	}
	low, high := min(a.y, b.y, d.y)/subpixel-1, max(a.y, b.y, d.y)/subpixel+1
	left, right := min(a.x, b.x, d.x)/subpixel-1, max(a.x, b.x, d.x)/subpixel+1
	for y := max(int(low), 0); y < min(int(high)+1, v.h); y++ {
		for x := max(int(left), 0); x < min(int(right)+1, v.w); x++ {
			cx, cy := int32(x*subpixel+subpixel/2), int32(y*subpixel+subpixel/2)
			w := [3]int64{edge(b, d, cx, cy), edge(d, a, cx, cy), edge(a, b, cx, cy)}
			if w[0] < 0 || w[1] < 0 || w[2] < 0 {
				continue
			}
			mix := func(of func(k int) int64) int64 {
				return (w[0]*of(0) + w[1]*of(1) + w[2]*of(2)) / area
			}
			z := zeroDepth + int32(mix(func(k int) int64 { return int64(c.points[i[k]].z) }))
			color, light := paint.base, int64(0)
			for k := range color {
				if m.colors != nil {
					color[k] = color[k] * mix(func(c int) int64 { return int64(m.colors[i[c]][k]) }) / one
				}
			}
			if s.textured {
				t := s.mip.at(mix(func(k int) int64 { return s.uv[k][0] }), mix(func(k int) int64 { return s.uv[k][1] }))
				for k := range color {
					color[k] = color[k] * int64(t>>(16*k)&0xffff) / one
				}
			}
			if paint.Masked && color[3] < paint.cutoff || paint.Transparent && color[3]*16 <= bayer[y&3][x&3]*one {
				continue
			}
			switch {
			case paint.Unlit:
				light = one
			case s.bumped:
				light = int64(s.bumps.at(mix(func(k int) int64 { return s.uv[k][0] }), mix(func(k int) int64 { return s.uv[k][1] })) & 0xffff)
			case m.lights != nil:
				light = mix(func(k int) int64 { return int64(m.lights[i[k]]) })
			default:
				light = int64(m.faceLight(i[0], i[1], i[2]))
			}
			var lit [3]uint64
			for k := range lit {
				lit[k] = uint64(min(color[k]*light/one+paint.glow[k], one))
			}
			c.putPlainly(y*v.w+x, z, makePixel(lit[0], lit[1], lit[2], one))
		}
	}
}

func (c *canvas) putPlainly(i int, z int32, p pixel) {
	front := z > c.depth[i]
	if s := c.split; s != nil {
		switch {
		case front && (s.owner[i] != s.part || c.depth[i] == 0):
			s.behind[i], s.owner[i] = layer{c.pix[i], c.depth[i]}, s.part
		case !front && s.owner[i] != s.part && z > s.behind[i].depth:
			s.behind[i] = layer{p, z}
		}
	}
	if front {
		c.depth[i], c.pix[i] = z, p
	}
}

// looksOfAll are materials of every kind.
func looksOfAll() []Material {
	img := image.NewNRGBA(image.Rect(0, 0, 16, 8))
	for i := range img.Pix {
		img.Pix[i] = uint8(i * i * 7)
	}
	texture := NewTexture(img, func(v uint8) float32 { return float32(v) / 255 })
	normals := make([]geom.Vec3, 64)
	for i := range normals {
		normals[i] = geom.Vec3{float64(i%5) - 2, float64(i%3) - 1, 1}
	}
	bumps := NewLight(normals, 8)
	var out []Material
	for k := range 64 {
		m := Material{
			Color: [4]float32{0.9, 0.7, float32(k%32) / 31, 0.8}, DoubleSided: k&1 != 0, Unlit: k == 9,
			Masked: k&12 == 4, Cutoff: 0.4, Transparent: k&12 == 8,
		}
		if k&2 != 0 {
			m.Texture = texture
		}
		if k&16 != 0 {
			m.Color, m.Emissive = [4]float32{1, 1, 1, 1}, [3]float32{0.1, 0.5, 0}
		}
		if k&32 != 0 {
			m.Light = bumps
		}
		out = append(out, m)
	}
	return out
}

// TestDraw: pictures are those that a division for everything gives, bit for bit.
func TestDraw(t *testing.T) {
	looks := looksOfAll()
	rapid.Check(t, func(t *rapid.T) {
		m := &Mesh{}
		span := rapid.SampledFrom([]float64{0.3, 1, 6, 1e4}).Draw(t, "span")
		at := rapid.Float64Range(-span, span)
		unit := rapid.Float32Range(0, 1)
		n := rapid.IntRange(1, 12).Draw(t, "triangles")
		if rapid.Bool().Draw(t, "normals") {
			m.Normals = make([][3]float32, 3*n)
		}
		if rapid.Bool().Draw(t, "colours") {
			m.Colors = make([][4]float32, 3*n)
		}
		if rapid.Bool().Draw(t, "texture coordinates") {
			m.UV = make([][2]float32, 3*n)
		}
		repeats := rapid.SampledFrom([]float32{0, 1, 5000}).Draw(t, "repeats")
		parts := make([]int32, n)
		for k := range n {
			parts[k] = int32(rapid.IntRange(0, 3).Draw(t, "part"))
			m.Materials = append(m.Materials, int32(rapid.IntRange(0, len(looks)-1).Draw(t, "material")))
			flat := rapid.Bool().Draw(t, "flat")
			for c := range 3 {
				i := 3*k + c
				m.Indices = append(m.Indices, uint32(i))
				m.Positions = append(m.Positions, geom.Vec3{at.Draw(t, "x"), at.Draw(t, "y"), at.Draw(t, "z")})
				from := i
				if flat {
					from = 3 * k
				}
				if m.Normals != nil {
					m.Normals[i] = [3]float32{unit.Draw(t, "nx"), unit.Draw(t, "ny"), 0.1}
					m.Normals[i] = m.Normals[from]
				}
				if m.Colors != nil {
					m.Colors[i] = [4]float32{unit.Draw(t, "red"), unit.Draw(t, "green"), 1, unit.Draw(t, "alpha")}
					m.Colors[i] = m.Colors[from]
				}
				if m.UV != nil {
					m.UV[i] = [2]float32{repeats * unit.Draw(t, "u"), repeats * unit.Draw(t, "v")}
					m.UV[i] = m.UV[from]
				}
			}
		}
		box := geom.Box{Min: geom.Vec3{-1, -1, -1}, Max: geom.Vec3{1, 1, 1}}
		v := newView(directions[rapid.IntRange(0, len(directions)-1).Draw(t, "side")], box, 2.0/rapid.Float64Range(3, 40).Draw(t, "pixels"))
		model := newModel(m, newPaints(looks))
		for _, parted := range []bool{false, true} {
			got, want := drawnBy((*canvas).draw, &v, model, parts, parted), drawnBy((*canvas).drawPlainly, &v, model, parts, parted)
			if !slices.Equal(got.points, want.points) {
				t.Fatalf("points %v, want %v", got.points, want.points)
			}
			for i := range want.pix {
				if got.pix[i] != want.pix[i] || got.depth[i] != want.depth[i] {
					t.Fatalf("pixel %d of %d x %d is %x at %d, want %x at %d", i, v.w, v.h, got.pix[i], got.depth[i], want.pix[i], want.depth[i])
				}
			}
			if parted && (!slices.Equal(got.split.owner, want.split.owner) || !slices.Equal(got.split.behind, want.split.behind)) {
				t.Fatal("parts differ")
			}
		}
	})
}

func drawnBy(draw func(*canvas, *view, *model) picture, v *view, m *model, parts []int32, parted bool) *canvas {
	c := &canvas{}
	if parted {
		c.split = &split{parts: parts}
		c.split.resize(v.w * v.h)
	}
	draw(c, v, m)
	return c
}

func TestScaled(t *testing.T) {
	for a := range int64(one + 1) {
		for b := a; b <= one; b += 1 + a%7 {
			if got := scaled(a, b); got != a*b/one {
				t.Fatalf("%d * %d is %d", a, b, got)
			}
		}
	}
}

func TestQuotient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Int64Range(1, math.MaxInt64>>20).Draw(t, "d")
		q := rapid.Int64Range(0, min(1<<30, math.MaxInt64/d-1)).Draw(t, "q")
		for _, r := range []int64{0, 1, d / 2, d - 1, rapid.Int64Range(0, d-1).Draw(t, "r")} {
			if n := q*d + r; n/d != quotient(n, d, 1/float64(d)) {
				t.Fatalf("%d / %d is %d", n, d, quotient(n, d, 1/float64(d)))
			}
		}
	})
}

// BenchmarkDraw draws a picture; x-base is how many times longer it takes with divisions.
func BenchmarkDraw(b *testing.B) {
	for _, textured := range []bool{false, true} {
		name := "smooth"
		m, looks := sphere(128), slices.Clone(paints)
		if textured {
			name = "textured"
			looks = looksOfAll()[2:]
			for _, p := range m.Positions {
				m.UV = append(m.UV, [2]float32{float32(p[0]), float32(p[1] + p[2])})
				m.Colors = append(m.Colors, [4]float32{1, 0.5, 1, 1})
			}
		}
		b.Run(name, func(b *testing.B) {
			r := New(m, looks)
			size := r.box.Size()
			v := newView(directions[0], r.box, size.Len()/600)
			var c canvas
			plain := time.Duration(0)
			for b.Loop() {
				c.draw(&v, r.model)
				b.StopTimer()
				start := time.Now()
				new(canvas).drawPlainly(&v, r.model)
				plain += time.Since(start)
				b.StartTimer()
			}
			b.ReportMetric(float64(v.w*v.h)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpixel/s")
			b.ReportMetric(plain.Seconds()/b.Elapsed().Seconds(), "x-base")
		})
	}
}
