package preview

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime"
)

func TestOpen(t *testing.T) {
	root := t.TempDir()
	town := writeTown(t, filepath.Join(root, "a"), 2)
	writeTown(t, filepath.Join(root, "b"), 1)
	report := filepath.Join(root, "a", "report.json")
	if err := os.WriteFile(report, []byte(`{"tiles": 3}`), 0o644); err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(t.TempDir(), "a[1]*")
	writeTown(t, odd, 1)
	if err := os.Mkdir(filepath.Join(root, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	tiles := filepath.Join(root, "a", "tiles")
	for name, tc := range map[string]struct {
		path  string
		names []string
		tiles int // of the first
	}{
		"a manifest":         {town, []string{"a/town.json"}, 4},
		"a folder":           {filepath.Join(root, "a"), []string{"a/town.json"}, 4},
		"a folder of cooks":  {root, []string{"a/town.json", "b/town.json"}, 4},
		"an odd name":        {odd, []string{"a[1]*/town.json"}, 1},
		"a payload":          {filepath.Join(tiles, "tile_0_0_0_lod1.untold"), []string{"tile_0_0_0_lod1.untold"}, 1},
		"a folder of tiles":  {tiles, []string{"tiles"}, 4},
		"not a manifest yet": {report, []string{"a/report.json"}, -1},
	} {
		list, err := Open(tc.path)
		if err != nil || len(list) != len(tc.names) {
			t.Errorf("%s: %v, %v", name, list, err)
			continue
		}
		for i := range list {
			if filepath.ToSlash(list[i].Name) != tc.names[i] {
				t.Errorf("%s: %q", name, list[i].Name)
			}
		}
		l, err := list[0].Load()
		if tc.tiles < 0 {
			if err == nil {
				t.Errorf("%s: loads", name)
			}
			continue
		}
		if err != nil || len(l.Source.Manifest.Tiles) != tc.tiles {
			t.Errorf("%s: %v", name, err)
		}
		if l != nil && l.Everywhere != strings.Contains(tc.path, "tiles") {
			t.Errorf("%s: everywhere %v", name, l.Everywhere)
		}
	}
	if _, err := Open(filepath.Join(root, "empty")); !errors.Is(err, ErrNoScene) {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := Open(filepath.Join(root, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
}

func TestOpenDamagedPayload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.untold")
	if err := os.WriteFile(path, []byte("not a container"), 0o644); err != nil {
		t.Fatal(err)
	}
	list, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := list[0].Load(); err == nil || !strings.Contains(err.Error(), "x.untold") {
		t.Errorf("%v", err)
	}
}

// TestPayloadShowsFromAnywhere: a single file needs no radii.
func TestPayloadShowsFromAnywhere(t *testing.T) {
	town := writeTown(t, t.TempDir(), 1)
	o := options(t, filepath.Join(filepath.Dir(town), "tiles", "tile_0_0_0.untold"))
	o.Path = straight(1, 1)
	o.Path.Far = 1e5
	o.Path.Keys[0].Position[2], o.Path.Keys[1].Position[2] = 9000, 9000
	r := newFakeRenderer()
	if _, err := fakeRun(t, o, &fakeSurface{w: 64, h: 48}, r); err != nil {
		t.Fatal(err)
	}
	if len(r.last.Drawn) != 1 {
		t.Errorf("%d tiles are drawn", len(r.last.Drawn))
	}
}

func TestDryRun(t *testing.T) {
	path := writeTown(t, t.TempDir(), 1)
	m, err := manifest.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	m.DryRun = true
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	o := options(t, path)
	o.Frames = 1
	if _, err := fakeRun(t, o, &fakeSurface{w: 64, h: 48}, newFakeRenderer()); err == nil || !strings.Contains(err.Error(), "dry run") {
		t.Errorf("%v", err)
	}
}

// TestIndoors: in a scene with floors the camera stands in the largest room of
// the ground floor.
func TestIndoors(t *testing.T) {
	dir := t.TempDir()
	b := format.NewBuilder(format.FileTile)
	solid := func(name string, x0, y0, z0, x1, y1, z1 float64) {
		o := format.Object{Name: name, MeshName: name, Material: records.NoIndex}
		o.Vertices, o.Indices = appendCube(nil, nil, geom.Box{Min: geom.Vec3{x0, y0, z0}, Max: geom.Vec3{x1, y1, z1}})
		if err := b.AddObject(o); err != nil {
			t.Fatal(err)
		}
	}
	solid("slab", 0, -0.3, 0, 12, 0, 6)
	solid("north", 0, 0, 0, 12, 3, 0.2)
	solid("south", 0, 0, 5.8, 12, 3, 6)
	solid("west", 0, 0, 0, 0.2, 3, 6)
	solid("east", 11.8, 0, 0, 12, 3, 6)
	solid("partition", 3, 0, 0, 3.2, 3, 6)
	f, err := os.Create(filepath.Join(dir, "ground.untold"))
	if err != nil {
		t.Fatal(err)
	}
	size, err := b.File().WriteTo(f, format.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	floor, box := 0, manifest.Bounds{Min: [3]float64{0, -0.3, 0}, Max: [3]float64{12, 3, 6}}
	m := &manifest.Manifest{
		Version: manifest.VersionFloor, PartitioningMode: manifest.ModeQuadtreeFloor, InteriorZone: &box,
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 20, UnloadRadius: 30},
		Tiles:             []manifest.Tile{{ID: "F00_Q_SI", Path: "ground.untold", FileSizeBytes: size, Bounds: box, Center: box.Center(), Interior: true, FloorID: &floor}},
	}
	path := filepath.Join(dir, "house.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	var at [3]float64
	play(t, options(t, path), 2, nil, func(f render.Frame) { at = f.Camera.Position })
	if at[0] < 3.5 || at[0] > 11.5 || at[2] < 0.5 || at[2] > 5.5 || at[1] < 1.5 || at[1] > 1.9 {
		t.Errorf("the camera is at %v", at)
	}
	// From outside when the geometry cannot be read.
	if err := os.Truncate(filepath.Join(dir, "ground.untold"), 50); err != nil {
		t.Fatal(err)
	}
	play(t, options(t, path), 2, nil, func(f render.Frame) { at = f.Camera.Position })
	if box.Box().Distance(at) == 0 {
		t.Errorf("the camera is at %v", at)
	}
}

// TestWhole: all tiles in full detail, however far the camera is.
func TestWhole(t *testing.T) {
	o := options(t, writeTown(t, t.TempDir(), 3))
	o.Whole, o.Path = true, straight(3, 4)
	for i := range o.Path.Keys {
		o.Path.Keys[i].Position[2] = 900
	}
	r := newFakeRenderer()
	rep, err := fakeRun(t, o, &fakeSurface{w: 64, h: 48}, r)
	if err != nil || rep.ResidentFull != 9 || rep.ResidentHLOD != 0 || len(r.last.Drawn) != 9 {
		t.Errorf("%v, %+v", err, rep)
	}
}

// TestStart: the camera starts at the first authored camera that sees something,
// and at the same place whether the scene streams or is whole.
func TestStart(t *testing.T) {
	path := writeTown(t, t.TempDir(), 6)
	m, err := manifest.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	away, eye := manifest.DefaultCamera(), manifest.DefaultCamera()
	away.Name, away.Position, away.Forward = "Away", [3]float64{0, 5, 100}, [3]float64{0, 0, 1}
	eye.Name, eye.Position, eye.Forward = "Eye", [3]float64{10, 5, 20}, [3]float64{0, 0, -1}
	for name, tc := range map[string]struct {
		cameras []manifest.Camera
		want    [3]float64 // 0: anywhere
		news    string
	}{
		"none":     {nil, [3]float64{}, ""},
		"one":      {[]manifest.Camera{eye}, eye.Position, ""},
		"a second": {[]manifest.Camera{away, eye}, eye.Position, `camera "Away" sees nothing of the scene, or it as a dot: skipped`},
		"blind":    {[]manifest.Camera{away}, [3]float64{}, `camera "Away" sees nothing of the scene, or it as a dot: skipped`},
	} {
		m.SceneCameras = tc.cameras
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		var first runtime.Camera
		for _, whole := range []bool{false, true} {
			var got runtime.Camera
			o := options(t, path)
			o.Whole = whole
			news, _, _ := play(t, o, 1, nil, func(f render.Frame) { got = f.Camera })
			if strings.Join(news, "\n") != tc.news || tc.want != [3]float64{} && got.Position != tc.want {
				t.Errorf("%s: starts at %v, says %q", name, got.Position, news)
			}
			if whole && got != first {
				t.Errorf("%s: streamed at %+v, whole at %+v", name, first, got)
			}
			first = got
		}
	}
}
