package gltfexport

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/boxscene"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// town is a glTF of boxes, each in the middle of a tile of its own, that one
// texture covers, with a light of each kind and a camera.
func town(t testing.TB, n int) string {
	t.Helper()
	type m = boxscene.Object
	boxes := make([]boxscene.Box, n)
	for i := range boxes {
		boxes[i] = boxscene.Box{Name: "Box", At: [3]float64{float64(i%5)*25 + 12, 0.5, -float64(i/5)*25 - 12}}
	}
	s := boxscene.New(boxes...)
	turn := []float64{-math.Sqrt2 / 2, 0, 0, math.Sqrt2 / 2}
	lights := []m{
		{"type": "directional", "intensity": 3, "name": "Sun", "color": []float64{1, 0.9, 0.8}},
		{"type": "point", "intensity": 40, "name": "Lamp", "range": 12},
		{"type": "spot", "intensity": 100, "name": "Torch", "spot": m{"innerConeAngle": 0.2, "outerConeAngle": 0.6}},
	}
	for i, l := range lights {
		s.AddNode(m{
			"name": l["name"], "rotation": turn, "translation": []float64{1, 2, float64(i)},
			"extensions": m{"KHR_lights_punctual": m{"light": i}},
		})
	}
	s.AddNode(m{"name": "Eye", "translation": []float64{0, 2, 10}, "camera": 0})
	s.AddTexCoords()
	s.Primitive["material"] = 0
	for key, value := range (m{
		"extensionsUsed": []string{"KHR_lights_punctual"},
		"extensions":     m{"KHR_lights_punctual": m{"lights": lights}},
		"cameras":        []m{{"type": "perspective", "name": "Eye", "perspective": m{"yfov": math.Pi / 3, "znear": 0.1, "zfar": 500, "aspectRatio": 1.5}}},
		"materials":      []m{{"name": "Wall", "pbrMetallicRoughness": m{"baseColorTexture": m{"index": 0}, "roughnessFactor": 0.5}}},
		"textures":       []m{{"source": 0}},
		"images":         []m{{"uri": "data:image/png;base64," + base64.StdEncoding.EncodeToString(pngOf(t, 8, 8, gray(99)))}},
	}) {
		s.Root[key] = value
	}
	return s.Save(t, "town.gltf")
}

// cookTown cooks the town and returns its folder.
func cookTown(t testing.TB, n int) (string, *cook.Result) {
	t.Helper()
	dir := t.TempDir()
	res, err := cook.Run(context.Background(), town(t, n), dir, cook.ClassicOptions())
	if err != nil {
		t.Fatal(err)
	}
	return dir, res
}

