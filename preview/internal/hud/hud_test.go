package hud

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

func newHUD(t testing.TB, pixels int) *HUD {
	t.Helper()
	f, err := NewFont(pixels)
	if err != nil {
		t.Fatal(err)
	}
	return New(f)
}

func sample(w, h int) *Model {
	m := &Model{Width: w, Height: h, Panel: &Panel{
		Tiles:  Counts{Parsed: 14, Parsing: 2, Failed: 1, Fallback: 61},
		Camera: runtime.Camera{Position: [3]float64{103.25, 12, -340.75}, Forward: [3]float64{0.6, -0.2, -0.8}, FovYDegrees: 60, Aspect: float64(w) / float64(h)},
		Mode:   "fly", Speed: 32.5, Recording: true,
	}}
	for i := range 120 {
		d := 15 * time.Millisecond
		if i%29 == 0 {
			d = 34 * time.Millisecond
		}
		if i%13 == 0 {
			d = 22 * time.Millisecond
		}
		m.Panel.Times = append(m.Panel.Times, d)
	}
	p := m.Panel
	p.Render = render.Stats{Draws: 812, Calls: 24, Culled: 1410, Triangles: 1_284_118, ShadowTriangles: 400_221, Pending: 3, PendingBytes: 2_400_000, TextureBytes: 81_000_000}
	p.Stats = runtime.Stats{
		VisibleFull: 14, VisibleLOD: 32, VisibleHLOD: 29, TotalStreamingEntities: 289, ActiveLoads: 5, PendingLoadBacklog: 11,
		AverageAsyncLoadMs: 12, UpdateWorkMs: 0.41, Failures: 1, GeometryUsed: 290_000_000, GeometryBudget: 322_000_000, TextureBudget: 215_000_000,
	}
	m.Map = &Map{Bounds: geom.Box{Min: geom.Vec3{0, 0, -500}, Max: geom.Vec3{500, 40, 0}}, Camera: p.Camera, Rings: []MapRing{
		{60, ColorResident}, {120, ColorLoading}, {250, ColorUnloaded},
	}}
	for x := range 10 {
		for z := range 10 {
			b := geom.Box{Min: geom.Vec3{float64(x) * 50, 0, float64(-z)*50 - 50}, Max: geom.Vec3{float64(x)*50 + 50, 10, float64(-z) * 50}}
			c := []Color{ColorUnloaded, ColorMixed, ColorLoading, ColorResident}[(x+z)%4]
			m.Map.Tiles = append(m.Map.Tiles, MapTile{b, c, (x+z)%4 > 0})
		}
	}
	return m
}

func TestPictures(t *testing.T) {
	big := sample(1280, 760)
	big.View, big.Note = "levels of detail", "The colour of a tile is the level that it draws."
	big.Legend = []LegendEntry{{LevelColor(payload.RepFull), "full"}, {LevelColor(payload.LOD(0)), "lod0"}, {LevelColor(payload.LOD(1)), "lod1"}, {LevelColor(payload.RepHLOD), "hlod"}}
	big.Message = "path saved to path-1.json"
	big.Cursor = &Cursor{
		Status: runtime.TileStatus{State: runtime.TileParsed, Drawn: payload.RepFull, Wanted: payload.LOD(0), Resident: payload.RepSet(0).With(payload.RepFull).With(payload.LOD(0))},
		Info:   runtime.TileInfo{ID: "tile_3_0_7", Streaming: 60, Unload: 90, LODs: []float64{64, 96}, HLOD: 140, Bounds: manifest.Bounds{}}, Distance: 42.25,
	}
	big.Occlusion = &runtime.Occlusion{Covered: 0x00003c3c3c3c0000}
	help := sample(960, 600)
	help.Help = []HelpGroup{
		{"Move", [][2]string{{"W A S D", "ahead, left, back, right"}, {"Q E", "down, up"}, {"drag", "look around"}, {"wheel", "faster, slower"}}},
		{"Look", [][2]string{{"V", "next view"}, {"B", "boxes of tiles"}}},
		{"More", [][2]string{{"Tab", "choose a scene"}, {"F12", "picture"}, {"Esc", "close, end"}}},
	}
	list := sample(640, 400)
	list.Chooser = &Chooser{Names: []string{"city/city.json", "office/office.json", strings.Repeat("very/", 20) + "long.json"}, Selected: 1}
	list.Alert = "2 tiles could not be loaded: tiles/tile_0_0_0.untold: the file is damaged"
	small := sample(320, 240)
	batches := sample(640, 400)
	batches.Map = nil
	batches.Panel.Batching, batches.Panel.Pressure = true, memory.PressureWarning
	batches.Panel.Render.BatchStats = render.BatchStats{BatchDraws: 609, BatchedMeshes: 2299, BatchBytes: 6_408_422, BatchWork: 3}
	pyramid := sample(1280, 760)
	pyramid.Map = nil
	pyramid.Panel.Stats.PyramidNodes, pyramid.Panel.Stats.PyramidBytes, pyramid.Panel.ErrorPixels = 17, 2_340_000, 1.87
	short := sample(1280, 760)
	short.Map = nil
	short.Panel.Stats.PyramidNodes, short.Panel.Stats.PyramidBytes, short.Panel.ErrorPixels = 171, 23_400_000, 12.87
	short.Panel.Stats.DetailLimit = runtime.LimitTriangles
	for name, tc := range map[string]struct {
		m    *Model
		font int
	}{
		"full": {big, 13}, "help": {help, 13}, "chooser": {list, 13}, "small": {small, 9}, "batches": {batches, 12},
		"pyramid": {pyramid, 13}, "short": {short, 13},
	} {
		c := newHUD(t, tc.font).Draw(tc.m)
		golden(t, name, paint(c.Overlay(), tc.m.Width, tc.m.Height))
	}
}

