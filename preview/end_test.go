package preview

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/simulate"
)

// standing is a path that stays where it begins.
func standing(x, y, z float64, forward geom.Vec3) *simulate.CameraPath {
	k := simulate.CameraKey{Position: geom.Vec3{x, y, z}, Forward: forward}
	last := k
	last.T = time.Minute
	return &simulate.CameraPath{FovYDegrees: 60, Aspect: 4.0 / 3, Near: 0.1, Far: 1000, Keys: []simulate.CameraKey{k, last}}
}

// TestNothingWanted: a headless run whose camera is too far away for everything
// says so and ends, at once where it stands still.
func TestNothingWanted(t *testing.T) {
	path := writeTown(t, t.TempDir(), 2)
	m, err := manifest.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Tiles {
		m.Tiles[i].LODLevels, m.Tiles[i].HLODLevels = nil, nil
	}
	bare := filepath.Join(filepath.Dir(path), "bare.json")
	if err := m.Save(bare); err != nil {
		t.Fatal(err)
	}
	moving := standing(30, 5, 900, geom.Vec3{0, 0, -1})
	moving.Keys[1].Position[0], moving.Keys[1].T = 60, 3*time.Second
	for _, tc := range []struct {
		name   string
		path   *simulate.CameraPath
		scene  string
		frames int // that are drawn at most
		want   string
	}{
		{"far", standing(30, 5, 900, geom.Vec3{0, 0, -1}), bare, 30, "tile_0_0_0, is 900 m away and wanted within 50 m"},
		{"farther than queries", standing(30, 5, 900, geom.Vec3{0, 0, -1}), path, 30, "tile_0_0_0, is 900 m away and wanted within 500 m"},
		{"on the way", moving, path, 61, "the camera at (60, 5, 900) wants no tile"},
	} {
		o := options(t, tc.scene)
		o.Path = tc.path
		s := &fakeSurface{w: 64, h: 48}
		_, err := fakeRun(t, o, s, newFakeRenderer())
		if !errors.Is(err, ErrNothingSeen) || !strings.Contains(err.Error(), tc.want) || s.frame > tc.frames {
			t.Errorf("%s: after %d frames: %v", tc.name, s.frame, err)
		}
	}
	// What a budget keeps away is no fault of the camera's.
	o := options(t, path)
	o.Config.GeometryBudget, o.Frames = 1, 30
	if _, err := fakeRun(t, o, &fakeSurface{w: 64, h: 48}, newFakeRenderer()); err != nil {
		t.Error(err)
	}
}

// deaf answers every download with an error.
type deaf struct{ n int }

// Fetch fails at once.
func (d *deaf) Fetch(req payload.Request) {
	d.n++
	req.Done.Fetched(req.Token, payload.Fetched{}, errors.New("404 Not Found"))
}

// TestNothingLoads: a headless run that can show nothing, since every file is
// damaged or none can be downloaded, ends with what is wrong when trying again has
// not helped either, and not after the two minutes that a picture may take. What is
// not wanted, and what a budget keeps away, changes nothing; where one tile comes
// the run goes on.
func TestNothingLoads(t *testing.T) {
	for _, tc := range []struct {
		name       string
		set        func(t *testing.T, o *Options, dir string)
		from, upTo time.Duration // of virtual time
		want       string        // "" for no error
	}{
		{"damaged", func(t *testing.T, _ *Options, dir string) { spoil(t, dir, "*") }, 5 * time.Second, 6 * time.Second, "none of the 4 tiles"},
		{"a download", func(_ *testing.T, o *Options, _ string) { o.Fetcher = &deaf{} }, 75 * time.Second, 80 * time.Second, "404 Not Found"},
		{"but for one", func(t *testing.T, _ *Options, dir string) { spoil(t, dir, "tile_[01]_0_1*") }, 0, 20 * time.Second, ""},
	} {
		dir := t.TempDir()
		o := options(t, writeTown(t, dir, 2))
		o.Screenshot = filepath.Join(t.TempDir(), "x.png")
		tc.set(t, &o, dir)
		s := &fakeSurface{w: 64, h: 48}
		_, err := fakeRun(t, o, s, newFakeRenderer())
		took := time.Duration(s.frame) * o.FixedDT
		if ok := err == nil && tc.want == "" || errors.Is(err, ErrNothingLoads) && strings.Contains(err.Error(), tc.want); !ok || took < tc.from || took > tc.upTo {
			t.Errorf("%s: after %v: %v", tc.name, took, err)
		}
	}
}