func TestManifest(t *testing.T) {
	dir, cooked := cookTown(t, 10)
	src, err := gltfscene.Load(context.Background(), town(t, 10), gltfscene.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, ext := range []string{".glb", ".gltf"} {
		var calls []int
		res, s := back(t, dir, ext, Options{Progress: func(_ string, done, _ int) { calls = append(calls, done) }})
		if len(res.Notes) != 0 || res.Containers != cooked.Tiles || res.Textures != 1 || res.Materials != 1 {
			t.Fatalf("%s: %+v", ext, res)
		}
		if len(calls) != cooked.Tiles+1 || !slices.IsSorted(calls) {
			t.Errorf("%s: progress %v", ext, calls)
		}
		if a, b := measureScene(src), measureScene(s); !a.near(b, 1e-6) {
			t.Errorf("%s: source %+v, export %+v", ext, a, b)
		}
		var tiles []string
		for _, n := range s.Nodes {
			if n.Parent < 0 && n.Mesh < 0 {
				tiles = append(tiles, n.Name)
			} else if n.Mesh >= 0 && (n.Parent < 0 || s.Nodes[n.Parent].Parent >= 0) {
				t.Errorf("%s: %q is not right below a tile", ext, n.Name)
			}
		}
		var want []string
		for _, tile := range cooked.Manifest.Tiles {
			want = append(want, tile.ID)
		}
		want = append(want, "Sun", "Lamp", "Torch", "Eye")
		if d := cmp.Diff(want, tiles); d != "" {
			t.Errorf("%s: root nodes: %s", ext, d)
		}
		near := cmpopts.EquateApprox(0, 1e-6)
		skip := cmpopts.IgnoreFields(gltfscene.Light{}, "SourceNode")
		if d := cmp.Diff(src.Lights, s.Lights, near, skip); d != "" {
			t.Errorf("%s: lights: %s", ext, d)
		}
		if d := cmp.Diff(src.Cameras, s.Cameras, near, cmpopts.IgnoreFields(gltfscene.Camera{}, "SourceNode")); d != "" {
			t.Errorf("%s: cameras: %s", ext, d)
		}
	}
}

// levelsFolder is a manifest whose first tile has a LOD and an HLOD and whose
// shared bucket has neither.
func levelsFolder(t *testing.T, edit func(*manifest.Manifest)) string {
	t.Helper()
	dir := t.TempDir()
	for i, name := range []string{"full", "lod1", "hlod", "other", "shared"} {
		f := plainQuad(t)
		f.Entities[0].LocalTransform[12] = float32(10 * i)
		save(t, dir, "tiles/"+name+".untold", f)
	}
	tile := func(id string) manifest.Tile {
		return manifest.Tile{ID: id, Path: "tiles/" + id + ".untold", HLODLevels: []manifest.Level{}}
	}
	m := &manifest.Manifest{
		Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid, PayloadDir: "tiles",
		Tiles:        []manifest.Tile{tile("full"), tile("other")},
		SharedBucket: &manifest.SharedBucket{Tile: tile("shared")},
	}
	m.Tiles[0].LODLevels = []manifest.Level{{Path: "tiles/lod1.untold", SwitchDistance: 10}}
	m.Tiles[0].HLODLevels = []manifest.Level{{Path: "tiles/hlod.untold", SwitchDistance: 20}}
	if edit != nil {
		edit(m)
	}
	if err := m.Save(filepath.Join(dir, "scene.json")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		levels Levels
		want   []float64 // x of the quads
		notes  map[string]int
	}{
		{"", []float64{0, 30, 40}, map[string]int{}},
		{LevelsFull, []float64{0, 30, 40}, map[string]int{}},
		{LevelsLOD1, []float64{10, 30, 40}, map[string]int{"level-missing": 1}},
		{LevelsHLOD, []float64{20, 30, 40}, map[string]int{"level-missing": 1}},
	} {
		res, s := back(t, levelsFolder(t, nil), ".glb", Options{Levels: c.levels})
		var got []float64
		for i := range s.Nodes {
			if s.Nodes[i].Mesh >= 0 {
				got = append(got, s.Nodes[i].World[12])
			}
		}
		if !cmp.Equal(got, c.want) || !cmp.Equal(noteCounts(res), c.notes) {
			t.Errorf("%q: %v, %v", c.levels, got, res.Notes)
		}
		if last := s.Nodes[len(s.Nodes)-2].Name; last != "shared" {
			t.Errorf("the bucket's node is %q", last)
		}
	}
}

func TestManifestErrors(t *testing.T) {
	edited := func(f func(*manifest.Manifest)) string { return levelsFolder(t, f) }
	wantError(t, edited(func(m *manifest.Manifest) { m.DryRun = true }), "m.glb", Options{}, ErrNoPayload)
	wantError(t, edited(func(m *manifest.Manifest) { m.Tiles[1].Path = "tiles/none.untold" }), "m.glb", Options{}, fs.ErrNotExist)
	dir := edited(nil)
	b := testfile.Read(t, filepath.Join(dir, "scene.json"))
	// Save refuses to write such a path.
	testfile.Write(t, filepath.Join(dir, "scene.json"), bytes.Replace(b, []byte("tiles/other.untold"), []byte("../other.untold"), 1))
	wantError(t, dir, "m.glb", Options{}, payloadpath.ErrEscapes)
	testfile.Write(t, filepath.Join(dir, "second.json"), b)
	if _, err := Export(context.Background(), dir, filepath.Join(t.TempDir(), "m.glb"), Options{}); err == nil {
		t.Error("two manifests: no error")
	}
	if _, err := Export(context.Background(), t.TempDir(), filepath.Join(t.TempDir(), "m.glb"), Options{}); err == nil {
		t.Error("no manifest: no error")
	}
	var de *manifest.DecodeError
	if _, err := Export(context.Background(), testfile.Write(t, filepath.Join(t.TempDir(), "x.json"), "{"), filepath.Join(t.TempDir(), "m.glb"), Options{}); !errors.As(err, &de) {
		t.Errorf("broken manifest: %v", err)
	}
	// A damaged tile names itself.
	testfile.Write(t, filepath.Join(dir, "tiles/other.untold"), []byte("damaged"))
	var fe *format.Error
	if _, err := Export(context.Background(), testfile.Write(t, filepath.Join(dir, "scene.json"), b), filepath.Join(t.TempDir(), "m.glb"), Options{}); !errors.As(err, &fe) {
		t.Errorf("damaged tile: %v", err)
	}
}

// TestSceneryFaults leaves out what glTF cannot tell and bends what it can.
func TestSceneryFaults(t *testing.T) {
	light := func(kind string, f func(*manifest.Light)) manifest.Light {
		l := manifest.DefaultLight(kind)
		l.Name = kind
		f(&l)
		return l
	}
	dir := levelsFolder(t, func(m *manifest.Manifest) {
		m.SceneLights = []manifest.Light{
			light(manifest.LightArea, func(*manifest.Light) {}),
			light(manifest.LightPoint, func(l *manifest.Light) { l.Intensity = -1 }),
			light(manifest.LightPoint, func(l *manifest.Light) { l.Color, l.RadiometricUnit = [3]float64{4, 2, 1}, true }),
			light(manifest.LightSpot, func(l *manifest.Light) { l.InnerCone, l.OuterCone = 90, 60 }),
			light(manifest.LightSpot, func(l *manifest.Light) { l.OuterCone = 0 }),
			light(manifest.LightDirectional, func(l *manifest.Light) { l.Direction = [3]float64{} }),
			light(manifest.LightDirectional, func(l *manifest.Light) { l.Up = l.Direction }),
		}
		camera := manifest.DefaultCamera()
		flat := camera
		flat.FovYDegrees = 180
		m.SceneCameras = []manifest.Camera{camera, flat}
	})
	res, s := back(t, dir, ".glb", Options{})
	want := map[string]int{"light-skipped": 4, "light-units": 1, "camera-skipped": 1}
	if d := cmp.Diff(want, noteCounts(res)); d != "" {
		t.Error(d)
	}
	if len(s.Lights) != 3 || len(s.Cameras) != 1 {
		t.Fatalf("%d lights, %d cameras; import notes %+v", len(s.Lights), len(s.Cameras), s.Notes)
	}
	if l := s.Lights[0]; l.Intensity != 4 || l.Color != [3]float64{1, 0.5, 0.25} {
		t.Errorf("bright light: %+v", l)
	}
	if l := s.Lights[1]; l.InnerCone >= l.OuterCone {
		t.Errorf("spot: %+v", l)
	}
}
