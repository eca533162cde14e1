package preview

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/preview/stats"
	"github.com/untoldkit/untold/preview/surface"
	"github.com/untoldkit/untold/runtime/memory"
)

// TestBatchingFollowsTheRun: the renderer is told of cells, bounds and the kind
// of time.
func TestBatchingFollowsTheRun(t *testing.T) {
	town := writeTown(t, t.TempDir(), 2)
	for _, virtual := range []bool{true, false} {
		o := options(t, town)
		o.Frames, o.Config.GeometryBudget = 5, 400<<20
		o.Config.Batching.MaxCellVertices = 7
		if !virtual {
			o.FixedDT = 0
		}
		r := newFakeRenderer()
		if _, err := fakeRun(t, o, &fakeSurface{w: 64, h: 48}, r); err != nil {
			t.Fatal(err)
		}
		if r.batching == nil || r.batching.Sync != virtual || r.batching.MaxCellVertices != 7 || r.cells[1] != batchTiles*townStreaming {
			t.Errorf("virtual %v: %+v, cells %v", virtual, r.batching, r.cells)
		}
		if r.batchLimit != 100<<20 { // a quarter
			t.Errorf("limit %d", r.batchLimit)
		}
	}
	o := options(t, town)
	o.Frames, o.Config.Batching.Enabled = 2, false
	r := newFakeRenderer()
	if _, err := fakeRun(t, o, &fakeSurface{w: 64, h: 48}, r); err != nil || r.batching != nil {
		t.Errorf("switched off: %+v, %v", r.batching, err)
	}
	if r.batchLimit != 0 {
		t.Errorf("without a budget the bound is %d", r.batchLimit)
	}
}

// TestBatchesGiveWay: batches have only what streaming leaves below the low
// water mark.
func TestBatchesGiveWay(t *testing.T) {
	o := options(t, writeTown(t, t.TempDir(), 4))
	o.Path, o.Config.GeometryBudget = straight(4, 5), 100_000
	r, limits := newFakeRenderer(), map[int64]bool{}
	r.onDraw = func(render.Frame) { limits[r.batchLimit] = true }
	rep, err := fakeRun(t, o, &fakeSurface{w: 64, h: 48}, r)
	if err != nil {
		t.Fatal(err)
	}
	low := int64(o.Config.LowWaterMark * 100_000)
	if !limits[25_000] || !limits[1] || rep.PeakGeometryBytes < low {
		t.Errorf("bounds %v, peak %d", limits, rep.PeakGeometryBytes)
	}
}

// TestReloadMovesBatches: a scene that is cooked again gets cells of its own.
func TestReloadMovesBatches(t *testing.T) {
	o := options(t, writeTown(t, t.TempDir(), 1))
	_, _, r := play(t, o, 8, map[int][]surface.Event{3: press(surface.KeyF5)}, func(render.Frame) {})
	if len(r.cells) != 2 || r.cells[1] != 0 || r.cells[2] != batchTiles*townStreaming {
		t.Errorf("%v", r.cells)
	}
}

// TestBatchedFlight: in a flight over the town every frame is the same with
// batches and without, as are the events; there are fewer draws.
func TestBatchedFlight(t *testing.T) {
	needGL(t)
	town := writeTown(t, t.TempDir(), 8)
	for _, plain := range []bool{false, true} {
		for _, secondary := range []bool{false, true} {
			t.Run(fmt.Sprintf("plain=%v secondary=%v", plain, secondary), func(t *testing.T) {
				if race.Enabled && (plain || !secondary) {
					t.Skip("make test flies all four without the race detector")
				}
				fly := func(batching bool) (*stats.Report, []string, string) {
					o := options(t, town)
					o.Path, o.FixedDT, o.Width, o.Height = straight(8, 8), 80*time.Millisecond, 120, 90
					o.Render = render.Options{Samples: 1, ShadowSize: 256, Plain: plain}
					o.Config.Batching.Enabled, o.Config.BatchSecondaryTileRepresentations = batching, secondary
					o.Config.EnableFadeTransitions = secondary
					o.Config.GeometryBudget = 8 << 20
					o.RecordDir = t.TempDir()
					got := lines(&o)
					rep, err := Run(context.Background(), o)
					if err != nil {
						t.Fatal(err)
					}
					if rep.Undrawn != 0 || rep.DoubleDrawn != 0 || rep.Errors != 0 {
						t.Errorf("%+v", rep)
					}
					return rep, *got, o.RecordDir
				}
				off, wantEvents, wantDir := fly(false)
				on, events, dir := fly(true)
				if !slices.Equal(events, wantEvents) {
					t.Errorf("%d events, want %d: %s", len(events), len(wantEvents), difference(events, wantEvents))
				}
				most := samePictures(t, wantDir, dir)
				part := on.DrawsMean / off.DrawsMean
				t.Logf("draws per frame %.1f, without batches %.1f; at most %.2f %% of a picture differ", on.DrawsMean, off.DrawsMean, 100*most)
				if limit := map[bool]float64{false: 0.96, true: 0.85}[secondary]; part > limit || on.Batches == 0 {
					t.Errorf("%.0f %% of the draws are left: %+v", 100*part, on.BatchFigures)
				}
				if on.DrawsMean+on.DrawsSavedMean != off.DrawsMean {
					t.Errorf("%v draws and %v saved, but %v without batches", on.DrawsMean, on.DrawsSavedMean, off.DrawsMean)
				}
				if most := on.PeakGeometryBytes + on.BatchBytesMax; most > 8<<20 {
					t.Errorf("%d bytes are over the budget", most)
				}
			})
		}
	}
}

