package preview

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview/internal/hud"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/preview/stats"
	"github.com/untoldkit/untold/preview/surface"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/simulate"
)

// play runs with a script of events and returns what was said.
func play(t *testing.T, o Options, frames int, script map[int][]surface.Event, each func(render.Frame)) (news []string, s *fakeSurface, r *fakeRenderer) {
	t.Helper()
	o.Frames = frames
	o.Message = func(text string) { news = append(news, text) }
	s, r = &fakeSurface{w: 640, h: 480, script: script}, newFakeRenderer()
	r.onDraw = each
	if _, err := fakeRun(t, o, s, r); err != nil {
		t.Fatal(err)
	}
	return news, s, r
}

func TestKeys(t *testing.T) {
	t.Chdir(t.TempDir())
	o := options(t, writeTown(t, t.TempDir(), 3))
	script, at := map[int][]surface.Event{}, 1
	var want []string
	for _, k := range []struct {
		key  surface.Key
		news string
	}{
		{'L', "view: lod"},
		{'L', "view: lit"},
		{'V', "view: lod"},
		{'X', "wireframe: on"},
		{'B', "tile boxes: on"},
		{'T', "octree: on"},
		{'M', "occlusion mask: on"},
		{'R', "radii: on"},
		{'C', "culling frozen: on"},
		{surface.KeySpace, "streaming paused: on"},
		{surface.KeySpace, "streaming paused: off"},
		{'K', "view: batches"},
		{'L', "view: lod"},
		{surface.KeyF1, "help: on"},
		{surface.KeyEscape, ""}, // closes the help
		{surface.KeyF2, "figures: on"},
		{'N', "map: on"},
		{'F', "framed"},
		{'O', "camera: orbit"},
		{'=', "exposure: +0.25 stops"},
		{'-', "exposure: +0.00 stops"},
		{'I', "lights: authored"},
		{'I', "lights: preview"},
		{'G', "the scene has no colour table"},
		{'0', "start"},
		{'1', "the scene has no cameras of its own"},
		{surface.KeyF5, "reloaded"},
		{'P', "recording the path: on"},
		{'P', "path: path-1.json"},
		{surface.KeyF12, "picture: shot-1.png"},
		{surface.KeyF12, "picture: shot-2.png"},
		{surface.KeyTab, "scenes: 1"},
		{surface.KeyTab, ""},
		{'Z', ""},
	} {
		script[at] = press(k.key)
		at += 2
		if k.news != "" {
			want = append(want, k.news)
		}
	}
	script[at] = press(surface.KeyEscape)
	var frames []render.Frame
	news, _, _ := play(t, o, 10*at, script, func(f render.Frame) { frames = append(frames, f) })
	if !slices.Equal(news, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(news, "\n"), strings.Join(want, "\n"))
	}
	if len(frames) != at+1 {
		t.Errorf("%d frames: Escape ends after %d", len(frames), at+1)
	}
	last := frames[len(frames)-1]
	if !last.Wireframe || last.View != render.ViewLOD || last.CullCamera == nil || last.Overlay == nil || len(last.Lines) == 0 {
		t.Errorf("the last frame: wireframe %v, view %v, frozen %v", last.Wireframe, last.View, last.CullCamera != nil)
	}
	for _, name := range []string{"shot-1.png", "shot-2.png", "path-1.json"} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := simulate.LoadCameraPath("path-1.json"); err != nil {
		t.Error(err)
	}
}

// TestBatchKeys: K with Shift shows cells, and without batching there is nothing
// to show.
func TestBatchKeys(t *testing.T) {
	o := options(t, writeTown(t, t.TempDir(), 1))
	script := map[int][]surface.Event{1: {{Kind: surface.EventKey, Key: 'K', Pressed: true, Mods: surface.ModShift}}}
	news, _, r := play(t, o, 4, script, func(render.Frame) {})
	if len(news) != 1 || news[0] != "batch cells: on" || len(r.last.Lines) != 12 {
		t.Errorf("%q, %d lines", news, len(r.last.Lines))
	}
	o.Config.Batching.Enabled = false
	if news, _, _ := play(t, o, 4, script, func(render.Frame) {}); len(news) != 1 || news[0] != "static batching is off" {
		t.Errorf("%q", news)
	}
}

