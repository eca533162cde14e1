package cook

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/gltfexport"
	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

// The middle of Vienna, in metres east and south of UTM 33N, and geocentric.
var (
	utm  = geom.Vec3{601_922.125, 171, -5_340_312.5}
	ecef = geom.Vec3{4_085_862.25, 1_200_403.5, 4_732_570.75}
)

// placedAt writes a scene again below a node that moves it.
func placedAt(t *testing.T, scene string, offset geom.Vec3) string {
	t.Helper()
	text := testfile.Read(t, scene)
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	nodes := doc["nodes"].([]any)
	top := doc["scenes"].([]any)[0].(map[string]any)
	doc["nodes"] = append(nodes, map[string]any{"name": "place", "translation": offset, "children": top["nodes"]})
	top["nodes"] = []int{len(nodes)}
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	out := testfile.Write(t, filepath.Join(t.TempDir(), filepath.Base(scene)), text)
	return out
}

// payloadsOf are the files of a cook but for the manifest.
func payloadsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := testfile.ReadTree(t, dir)
	for name := range files {
		if strings.HasSuffix(name, ".json") {
			delete(files, name)
		}
	}
	return files
}

// TestRecenterIsExact: a scene far from the origin cooks to the bytes of the same
// scene at the origin, since the offset goes before anything is rounded.
func TestRecenterIsExact(t *testing.T) {
	home := runScene(t, "town.gltf", townBoxes())
	opts := DefaultOptions()
	opts.WholeLimit = 0
	want := t.TempDir()
	near := mustRun(t, home, want, opts).Manifest
	if near.OriginOffset != nil {
		t.Fatalf("a scene at the origin has lost %v", *near.OriginOffset)
	}
	for _, at := range []geom.Vec3{utm, ecef, {-3_000_000.5, 0, 0}} {
		dir := t.TempDir()
		opts.Recenter = Recenter{Offset: at}
		m := mustRun(t, placedAt(t, home, at), dir, opts).Manifest
		if m.OriginOffset == nil || geom.Vec3(*m.OriginOffset) != at {
			t.Fatalf("%v: origin_offset is %v", at, m.OriginOffset)
		}
		got, all := payloadsOf(t, dir), payloadsOf(t, want)
		if len(got) != len(all) {
			t.Errorf("%v: %d files, want %d", at, len(got), len(all))
		}
		for name, data := range all {
			if got[name] != data {
				t.Errorf("%v: %s differs from that of the scene at the origin", at, name)
			}
		}
		m.OriginOffset = nil
		if *m.SceneBounds != *near.SceneBounds {
			t.Errorf("%v: bounds %v, want %v", at, m.SceneBounds, near.SceneBounds)
		}
	}
}

