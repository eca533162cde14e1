package preview

import (
	"context"
	"errors"
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/preview/stats"
	"github.com/untoldkit/untold/preview/surface"
	"github.com/untoldkit/untold/runtime/simulate"
)

var update = flag.Bool("update", false, "write the golden pictures anew")

// needGL skips a test on a machine without OpenGL.
func needGL(t *testing.T) {
	t.Helper()
	if !Available {
		t.Skip("built without OpenGL (cgo)")
	}
	s, err := surface.OpenHeadless(16, 16)
	if errors.Is(err, surface.ErrContext) || errors.Is(err, surface.ErrUnavailable) {
		t.Skipf("no OpenGL without a display here (scripts/install-deps.sh installs Mesa): %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// still is a path that stands at a place.
func still(at, forward geom.Vec3, seconds float64) *simulate.CameraPath {
	return &simulate.CameraPath{FovYDegrees: 60, Aspect: 4.0 / 3, Near: 0.1, Far: 1000, Keys: []simulate.CameraKey{
		{Position: at, Forward: forward}, {T: time.Duration(seconds * 1e9), Position: at, Forward: forward},
	}}
}

func TestGoldenPictures(t *testing.T) {
	needGL(t)
	town := writeTown(t, t.TempDir(), 8)
	slow := 400 * time.Millisecond
	for _, tc := range []struct {
		name   string
		path   *simulate.CameraPath
		frames int
		change func(*Options)
	}{
		{"full", still(geom.Vec3{60, 5, -28}, geom.Vec3{0.25, -0.05, -1}, 4), 0, func(*Options) {}},
		{"levels", still(geom.Vec3{-20, 45, 20}, geom.Vec3{0.7, -0.35, -0.7}, 6), 0, func(o *Options) { o.View = render.ViewLOD }},
		{"mid-stream", still(geom.Vec3{40, 30, -20}, geom.Vec3{0.7, -0.5, -0.7}, 4), 8, func(o *Options) { o.Latency = &slow }},
		{"far", still(geom.Vec3{-160, 150, 160}, geom.Vec3{0.7, -0.5, -0.7}, 6), 0, func(*Options) {}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := options(t, town)
			o.Width, o.Height, o.Path, o.Frames, o.FixedDT = 320, 240, tc.path, tc.frames, 200*time.Millisecond
			o.Render = render.Options{ShadowSize: 1024}
			o.Screenshot = filepath.Join(t.TempDir(), "a.png")
			tc.change(&o)
			rep, err := Run(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			if rep.Undrawn != 0 || rep.DoubleDrawn != 0 || rep.Errors != 0 {
				t.Errorf("%+v", rep)
			}
			compare(t, filepath.Join("testdata", tc.name+".png"), readPNG(t, o.Screenshot))
		})
	}
}

func readPNG(t *testing.T, path string) image.Image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// compare judges by what an eye sees: squares of 2 x 2 pixels, brightness more
// than colour. Edges may fall differently with another driver.
func compare(t *testing.T, path string, got image.Image) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, got); err != nil {
			t.Fatal(err)
		}
		return
	}
	want := readPNG(t, path)
	if want.Bounds() != got.Bounds() {
		t.Fatalf("%v, want %v", got.Bounds(), want.Bounds())
	}
	const visible, allowed = 12, 0.02
	bad, all := 0, 0
	for y := 0; y+1 < got.Bounds().Dy(); y += 2 {
		for x := 0; x+1 < got.Bounds().Dx(); x += 2 {
			a, b := square(got, x, y), square(want, x, y)
			all++
			if d := 2*abs(a[0]-b[0]) + abs(a[1]-b[1]) + abs(a[2]-b[2]); d > 4*visible {
				bad++
			}
		}
	}
	if part := float64(bad) / float64(all); part > allowed {
		keep := filepath.Join(os.TempDir(), "untold-"+filepath.Base(path))
		if f, err := os.Create(keep); err == nil {
			_ = png.Encode(f, got) // for a person to look at
			f.Close()
		}
		t.Errorf("%.1f %% of the picture differ from %s (this one: %s); look, and write it anew with go test ./preview -update", 100*part, path, keep)
	}
}

