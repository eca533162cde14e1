//go:build cgo && !nopreview

package render

import (
	"flag"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

var update = flag.Bool("update", false, "write the golden pictures")

// ball returns a sphere.
func ball(center geom.Vec3, radius float64) part {
	const rings, segments = 20, 32
	var p part
	for i := range rings + 1 {
		for k := range segments + 1 {
			sv, cv := math.Sincos(math.Pi * float64(i) / rings)
			su, cu := math.Sincos(2 * math.Pi * float64(k) / segments)
			n := geom.Vec3{sv * su, cv, sv * cu}
			p.vertices = append(p.vertices, vertex.Vertex{
				Position: center.Add(n.Scale(radius)).F32(), Normal: vertex.PackNormal(n.F32()),
				Tangent: vertex.PackTangent([4]float32{float32(cu), 0, float32(-su), 1}),
				UV0:     [2]uint16{vertex.Half(float32(4*k) / segments), vertex.Half(2 - float32(2*i)/rings)},
				Color:   [4]uint8{255, 255, 255, 255},
			})
		}
	}
	for i := range uint32(rings) {
		for k := range uint32(segments) {
			a := i*(segments+1) + k
			b := a + segments + 1
			p.indices = append(p.indices, a, b, b+1, a, b+1, a+1)
		}
	}
	return p
}

// bumps is a normal map of domes: lit from above, their upper halves are bright.
func bumps(n int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, n, n))
	for y := range n {
		for x := range n {
			u, v := 2*(float64(x)+0.5)/float64(n)-1, 1-2*(float64(y)+0.5)/float64(n)
			nrm := geom.Vec3{0, 0, 1}
			if d := u*u + v*v; d < 0.7 {
				nrm = geom.Vec3{u * 0.8, v * 0.8, math.Sqrt(1 - 0.64*d)}
			}
			img.SetNRGBA(x, y, color.NRGBA{uint8(nrm[0]*127.5 + 127.5), uint8(nrm[1]*127.5 + 127.5), uint8(nrm[2]*127.5 + 127.5), 255})
		}
	}
	return img
}

// holes is opaque with transparent discs.
func holes(n int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, n, n))
	for y := range n {
		for x := range n {
			u, v := 2*(float64(x)+0.5)/float64(n)-1, 2*(float64(y)+0.5)/float64(n)-1
			a := uint8(255)
			if u*u+v*v < 0.5 {
				a = 0
			}
			img.SetNRGBA(x, y, color.NRGBA{60, 150, 70, a})
		}
	}
	return img
}

// board is a scene with every kind of material: balls of growing roughness,
// rough and metallic, one bumpy, one that glows, one unlit, a fence with holes,
// a pane of glass, on a floor. With dir "" it has no textures.
func board(t testing.TB, dir string) *payload.Asset {
	t.Helper()
	var parts []part
	var materials []records.Material
	var uris []string
	add := func(p part, m records.Material) {
		p.material = uint32(len(materials))
		parts, materials = append(parts, p), append(materials, m)
	}
	m := defaultMaterial()
	m.BaseColor = [4]float32{0.45, 0.43, 0.40, 1}
	m.Roughness = 0.9
	add(quad(geom.Vec3{0, 0, 0}, geom.Vec3{8, 0, 0}, geom.Vec3{0, 0, -6}), m)
	for i := range 5 {
		m := defaultMaterial()
		m.BaseColor, m.Roughness = [4]float32{0.7, 0.05, 0.04, 1}, float32(i)/4
		add(ball(geom.Vec3{float64(i)*1.3 - 2.6, 0.5, 1.5}, 0.5), m)
		m.BaseColor, m.Metallic = [4]float32{1, 0.77, 0.34, 1}, 1
		add(ball(geom.Vec3{float64(i)*1.3 - 2.6, 0.5, 0}, 0.5), m)
	}
	m = defaultMaterial()
	m.Emissive = [3]float32{3, 1.2, 0.2}
	add(ball(geom.Vec3{2.6, 0.5, -1.6}, 0.5), m)
	add(ball(geom.Vec3{1.3, 0.5, -1.6}, 0.5), paint(40, 120, 220))
	m = defaultMaterial()
	m.BaseColor, m.Roughness = [4]float32{0.3, 0.5, 0.9, 0.4}, 0.1
	m.Flags = records.MaterialBlend | records.MaterialDoubleSided
	add(quad(geom.Vec3{-2.2, 1, 2.6}, geom.Vec3{1, 0, 0}, geom.Vec3{0, 1, 0}), m)
	fence, stone := defaultMaterial(), defaultMaterial()
	fence.Flags = records.MaterialCutout | records.MaterialDoubleSided
	stone.BaseColor, stone.Roughness = [4]float32{0.6, 0.6, 0.62, 1}, 0.5
	if dir != "" {
		writePNG(t, filepath.Join(dir, "holes.png"), holes(64))
		writePNG(t, filepath.Join(dir, "bumps.png"), bumps(64))
		uris = []string{"holes.png", "bumps.png"}
		fence.BaseColorTexture, stone.NormalTexture = 0, 1
	}
	panel := quad(geom.Vec3{-1.6, 1.2, -2}, geom.Vec3{1.2, 0, 0.6}, geom.Vec3{0, 1.2, 0})
	for i := range panel.vertices {
		for k := range panel.vertices[i].UV0 {
			panel.vertices[i].UV0[k] = vertex.Half(4 * vertex.FromHalf(panel.vertices[i].UV0[k]))
		}
	}
	add(panel, fence)
	add(ball(geom.Vec3{-3.6, 0.7, 0.4}, 0.7), stone)
	a := assemble(parts, materials, uris...)
	a.Dir = dir
	return a
}

