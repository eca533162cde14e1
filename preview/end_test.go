package preview

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime"
)

// townSeenFrom writes a town of short radii with a camera of its own.
func townSeenFrom(t *testing.T, position, forward [3]float64, levels bool) string {
	t.Helper()
	path := writeTown(t, t.TempDir(), 2)
	m, err := manifest.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Tiles {
		if !levels {
			m.Tiles[i].LODLevels, m.Tiles[i].HLODLevels = nil, nil
		}
	}
	c := manifest.DefaultCamera()
	c.Position, c.Forward = position, forward
	m.SceneCameras = append(m.SceneCameras, c)
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNothingWanted: a headless run whose camera is too far away for everything,
// or looks away from it, says so and ends, at once in the first case.
func TestNothingWanted(t *testing.T) {
	for _, tc := range []struct {
		name     string
		position [3]float64
		forward  [3]float64
		levels   bool
		frames   int
		most     uint64 // frames that are drawn at most
		want     string
	}{
		{name: "far", position: [3]float64{30, 5, 900}, forward: [3]float64{0, 0, -1}, most: 30, want: "tile_0_0_0, is 900 m away and wanted within 50 m"},
		{name: "farther than queries", position: [3]float64{30, 5, 900}, forward: [3]float64{0, 0, -1}, levels: true, most: 30, want: "tile_0_0_0, is 900 m away and wanted within 500 m"},
		{name: "so many frames", position: [3]float64{30, 5, 900}, forward: [3]float64{0, 0, -1}, frames: 5000, most: 30, want: "wants no tile"},
	} {
		o := options(t, townSeenFrom(t, tc.position, tc.forward, tc.levels))
		o.Frames, o.Screenshot = tc.frames, filepath.Join(t.TempDir(), "x.png")
		s := &fakeSurface{w: 64, h: 48}
		_, err := fakeRun(t, o, s, newFakeRenderer())
		if !errors.Is(err, ErrNothingSeen) || !strings.Contains(err.Error(), tc.want) || uint64(s.frame) > tc.most {
			t.Errorf("%s: after %d frames: %v", tc.name, s.frame, err)
		}
		if _, err := os.Stat(o.Screenshot); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: there is a picture: %v", tc.name, err)
		}
	}
}

// TestOutOfView: tiles are loaded, and none is in the last picture.
func TestOutOfView(t *testing.T) {
	o := options(t, townSeenFrom(t, [3]float64{30, 5, 10}, [3]float64{0, 0, 1}, true))
	o.Screenshot = filepath.Join(t.TempDir(), "x.png")
	r := blind{newFakeRenderer()}
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	_, err := run(t.Context(), &o, &fakeSurface{w: 64, h: 48}, r)
	if !errors.Is(err, ErrNothingSeen) || !strings.Contains(err.Error(), "looking along (0, 0, 1), has none of the 4 tiles in view that are loaded") {
		t.Error(err)
	}
	if _, err := os.Stat(o.Screenshot); err != nil {
		t.Error(err)
	}
	// Where a path moves the camera, an empty picture is the path's.
	o = options(t, townSeenFrom(t, [3]float64{30, 5, 900}, [3]float64{0, 0, 1}, true))
	o.Path = straight(2, 0.5)
	for i := range o.Path.Keys {
		o.Path.Keys[i].Position[2] += 5000
	}
	if _, err := fakeRun(t, o, &fakeSurface{w: 64, h: 48}, newFakeRenderer()); err != nil {
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
	at := func(tile int32, wanted runtime.Rep, resident ...runtime.Rep) runtime.TileStatus {
		s := runtime.TileStatus{Scene: 1, Tile: tile, Wanted: wanted}
		for _, r := range resident {
			s.Resident = s.Resident.With(r)
		}
		return s
	}
	parts := at(0, runtime.RepFull)
	parts.Meshes, parts.MeshesLoaded = 4, 1
	for _, tc := range []struct {
		tiles []runtime.TileStatus
		want  float64
	}{
		{nil, 1},
		{[]runtime.TileStatus{at(0, runtime.RepNone, runtime.RepFull)}, 1},
		{[]runtime.TileStatus{at(0, runtime.RepFull, runtime.RepFull), at(1, runtime.RepFull), at(2, runtime.RepFull, runtime.RepFull)}, 0.7},
		{[]runtime.TileStatus{at(0, runtime.LOD(1), runtime.LOD(0)), at(1, runtime.RepHLOD, runtime.RepHLOD)}, 0.6},
		{[]runtime.TileStatus{parts}, 0.25},
		{[]runtime.TileStatus{{Scene: 2, Tile: 0, Wanted: runtime.RepFull}}, 1}, // of a scene that goes
	} {
		if got := residentShare(tc.tiles, 1, m); got < tc.want-1e-9 || got > tc.want+1e-9 {
			t.Errorf("%+v: %v, want %v", tc.tiles, got, tc.want)
		}
	}
	if got := payloadBytes(&manifest.Manifest{}, 3, runtime.RepFull); got != 0 {
		t.Error(got)
	}
}