// TestDrawStaysInside: no size of a window, however small, and no text breaks
// the layout.
func TestDrawStaysInside(t *testing.T) {
	h := newHUD(t, 12)
	for _, size := range [][2]int{{1, 1}, {16, 900}, {900, 16}, {200, 150}, {4000, 3000}} {
		m := sample(size[0], size[1])
		m.View, m.Note, m.Message, m.Alert = "tiles", strings.Repeat("w", 300)+" and more", "\x00\xff", "a"
		m.Help = []HelpGroup{{"Title", [][2]string{{"k", "text"}}}}
		m.Chooser = &Chooser{Names: make([]string, 300), Selected: 299}
		m.Cursor = &Cursor{Info: runtime.TileInfo{ID: strings.Repeat("x", 500), Streaming: math.Inf(1)}}
		m.Missing = 0.5
		o := h.Draw(m).Overlay()
		for i, v := range o.Vertices {
			if !(v.U >= 0 && v.U <= 1 && v.V >= 0 && v.V <= 1) || v.X != v.X || v.Y != v.Y {
				t.Fatalf("%v: vertex %d is %+v", size, i, v)
			}
		}
		for _, i := range o.Indices {
			if int(i) >= len(o.Vertices) {
				t.Fatalf("%v: index %d of %d", size, i, len(o.Vertices))
			}
		}
	}
}

// TestCovered: nothing is written where others cover the lower left corner, and what lies
// beside it stays where it is.
func TestCovered(t *testing.T) {
	h := newHUD(t, 12)
	draw := func(width int, m *Model) (box [4]float32) {
		m.Width, m.Height, m.Covered.Width = 400, 600, width
		box = [4]float32{1e9, 1e9}
		for _, v := range h.Draw(m).Overlay().Vertices {
			box = [4]float32{min(box[0], v.X), min(box[1], v.Y), max(box[2], v.X), max(box[3], v.Y)}
		}
		return box
	}
	for name, m := range map[string]Model{
		"view":    {View: "levels", Note: "what they mean", Legend: []LegendEntry{{Text: "full"}, {Text: "hlod"}}},
		"cursor":  {Cursor: &Cursor{Info: runtime.TileInfo{ID: "tile"}}},
		"message": {Message: "news", Alert: "a fault"},
	} {
		free := draw(0, &m)
		m.Covered.Height = 250
		if box := draw(400, &m); box[3] > 350 || box[1] < 0 || box[3]-box[1] != free[3]-free[1] {
			t.Errorf("%s: from %v to %v", name, free, box)
		}
		if box := draw(int(free[0])-1, &m); name != "cursor" && box != free {
			t.Errorf("%s beside it: from %v to %v", name, free, box)
		}
		if m.Covered.Height = 590; draw(400, &m)[1] < 0 {
			t.Errorf("%s: it is not seen any more where all is covered", name)
		}
	}
}

