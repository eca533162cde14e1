//go:build cgo && !nopreview

package render

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"os"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// paint returns an unlit material of a colour in sRGB.
func paint(r, g, b uint8) records.Material {
	m := defaultMaterial()
	m.Flags = records.MaterialUnlit
	for i, v := range [...]uint8{r, g, b} {
		c := float64(v) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		m.BaseColor[i] = float32(c)
	}
	return m
}

var (
	right = geom.Vec3{1, 0, 0}
	up    = geom.Vec3{0, 1, 0}
)

// screen fills the picture of the camera at(0) with one material.
func screen(z float64) part { return quad(geom.Vec3{0, 0, z}, right.Scale(100), up.Scale(100)) }

// at returns a camera at z metres that looks along -z.
func at(z float64) runtime.Camera {
	return runtime.Camera{Position: [3]float64{0, 0, z}, Forward: [3]float64{0, 0, -1}, FovYDegrees: 60, Near: 0.1, Far: 1000}
}

func key(tile int32, rep payload.Rep) payload.Key { return payload.Key{Scene: 1, Tile: tile, Rep: rep} }

// put uploads assets as full tiles and returns the list that draws them.
func put(t testing.TB, r *Renderer, assets ...*payload.Asset) (drawn []runtime.Drawn) {
	t.Helper()
	for i, a := range assets {
		k := key(int32(i), payload.RepFull)
		if err := r.Upload(k, a); err != nil {
			t.Fatal(err)
		}
		drawn = append(drawn, runtime.Drawn{Key: k, Fade: 1})
	}
	if err := r.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	return drawn
}

func near8(a, b color.NRGBA, eps int) bool {
	d := func(x, y uint8) bool { return int(x)-int(y) <= eps && int(y)-int(x) <= eps }
	return d(a.R, b.R) && d(a.G, b.G) && d(a.B, b.B)
}

// wantPixel checks a pixel.
func wantPixel(t testing.TB, img *image.NRGBA, x, y int, want color.NRGBA, eps int) {
	t.Helper()
	if got := img.NRGBAAt(x, y); !near8(got, want, eps) {
		t.Errorf("pixel %d, %d is %v, want %v", x, y, got, want)
	}
}

// both runs a test with everything the driver has, and on plain OpenGL 4.1.
func both(t *testing.T, o Options, f func(t *testing.T, r *Renderer)) {
	for _, plain := range []bool{false, true} {
		name := "extensions"
		if plain {
			name = "plain"
		}
		t.Run(name, func(t *testing.T) {
			o.Plain = plain
			f(t, headless(t, o))
		})
	}
}

// TestColorsAreExact: an unlit colour comes out as it is, through samples and
// resolve.
func TestColorsAreExact(t *testing.T) {
	both(t, Options{Width: 40, Height: 30, Samples: 4}, func(t *testing.T, r *Renderer) {
		a := assemble([]part{screen(-5)}, []records.Material{paint(200, 100, 50)})
		s := r.Draw(Frame{Camera: at(0), Drawn: put(t, r, a)})
		img := r.ReadPixels()
		wantPixel(t, img, 0, 0, color.NRGBA{200, 100, 50, 255}, 1)
		wantPixel(t, img, 39, 29, color.NRGBA{200, 100, 50, 255}, 1)
		if s.Draws != 1 || s.Triangles != 2 || s.Resident != 1 || s.Culled != 0 || s.NotResident != 0 {
			t.Errorf("stats %+v", s)
		}
	})
}

// TestFadesOnScreen: two representations that fade cover every pixel once.
func TestFadesOnScreen(t *testing.T) {
	both(t, Options{Width: 64, Height: 64}, func(t *testing.T, r *Renderer) {
		red, blue := assemble([]part{screen(-5)}, []records.Material{paint(255, 0, 0)}), assemble([]part{screen(-6)}, []records.Material{paint(0, 0, 255)})
		for k, a := range map[payload.Key]*payload.Asset{key(0, payload.RepHLOD): red, key(0, payload.RepFull): blue} {
			if err := r.Upload(k, a); err != nil {
				t.Fatal(err)
			}
		}
		r.Pump(Budget{})
		for _, f := range []float64{0, 0.25, 0.5, 0.8, 0.999} {
			r.Draw(Frame{Camera: at(0), Drawn: []runtime.Drawn{
				{Key: key(0, payload.RepHLOD), Fade: 1 - f}, {Key: key(0, payload.RepFull), Fade: f, From: 1 - f},
			}})
			img := r.ReadPixels()
			n := 0
			for i := 0; i < len(img.Pix); i += 4 {
				switch p := [3]uint8(img.Pix[i:]); p {
				case [3]uint8{0, 0, 255}:
					n++
				case [3]uint8{255, 0, 0}:
				default:
					t.Fatalf("fade %v: pixel %d is %v", f, i/4, p)
				}
			}
			if share := float64(n) / (64 * 64); math.Abs(share-f) > 0.02 {
				t.Errorf("fade %v shows %v of the new one", f, share)
			}
		}
	})
}

