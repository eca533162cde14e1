package appearance

import (
	"image"
	"image/color"
	"math"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

// quad adds a rectangle with the corner o and the sides u and v, seen from
// where u turns to v counter-clockwise.
func (m *Mesh) quad(o, u, v geom.Vec3, material int32) {
	base := uint32(len(m.Positions))
	m.Positions = append(m.Positions, o, o.Add(u), o.Add(u).Add(v), o.Add(v))
	m.Indices = append(m.Indices, base, base+1, base+2, base, base+2, base+3)
	m.Materials = append(m.Materials, material, material)
}

// box adds a box.
func (m *Mesh) addBox(lo, hi geom.Vec3, material int32) {
	s := hi.Sub(lo)
	x, y, z := geom.Vec3{s[0]}, geom.Vec3{0, s[1]}, geom.Vec3{0, 0, s[2]}
	m.quad(lo, y, x, material)        // -z
	m.quad(lo.Add(z), x, y, material) // +z
	m.quad(lo, z, y, material)        // -x
	m.quad(lo.Add(x), y, z, material) // +x
	m.quad(lo, x, z, material)        // -y
	m.quad(lo.Add(y), z, x, material) // +y
}

func gray(v float32) Material { return Material{Color: [4]float32{v, v, v, 1}} }

var paints = []Material{gray(0.6), gray(0.05), {Color: [4]float32{0.7, 0.1, 0.1, 1}}, {Color: [4]float32{0.6, 0.6, 0.6, 0.3}, Transparent: true}}

// house is a building with windows of 1 x 1.5 m, 1 cm before its wall.
func house(windows func(*Mesh, geom.Vec3)) *Mesh {
	m := &Mesh{}
	m.addBox(geom.Vec3{}, geom.Vec3{12, 9, 10}, 0)
	for floor := range 3 {
		for k := range 5 {
			windows(m, geom.Vec3{1 + 2.2*float64(k), 1 + 3*float64(floor), 10.01})
		}
	}
	return m
}

func window(m *Mesh, at geom.Vec3) { m.quad(at, geom.Vec3{1}, geom.Vec3{0, 1.5}, 1) }

func TestError(t *testing.T) {
	whole := house(window)
	post := func(thick, high float64) *Mesh {
		m := house(window)
		m.addBox(geom.Vec3{14, 0, 5}, geom.Vec3{14 + thick, high, 5 + thick}, 1)
		return m
	}
	for _, c := range []struct {
		name      string
		ref       *Mesh
		level     *Mesh
		low, high float64 // metres
	}{
		{"the same", whole, house(window), 0, 0},
		{"windows lose a triangle", whole, house(func(m *Mesh, at geom.Vec3) {
			window(m, at)
			m.Indices, m.Materials = m.Indices[:len(m.Indices)-3], m.Materials[:len(m.Materials)-1]
		}), 0.5, 3},
		{"windows are gone", whole, house(func(*Mesh, geom.Vec3) {}), 1.5, 8},
		{"windows are wall-coloured", whole, house(func(m *Mesh, at geom.Vec3) { m.quad(at, geom.Vec3{1}, geom.Vec3{0, 1.5}, 0) }), 1.5, 8},
		{"windows move by 2 cm", whole, house(func(m *Mesh, at geom.Vec3) { window(m, at.Add(geom.Vec3{0.02})) }), 0.001, 0.1},
		{"windows move by 20 cm", whole, house(func(m *Mesh, at geom.Vec3) { window(m, at.Add(geom.Vec3{0.2})) }), 0.1, 1},
		{"a thin post is gone", post(0.1, 8), whole, 0.02, 1},
		{"a thick post is gone", post(1, 8), whole, 0.8, 12},
		{"nothing is left", whole, &Mesh{}, 18, 19},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := New(c.ref, paints).Error(c.level)
			if !(got >= c.low && got <= c.high) {
				t.Errorf("%v m, want %v to %v", got, c.low, c.high)
			}
		})
	}
}