// spoil makes payloads unreadable.
func spoil(t *testing.T, dir, pattern string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "tiles", pattern+".untold"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		if err := os.WriteFile(f, []byte("no container"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOutOfView: tiles are loaded, and none is in the last picture.
func TestOutOfView(t *testing.T) {
	o := options(t, writeTown(t, t.TempDir(), 2))
	o.Path, o.Frames, o.Screenshot = standing(30, 5, 10, geom.Vec3{0, 0, 1}), 60, filepath.Join(t.TempDir(), "x.png")
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	_, err := run(t.Context(), &o, &fakeSurface{w: 64, h: 48}, blind{newFakeRenderer()})
	if !errors.Is(err, ErrNothingSeen) || !strings.Contains(err.Error(), "looking along (0, 0, 1), has none of the 4 tiles in view that are loaded") {
		t.Error(err)
	}
	if _, err := os.Stat(o.Screenshot); err != nil {
		t.Error(err)
	}
}

// blind has nothing in view.
type blind struct{ *fakeRenderer }

// Draw draws nothing.
func (b blind) Draw(f render.Frame) render.Stats {
	st := b.fakeRenderer.Draw(f)
	st.Draws = 0
	return st
}

// TestLoadingIsShown: a window's title and the bar tell what is still on its way,
// and are silent when nothing is.
func TestLoadingIsShown(t *testing.T) {
	path := writeTown(t, t.TempDir(), 2)
	o := options(t, path)
	second := time.Second
	o.Frames, o.Latency, o.Show.Panel = 60, &second, true
	s, r := &fakeSurface{w: 640, h: 480}, newFakeRenderer()
	if _, err := fakeRun(t, o, s, r); err != nil {
		t.Fatal(err)
	}
	name := o.Scenes[0].Name
	if n := len(s.titles); n < 3 || s.titles[0] != name+" - untold preview" || s.titles[1] != name+": 0 % loaded - untold preview" || s.titles[n-1] != s.titles[0] {
		t.Errorf("%q", s.titles)
	}
	// A picture without figures has no bar either.
	o.Show.Panel, o.Scenes = false, options(t, path).Scenes
	s, r = &fakeSurface{w: 640, h: 480}, newFakeRenderer()
	if _, err := fakeRun(t, o, s, r); err != nil || len(s.titles) != 1 || r.overlays > 0 {
		t.Errorf("%v: %q, %d frames with an overlay", err, s.titles, r.overlays)
	}
}

func TestResidentShare(t *testing.T) {
	m := &manifest.Manifest{Tiles: make([]manifest.Tile, 2), SharedBucket: &manifest.SharedBucket{}}
	m.Tiles[0].FileSizeBytes, m.Tiles[1].FileSizeBytes, m.SharedBucket.FileSizeBytes = 600, 300, 100
	m.Tiles[0].LODLevels = []manifest.Level{{FileSizeBytes: 50}, {FileSizeBytes: 20}}
	m.Tiles[1].HLODLevels = []manifest.Level{{FileSizeBytes: 30}}
	at := func(tile int32, wanted payload.Rep, resident ...payload.Rep) runtime.TileStatus {
		s := runtime.TileStatus{Scene: 1, Tile: tile, Wanted: wanted}
		for _, r := range resident {
			s.Resident = s.Resident.With(r)
		}
		return s
	}
	parts := at(0, payload.RepFull)
	parts.Meshes, parts.MeshesLoaded = 4, 1
	for _, tc := range []struct {
		tiles []runtime.TileStatus
		want  float64
	}{
		{nil, 1},
		{[]runtime.TileStatus{at(0, payload.RepNone, payload.RepFull)}, 1},
		{[]runtime.TileStatus{at(0, payload.RepFull, payload.RepFull), at(1, payload.RepFull), at(2, payload.RepFull, payload.RepFull)}, 0.7},
		{[]runtime.TileStatus{at(0, payload.LOD(1), payload.LOD(0)), at(1, payload.RepHLOD, payload.RepHLOD)}, 0.6},
		{[]runtime.TileStatus{parts}, 0.25},
		{[]runtime.TileStatus{{Scene: 2, Tile: 0, Wanted: payload.RepFull}}, 1}, // of a scene that goes
	} {
		if got := residentShare(tc.tiles, 1, m); got < tc.want-1e-9 || got > tc.want+1e-9 {
			t.Errorf("%+v: %v, want %v", tc.tiles, got, tc.want)
		}
	}
	if got := payloadBytes(&manifest.Manifest{}, 3, payload.RepFull); got != 0 {
		t.Error(got)
	}
}