func boardCamera() runtime.Camera {
	return runtime.Camera{Position: [3]float64{0.6, 3, 8}, Forward: [3]float64{-0.1, -0.3, -1}, FovYDegrees: 42, Near: 0.1, Far: 200}
}

// difference returns the share of pixels that an eye tells apart: more than 12
// of 255 in luma or 24 in colour. Rasterisers differ in single pixels along
// edges.
func difference(a, b *image.NRGBA) float64 {
	if a.Rect != b.Rect {
		return 1
	}
	n := 0
	for i := 0; i < len(a.Pix); i += 4 {
		var d [3]float64
		for k := range d {
			d[k] = float64(a.Pix[i+k]) - float64(b.Pix[i+k])
		}
		luma := 0.3*d[0] + 0.59*d[1] + 0.11*d[2]
		if math.Abs(luma) > 12 || math.Abs(d[0]-luma) > 24 || math.Abs(d[2]-luma) > 24 {
			n++
		}
	}
	return float64(n) / float64(len(a.Pix)/4)
}

// golden compares a picture with testdata/NAME.png.
func golden(t *testing.T, name string, got *image.NRGBA) {
	t.Helper()
	file := filepath.Join("testdata", name+".png")
	if *update {
		save(t, file, got)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	want := image.NewNRGBA(img.Bounds())
	for y := range want.Rect.Dy() {
		for x := range want.Rect.Dx() {
			want.Set(x, y, img.At(x, y))
		}
	}
	if d := difference(want, got); d > 0.015 {
		out := filepath.Join(t.ArtifactDir(), name+".png")
		save(t, out, got)
		t.Errorf("%.2f %% of the pixels differ from %s; this picture is in %s (-artifacts keeps it, -update accepts it)", 100*d, file, out)
	}
}

// TestGolden: every kind of material, with all extensions and on plain OpenGL
// 4.1, gives the same picture.
func TestGolden(t *testing.T) {
	both(t, Options{Width: 320, Height: 240, Samples: 4, ShadowSize: 1024}, func(t *testing.T, r *Renderer) {
		f := Frame{Camera: boardCamera(), Drawn: put(t, r, board(t, t.TempDir()))}
		r.Draw(f)
		golden(t, "board", r.ReadPixels())
		f.View = ViewNormals
		r.Draw(f)
		golden(t, "normals", r.ReadPixels())
	})
}

// TestBumpsRise: under a sun from above the upper side of a bump is the bright
// one.
func TestBumpsRise(t *testing.T) {
	dir := t.TempDir()
	writePNG(t, filepath.Join(dir, "bumps.png"), bumps(64))
	both(t, Options{Width: 64, Height: 64, ShadowSize: -1}, func(t *testing.T, r *Renderer) {
		m := defaultMaterial()
		m.NormalTexture = 0
		a := assemble([]part{quad(geom.Vec3{0, 0, -5}, right.Scale(3), up.Scale(3))}, []records.Material{m}, "bumps.png")
		a.Dir = dir
		drawn := put(t, r, a)
		for _, c := range []struct {
			sun            [3]float64
			bx, by, dx, dy int
		}{{[3]float64{0, 1, 0.3}, 32, 18, 32, 46}, {[3]float64{1, 0, 0.3}, 46, 32, 18, 32}} {
			r.Draw(Frame{Camera: at(0), Drawn: drawn, Sun: c.sun})
			img := r.ReadPixels()
			bright, dark := img.NRGBAAt(c.bx, c.by), img.NRGBAAt(c.dx, c.dy)
			if int(bright.G) < int(dark.G)+40 {
				t.Errorf("sun %v: %v on its side, %v on the other", c.sun, bright, dark)
			}
		}
	})
}