// TestFiguresLeaveRoom: in a window of any size the figures cover a small part of
// the picture, in a large one all of them are there.
func TestFiguresLeaveRoom(t *testing.T) {
	for _, tc := range []struct {
		font, w, h int
		all        bool
	}{{9, 640, 360, false}, {13, 800, 600, false}, {13, 960, 540, false}, {13, 1280, 720, true}, {13, 1920, 1080, true}, {26, 2560, 1440, true}} {
		h, m := newHUD(t, tc.font), sample(tc.w, tc.h)
		m.Map = nil
		var right, bottom float32
		for _, v := range h.Draw(m).Overlay().Vertices {
			right, bottom = max(right, v.X), max(bottom, v.Y)
		}
		if x, y := right/float32(tc.w), bottom/float32(tc.h); x > 0.43 || y > 0.37 || tc.all == h.short(m) {
			t.Errorf("%d x %d: up to %.2f of the width, %.2f of the height; short: %t", tc.w, tc.h, x, y, h.short(m))
		}
	}
}

// TestDrawDoesNotAllocate keeps the overlay out of the garbage collector's way.
// TestLoadingBar: the bar at the upper edge is as long as what has come.
func TestLoadingBar(t *testing.T) {
	h := newHUD(t, 13)
	if o := h.Draw(&Model{Width: 200, Height: 100}).Overlay(); len(o.Vertices) != 0 {
		t.Errorf("%d vertices of nothing", len(o.Vertices))
	}
	o := h.Draw(&Model{Width: 200, Height: 100, Missing: 0.25}).Overlay()
	if len(o.Vertices) != 8 || o.Vertices[2].X != 200 || o.Vertices[6].X != 150 || o.Vertices[6].Y < 2 || o.Vertices[6].Y > 5 {
		t.Errorf("%+v", o.Vertices)
	}
}

func TestDrawDoesNotAllocate(t *testing.T) {
	h, m := newHUD(t, 12), sample(960, 600)
	h.Draw(m)
	if n := testing.AllocsPerRun(20, func() { h.Draw(m) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestNumbers(t *testing.T) {
	h := newHUD(t, 12)
	for _, tc := range []struct {
		write func()
		want  string
	}{
		{func() { h.count(0) }, "0"},
		{func() { h.count(-1234567) }, "-1,234,567"},
		{func() { h.count(999) }, "999"},
		{func() { h.text("n ").count(1000) }, "n 1,000"},
		{func() { h.bytes(999) }, "999 B"},
		{func() { h.bytes(1500) }, "1.5 kB"},
		{func() { h.bytes(2_500_000_000) }, "2.50 GB"},
	} {
		h.line = h.line[:0]
		if tc.write(); string(h.line) != tc.want {
			t.Errorf("%q, want %q", h.line, tc.want)
		}
	}
}

func TestTexts(t *testing.T) {
	if got := fitText("city/tiles/a.json", 8, true); got != "\u2026/a.json" {
		t.Errorf("%q", got)
	}
	if got := fitText("abc", 1, false); got != "" {
		t.Errorf("%q", got)
	}
	if got := strings.Join(wrap("one two three four", 9), "|"); got != "one two|three|four" {
		t.Errorf("%q", got)
	}
	if got := reps(payload.RepSet(0).With(payload.RepHLOD).With(payload.LOD(1))); got != "hlod+lod1" {
		t.Errorf("%q", got)
	}
}

func TestColors(t *testing.T) {
	for _, tc := range []struct {
		s    runtime.TileStatus
		want Color
	}{
		{runtime.TileStatus{State: runtime.TileParsed}, ColorResident},
		{runtime.TileStatus{State: runtime.TileParsing, Resident: 4}, ColorLoading},
		{runtime.TileStatus{Resident: payload.RepSet(0).With(payload.RepHLOD)}, ColorMixed},
		{runtime.TileStatus{}, ColorUnloaded},
		{runtime.TileStatus{State: runtime.TileFailed}, ColorFailed},
	} {
		if got := StateColor(&tc.s); got != tc.want {
			t.Errorf("%+v: %v", tc.s, got)
		}
	}
	if LevelColor(payload.RepFull) == LevelColor(payload.LOD(0)) || LevelColor(payload.RepNone) != ColorNone {
		t.Error("colours of levels")
	}
	if n := Count([]runtime.TileStatus{{State: runtime.TileParsed}, {State: runtime.TileParsing}, {Resident: 2}, {State: runtime.TileFailed}, {}}); n != (Counts{1, 1, 1, 1}) {
		t.Errorf("%+v", n)
	}
}
