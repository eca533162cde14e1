package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest/tileid"
)

// full returns a manifest with every key.
func full() *Manifest {
	return &Manifest{
		Version: VersionGrid, PartitioningMode: ModeUniformGrid, SourceSceneName: new("yard \"1\".glb"), PayloadDir: "tiles",
		AxisConvention: EngineAxes(), Generator: "untold 1.0", Units: UnitsMetres, TileSizeMode: "manual",
		TileSize: &Vec3Size{25, 10000, 25}, SceneBounds: &Bounds{Max: [3]float64{1, 2, 3}},
		OriginOffset:  &[3]float64{500_000.25, 0, -4_649_776.125},
		ContentBounds: &Bounds{Max: [3]float64{1, 1, 1}},
		Textures:      []Texture{{URI: "Textures/wall.png", UVPerMetre: 0.25}},
		Pyramid: &Pyramid{Nodes: []PyramidNode{{
			ID: "hlod_1_0_0_0", Level: 1, Children: []string{"tile_0_0_0"}, Path: "tiles/hlod_1_0_0_0.untold", FileSizeBytes: 99,
			SHA256: strings.Repeat("ab", 32), TriangleCount: 12, EstimatedMemoryBytes: 4096, GeometricError: 0.5, VisualError: 0.25, Bounds: Bounds{Max: [3]float64{1, 2, 3}},
		}}},
		SceneLights: []Light{DefaultLight(LightSpot)}, SceneCameras: []Camera{DefaultCamera()},
		ColorLUT:      &ColorLUT{URI: "t/l.cube", Size: 33, DisplayDevice: new("sRGB"), Gamma: 1, ShaperMaxStops: 1},
		ColorGradeLUT: &GradeLUT{URI: "tiles/look.cube", Size: 33},
		StreamingProfile: &Profile{
			Requested: "auto", Resolved: "indoor", SceneHalfDiag: 9.5,
			Overrides: TierRadii{{Tier: "FineProps", Streaming: 1, Unload: 2}},
			Radii:     TierRadii{{Tier: "RoomContents", Streaming: 3, Unload: 4, Priority: new(8)}},
		},
		StreamingDefaults:      StreamingDefaults{StreamingRadius: 50, UnloadRadius: 75, Priority: 10, PrefetchRadius: new(60.5)},
		ClassificationConfig:   &ClassificationConfig{SpanningThresholdTiles: 4, OverlapThreshold: new(16), FutureSplitTileThreshold: 15},
		PartitionQualityConfig: &PartitionQualityConfig{MinObjectsPerTileTier: 4, AppliesToPreannotated: true},
		HLODGeneration:         &HLODGeneration{Enabled: true, Levels: DefaultHLODLevels(), Resolved: []HLODLevel{}},
		LODGeneration:          &LODGeneration{Enabled: true, Levels: DefaultLODLevels(), Resolved: []LODLevel{}},
		ObjectClassification: Classifications{
			{Name: "b", ExportPolicy: "shared_bucket", XZOverlapCount: 64, Dimensions: [3]float64{1, 2, 3}, DimRatio: 7.2, Reasons: []string{"width_threshold"}},
			{Name: "a\n", ExportPolicy: "local_overlap", Reasons: []string{}},
		},
		SharedBucket: &SharedBucket{
			Tile: Tile{
				ID: SharedTileID, Path: "tiles/s.untold", StreamingRadius: new(1.0), UnloadRadius: new(2.0),
				PrefetchRadius: new(1.5), Priority: new(10), FileSizeBytes: 5, SHA256: strings.Repeat("0", 64), TriangleCount: 4,
				EstimatedMemoryBytes: new(int64(9)), ObjectCount: new(1),
			},
			ExportPolicy: "shared_bucket",
			Members: []BucketObject{
				{Name: "o", ExportPolicy: "shared_bucket", XZOverlapCount: new(64), Dimensions: &[3]float64{1, 2, 3}, Reasons: []string{"x"}},
			},
		},
		FailedTiles: []FailedTile{{
			ID: "tile_0_0_0", GridCoord: &[3]int{}, QuadtreeNodeID: "F01_Q", SemanticTier: tileid.TierFineProps, FloorID: new(0),
			Path: "tiles/f.untold", Error: "disk full", CandidateObjectCount: 3,
		}},
		Tiles: []Tile{
			{
				ID: "tile_1_0_-2", GridCoord: &[3]int{1, 0, -2}, Path: "tiles/tile_1_0_-2.untold", Priority: new(0),
				HLODLevels: []Level{{Path: "tiles/h.untold", SwitchDistance: 71}}, FileSizeBytes: 1 << 40, EstimatedMemoryBytes: new(int64(0)),
				SHA256: strings.Repeat("a", 64), TriangleCount: 12, Bounds: Bounds{Min: [3]float64{-1, 0.1, 1e-7}, Max: [3]float64{1, 1e22, 3}},
				CellBounds: &Bounds{}, Center: [3]float64{0, 0.05, 1e21}, ObjectCount: new(0), Objects: []string{"é", "\u2028\x00\x7f"},
				LODLevels: []Level{{Path: "tiles/l.untold", SwitchDistance: 56.89, FileSizeBytes: 7, SHA256: strings.Repeat("b", 64), TriangleCount: 6, GeometricError: new(0.0), VisualError: new(0.25)}},
			},
			{
				ID: "F01_Q_SI", FloorID: new(0), QuadtreeNodeID: "F01_Q", SemanticTier: tileid.TierStructuralInterior, Path: "tiles/F01_Q_SI.untold",
				StreamingRadius: new(0.0), UnloadRadius: new(4.0), PrefetchRadius: new(0.0), HLODLevels: []Level{}, Interior: true,
				SecondaryRepresentationPolicy: "normal",
			},
		},
		InteriorZone: &Bounds{Max: [3]float64{1, 1, 1}},
	}
}

