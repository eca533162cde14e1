package preview

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/preview/surface"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/simulate"
)

// simulated returns the event lines of package simulate.
func simulated(t *testing.T, manifest string, o Options) []string {
	t.Helper()
	sc, err := simulate.Load(manifest)
	if err != nil {
		t.Fatal(err)
	}
	sc.Config, sc.Path, sc.DT, sc.Duration = o.Config, *o.Path, o.FixedDT, o.Path.Keys[len(o.Path.Keys)-1].T
	if o.Latency != nil {
		sc.Latency = simulate.Latency{Default: *o.Latency}
	}
	var lines []string
	_, err = simulate.Run(context.Background(), sc, simulate.Options{OnRecord: func(r *simulate.Record) error {
		lines = append(lines, string(r.AppendJSON(nil)))
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// lines makes a run collect its event lines.
func lines(o *Options) *[]string {
	var out []string
	o.OnRecord = func(r *simulate.Record) error {
		out = append(out, string(r.AppendJSON(nil)))
		return nil
	}
	return &out
}

// TestSameEventsAsSimulate: on a virtual clock the preview, which really loads,
// is told from the simulation by nothing but its pictures.
func TestSameEventsAsSimulate(t *testing.T) {
	defer goleak.VerifyNone(t)
	town := writeTown(t, t.TempDir(), 8)
	for _, latency := range []time.Duration{0, 50 * time.Millisecond, 330 * time.Millisecond} {
		o := options(t, town)
		o.Path, o.FixedDT, o.Latency = straight(8, 8), time.Second/60, &latency
		got := lines(&o)
		rep, err := fakeRun(t, o, &fakeSurface{w: 64, h: 48}, newFakeRenderer())
		if err != nil {
			t.Fatal(err)
		}
		want := simulated(t, town, o)
		if len(want) < 100 {
			t.Fatalf("only %d events", len(want))
		}
		if !slices.Equal(*got, want) {
			t.Errorf("latency %v: %d events, want %d; first difference:\n%s", latency, len(*got), len(want), difference(*got, want))
		}
		if rep.Frames != 481 || rep.Undrawn != 0 || rep.DoubleDrawn != 0 || rep.Errors != 0 {
			t.Errorf("latency %v: %+v", latency, rep)
		}
	}
}

func difference(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] + "\n" + b[i]
		}
	}
	return "one ends early"
}

// TestBadTiles: what cannot be loaded or uploaded is reported and left out.
func TestBadTiles(t *testing.T) {
	dir := t.TempDir()
	town := writeTown(t, dir, 4)
	if err := os.Truncate(filepath.Join(dir, "tiles", "tile_2_0_0.untold"), 100); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "tiles", "tile_1_0_1.untold")); err != nil {
		t.Fatal(err)
	}
	o := options(t, town)
	o.Path = straight(4, 5)
	var news []string
	o.Message = func(s string) { news = append(news, s) }
	r := newFakeRenderer()
	r.refuse = func(k payload.Key) error {
		if k.Tile == 6 && k.Rep == payload.RepFull {
			return errors.New("no memory")
		}
		return nil
	}
	rep, err := fakeRun(t, o, &fakeSurface{w: 64, h: 48}, r)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Failures < 3 || rep.Errors != rep.Failures || rep.Frames != 101 || rep.ResidentFull == 0 {
		t.Errorf("%+v", rep)
	}
	all := strings.Join(news, "\n")
	for _, want := range []string{"tile_2_0_0", "tile_1_0_1", "no memory"} {
		if !strings.Contains(all, want) {
			t.Errorf("nobody is told of %s:\n%s", want, all)
		}
	}
}

