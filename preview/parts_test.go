package preview

import (
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/internal/camera"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/preview/surface"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/simulate"
)

// TestMessages: a notice and an alert stay for their times, and only what could not
// be done counts as an error.
func TestMessages(t *testing.T) {
	c := &clock{virtual: true}
	var told []string
	m := messages{out: func(s string) { told = append(told, s) }, clock: c}
	m.notify("framed")
	m.alert("tile a: gone")
	for _, tc := range []struct {
		at            time.Duration
		notice, alert string
	}{
		{0, "framed", "tile a: gone"},
		{noticeTime, "", "tile a: gone"},
		{alertTime, "", ""},
	} {
		c.now = tc.at
		if notice, alert := m.current(); notice != tc.notice || alert != tc.alert {
			t.Errorf("after %v: %q, %q", tc.at, notice, alert)
		}
	}
	if m.errors != 0 {
		t.Errorf("%d errors", m.errors)
	}
	if m.reportError("unreadable"); m.errors != 1 || len(told) != 3 {
		t.Errorf("%d errors, told %q", m.errors, told)
	}
}

// TestMemoryWatch: of several levels the worst is taken, once; a shortage is told
// once of a scene.
func TestMemoryWatch(t *testing.T) {
	var w memoryWatch
	w.report(memory.PressureCritical)
	w.report(memory.PressureWarning)
	if first, then := w.take(), w.take(); first != memory.PressureCritical || then != memory.PressureNone {
		t.Errorf("%v, then %v", first, then)
	}
	st := runtime.Stats{TilesInView: 9}
	if text := w.shortage(&st); text != "" {
		t.Errorf("nothing is missing: %q", text)
	}
	st.TilesGivenUp = 4
	if text := w.shortage(&st); text == "" {
		t.Error("a shortage is not told")
	}
	if text := w.shortage(&st); text != "" {
		t.Errorf("told again: %q", text)
	}
	if w.watch(nil); w.shortage(&st) == "" {
		t.Error("the next scene's shortage is not told")
	}
}

// TestCameraDriver: the path leads until a person steers, from where it has led to;
// culling stays where it was frozen.
func TestCameraDriver(t *testing.T) {
	bounds := geom.Box{Min: geom.Vec3{-50, 0, -50}, Max: geom.Vec3{50, 20, 50}}
	c := cameraDriver{rig: camera.New(bounds), scene: &camera.Scene{Bounds: bounds}, path: straight(2, 10), following: true}
	c.move(camera.Input{}, false, 5*time.Second, time.Second/60, 2)
	if want := c.path.At(5 * time.Second).Position; c.stream.Position != want || c.draw.Aspect != 2 {
		t.Errorf("%v, aspect %v, want %v", c.stream.Position, c.draw.Aspect, want)
	}
	at := c.stream.Position
	c.move(camera.Input{}, true, 6*time.Second, 0, 2)
	if c.following || geom.Vec3(c.stream.Position).Sub(at).Len() > 1e-9 {
		t.Errorf("following %v, at %v, not %v", c.following, c.stream.Position, at)
	}
	if !c.freeze() || c.frozen.Position != c.draw.Position {
		t.Errorf("frozen at %v", c.frozen)
	}
	if c.freeze() || c.frozen != nil {
		t.Error("frozen twice")
	}
}

// TestTextureBudget: textures stay below the mark at which the runtime sheds them.
func TestTextureBudget(t *testing.T) {
	c := textureControl{highWater: 0.5, limit: 200}
	for b, want := range map[int64]int64{1000: 499, 0: 99, 1 << 62: 1<<61 - 1, 1<<63 - 1: 0, -1: 0, 1: 1} {
		if got := c.budget(b); got != want {
			t.Errorf("budget(%d) = %d, want %d", b, got, want)
		}
	}
}

// TestBesideTheScene: entities stream with the scene, in real and in virtual time,
// and a scene is where it was put.
func TestBesideTheScene(t *testing.T) {
	dir := t.TempDir()
	path := writeTown(t, dir, 1)
	scenes, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	town, err := scenes[0].Load()
	if err != nil {
		t.Fatal(err)
	}
	tile := &town.Source.Manifest.Tiles[0]
	for _, virtual := range []bool{true, false} {
		o := options(t, path)
		o.Frames = 200
		o.Transform = &[16]float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 0, 0, 1}
		o.Entities = []runtime.Entity{{ID: "again", Path: tile.Path, Bounds: tile.Bounds, StreamingRadius: 500}}
		r, s := newFakeRenderer(), &fakeSurface{w: 64, h: 48}
		if !virtual {
			o.FixedDT, o.FPS, o.Frames = 0, -1, 5000
			o.wall = func() time.Duration { return time.Duration(s.frame) * 50 * time.Millisecond }
		}
		seen := map[string]bool{}
		o.OnRecord = func(r *simulate.Record) error {
			for _, k := range r.Keys {
				if id, _ := k.Value.(string); k.Name == "tile" && r.Event == "drawn" {
					seen[id] = true
				}
			}
			return nil
		}
		moved := 0.0
		r.onDraw = func(f render.Frame) {
			if len(f.Drawn) > 0 {
				root := f.Root(f.Drawn[0].Scene)
				moved = max(moved, root[12])
			}
		}
		if _, err := fakeRun(t, o, s, r); err != nil {
			t.Fatal(err)
		}
		if !seen["again"] || moved != 5 {
			t.Errorf("virtual %v: drawn were %v, the scene is at %v", virtual, seen, moved)
		}
	}
}

// TestDone: a run ends by its frames, its path or its picture, a window never.
func TestDone(t *testing.T) {
	for name, tc := range map[string]struct {
		o      Options
		frames int
		now    time.Duration
		quiet  int
		want   bool
	}{
		"frames left":        {o: Options{Frames: 3}, frames: 2},
		"frames":             {o: Options{Frames: 3}, frames: 3, want: true},
		"a window":           {frames: 1e6, now: time.Hour},
		"on the path":        {o: Options{Headless: true, Path: straight(1, 10)}, now: 9 * time.Second},
		"the path's end":     {o: Options{Headless: true, Path: straight(1, 10)}, now: 10 * time.Second, want: true},
		"a shorter duration": {o: Options{Headless: true, Path: straight(1, 10), Duration: time.Second}, now: time.Second, want: true},
		"still loading":      {o: Options{Headless: true, Screenshot: "a.png"}, quiet: settledFrames - 1},
		"settled":            {o: Options{Headless: true, Screenshot: "a.png"}, quiet: settledFrames, want: true},
		"too long":           {o: Options{Headless: true, Screenshot: "a.png"}, now: settleLimit + 1, want: true},
	} {
		e := ending{o: &tc.o, quiet: tc.quiet}
		if got := e.done(tc.frames, &clock{wall: func() time.Duration { return tc.now }}); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	e := ending{quiet: settledFrames}
	if e.drew(&runtime.Stats{}, &render.Stats{}, 1, true); e.quiet != 0 {
		t.Error("a draft is the end")
	}
}

// TestDisplay: a view is flipped back, and views go round in both directions.
func TestDisplay(t *testing.T) {
	d := display{notify: func(string) {}}
	if d.flip(render.ViewLOD); d.view != render.ViewLOD {
		t.Errorf("%v", d.view)
	}
	if d.flip(render.ViewLOD); d.view != render.ViewLit {
		t.Errorf("%v", d.view)
	}
	d.next(surface.ModShift)
	if d.next(0); d.view != render.ViewLit {
		t.Errorf("%v", d.view)
	}
	if d.expose(100); d.exposure != 8 {
		t.Errorf("%v", d.exposure)
	}
}
