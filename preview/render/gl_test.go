//go:build cgo && !nopreview

package render

import (
	"context"
	"errors"
	"flag"
	"image"
	"image/png"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/surface"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture"
)

var (
	pictureOf     = flag.String("picture", "", "draw these .untold files (comma-separated) into -picture-out")
	pictureOut    = flag.String("picture-out", "picture.png", "where TestPicture writes")
	pictureSize   = flag.String("picture-size", "1280x720", "its size")
	pictureFrom   = flag.String("picture-from", "0.8,0.35,1", "direction from the scene to the camera")
	pictureZoom   = flag.Float64("picture-zoom", 1, "how much nearer than what shows all")
	pictureView   = flag.String("picture-view", "lit", "lit, lod, tiles, textures, albedo, normals or wireframe")
	pictureEye    = flag.String("picture-eye", "", "where the camera is, instead of -picture-from")
	pictureLook   = flag.String("picture-look", "0,0,-1", "where it looks, with -picture-eye")
	pictureShadow = flag.Int("picture-shadow", 0, "texels of a shadow map")
	pictureMSAA   = flag.Int("picture-samples", 0, "samples per pixel")
	pictureSun    = flag.String("picture-sun", "0,0,0", "direction to the sun")
)

// headless opens a surface and a renderer for a test, or skips it.
func headless(t testing.TB, o Options) *Renderer {
	t.Helper()
	s, err := surface.OpenHeadless(max(o.Width, 1), max(o.Height, 1))
	if errors.Is(err, surface.ErrContext) {
		t.Skipf("no OpenGL here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	o.Framebuffer = s.Framebuffer()
	o.Debug = true
	o.Logger = slog.New(&failing{t: t})
	r, err := New(s, o)
	if err != nil {
		s.Close()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		s.Close()
	})
	return r
}

// failing is a log that fails the test about what a driver complains of.
type failing struct {
	slog.Handler
	t testing.TB
}

func (*failing) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

func (f *failing) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	if strings.HasPrefix(r.Message, "OpenGL") && r.Level >= slog.LevelError {
		f.t.Error(line)
	} else {
		f.t.Log(line)
	}
	return nil
}

// load reads a container as the file loader does.
func load(t testing.TB, file string) *payload.Asset {
	t.Helper()
	f, err := format.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	g, err := f.ReadGeometry(format.Geometry{})
	if err != nil {
		t.Fatal(err)
	}
	a := payload.NewAsset(nil)
	h := f.Header()
	a.Dir = filepath.Dir(file)
	a.Type, a.Bounds, a.Strings, a.Geometry = h.FileType, h.WorldBounds, f.String, g
	a.Entities, a.Meshes, a.Materials, a.Textures = f.Entities(), f.Meshes(), f.Materials(), f.Textures()
	return a
}

// framed returns a camera that shows a box from a direction.
func framed(b geom.Box, from geom.Vec3, zoom float64) runtime.Camera {
	from = from.Normalize(0, geom.Vec3{0, 0, 1})
	r := b.Size().Len() / 2
	d := r / 0.38 / zoom
	return runtime.Camera{
		Position: [3]float64(b.Center().Add(from.Scale(d))), Forward: [3]float64(from.Scale(-1)),
		FovYDegrees: 45, Near: d / 100, Far: d * 10,
	}
}

// TestPicture draws files for the eye: go test ./preview/render -run Picture
// -args -picture model.untold -picture-out model.png
func TestPicture(t *testing.T) {
	if *pictureOf == "" {
		t.Skip("no -picture is given")
	}
	ws, hs, _ := strings.Cut(*pictureSize, "x")
	w, _ := strconv.Atoi(ws)
	h, _ := strconv.Atoi(hs)
	whole, err := texture.AlignToManifest(1e7, 2e7)
	if err != nil {
		t.Fatal(err)
	}
	r := headless(t, Options{Width: w, Height: h, Samples: *pictureMSAA, ShadowSize: *pictureShadow, Textures: whole})
	box := geom.EmptyBox()
	var drawn []runtime.Drawn
	for i, file := range strings.Split(*pictureOf, ",") {
		key := payload.Key{Scene: 1, Tile: int32(i), Rep: payload.RepFull}
		if err := r.Upload(key, load(t, file)); err != nil {
			t.Fatal(err)
		}
		box = box.Union(r.reps[key].box)
		drawn = append(drawn, runtime.Drawn{Key: key, Fade: 1})
	}
	f := Frame{Camera: framed(box, vec(t, *pictureFrom), *pictureZoom), Drawn: drawn, Sun: [3]float64(vec(t, *pictureSun))}
	if *pictureEye != "" {
		f.Camera.Position, f.Camera.Forward = [3]float64(vec(t, *pictureEye)), [3]float64(vec(t, *pictureLook))
		f.Camera.FovYDegrees, f.Camera.Near, f.Camera.Far = 65, 0.1, 5000
	}
	f.View, _ = ParseViewMode(*pictureView)
	r.Pump(Budget{})
	r.Draw(f) // what is seen is loaded
	if err := r.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	var s Stats
	for range 3 {
		start := time.Now()
		s = r.Draw(f)
		r.ReadPixels()
		t.Logf("%v: %+v", time.Since(start), s)
	}
	t.Logf("%+v, box %v", r.Info(), box)

	save(t, *pictureOut, r.ReadPixels())
}

func vec(t *testing.T, s string) (v geom.Vec3) {
	t.Helper()
	parts := strings.Split(s, ",")
	for i := range v {
		if i < len(parts) {
			x, err := strconv.ParseFloat(parts[i], 64)
			if err != nil {
				t.Fatal(err)
			}
			v[i] = x
		}
	}
	return v
}

func save(t testing.TB, file string, img image.Image) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := e.Encode(f, img); err != nil {
		t.Fatal(err)
	}
}