// Another size of the same thing has an error of that size.
func TestErrorScales(t *testing.T) {
	scaled := func(m *Mesh, s float64) *Mesh {
		out := *m
		out.Positions = nil
		for _, p := range m.Positions {
			out.Positions = append(out.Positions, p.Scale(s).Add(geom.Vec3{1000 * s, 0, -300 * s}))
		}
		return &out
	}
	a, b := house(window), house(func(*Mesh, geom.Vec3) {})
	want := New(a, paints).Error(b)
	for _, s := range []float64{1.0 / 64, 1, 1024} {
		got := New(scaled(a, s), paints).Error(scaled(b, s)) / s
		if math.Abs(got-want) > 0.02*want {
			t.Errorf("%v times the size: %v, want %v", s, got, want)
		}
	}
}

// A coarser approximation is never the better one.
func TestErrorOfCoarserSpheres(t *testing.T) {
	fine, last := sphere(64), 0.0
	r := New(fine, paints)
	for _, n := range []int{48, 32, 16, 8, 4} {
		got := r.Error(sphere(n))
		if !(got > last) || got > 3 {
			t.Errorf("%d segments: %v m, the finer one %v", n, got, last)
		}
		last = got
	}
}

func sphere(n int) *Mesh {
	m := &Mesh{}
	at := func(i, j int) geom.Vec3 {
		s, c := math.Sincos(math.Pi * float64(j) / float64(n))
		sa, ca := math.Sincos(2 * math.Pi * float64(i) / float64(2*n))
		return geom.Vec3{s * ca, c, s * sa}
	}
	for j := range n + 1 {
		for i := range 2*n + 1 {
			p := at(i, j)
			m.Positions = append(m.Positions, p)
			m.Normals = append(m.Normals, p.F32())
		}
	}
	w := uint32(2*n + 1)
	for j := range uint32(n) {
		for i := range w - 1 {
			a, b := j*w+i, (j+1)*w+i
			m.Indices = append(m.Indices, a, a+1, b, a+1, b+1, b)
			m.Materials = append(m.Materials, 0, 0)
		}
	}
	return m
}

// A texture counts by what is seen of it: colours of other cells of a palette
// are noticed although the surface is the same.
func TestErrorSeesTextures(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 16, 16))
	for y := range 16 {
		for x := range 16 {
			img.SetNRGBA(x, y, color.NRGBA{uint8(x / 4 * 80), uint8(y / 4 * 80), 40, 255})
		}
	}
	linear := func(v uint8) float32 { return float32(v) / 255 }
	mats := []Material{{Color: [4]float32{1, 1, 1, 1}, Texture: NewTexture(img, linear)}}
	wall := func(u float32) *Mesh {
		m := &Mesh{}
		m.quad(geom.Vec3{}, geom.Vec3{10}, geom.Vec3{0, 10}, 0)
		m.UV = [][2]float32{{u, 0.1}, {u, 0.1}, {u, 0.1}, {u, 0.1}}
		return m
	}
	r := New(wall(0.1), mats)
	if got := r.Error(wall(0.12)); got != 0 {
		t.Errorf("in the same cell: %v m", got)
	}
	if got := r.Error(wall(0.9)); got < 5 {
		t.Errorf("in another cell: %v m", got)
	}
	if got := r.Error(wall(1.1)); got != 0 {
		t.Errorf("a repeat farther: %v m", got)
	}
}