func TestEncodeDecodeFull(t *testing.T) {
	for _, mode := range []string{ModeUniformGrid, ModeQuadtreeFloor, ModeKDTreeFloor} {
		m := full()
		m.PartitioningMode = mode
		text := encodeBytes(t, m)
		got, notes, err := decodeReport(text)
		if err != nil || len(notes) > 0 {
			t.Fatalf("%v %v\n%s", err, notes, text)
		}
		opts := cmp.Options{cmpopts.EquateEmpty()}
		if d := cmp.Diff(m, got, opts); d != "" {
			t.Error(mode, d)
		}
		theirs := new(Manifest)
		if err := json.Unmarshal(text, theirs); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(got, theirs, opts); d != "" {
			t.Error("encoding/json reads something else:", mode, d)
		}
	}
}

func TestEncodeLooks(t *testing.T) {
	m := &Manifest{
		Version: VersionGrid, PartitioningMode: ModeUniformGrid, PayloadDir: "tiles",
		StreamingDefaults: StreamingDefaults{StreamingRadius: 50, UnloadRadius: 75.25, Priority: 10},
		Tiles: []Tile{
			{ID: "a", Path: "tiles/a.untold", FileSizeBytes: 7, Center: [3]float64{0, 0.5, math.Copysign(0, -1)}},
			{ID: "b", Path: "tiles/b.untold", LODLevels: []Level{{Path: "tiles/b_lod1.untold", SwitchDistance: 1}}},
		},
	}
	want := `{
  "version": 3,
  "partitioning_mode": "uniform_grid",
  "dry_run": false,
  "debug_aabb_only": false,
  "source_scene_name": null,
  "payload_dir_relative_to_manifest": "tiles",
  "scene_lights": [],
  "scene_cameras": [],
  "colorLUT": null,
  "streaming_defaults": {"streaming_radius": 50, "unload_radius": 75.25, "priority": 10},
  "object_classification": {},
  "shared_bucket": null,
  "failed_tiles": [],
  "tiles": [
    {"tile_id": "a", "path_relative_to_manifest": "tiles/a.untold", "hlod_levels": [], "file_size_bytes": 7, "bounds": {"min": [0, 0, 0], "max": [0, 0, 0]}, "center": [0, 0.5, 0]},
    {"tile_id": "b", "path_relative_to_manifest": "tiles/b.untold", "hlod_levels": [], "file_size_bytes": 0, "bounds": {"min": [0, 0, 0], "max": [0, 0, 0]}, "center": [0, 0, 0], "lod_levels": [{"path": "tiles/b_lod1.untold", "switch_distance": 1}]}
  ]
}
`
	if d := cmp.Diff(want, string(encodeBytes(t, m))); d != "" {
		t.Error(d)
	}
}