// square is the mean brightness and colour of four pixels.
func square(img image.Image, x, y int) (v [3]int) {
	for i := range 4 {
		c := color.YCbCrModel.Convert(img.At(x+i%2, y+i/2)).(color.YCbCr)
		v[0] += int(c.Y)
		v[1] += int(c.Cb)
		v[2] += int(c.Cr)
	}
	for i := range v {
		v[i] /= 4
	}
	return v
}

func abs(i int) int { return max(i, -i) }

// TestFlight flies over the town with a real renderer: no tile is ever missing
// or drawn twice, and the events are those of the simulation.
func TestFlight(t *testing.T) {
	needGL(t)
	town := writeTown(t, t.TempDir(), 8)
	o := options(t, town)
	o.Path, o.FixedDT, o.Width, o.Height = straight(8, 8), 80*time.Millisecond, 320, 240
	o.Render = render.Options{Samples: 1, ShadowSize: 512}
	got := lines(&o)
	rep, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Undrawn != 0 || rep.DoubleDrawn != 0 || rep.Errors != 0 || rep.TrianglesMax == 0 || rep.UploadBytes == 0 {
		t.Errorf("%+v", rep)
	}
	if rep.ShadowLateMax > 65 { // two turns of the farthest map
		t.Errorf("shadows are late by %d frames", rep.ShadowLateMax)
	}
	want := simulated(t, town, o)
	if d := difference(*got, want); d != "one ends early" || len(*got) != len(want) {
		t.Errorf("%d events, want %d: %s", len(*got), len(want), d)
	}
}

// TestRealTime streams as fast as the machine does it: uploads under their
// budget, loads when they come.
func TestRealTime(t *testing.T) {
	needGL(t)
	o := options(t, writeTown(t, t.TempDir(), 4))
	o.FixedDT, o.Width, o.Height = 0, 160, 120
	o.Screenshot = filepath.Join(t.TempDir(), "a.png")
	o.Render = render.Options{Samples: 1, ShadowSize: -1}
	o.Config.UpdateInterval = 0.02
	rep, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Undrawn != 0 || rep.Errors != 0 || rep.ResidentFull+rep.ResidentLOD+rep.ResidentHLOD == 0 || rep.Triangles == 0 {
		t.Errorf("%+v", rep)
	}
	if rep.Device == "" || rep.FrameMSP50 <= 0 || rep.FrameMSP99 < rep.FrameMSP50 {
		t.Errorf("%+v", rep)
	}
	if readPNG(t, o.Screenshot).Bounds().Dx() != 160 {
		t.Error("the picture")
	}
}

// TestFramesAllocateNothing: a frame in which nothing comes or goes makes no
// garbage, so that nothing has to be collected.
func TestFramesAllocateNothing(t *testing.T) {
	needGL(t)
	o := options(t, writeTown(t, t.TempDir(), 4))
	o.FixedDT, o.Frames, o.Width, o.Height = 20*time.Millisecond, 200, 64, 48
	o.Path = still(geom.Vec3{60, 5, -28}, geom.Vec3{0.25, -0.05, -1}, 100)
	o.Render = render.Options{Samples: 1, ShadowSize: 64}
	var before, after goruntime.MemStats
	o.OnFrame = func(f *stats.Frame) error {
		switch f.Frame {
		case 100:
			goruntime.ReadMemStats(&before)
		case 199:
			goruntime.ReadMemStats(&after)
		}
		return nil
	}
	if _, err := Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if n := float64(after.Mallocs-before.Mallocs) / 99; n > 0.5 { // the lists of figures grow
		t.Errorf("%.1f allocations per frame", n)
	}
}