// TestFarFromTheOrigin: a scene at a thousand kilometres looks as it does at
// home.
func TestFarFromTheOrigin(t *testing.T) {
	both(t, Options{Width: 80, Height: 60, ShadowSize: 256}, func(t *testing.T, r *Renderer) {
		drawn := put(t, r, board(t, ""))
		f := Frame{Camera: boardCamera(), Drawn: drawn}
		r.Draw(f)
		home := r.ReadPixels()
		move := geom.Vec3{1e6, -3e5, 7e5}
		f.Root = func(payload.SceneID) geom.Mat4 { return geom.TRS(move, [4]float64{}, geom.Vec3{1, 1, 1}) }
		f.Camera.Position = [3]float64(geom.Vec3(f.Camera.Position).Add(move))
		r.Draw(f)
		if d := difference(home, r.ReadPixels()); d > 0.01 {
			t.Errorf("%.2f %% of the pixels differ", 100*d)
		}
	})
}

// TestMirroredScene: a root that mirrors shows the same faces from the other
// side.
func TestMirroredScene(t *testing.T) {
	both(t, Options{Width: 16, Height: 16}, func(t *testing.T, r *Renderer) {
		a := assemble([]part{quad(geom.Vec3{0, 0, -5}, right.Scale(9), up.Scale(9))}, []records.Material{paint(10, 200, 30)})
		f := Frame{Camera: at(0), Drawn: put(t, r, a)}
		f.Root = func(payload.SceneID) geom.Mat4 { return geom.TRS(geom.Vec3{}, [4]float64{}, geom.Vec3{-1, 1, 1}) }
		r.Draw(f)
		wantPixel(t, r.ReadPixels(), 8, 8, color.NRGBA{10, 200, 30, 255}, 1)
		// From behind it is culled as ever.
		f.Camera.Position, f.Camera.Forward = [3]float64{0, 0, -10}, [3]float64{0, 0, 1}
		r.Draw(f)
		if got := r.ReadPixels().NRGBAAt(8, 8); near8(got, color.NRGBA{10, 200, 30, 255}, 20) {
			t.Error("the back of a single-sided surface is drawn")
		}
	})
}

// TestDepthHolds: with reversed depth, surfaces a hand's breadth apart two
// kilometres away do not fight, though the near plane is at a decimetre.
func TestDepthHolds(t *testing.T) {
	r := headless(t, Options{Width: 64, Height: 64})
	if !r.Info().ReverseZ {
		t.Skip("no GL_ARB_clip_control")
	}
	front, back := quad(geom.Vec3{0, 0, -2000}, right.Scale(3000), up.Scale(3000)), quad(geom.Vec3{0, 0, -2000.1}, right.Scale(3000), up.Scale(3000))
	a := assemble([]part{front, back}, []records.Material{paint(0, 255, 0), paint(255, 0, 0)})
	a.Meshes[1].Material = 1
	drawn := put(t, r, a)
	r.Draw(Frame{Camera: at(0), Drawn: drawn})
	img := r.ReadPixels()
	for i := 0; i < len(img.Pix); i += 4 {
		if img.Pix[i+1] != 255 {
			t.Fatalf("pixel %d shows what is behind: %v", i/4, img.Pix[i:i+3])
		}
	}
}

// TestShadowFalls: what a roof covers is darker than what it does not, by the
// sun's part.
func TestShadowFalls(t *testing.T) {
	both(t, Options{Width: 64, Height: 64, ShadowSize: 256}, func(t *testing.T, r *Renderer) {
		ground := quad(geom.Vec3{}, geom.Vec3{20, 0, 0}, geom.Vec3{0, 0, -20})
		roof := quad(geom.Vec3{-5, 4, 0}, geom.Vec3{5, 0, 0}, geom.Vec3{0, 0, -20})
		drawn := put(t, r, assemble([]part{ground, roof}, []records.Material{defaultMaterial()}))
		f := Frame{Drawn: drawn, Sun: [3]float64{0, 1, 0.01}}
		f.Camera = runtime.Camera{Position: [3]float64{0, 2, 12}, Forward: [3]float64{0, -0.2, -1}, FovYDegrees: 50, Near: 0.1, Far: 100}
		s := r.Draw(f)
		if s.ShadowCascades != 3 || s.ShadowDraws == 0 {
			t.Errorf("stats %+v", s)
		}
		img := r.ReadPixels()
		shade, light := img.NRGBAAt(16, 50), img.NRGBAAt(48, 50)
		if int(light.R) < int(shade.R)+45 || shade.R < 30 {
			t.Errorf("in the shade %v, in the light %v", shade, light)
		}
		if s = r.Draw(f); s.ShadowCascades != 0 {
			t.Errorf("nothing has changed, but %d cascades are drawn again", s.ShadowCascades)
		}
	})
}