// samePictures compares two recorded runs frame by frame and returns the
// largest share of a picture that differs: surfaces that lie in each other, such
// as two levels in a fade, may win in another order.
func samePictures(t *testing.T, a, b string) (most float64) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(a, "frame-*.png"))
	if err != nil || len(list) < 50 {
		t.Fatalf("%d pictures, %v", len(list), err)
	}
	for _, path := range list {
		x, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		y, err := os.ReadFile(filepath.Join(b, filepath.Base(path)))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(x, y) {
			continue
		}
		part := differing(readPNG(t, path), readPNG(t, filepath.Join(b, filepath.Base(path))))
		if most = max(most, part); part > 0.002 {
			t.Errorf("%s: %.2f %% differ", filepath.Base(path), 100*part)
		}
	}
	return most
}

// differing returns the share of pixels that are not the same.
func differing(a, b image.Image) float64 {
	n, box := 0, a.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			if a.At(x, y) != b.At(x, y) {
				n++
			}
		}
	}
	return float64(n) / float64(box.Dx()*box.Dy())
}

// TestPressure: what the system says reaches the streamer and the batches, and
// the figures.
func TestPressure(t *testing.T) {
	o := options(t, writeTown(t, t.TempDir(), 2))
	o.FixedDT, o.memoryRoot = 0, filepath.Join("..", "runtime", "memory", "testdata", "tight")
	r := newFakeRenderer()
	s := &fakeSurface{w: 64, h: 48, onFrame: func(int) []surface.Event {
		if len(r.relieved) > 0 {
			return []surface.Event{{Kind: surface.EventClose}}
		}
		return nil
	}}
	rep, err := fakeRun(t, o, s, r)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.relieved) == 0 || r.relieved[0] != memory.PressureWarning || rep.PressureSignals != len(r.relieved) {
		t.Errorf("%v, %d signals", r.relieved, rep.PressureSignals)
	}
}

// TestBudgets: configured ones hold in any time; else real time asks the
// machine, and virtual time nobody.
func TestBudgets(t *testing.T) {
	town := writeTown(t, t.TempDir(), 1)
	for _, tc := range []struct {
		name      string
		virtual   bool
		configure int64
		dedicated int64
		want      int64 // of textures
	}{
		{"virtual", true, 0, 8 << 30, 0},
		{"virtual, configured", true, 50 << 20, 0, 50 << 20},
		{"real", false, 0, 0, 1228 << 20}, // of the machine in bare
		{"a graphics card", false, 0, 2 << 30, 327 << 20},
		{"configured", false, 50 << 20, 2 << 30, 50 << 20},
	} {
		o := options(t, town)
		o.Frames, o.Config.TextureBudget = 15, tc.configure
		o.memoryRoot = filepath.Join("..", "runtime", "memory", "testdata", "bare")
		if !tc.virtual {
			o.FixedDT = 0
		}
		r := newFakeRenderer()
		r.dedicated = tc.dedicated
		if _, err := fakeRun(t, o, &fakeSurface{w: 64, h: 48}, r); err != nil {
			t.Fatal(err)
		}
		if tc.virtual {
			if got := r.followed.Stats().Budget; got != tc.want {
				t.Errorf("%s: textures have %d, want %d", tc.name, got, tc.want)
			}
			continue
		}
		if d := r.budget - tc.want*85/100; d < -1<<20 || d > 1<<20 { // up to the high-water mark
			t.Errorf("%s: textures have %d, want %d", tc.name, r.budget, tc.want)
		}
	}
}

// scripted is a real surface with events of a test.
type scripted struct {
	surface.Surface
	frame  int
	script map[int][]surface.Event
}

func (s *scripted) Events(dst []surface.Event) []surface.Event {
	s.frame++
	return append(s.Surface.Events(dst), s.script[s.frame]...)
}

// TestBatchesAcrossScenes: batches of a scene that is left or cooked again are
// not those of the next one, whose numbers are the same.
func TestBatchesAcrossScenes(t *testing.T) {
	needGL(t)
	o := options(t, writeTown(t, t.TempDir(), 4))
	o.Scenes = append(o.Scenes, options(t, writeTown(t, t.TempDir(), 6)).Scenes...)
	o.Frames, o.Width, o.Height, o.Config.BatchSecondaryTileRepresentations = 120, 96, 72, true
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	window, err := surface.OpenHeadless(o.Width, o.Height)
	if err != nil {
		t.Fatal(err)
	}
	defer window.Close()
	s := &scripted{Surface: window, script: map[int][]surface.Event{
		40: slices.Concat(press(surface.KeyTab), press(surface.KeyDown), press(surface.KeyEnter)), 80: press(surface.KeyF5),
	}}
	r, err := render.New(window, render.Options{Width: o.Width, Height: o.Height, Samples: 1, ShadowSize: 128, Framebuffer: window.Framebuffer()})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rep, err := run(t.Context(), &o, s, r)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Errors != 0 || rep.Undrawn != 0 || rep.DoubleDrawn != 0 || rep.Batches == 0 || rep.Scene != o.Scenes[1].Name || rep.DrawsSavedMean == 0 {
		t.Errorf("%+v", rep)
	}
}