// TestHelpKnowsEveryKey: what a key does is told, once.
func TestHelpKnowsEveryKey(t *testing.T) {
	seen := map[surface.Key]bool{}
	for _, b := range bindings {
		if seen[b.key] {
			t.Errorf("key %v has two jobs", b.key)
		}
		seen[b.key] = true
		for _, s := range steering {
			if s.key == b.key {
				t.Errorf("key %v steers as well", b.key)
			}
		}
	}
	var list []string
	for _, g := range helpGroups() {
		for _, k := range g.Keys {
			list = append(list, k[1])
		}
	}
	for _, b := range bindings {
		if b.label != "" && !slices.Contains(list, b.text) {
			t.Errorf("the help lacks %q", b.text)
		}
	}
}

func TestSteering(t *testing.T) {
	o := options(t, writeTown(t, t.TempDir(), 3))
	var at []geom.Vec3
	var forward []geom.Vec3
	script := map[int][]surface.Event{
		10: {{Kind: surface.EventKey, Key: 'W', Pressed: true}},
		20: {{Kind: surface.EventKey, Key: 'W'}},
		60: {
			{Kind: surface.EventMotion, X: 100, Y: 100},
			{Kind: surface.EventButton, Button: surface.ButtonLeft, Pressed: true, X: 100, Y: 100},
			{Kind: surface.EventMotion, X: 220, Y: 100},
		},
		61: {{Kind: surface.EventButton, Button: surface.ButtonLeft, X: 220, Y: 100}},
		62: {{Kind: surface.EventMotion, X: 500, Y: 100}}, // without a button
		70: {{Kind: surface.EventKey, Key: 'D', Pressed: true}, {Kind: surface.EventFocus}},
	}
	_, s, _ := play(t, o, 80, script, func(f render.Frame) {
		at, forward = append(at, f.Camera.Position), append(forward, f.Camera.Forward)
	})
	if d := at[59].Sub(at[5]); d.Dot(forward[5]) < 1 {
		t.Errorf("W moves by %v, forward is %v", d, forward[5])
	}
	angle := math.Acos(max(-1, min(1, forward[59].Dot(forward[63]))))
	if angle < 0.5 || angle > 1 {
		t.Errorf("a drag of a quarter of the window turns by %g", angle)
	}
	if forward[63] != forward[79] || s.captured {
		t.Error("the pointer turns the camera without a button")
	}
	if at[79] != at[69] {
		t.Error("a key that was held when the focus went goes on")
	}
}

// TestTakeOver: a key ends the camera path where it is.
func TestTakeOver(t *testing.T) {
	o := options(t, writeTown(t, t.TempDir(), 3))
	o.Path = straight(3, 10)
	var at []geom.Vec3
	play(t, o, 60, map[int][]surface.Event{30: {{Kind: surface.EventKey, Key: surface.KeyLeftControl, Pressed: true}}, 40: {{Kind: surface.EventScroll, DY: 1}}}, func(f render.Frame) {
		at = append(at, f.Camera.Position)
	})
	if at[39].Sub(at[38]).Len() == 0 {
		t.Error("the path stands still")
	}
	if at[59].Sub(at[39]).Len() > 0.5 {
		t.Errorf("the path goes on: %v, %v", at[39], at[59])
	}
}