func TestEnds(t *testing.T) {
	town := writeTown(t, t.TempDir(), 2)
	t.Run("frames", func(t *testing.T) {
		o := options(t, town)
		o.Frames = 7
		if rep, err := fakeRun(t, o, &fakeSurface{w: 64, h: 48}, newFakeRenderer()); err != nil || rep.Frames != 7 {
			t.Errorf("%v, %+v", err, rep)
		}
	})
	t.Run("when all is loaded", func(t *testing.T) {
		o := options(t, town)
		o.Screenshot = filepath.Join(t.TempDir(), "a.png")
		r := newFakeRenderer()
		rep, err := fakeRun(t, o, &fakeSurface{w: 64, h: 48}, r)
		if err != nil || rep.Frames < settledFrames || rep.Frames > 10*settledFrames || r.settled != 1 {
			t.Errorf("%v, %d frames, settled %d times", err, rep.Frames, r.settled)
		}
		if _, err := os.Stat(o.Screenshot); err != nil {
			t.Error(err)
		}
	})
	t.Run("close button", func(t *testing.T) {
		o := options(t, town)
		o.Headless, o.FixedDT = false, 0
		s := &fakeSurface{w: 64, h: 48, script: map[int][]surface.Event{3: {{Kind: surface.EventClose}}}}
		if rep, err := fakeRun(t, o, s, newFakeRenderer()); err != nil || rep.Frames != 4 {
			t.Errorf("%v, %+v", err, rep)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		o := options(t, town)
		o.FixedDT = 0
		if err := o.check(); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		s := &fakeSurface{w: 64, h: 48, onFrame: func(k int) []surface.Event {
			if k == 5 {
				stop()
			}
			return nil
		}}
		if rep, err := run(ctx, &o, s, newFakeRenderer()); err != nil || rep.Frames != 6 {
			t.Errorf("%v, %+v", err, rep)
		}
	})
	t.Run("broken event sink", func(t *testing.T) {
		o := options(t, town)
		o.Frames = 5
		full := errors.New("the disk is full")
		o.OnRecord = func(*simulate.Record) error { return full }
		if _, err := fakeRun(t, o, &fakeSurface{w: 64, h: 48}, newFakeRenderer()); !errors.Is(err, full) {
			t.Errorf("%v", err)
		}
	})
}

// TestRecord writes a picture a frame.
func TestRecord(t *testing.T) {
	o := options(t, writeTown(t, t.TempDir(), 1))
	o.Frames, o.RecordDir = 4, t.TempDir()
	r := newFakeRenderer()
	if _, err := fakeRun(t, o, &fakeSurface{w: 64, h: 48}, r); err != nil {
		t.Fatal(err)
	}
	list, err := filepath.Glob(filepath.Join(o.RecordDir, "frame-*.png"))
	if err != nil || len(list) != 4 || r.settled != 4 {
		t.Errorf("%v: %v, settled %d times", err, list, r.settled)
	}
	o.RecordDir = filepath.Join(o.RecordDir, "missing")
	if _, err := fakeRun(t, o, &fakeSurface{w: 64, h: 48}, newFakeRenderer()); err == nil {
		t.Error("pictures into a missing folder are no error")
	}
}

func TestOptions(t *testing.T) {
	town := writeTown(t, t.TempDir(), 1)
	minus := -time.Second
	for name, tc := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"no scene":        {func(o *Options) { o.Scenes = nil }, "no scene"},
		"a huge picture":  {func(o *Options) { o.Width = 1 << 20 }, "want 1 to 16384"},
		"no end":          {func(o *Options) {}, "give a number of frames"},
		"fixed in window": {func(o *Options) { o.Headless = false }, "needs a headless run"},
		"negative":        {func(o *Options) { o.Frames = -1 }, "negative"},
		"latency":         {func(o *Options) { o.Latency = &minus }, "negative"},
		"config":          {func(o *Options) { o.Frames, o.Config = 1, config.Config{} }, "runtime:"},
	} {
		o := options(t, town)
		tc.change(&o)
		if _, err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var o Options
	o.Scenes, o.Config = options(t, town).Scenes, config.Default()
	if err := o.check(); err != nil || o.Width != defaultWidth {
		t.Errorf("%v, %d", err, o.Width)
	}
}

// TestQuiet: the overlay of a headless run is empty unless asked for.
func TestQuiet(t *testing.T) {
	town := writeTown(t, t.TempDir(), 2)
	for _, show := range []bool{false, true} {
		o := options(t, town)
		o.Frames, o.Show.Panel, o.View = 5, show, render.ViewLOD
		r := newFakeRenderer()
		if _, err := fakeRun(t, o, &fakeSurface{w: 640, h: 480}, r); err != nil {
			t.Fatal(err)
		}
		if got := r.overlays > 0; got != show {
			t.Errorf("panel %v: overlay %v", show, got)
		}
	}
}

// TestDebugViews: every debug view draws what it is for.
func TestDebugViews(t *testing.T) {
	town := writeTown(t, t.TempDir(), 5)
	for name, tc := range map[string]struct {
		show        Show
		lines, tops int // at least
	}{
		"boxes":     {Show{Boxes: true}, 25 * 12, 0},
		"octree":    {Show{Octree: true}, 4 * 12, 0},
		"rings":     {Show{Rings: true}, 0, 3 * 96},
		"occlusion": {Show{Occlusion: true}, 0, 0},
		"cells":     {Show{Cells: true}, 12, 0},
	} {
		o := options(t, town)
		o.Frames, o.Show, o.Path = 40, tc.show, straight(5, 10)
		r := newFakeRenderer()
		if _, err := fakeRun(t, o, &fakeSurface{w: 640, h: 480}, r); err != nil {
			t.Fatal(err)
		}
		if len(r.last.Lines) < tc.lines || len(r.last.LinesOnTop) < tc.tops {
			t.Errorf("%s: %d lines, %d on top", name, len(r.last.Lines), len(r.last.LinesOnTop))
		}
		if name == "occlusion" && r.overlays == 0 {
			t.Error("no mask")
		}
	}
}
