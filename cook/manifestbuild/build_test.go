package manifestbuild

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/boxscene"
	"github.com/untoldkit/untold/internal/engineoracle"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

func town() []boxscene.Box {
	return []boxscene.Box{
		{Name: "Lamp", At: [3]float64{5, .5, -5}, Scale: [3]float64{1, 1, 1}},
		{Name: "Lamp", At: [3]float64{30, .5, -5}, Scale: [3]float64{1, 1, 1}},
		{Name: "Ground", At: [3]float64{75, -.5, -75}, Scale: [3]float64{200, 1, 200}},
		{Name: "Kiosk", At: [3]float64{5, 1, -80}, Scale: [3]float64{1, 1, 1}, Extras: map[string]any{"untold_tile_policy": "force_shared"}},
	}
}

func house() []boxscene.Box {
	return []boxscene.Box{
		{Name: "Facade south", At: [3]float64{10, 3, 0}, Scale: [3]float64{20, 6, .2}},
		{Name: "Roof", At: [3]float64{10, 6.1, 10}, Scale: [3]float64{20, .2, 20}},
		{Name: "Slab", At: [3]float64{10, -.1, 10}, Scale: [3]float64{20, .2, 20}},
		{Name: "Slab", At: [3]float64{10, 2.9, 10}, Scale: [3]float64{20, .2, 20}},
		{Name: "OfficeChair", At: [3]float64{4, .5, 4}, Scale: [3]float64{.6, 1, .6}},
		{Name: "OfficeChair", At: [3]float64{4, 3.5, 4}, Scale: [3]float64{.6, 1, .6}},
		{Name: "Kiosk", At: [3]float64{15, .5, 4}, Scale: [3]float64{1, 1, 1}, Extras: map[string]any{"untold_tile_policy": "force_shared"}},
	}
}

// scene writes a glTF of the boxes.
func scene(t *testing.T, name string, boxes []boxscene.Box) string {
	t.Helper()
	s := boxscene.New(boxes...)
	s.AddNode(boxscene.Object{"name": "Eye", "translation": []float64{0, 2, 10}, "camera": 0})
	s.Root["cameras"] = []boxscene.Object{{"type": "perspective", "perspective": boxscene.Object{"yfov": 1, "znear": 0.1}}}
	return s.Save(t, name)
}