func TestEncodeFloorKeysAreAlwaysThere(t *testing.T) {
	m := &Manifest{PartitioningMode: ModeQuadtreeFloor, Tiles: []Tile{{ID: "a", Path: "a"}}}
	text := string(encodeBytes(t, m))
	for _, want := range []string{`"hlod_levels": [], "lod_levels": [], "interior": false`, "\n  \"interior_zone\": null\n}"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(-1)
	for name, change := range map[string]func(*Manifest){
		"NaN in defaults":      func(m *Manifest) { m.StreamingDefaults.StreamingRadius = nan },
		"infinite radius":      func(m *Manifest) { m.Tiles[0].UnloadRadius = &inf },
		"beyond float32":       func(m *Manifest) { m.Tiles[0].Center[1] = 1e39 },
		"NaN in lights":        func(m *Manifest) { m.SceneLights[0].LocalTransformRows[2][1] = nan },
		"NaN in a level":       func(m *Manifest) { m.Tiles[0].LODLevels[0].GeometricError = &nan },
		"NaN in zone":          func(m *Manifest) { m.InteriorZone.Min[0] = nan },
		"NaN in an object":     func(m *Manifest) { m.ObjectClassification[0].DimRatio = nan },
		"backslash":            func(m *Manifest) { m.Tiles[0].Path = `tiles\a.untold` },
		"escaping level":       func(m *Manifest) { m.Tiles[0].HLODLevels[0].Path = "../a.untold" },
		"absolute bucket":      func(m *Manifest) { m.SharedBucket.Path = "/etc/passwd" },
		"empty path of a tile": func(m *Manifest) { m.Tiles[1].Path = "" },
	} {
		m := full()
		change(m)
		err := m.Encode(io.Discard)
		if !errors.Is(err, ErrNotEncodable) {
			t.Errorf("%s: %v", name, err)
		}
		dir := t.TempDir()
		if err := m.Save(filepath.Join(dir, "m.json")); !errors.Is(err, ErrNotEncodable) {
			t.Errorf("%s: %v", name, err)
		}
		if entries, _ := os.ReadDir(dir); len(entries) > 0 {
			t.Errorf("%s: %v is left", name, entries)
		}
	}
	m := full()
	m.Tiles[0].Center[1] = nan
	if err := m.Encode(io.Discard); !strings.Contains(err.Error(), "tile tile_1_0_-2") {
		t.Errorf("%v does not name the tile", err)
	}
}

func TestEncodeRepeatedNames(t *testing.T) {
	m := full()
	m.ObjectClassification = Classifications{{Name: "x", XZOverlapCount: 1}, {Name: "x", XZOverlapCount: 2}, {Name: "y\xff"}, {Name: "y\uFFFD"}}
	got, notes, err := decodeReport(encodeBytes(t, m))
	if err != nil || len(notes) > 0 {
		t.Fatal(err, notes)
	}
	if c := got.ObjectClassification; len(c) != 2 || c[0].XZOverlapCount != 1 || c[1].Name != "y\uFFFD" {
		t.Error(c)
	}
}

func TestEncodeStringsLikeEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "v")
		e := &encoder{}
		e.str(v)
		var want strings.Builder
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
		var a, b string
		if json.Unmarshal(e.buf, &a) != nil || json.Unmarshal([]byte(want.String()), &b) != nil || a != b {
			t.Fatalf("%q becomes %s, encoding/json: %s", v, e.buf, want.String())
		}
	})
}

func TestEncodeNumbersRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(rapid.Float64Range(-math.MaxFloat32, math.MaxFloat32), rapid.Float64Range(-1, 1), rapid.Just(5e-324)).Draw(t, "v")
		e := &encoder{}
		e.float(v)
		s := &scanner{data: e.buf}
		if got := s.float(); got != v || s.err != nil || e.err != nil {
			t.Fatalf("%v became %s, then %v", v, e.buf, got)
		}
		if v != 0 && v == math.Trunc(v) && math.Abs(v) < 1e15 && bytes.ContainsAny(e.buf, ".e") {
			t.Fatalf("%v has a fraction in %s", v, e.buf)
		}
	})
}

func genVec3(t *rapid.T, label string) (v [3]float64) {
	for i := range v {
		v[i] = float64(rapid.Float32Range(-1e6, 1e6).Draw(t, label))
	}
	return v
}

func genTile(t *rapid.T) Tile {
	distance := rapid.Float64Range(0, 1000)
	tile := Tile{
		ID: rapid.StringMatching(`[a-zA-Z0-9_é]{1,8}`).Draw(t, "id"), Path: rapid.StringMatching(`t/[a-z0-9_é]{1,8}\.untold`).Draw(t, "path"),
		FileSizeBytes: rapid.Int64().Draw(t, "size"), Bounds: Bounds{genVec3(t, "min"), genVec3(t, "max")}, Center: genVec3(t, "center"),
		StreamingRadius: rapid.Ptr(distance, true).Draw(t, "s"), UnloadRadius: rapid.Ptr(distance, true).Draw(t, "u"),
		Priority: rapid.Ptr(rapid.Int(), true).Draw(t, "priority"), FloorID: rapid.Ptr(rapid.IntRange(-3, 99), true).Draw(t, "floor"),
		Interior: rapid.Bool().Draw(t, "interior"), Objects: rapid.SliceOfN(rapid.StringMatching(`[^"]*`), 0, 3).Draw(t, "objects"),
		TriangleCount: rapid.IntRange(0, 1<<30).Draw(t, "triangles"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "lods") {
		tile.LODLevels = append(tile.LODLevels, Level{Path: "l", SwitchDistance: distance.Draw(t, "d"), GeometricError: rapid.Ptr(distance, true).Draw(t, "e")})
	}
	return tile
}

func TestEncodeDecodeAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := full()
		m.PartitioningMode = rapid.SampledFrom([]string{ModeUniformGrid, ModeKDTreeFloor, "other"}).Draw(t, "mode")
		m.DryRun = rapid.Bool().Draw(t, "dry")
		m.Tiles = rapid.SliceOfN(rapid.Custom(genTile), 0, 4).Draw(t, "tiles")
		var b bytes.Buffer
		if err := m.Encode(&b); err != nil {
			t.Fatal(err)
		}
		got, err := Decode(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		valid := cmp.Transformer("valid", func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") })
		if d := cmp.Diff(m, got, cmpopts.EquateEmpty(), valid); d != "" {
			t.Fatal(d)
		}
	})
}

func TestSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	m := full()
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(old, encodeBytes(t, m)) {
		t.Fatal(err)
	}
	// A disk that fills up leaves the old file alone, at every place.
	m.Version = 9
	for limit := 0; limit < len(old); limit += 97 {
		err := m.saveWith(path, atomicfile.Options{Wrap: func(w io.Writer) io.Writer { return &fullDisk{w, limit} }})
		if !errors.Is(err, errDiskFull) {
			t.Fatalf("limit %d: %v", limit, err)
		}
		now, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(now, old) {
			t.Fatalf("limit %d: the old file changed", limit)
		}
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Error(entries)
	}
}

var errDiskFull = errors.New("no space left on device")

// fullDisk accepts a number of bytes.
type fullDisk struct {
	w    io.Writer
	room int
}

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) <= d.room {
		d.room -= len(p)
		return d.w.Write(p)
	}
	n, _ := d.w.Write(p[:d.room])
	d.room = 0
	return n, errDiskFull
}

func TestEncodeStopsWithTheWriter(t *testing.T) {
	m := many(2000)
	if err := m.Encode(&fullDisk{io.Discard, 100_000}); !errors.Is(err, errDiskFull) {
		t.Error(err)
	}
}

// many returns a manifest like that of a large city.
func many(n int) *Manifest {
	m := full()
	m.Tiles = nil
	for i := range n {
		id := fmt.Sprintf("tile_%d_0_%d", i%400, i/400)
		x, z := float64(i%400)*25.125, -float64(i/400)*25.125
		b := geom.Box{Min: geom.Vec3{x, -0.25, z - 25}, Max: geom.Vec3{x + 24.0625, 31.7182818, z}}
		level := func(suffix string, d float64) Level {
			return Level{Path: "tiles/" + id + suffix, SwitchDistance: d, FileSizeBytes: 40_000 + int64(i), SHA256: strings.Repeat("c", 64), TriangleCount: 1000 + i}
		}
		m.Tiles = append(m.Tiles, Tile{
			ID: id, GridCoord: &[3]int{i % 400, 0, i / 400}, Path: "tiles/" + id + ".untold", Priority: new(10),
			HLODLevels:    []Level{level("_hlod.untold", 71)},
			LODLevels:     []Level{level("_lod1.untold", 56.89), level("_lod2.untold", 63.53)},
			FileSizeBytes: 400_000 + int64(i), SHA256: strings.Repeat("d", 64), TriangleCount: 10_000 + i,
			Bounds: BoundsOf(b), CellBounds: &Bounds{Min: [3]float64{x, -1, z - 25}, Max: [3]float64{x + 25, 9999, z}},
			Center: BoundsOf(b).Center(), ObjectCount: new(3), Objects: []string{"House_" + id, "Tree_" + id, "Road"},
		})
	}
	return m
}

func BenchmarkEncode(b *testing.B) {
	m := many(10_000)
	n := len(encodeBytes(b, m))
	b.SetBytes(int64(n))
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Encode(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecode compares Decode with encoding/json into the same structs, in
// turns, and reports how long Decode takes in terms of the other.
func BenchmarkDecode(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("%d tiles", n), func(b *testing.B) {
			text := encodeBytes(b, many(n))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var plain, ours stopwatch
			for b.Loop() {
				ours.time(func() {
					if _, err := Decode(text); err != nil {
						b.Fatal(err)
					}
				})
				b.StopTimer()
				plain.time(func() {
					if err := json.Unmarshal(text, new(Manifest)); err != nil {
						b.Fatal(err)
					}
				})
				b.StartTimer()
			}
			b.ReportMetric(float64(ours.total)/float64(plain.total), "x-json")
			b.ReportMetric(float64(plain.total.Milliseconds())/float64(b.N), "json-ms/op")
			b.ReportMetric(float64(ours.total.Milliseconds())/float64(b.N), "ours-ms/op")
		})
	}
}

func BenchmarkValidate(b *testing.B) {
	text := encodeBytes(b, many(100_000))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		ValidateBytes(text, "", ValidateOptions{})
	}
}