func TestChooserAndDrop(t *testing.T) {
	one, two := writeTown(t, filepath.Join(t.TempDir(), "one"), 2), writeTown(t, filepath.Join(t.TempDir(), "two"), 3)
	broken := filepath.Join(t.TempDir(), "broken.json")
	if err := os.WriteFile(broken, []byte(`{"tiles": 7}`), 0o644); err != nil {
		t.Fatal(err)
	}
	o := options(t, one)
	o.Scenes = append(o.Scenes, options(t, two).Scenes...)
	o.Scenes = append(o.Scenes, options(t, broken).Scenes...)
	block := filepath.Join(filepath.Dir(one), "tiles", "tile_0_0_0.untold")
	script := map[int][]surface.Event{
		20: press(surface.KeyTab),
		21: press(surface.KeyDown),
		22: press(surface.KeyEnter),
		40: press(surface.KeyTab),
		41: press(surface.KeyDown),
		42: press(surface.KeyEnter), // the broken one
		60: {{Kind: surface.EventDrop, Files: []string{filepath.Join(t.TempDir(), "none"), block}}},
	}
	drawn := map[int]int{}
	frame := 0
	news, s, r := play(t, o, 90, script, func(f render.Frame) { drawn[frame] = len(f.Drawn); frame++ })
	if drawn[19] != 4 || drawn[39] != 9 || drawn[59] != 9 || drawn[89] != 1 {
		t.Errorf("drawn %d, %d, %d, %d tiles, want 4, 9, 9, 1", drawn[19], drawn[39], drawn[59], drawn[89])
	}
	if len(r.ready)+len(r.waiting) != 0 {
		t.Errorf("%d representations are left on the device", len(r.ready))
	}
	want := []string{"scenes: 3", "scene: two/town.json", "scenes: 3", "broken.json: ", "none: no such file", "scene: tile_0_0_0.untold"}
	if len(news) != len(want) {
		t.Fatalf("%q", news)
	}
	for i := range want {
		if !strings.Contains(news[i], want[i]) {
			t.Errorf("%q, want %q", news[i], want[i])
		}
	}
	if len(s.titles) != 3 || s.titles[1] != "two/town.json - untold preview" {
		t.Errorf("%q", s.titles)
	}
}

func TestResize(t *testing.T) {
	o := options(t, writeTown(t, t.TempDir(), 1))
	_, _, r := play(t, o, 10, map[int][]surface.Event{
		2: {{Kind: surface.EventResize, Width: 200, Height: 100}}, 3: {{Kind: surface.EventResize}},
	}, nil)
	if r.w != 200 || r.h != 100 {
		t.Errorf("%d x %d", r.w, r.h)
	}
}

// TestAuthoredCameras: the run starts at the first one, digits lead to the
// others.
func TestAuthoredCameras(t *testing.T) {
	path := writeTown(t, t.TempDir(), 2)
	m, err := manifest.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		c := manifest.DefaultCamera()
		c.Name, c.Position, c.Forward = []string{"gate", ""}[i], [3]float64{float64(i) * 10, 2, 3}, [3]float64{0, 0, -1}
		m.SceneCameras = append(m.SceneCameras, c)
	}
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	var at []geom.Vec3
	news, _, _ := play(t, options(t, path), 10, map[int][]surface.Event{2: press('2'), 4: press('1'), 6: press('9')}, func(f render.Frame) {
		at = append(at, f.Camera.Position)
	})
	if at[0] != (geom.Vec3{0, 2, 3}) || at[3] != (geom.Vec3{10, 2, 3}) || at[9] != at[0] {
		t.Errorf("%v", at)
	}
	if !slices.Equal(news, []string{"camera: 2", "camera: gate", "the scene has only 2 cameras"}) {
		t.Errorf("%q", news)
	}
}

// TestViewpoint: a run starts at the camera that was named, with its planes.
func TestViewpoint(t *testing.T) {
	path := writeTown(t, t.TempDir(), 2)
	m, err := manifest.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"gate", "3", "gate", ""} {
		c := manifest.DefaultCamera()
		c.Name, c.Position, c.Forward, c.NearClip, c.FovYDegrees, c.AspectRatio = name, [3]float64{float64(i), 2, 30}, [3]float64{0, 0, -1}, 0.001, 35, 0
		m.SceneCameras = append(m.SceneCameras, c)
	}
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"gate": 0, "2": 1, "3": 1, "4": 3} {
		o := options(t, path)
		o.Viewpoint = name
		var at []runtime.Camera
		play(t, o, 2, nil, func(f render.Frame) { at = append(at, f.Camera) })
		if c := at[0]; c.Position != [3]float64{want, 2, 30} || c.FovYDegrees != 35 || c.Near > 0.001 {
			t.Errorf("%q: %+v", name, c)
		}
	}
	// A name that is gone, and half a camera: links of another time.
	for _, name := range []string{"5", "1,2,3", "Gate"} {
		o := options(t, path)
		var at [2]runtime.Camera
		for i := range at {
			o.Viewpoint = []string{"", name}[i]
			news, _, _ := play(t, o, 1, nil, func(f render.Frame) { at[i] = f.Camera })
			if told := slices.ContainsFunc(news, func(s string) bool {
				return strings.HasPrefix(s, "the scene has no camera "+strconv.Quote(name)+`: it has "gate", "3", "gate", ""; a number from 1 to 4`)
			}); told != (i == 1) {
				t.Errorf("%q: %q", o.Viewpoint, news)
			}
		}
		if at[0] != at[1] {
			t.Errorf("%q: %+v, want the usual start %+v", name, at[1], at[0])
		}
	}
	m.SceneCameras = nil
	if _, err := ViewpointOf(m, "1"); err == nil || !strings.Contains(err.Error(), "none of its own") {
		t.Error(err)
	}
}