// cooked cooks a scene and returns the folder and the manifest as it stands on
// disk.
func cooked(t *testing.T, boxes []boxscene.Box, partition string) (string, *manifest.Manifest) {
	t.Helper()
	opts := cook.ClassicOptions()
	opts.Partition = partition
	dir := filepath.Join(t.TempDir(), "scene")
	res, err := cook.Run(t.Context(), scene(t, "scene.gltf", boxes), dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	m, err := manifest.Load(res.ManifestPath)
	if err != nil {
		t.Fatal(err)
	}
	return dir, m
}

// built is a Build of all containers below dir that must succeed.
func built(t *testing.T, dir string, opts Options) *Result {
	t.Helper()
	files, err := Find([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	opts.Dir = dir
	r, err := Build(t.Context(), files, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func encoded(t *testing.T, m *manifest.Manifest) string {
	t.Helper()
	var b bytes.Buffer
	if err := m.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// validates writes the manifest and judges it with its files.
func validates(t *testing.T, dir string, m *manifest.Manifest) {
	t.Helper()
	path := filepath.Join(dir, "rebuilt.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	found, err := manifest.ValidateFile(path, manifest.ValidateOptions{CheckFiles: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.Severity != finding.Info {
			t.Error(f)
		}
	}
	s, err := engineoracle.Decode([]byte(encoded(t, m)))
	if err != nil || len(s.Warnings) > 0 || len(s.Tiles) != len(m.Tiles) {
		t.Errorf("the engine: %v %v", err, s)
	}
}

// cases are the three partitions of small scenes.
var cases = []struct {
	partition string
	boxes     func() []boxscene.Box
}{{cook.PartitionGrid, town}, {cook.PartitionQuadtree, house}, {cook.PartitionKDTree, house}}

// A scene rebuilt from its own manifest has the same manifest, byte for byte.
func TestBuildFromItsOwnManifest(t *testing.T) {
	for _, c := range cases {
		dir, m := cooked(t, c.boxes(), c.partition)
		r := built(t, dir, Options{From: m})
		if d := cmp.Diff(encoded(t, m), encoded(t, r.Manifest)); d != "" {
			t.Errorf("%s:\n%s", c.partition, d)
		}
		if len(r.Notes)+len(r.Lost) > 0 {
			t.Errorf("%s: %v %v", c.partition, r.Notes, r.Lost)
		}
	}
}

// lossy are the keys that need an older manifest, and those that are a guess.
var lossy = map[string]bool{
	"SourceSceneName": true, "SceneCameras": true, "SceneLights": true, "Generator": true, "SceneBounds": true, "StreamingProfile": true,
	"ClassificationConfig": true, "PartitionQualityConfig": true, "HLODGeneration": true, "LODGeneration": true, "ObjectClassification": true,
	"FailedTiles": true,
}

// Without a manifest all is there but what the result says is lost.
func TestBuildWithoutManifest(t *testing.T) {
	for _, c := range cases {
		dir, m := cooked(t, c.boxes(), c.partition)
		r := built(t, dir, Options{})
		validates(t, dir, r.Manifest)
		got, err := manifest.Decode([]byte(encoded(t, r.Manifest)))
		if err != nil {
			t.Fatal(err)
		}
		a, b := reflect.ValueOf(*m), reflect.ValueOf(*got)
		for i := range a.NumField() {
			name := a.Type().Field(i).Name
			switch name {
			case "Tiles", "SharedBucket", "StreamingDefaults", "InteriorZone", "TileSize":
				continue
			}
			if d := cmp.Diff(a.Field(i).Interface(), b.Field(i).Interface()); d != "" && !lossy[name] {
				t.Errorf("%s: %s:\n%s", c.partition, name, d)
			}
		}
		if len(got.Tiles) != len(m.Tiles) || (got.SharedBucket == nil) != (m.SharedBucket == nil) {
			t.Fatalf("%s: %d tiles of %d", c.partition, len(got.Tiles), len(m.Tiles))
		}
		for i := range got.Tiles {
			want, have := m.Tiles[i], got.Tiles[i]
			want.Objects, want.ObjectCount, want.CellBounds = nil, nil, nil
			want.SecondaryRepresentationPolicy, have.SecondaryRepresentationPolicy = "", ""
			if !near(want.StreamingRadius, have.StreamingRadius) || !near(want.UnloadRadius, have.UnloadRadius) {
				t.Errorf("%s: %s: radii %v", c.partition, have.ID, have)
			}
			want.StreamingRadius, want.UnloadRadius, have.StreamingRadius, have.UnloadRadius = nil, nil, nil, nil
			if d := cmp.Diff(want, have); d != "" {
				t.Errorf("%s: %s", c.partition, d)
			}
		}
		if a, b := m.StreamingDefaults, got.StreamingDefaults; math.Abs(a.StreamingRadius-b.StreamingRadius) > 1e-3 || math.Abs(a.UnloadRadius-b.UnloadRadius) > 1e-3 {
			t.Errorf("%s: defaults %v, cooked %v", c.partition, b, a)
		}
		if a, b := m.TileSize, got.TileSize; math.Abs(a.X-b.X) > 1e-3 {
			t.Errorf("%s: tile size %v, cooked %v", c.partition, b, a)
		}
		if (m.InteriorZone == nil) != (got.InteriorZone == nil) {
			t.Errorf("%s: zone %v", c.partition, got.InteriorZone)
		}
		lost := strings.Join(r.Lost, "\n")
		for _, want := range []string{"scene_lights", "objects", "cell_bounds", "hints"} {
			if !strings.Contains(lost, want) {
				t.Errorf("%s: the loss of %s is not told: %v", c.partition, want, r.Lost)
			}
		}
	}
}

func near(a, b *float64) bool {
	return (a == nil) == (b == nil) && (a == nil || math.Abs(*a-*b) <= 1e-3)
}

// retyped writes a copy of a container with another file type.
func retyped(t *testing.T, from, to string, kind format.FileType) {
	t.Helper()
	data := testfile.Read(t, from)
	binary.LittleEndian.PutUint32(data[12:], uint32(kind))
	testfile.Write(t, to, data)
}

func TestBuildFindsLevels(t *testing.T) {
	dir, m := cooked(t, town(), cook.PartitionGrid)
	tiles := filepath.Join(dir, "tiles")
	id := m.Tiles[0].ID
	full := filepath.Join(tiles, id+".untold")
	retyped(t, full, filepath.Join(tiles, id+"_lod2.untold"), format.FileLOD)
	retyped(t, full, filepath.Join(tiles, id+"_lod1.untold"), format.FileLOD)
	retyped(t, full, filepath.Join(tiles, id+"_hlod.untold"), format.FileHLOD)
	retyped(t, full, filepath.Join(tiles, "tile_999_0_0_lod1.untold"), format.FileLOD)
	retyped(t, full, filepath.Join(tiles, id+"_coarse.untold"), format.FileLOD)
	for _, from := range []*manifest.Manifest{nil, m} {
		r := built(t, dir, Options{From: from})
		e := r.Manifest.Tiles[0]
		if len(e.HLODLevels) != 1 || len(e.LODLevels) != 2 || e.LODLevels[1].Path != "tiles/"+id+"_lod2.untold" || e.LODLevels[0].TriangleCount != e.TriangleCount {
			t.Fatalf("%+v", e)
		}
		validates(t, dir, r.Manifest)
		var codes []string
		for _, n := range r.Notes {
			codes = append(codes, n.Code)
		}
		if !slices.Contains(codes, "orphan") || !slices.Contains(codes, "odd-name") || len(codes) != 2 {
			t.Error(r.Notes)
		}
		// Levels that the older manifest places stay where they are.
		e.LODLevels[0].SwitchDistance++
		e.LODLevels[0].GeometricError = new(0.25)
		r.Manifest.Tiles[0] = e
		again := built(t, dir, Options{From: r.Manifest})
		if d := cmp.Diff(encoded(t, r.Manifest), encoded(t, again.Manifest)); d != "" {
			t.Error(d)
		}
		// Nor does another name of their folder matter.
		renamed := filepath.Join(dir, "tile_exports")
		if err := os.Rename(tiles, renamed); err != nil {
			t.Fatal(err)
		}
		elsewhere := strings.NewReplacer(`"tiles/`, `"tile_exports/`, `_to_manifest": "tiles"`, `_to_manifest": "tile_exports"`)
		if d := cmp.Diff(elsewhere.Replace(encoded(t, r.Manifest)), encoded(t, built(t, dir, Options{From: r.Manifest}).Manifest)); d != "" {
			t.Error(d)
		}
		if err := os.Rename(renamed, tiles); err != nil {
			t.Fatal(err)
		}
		// A level that is gone leaves the others alone.
		hlod := filepath.Join(tiles, id+"_hlod.untold")
		moved := filepath.Join(t.TempDir(), "hlod")
		if err := os.Rename(hlod, moved); err != nil {
			t.Fatal(err)
		}
		less := built(t, dir, Options{From: r.Manifest})
		if l := less.Manifest.Tiles[0]; len(l.HLODLevels) != 0 || len(l.LODLevels) != 2 || less.Notes[len(less.Notes)-1].Code != "missing-file" {
			t.Errorf("%+v %v", l, less.Notes)
		}
		if err := os.Rename(moved, hlod); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBuildFollowsTheFiles(t *testing.T) {
	dir, m := cooked(t, town(), cook.PartitionGrid)
	tiles := filepath.Join(dir, "tiles")
	// A tile goes, one comes, the bucket goes.
	if err := os.Rename(filepath.Join(tiles, m.Tiles[1].ID+".untold"), filepath.Join(tiles, "tile_3_0_-9.untold")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(m.SharedBucket.Path))); err != nil {
		t.Fatal(err)
	}
	r := built(t, dir, Options{From: m, Generator: "test", TileSide: 30})
	if s := r.Manifest.TileSize; *s != (manifest.Vec3Size{X: 30, Y: m.TileSize.Y, Z: 30}) || m.TileSize.X != 25 {
		t.Errorf("tile size %v, before %v", s, m.TileSize)
	}
	validates(t, dir, r.Manifest)
	got := r.Manifest
	if len(got.Tiles) != len(m.Tiles) || got.SharedBucket != nil || got.Generator != "test" || got.Tiles[0].ID != "tile_3_0_-9" || *got.Tiles[0].GridCoord != [3]int{3, 0, -9} {
		t.Errorf("%+v", got.Tiles[0])
	}
	var text []string
	for _, n := range r.Notes {
		text = append(text, n.Code+" "+n.Where)
	}
	if d := cmp.Diff([]string{"new-tile tile_3_0_-9", "missing-file tiles/scene_shared.untold", "missing-file " + m.Tiles[1].ID}, text); d != "" {
		t.Error(d)
	}
}

func TestBuildRefuses(t *testing.T) {
	dir, m := cooked(t, town(), cook.PartitionGrid)
	tiles := filepath.Join(dir, "tiles")
	full := filepath.Join(tiles, m.Tiles[0].ID+".untold")
	other, floors := cooked(t, house(), cook.PartitionQuadtree)
	outside := filepath.Join(t.TempDir(), "tile_7_0_0.untold")
	retyped(t, full, outside, format.FileTile)
	fails := func(name string, want error, files []string, opts Options) {
		t.Helper()
		if opts.Dir == "" {
			opts.Dir = dir
		}
		_, err := Build(t.Context(), files, opts)
		if err == nil || want != nil && !errors.Is(err, want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	fails("a file outside", payloadpath.ErrEscapes, []string{full, outside}, Options{})
	fails("nothing", ErrNoTiles, nil, Options{})
	fails("another partition's manifest", ErrMixed, []string{full}, Options{From: floors})
	fails("a profile", nil, []string{full}, Options{Profile: "underwater"})
	fails("a tile side", nil, []string{full}, Options{TileSide: -1})
	fails("no file", os.ErrNotExist, []string{filepath.Join(tiles, "none.untold")}, Options{})
	if runtime.GOOS != "windows" {
		link := filepath.Join(tiles, "tile_8_0_0.untold")
		if err := os.Symlink(outside, link); err != nil {
			t.Fatal(err)
		}
		fails("a link to the outside", payloadpath.ErrEscapes, []string{link}, Options{})
		os.Remove(link)
	}
	floorTile := filepath.Join(other, filepath.FromSlash(floors.Tiles[0].Path))
	copied := filepath.Join(tiles, filepath.Base(floorTile))
	retyped(t, floorTile, copied, format.FileTile)
	fails("two partitions", ErrMixed, []string{full, copied}, Options{})
	again := filepath.Join(dir, filepath.Base(full))
	retyped(t, full, again, format.FileTile)
	fails("two tiles of one name", ErrMixed, []string{full, again}, Options{})
	retyped(t, full, again, format.FileShared)
	fails("two buckets", ErrMixed, []string{again, filepath.Join(dir, filepath.FromSlash(m.SharedBucket.Path))}, Options{})
	fails("a level alone", ErrNoTiles, []string{func() string { retyped(t, full, again, format.FileLOD); return again }()}, Options{})
	data := testfile.Read(t, full)
	data[len(data)-1] ^= 1
	testfile.Write(t, full, data)
	var damaged *format.Error
	if _, err := Build(t.Context(), []string{full}, Options{Dir: dir}); !errors.As(err, &damaged) {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestBuildIsDeterministic(t *testing.T) {
	dir, m := cooked(t, town(), cook.PartitionGrid)
	files, err := Find([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	var want string
	for i, from := range []*manifest.Manifest{m, m, m} {
		slices.Reverse(files)
		last := 0
		r, err := Build(t.Context(), append(files, files[0]), Options{Dir: dir, From: from, Jobs: 1 + 3*i, Progress: func(done, total int) {
			if last++; done != last || total != len(files) {
				t.Errorf("progress %d of %d", done, total)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if got := encoded(t, r.Manifest); want == "" {
			want = got
		} else if got != want {
			t.Error("the order of files or the number of workers matters")
		}
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"tiles/b.untold", "tiles/a.UNTOLD", "tiles/Textures/x.png", ".cache/c.untold", "tiles/.d.untold.1-2.untold-tmp", "s.json"} {
		testfile.Write(t, filepath.Join(dir, filepath.FromSlash(name)), "")
	}
	got, err := Find([]string{dir, filepath.Join(dir, "tiles", "b.untold")})
	if err != nil || len(got) != 2 || filepath.Base(got[0]) != "a.UNTOLD" {
		t.Error(got, err)
	}
	if _, err := Find([]string{filepath.Join(dir, "none")}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestDefaultPath(t *testing.T) {
	dir := t.TempDir()
	at := func(p string) string { return filepath.Join(dir, filepath.FromSlash(p)) }
	for want, files := range map[string][]string{
		"my_city/my_city.json": {at("my city/tiles/tile_0_0_0.untold"), at("my city/tiles/tile_1_0_0.untold")},
		"town/yard.json":       {at("town/tiles/tile_0_0_0.untold"), at("town/tiles/yard_shared.untold")},
		"a/a.json":             {at("a/b/x/1.untold"), at("a/b/y/2.untold")},
	} {
		want = strings.Replace(want, "my_city/", "my city/", 1)
		if got, err := DefaultPath(files); err != nil || got != at(want) {
			t.Errorf("%v: %s %v, want %s", files, got, err, want)
		}
	}
	t.Chdir(dir)
	if got, err := DefaultPath([]string{filepath.Join("town", "tiles", "tile_0_0_0.untold")}); err != nil || got != filepath.Join("town", "town.json") {
		t.Error(got, err)
	}
	if _, err := DefaultPath(nil); !errors.Is(err, ErrNoTiles) {
		t.Error(err)
	}
}

// The root transform of a foreign file is in the box of its tile.
func TestBuildWithRootTransform(t *testing.T) {
	dir, m := cooked(t, town(), cook.PartitionGrid)
	tile := &m.Tiles[0]
	file := filepath.Join(dir, filepath.FromSlash(tile.Path))
	b := testfile.Read(t, file)
	binary.LittleEndian.PutUint32(b[76+4*12:], math.Float32bits(300))
	testfile.Write(t, file, b)
	res := built(t, dir, Options{})
	for i := range res.Manifest.Tiles {
		if got := &res.Manifest.Tiles[i]; got.ID == tile.ID && math.Abs(got.Bounds.Min[0]-tile.Bounds.Min[0]-300) > 1e-3 {
			t.Errorf("the box begins at %v, it was at %v before it was moved by 300 m", got.Bounds.Min[0], tile.Bounds.Min[0])
		}
	}
}