// TestCulling counts what is out of view.
func TestCulling(t *testing.T) {
	r := headless(t, Options{Width: 16, Height: 16})
	a := assemble([]part{screen(-5), quad(geom.Vec3{0, 0, 50}, right, up), quad(geom.Vec3{500, 0, -5}, right, up)}, nil)
	f := Frame{Camera: at(0), Drawn: put(t, r, a)}
	if s := r.Draw(f); s.Draws != 1 || s.Culled != 2 {
		t.Errorf("%d drawn, %d culled", s.Draws, s.Culled)
	}
	turned := at(0)
	turned.Forward = [3]float64{0, 0, 1}
	f.CullCamera = &turned
	if s := r.Draw(f); s.Draws != 1 || s.Culled != 2 {
		t.Errorf("frozen: %d drawn, %d culled", s.Draws, s.Culled)
	}
}

// TestBatches: equal states go in one call where the driver can.
func TestBatches(t *testing.T) {
	both(t, Options{Width: 16, Height: 16, ShadowSize: -1}, func(t *testing.T, r *Renderer) {
		var assets []*payload.Asset
		for i := range 30 {
			m := paint(uint8(i), 0, 0) // other factors, same textures: none
			assets = append(assets, assemble([]part{quad(geom.Vec3{0, 0, -5 - float64(i)}, right, up)}, []records.Material{m}))
		}
		s := r.Draw(Frame{Camera: at(0), Drawn: put(t, r, assets...)})
		want := 30
		if r.Info().MultiDraw {
			want = 1
		}
		if s.Draws != 30 || s.Calls != want {
			t.Errorf("%d draws in %d calls, want %d", s.Draws, s.Calls, want)
		}
	})
}

// TestOverlay: panels have the colours and pixels that they ask for.
func TestOverlay(t *testing.T) {
	both(t, Options{Width: 40, Height: 20, Samples: 4}, func(t *testing.T, r *Renderer) {
		rect := func(x0, y0, x1, y1 float32, c [4]uint8) *Overlay {
			return &Overlay{
				Vertices: []OverlayVertex{{x0, y0, 0, 0, c}, {x1, y0, 1, 0, c}, {x1, y1, 1, 1, c}, {x0, y1, 0, 1, c}},
				Indices:  []uint32{0, 1, 2, 0, 2, 3},
			}
		}
		black := assemble([]part{screen(-5)}, []records.Material{paint(0, 0, 0)})
		f := Frame{Camera: at(0), Drawn: put(t, r, black), Overlay: rect(10, 5, 20, 15, [4]uint8{255, 128, 0, 128})}
		r.Draw(f)
		img := r.ReadPixels()
		wantPixel(t, img, 10, 5, color.NRGBA{128, 64, 0, 255}, 1) // blended as displayed
		wantPixel(t, img, 19, 14, color.NRGBA{128, 64, 0, 255}, 1)
		for _, p := range [][2]int{{9, 5}, {10, 4}, {20, 14}, {19, 15}} {
			wantPixel(t, img, p[0], p[1], color.NRGBA{0, 0, 0, 255}, 0)
		}
		f.Overlay = rect(0, 0, 40, 20, [4]uint8{255, 255, 255, 255})
		f.Overlay.Atlas = &image.Alpha{Pix: []uint8{0, 255, 9, 0, 255, 9}, Stride: 3, Rect: image.Rect(0, 0, 2, 2)}
		r.Draw(f)
		img = r.ReadPixels()
		wantPixel(t, img, 2, 10, color.NRGBA{0, 0, 0, 255}, 0)
		wantPixel(t, img, 38, 10, color.NRGBA{255, 255, 255, 255}, 0)
	})
}

// TestLines: lines hide behind things, unless they are on top.
func TestLines(t *testing.T) {
	both(t, Options{Width: 40, Height: 40}, func(t *testing.T, r *Renderer) {
		wall := assemble([]part{screen(-5)}, []records.Material{paint(0, 0, 0)})
		line := func(z float32) []Line {
			return []Line{{A: [3]float32{-50, 0.01, z}, B: [3]float32{50, 0.01, z}, Color: [4]uint8{255, 255, 0, 255}}}
		}
		f := Frame{Camera: at(0), Drawn: put(t, r, wall)}
		lit := func() (n int) {
			r.Draw(f)
			img := r.ReadPixels()
			for y := range 40 {
				if img.NRGBAAt(20, y).R > 200 {
					n++
				}
			}
			return n
		}
		if f.Lines = line(-4); lit() != 1 {
			t.Error("a line before the wall is not seen")
		}
		if f.Lines = line(-6); lit() != 0 {
			t.Error("a line behind the wall is seen")
		}
		if f.Lines, f.LinesOnTop = nil, line(-6); lit() != 1 {
			t.Error("a line on top is not seen")
		}
	})
}