// TestRecenterByDefault: the middle of the scene is taken off where coordinates
// exceed 10 km, and only there; lights and cameras come along; export puts it
// back.
func TestRecenterByDefault(t *testing.T) {
	home := runScene(t, "town.gltf", townBoxes())
	at := geom.Vec3{500_000.25, 150, -4_649_776}
	far := placedAt(t, home, at)
	dir := t.TempDir()
	res := mustRun(t, far, dir, DefaultOptions())
	m := res.Manifest
	if m.OriginOffset == nil || *m.OriginOffset != [3]float64{500_025, 0, -4_649_806} {
		t.Fatalf("origin_offset is %v", m.OriginOffset)
	}
	if b := m.SceneBounds; math.Abs(b.Min[0]+149.75) > 1e-6 || math.Abs(b.Max[2]-155) > 1e-6 || b.Min[1] != 149 {
		t.Errorf("bounds %+v", b)
	}
	if !hasNote(res.Notes, "recentred") {
		t.Errorf("%+v", res.Notes)
	}
	// What was written is read.
	back, err := manifest.Load(res.ManifestPath)
	if err != nil || back.OriginOffset == nil || *back.OriginOffset != *m.OriginOffset {
		t.Errorf("%v, %v", back.OriginOffset, err)
	}
	out := filepath.Join(t.TempDir(), "back.glb")
	if _, err := gltfexport.Export(context.Background(), res.ManifestPath, out, gltfexport.Options{Levels: gltfexport.LevelsFull}); err != nil {
		t.Fatal(err)
	}
	s, err := gltfscene.Load(context.Background(), out, gltfscene.Options{Scene: -1})
	if err != nil {
		t.Fatal(err)
	}
	box := geom.EmptyBox()
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Mesh >= 0 {
			for _, p := range s.Meshes[n.Mesh].Primitives {
				for _, v := range p.Positions {
					box = box.Extend(n.World.Point(geom.FromF32(v)))
				}
			}
		}
	}
	want := geom.Box{Min: geom.Vec3{75 - 200, -1, -75 - 200}.Add(at), Max: geom.Vec3{75 + 200, 4, -75 + 200}.Add(at)}
	for i := range 3 {
		if math.Abs(box.Min[i]-want.Min[i]) > 1e-4 || math.Abs(box.Max[i]-want.Max[i]) > 1e-4 {
			t.Fatalf("exported box %v, want %v", box, want)
		}
	}
	// Without it positions step by half a metre, and that is said.
	for _, opts := range []Options{EngineOptions(), ClassicOptions()} {
		res := mustRun(t, far, t.TempDir(), opts)
		if res.Manifest.OriginOffset != nil || !hasNote(res.Notes, "coordinates-far") || hasNote(res.Notes, "recentred") {
			t.Errorf("%v, %+v", res.Manifest.OriginOffset, res.Notes)
		}
	}
	opts := DefaultOptions()
	opts.Recenter = Recenter{Offset: geom.Vec3{math.Inf(1)}}
	if _, err := Run(context.Background(), far, t.TempDir(), opts); err == nil || !strings.Contains(err.Error(), "axis x") {
		t.Errorf("an infinite offset: %v", err)
	}
}

func hasNote(list []Note, code string) bool {
	for _, n := range list {
		if n.Code == code {
			return true
		}
	}
	return false
}

func TestFarOffset(t *testing.T) {
	at := func(triangles int, lo, hi geom.Vec3) object {
		return object{box: geom.Box{Min: lo, Max: hi}, triangles: triangles}
	}
	town := at(5000, geom.Vec3{-300, 0, -300}, geom.Vec3{300, 40, 300})
	for _, tc := range []struct {
		name    string
		objects []object
		want    geom.Vec3
	}{
		{"within", []object{at(2, geom.Vec3{-10_000, 0, 0}, geom.Vec3{10_000, 10, 10})}, geom.Vec3{}},
		{"large, around the origin", []object{at(2, geom.Vec3{-15_000, 0, 0}, geom.Vec3{15_000, 10, 10})}, geom.Vec3{}},
		{"from the origin on", []object{at(2, geom.Vec3{0, 0, 0}, geom.Vec3{12_001, 10, 10})}, geom.Vec3{6_001, 0, 0}},
		{"one axis", []object{at(2, geom.Vec3{-20_000.4, 9_000, -1}, geom.Vec3{-20_000.4, 9_500, 1})}, geom.Vec3{-20_000, 0, 0}},
		{"something stray", []object{town, at(12, geom.Vec3{900_000, 0, 0}, geom.Vec3{900_001, 1, 1})}, geom.Vec3{}},
		{"a stray origin", []object{
			at(12, geom.Vec3{-1, 0, 0}, geom.Vec3{1, 1, 1}), at(4000, geom.Vec3{500_000, 0, 0}, geom.Vec3{500_100, 1, 1}), at(6000, geom.Vec3{500_100, 0, 0}, geom.Vec3{500_300, 1, 1}),
		}, geom.Vec3{500_200, 0, 0}},
	} {
		if got := farOffset(tc.objects); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}