func TestTextureMips(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 5, 3))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	img.SetNRGBA(0, 0, color.NRGBA{0, 255, 0, 0}) // no colour comes from under alpha 0
	tex := NewTexture(img, func(v uint8) float32 { return float32(v) / 255 })
	last := tex.levels[len(tex.levels)-1]
	if last.w != 1 || last.h != 1 {
		t.Fatal(last)
	}
	if p := tex.levels[1].pix[0]; p&0xffff != one || p>>48 >= one {
		t.Error(p)
	}
	for _, c := range []struct {
		pixel float64
		want  int
	}{{0, 0}, {1.0 / 15, 0}, {4.0 / 15, 1}, {1, 2}, {1e300, 2}, {math.Inf(1), 2}, {math.NaN(), 0}} {
		if got := tex.level(c.pixel); got != &tex.levels[c.want] {
			t.Errorf("pixels of %v: mip %d x %d", c.pixel, got.w, got.h)
		}
	}
}

// The reference is drawn once for levels of the same pixels; that is not seen in
// their errors.
func TestErrorInAnyOrder(t *testing.T) {
	fine := sphere(72)
	levels := []*Mesh{sphere(8), sphere(68), sphere(6), sphere(8), sphere(60), fine}
	r, drawn, last := New(fine, paints), 0, 0.0
	for i, m := range levels {
		if got, want := r.Error(m), New(fine, paints).Error(m); got != want {
			t.Errorf("level %d: %v m after the others, %v alone", i, got, want)
		}
		if r.pixel != last {
			drawn, last = drawn+1, r.pixel
		}
	}
	if drawn < 3 || drawn == len(levels) {
		t.Errorf("%d sizes of pixels for %d levels: this tests nothing", drawn, len(levels))
	}
}

func TestSnap(t *testing.T) {
	for _, x := range []float64{0, 1.0 / 32, -1.0 / 32, 0.03, -0.04, -0.0625, 17.97, -17.97, 65535.98, -65535.98, 1e300, -1e300} {
		want := int32(math.Floor(min(max(x*subpixel, -1<<20), 1<<20) + 0.5))
		if got := snap(x); got != want {
			t.Errorf("%v pixels are %d steps, want %d", x, got, want)
		}
	}
}

// The four channels are rounded apart.
func TestMean(t *testing.T) {
	for _, v := range []uint64{0, 1, 2, 3, 2047, one - 1, one} {
		a, b := makePixel(v, one-v, one, 0), makePixel(one, v, 0, one)
		got := mean(a, b, b, 0)
		want := makePixel((v+2*one+2)/4, (one-v+2*v+2)/4, (one+2)/4, (2*one+2)/4)
		if got != want {
			t.Errorf("%d: %x, want %x", v, got, want)
		}
	}
}

// Odd input is drawn as far as it can be.
func TestOddInput(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	m := &Mesh{UV: [][2]float32{}, Normals: [][3]float32{}, Colors: [][4]float32{}}
	m.quad(geom.Vec3{}, geom.Vec3{1}, geom.Vec3{0, 1}, 0)
	m.quad(geom.Vec3{}, geom.Vec3{1e30}, geom.Vec3{0, 1e-30}, 1)
	m.quad(geom.Vec3{}, geom.Vec3{}, geom.Vec3{}, 2)
	for range m.Positions {
		m.UV = append(m.UV, [2]float32{inf, nan})
		m.Normals = append(m.Normals, [3]float32{nan, inf, 0})
		m.Colors = append(m.Colors, [4]float32{nan, inf, -1, 2})
	}
	mats := []Material{{Color: [4]float32{nan, inf, -1, 1}, Texture: NewTexture(image.NewNRGBA(image.Rect(0, 0, 1, 1)), func(uint8) float32 { return nan })}, {}, {Masked: true, Cutoff: nan}}
	if got := New(m, mats).Error(m); got != 0 {
		t.Error(got)
	}
	if got := New(&Mesh{}, nil).Error(m); got != 0 {
		t.Error(got)
	}
}

func BenchmarkError(b *testing.B) {
	fine, coarse := sphere(128), sphere(64)
	r := New(fine, paints)
	for b.Loop() {
		r.Error(coarse)
	}
	b.ReportMetric(float64(len(fine.Indices)/3)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtri/s")
}