// TestViews: every view draws the scene in its own way.
func TestViews(t *testing.T) {
	both(t, Options{Width: 80, Height: 60, ShadowSize: 128}, func(t *testing.T, r *Renderer) {
		f := Frame{Camera: boardCamera(), Drawn: put(t, r, board(t, t.TempDir()))}
		seen := map[string]ViewMode{}
		for _, v := range ViewModes() {
			f.View = v
			if s := r.Draw(f); s.Draws == 0 {
				t.Errorf("%v draws nothing", v)
			}
			img := r.ReadPixels()
			if other, ok := seen[string(img.Pix)]; ok {
				t.Errorf("%v looks like %v", v, other)
			}
			seen[string(img.Pix)] = v
			colors := map[color.NRGBA]bool{}
			for i := 0; i < len(img.Pix); i += 4 {
				colors[color.NRGBA(img.NRGBAAt(i/4%80, i/4/80))] = true
			}
			if len(colors) < 2 {
				t.Errorf("%v has %d colours", v, len(colors))
			}
		}
		f.View, f.Wireframe = ViewLit, true
		r.Draw(f)
		if _, ok := seen[string(r.ReadPixels().Pix)]; ok {
			t.Error("edges over the picture are not seen")
		}
	})
}

func TestResize(t *testing.T) {
	r := headless(t, Options{Width: 30, Height: 20, Samples: 4})
	drawn := put(t, r, assemble([]part{screen(-5)}, []records.Material{paint(7, 8, 9)}))
	for _, size := range [][2]int{{30, 20}, {64, 48}, {1, 1}, {33, 7}} {
		if err := r.Resize(size[0], size[1]); err != nil {
			t.Fatal(err)
		}
		r.Draw(Frame{Camera: at(0), Drawn: drawn})
		img := r.ReadPixels()
		if img.Rect.Dx() != size[0] || img.Rect.Dy() != size[1] {
			t.Errorf("the picture has %v, want %v", img.Rect, size)
		}
		wantPixel(t, img, size[0]-1, size[1]-1, color.NRGBA{7, 8, 9, 255}, 1)
	}
	if err := r.Resize(0, 5); err == nil {
		t.Error("a size of 0 is accepted")
	}
}

// TestPicturesAreReproducible: the same frames give the same bytes.
func TestPicturesAreReproducible(t *testing.T) {
	dir := t.TempDir()
	var first []byte
	for range 2 {
		r := headless(t, Options{Width: 80, Height: 60, ShadowSize: 128})
		drawn := put(t, r, board(t, dir))
		f := Frame{Camera: boardCamera(), Drawn: drawn}
		for range 4 {
			f.Camera.Position[0] += 0.3
			r.Draw(f)
		}
		pix := r.ReadPixels().Pix
		if first == nil {
			first = pix
		} else if !bytes.Equal(first, pix) {
			t.Error("two runs differ")
		}
	}
}

// TestGlassAfterHoles: a pane is as clear with something beside it that is cut out by
// alpha, whose samples are given by alpha, as alone.
func TestGlassAfterHoles(t *testing.T) {
	r := headless(t, Options{Width: 40, Height: 30, Samples: 4})
	glass, holes := paint(255, 255, 255), paint(0, 255, 0)
	glass.Flags, glass.BaseColor[3] = glass.Flags|records.MaterialBlend, 0.5
	holes.Flags, holes.AlphaCutoff = holes.Flags|records.MaterialCutout, 0.5
	pane := screen(-4)
	leaf := quad(geom.Vec3{-1.9, -1.4, -3}, right.Scale(0.1), up.Scale(0.1))
	leaf.material = 1
	drawn := put(t, r, assemble([]part{pane}, []records.Material{glass, holes}), assemble([]part{leaf}, []records.Material{glass, holes}))
	r.Draw(Frame{Camera: at(0), Drawn: drawn[:1]})
	alone := r.ReadPixels().NRGBAAt(20, 15)
	r.Draw(Frame{Camera: at(0), Drawn: drawn})
	if got := r.ReadPixels().NRGBAAt(20, 15); got != alone {
		t.Errorf("the pane is %v, alone %v", got, alone)
	}
}

func TestMain(m *testing.M) {
	// One frame's fragments are spread over threads by the software renderer;
	// two keep its answers quick beside other tests.
	if os.Getenv("LP_NUM_THREADS") == "" {
		os.Setenv("LP_NUM_THREADS", "2")
	}
	os.Exit(m.Run())
}