// TestGradeKey: the table of the scene is used until it is switched off, and one that
// cannot be read is told of.
func TestGradeKey(t *testing.T) {
	path := writeTown(t, t.TempDir(), 2)
	m, err := manifest.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	m.ColorGradeLUT = &manifest.GradeLUT{URI: "look.cube", Size: 2}
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	file := testfile.Write(t, filepath.Join(filepath.Dir(path), "look.cube"), "LUT_1D_SIZE 2\n0 0 0\n1 1 1\n")
	var on []bool
	news, _, _ := play(t, options(t, path), 6, map[int][]surface.Event{2: press('G'), 4: press('G')}, func(f render.Frame) { on = append(on, f.Grade) })
	if !slices.Equal(on, []bool{true, true, false, false, true, true}) || !slices.Equal(news, []string{"grading: off", "grading: on"}) {
		t.Errorf("%v %q", on, news)
	}
	testfile.Write(t, file, "LUT_1D_SIZE 2\n0 0 0\n")
	on = nil
	news, rep, _ := play(t, options(t, path), 2, nil, func(f render.Frame) { on = append(on, f.Grade) })
	if on[0] || len(news) != 1 || !strings.Contains(news[0], "the picture is not graded: ") || !strings.Contains(news[0], "look.cube") {
		t.Errorf("%v %q %v", on, news, rep)
	}
}

// TestCursor: the tile under the pointer is the nearest that is drawn.
func TestCursor(t *testing.T) {
	o := options(t, writeTown(t, t.TempDir(), 3))
	open, err := o.Scenes[0].Load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := runtime.Open(t.Context(), open.Source, o.Config, runtime.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sh := shown{s: s, id: s.Scenes()[0], open: open}
	var drawn []runtime.Drawn
	for i := range 9 {
		drawn = append(drawn, runtime.Drawn{Key: payload.Key{Scene: sh.id, Tile: int32(i), Rep: payload.RepFull}, Fade: 1})
	}
	cam := runtime.Camera{Position: [3]float64{15, 3, 40}, Forward: [3]float64{0, 0, -1}, FovYDegrees: 60, Aspect: 1, Near: 0.1, Far: 500}
	var v, sky overlay
	v.pick(&sh, hud.RayAt(&cam, 50, 50, 100, 100), drawn, cam.Position)
	if !v.picked || v.cursor.Info.ID != "tile_0_0_0" || math.Abs(v.cursor.Distance-40) > 1 {
		t.Errorf("%v %+v", v.picked, v.cursor)
	}
	if sky.pick(&sh, hud.RayAt(&cam, 50, 0, 100, 100), drawn, cam.Position); sky.picked {
		t.Error("the sky is a tile")
	}
}

func TestFaultsAreCounted(t *testing.T) {
	o := options(t, writeTown(t, t.TempDir(), 1))
	o.Open = func(string) ([]Scene, error) { return nil, errors.New("unreadable") }
	o.Frames = 3
	s := &fakeSurface{w: 64, h: 48, script: map[int][]surface.Event{1: {{Kind: surface.EventDrop, Files: []string{"x"}}}}}
	rep, err := fakeRun(t, o, s, newFakeRenderer())
	if err != nil || rep.Errors != 1 {
		t.Errorf("%v, %+v", err, rep)
	}
	if c, _ := stats.ParseCondition("errors>0"); !c.Holds(rep) {
		t.Error("a fault is no error")
	}
}

func TestLegends(t *testing.T) {
	for _, v := range render.ViewModes()[1:] {
		var m hud.Model
		legend(&m, v, &Show{Boxes: true})
		if !strings.HasSuffix(m.View, ", tile boxes") || !strings.Contains(m.Note, "Boxes of tiles") || len(m.Legend) < 4 {
			t.Errorf("%v: %+v", v, m)
		}
	}
}
