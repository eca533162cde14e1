package cook

import (
	"bytes"
	"context"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/untoldkit/untold/internal/boxscene"
	"github.com/untoldkit/untold/internal/engineoracle"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/manifest"
)

// manifestSchema is the shipped schema.
func manifestSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(manifest.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("manifest.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("manifest.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// engineLoads decodes a cooked manifest by the reference engine's rules, as
// the tests have them, and compares what the engine would hold with what was
// meant: every tile registered, no distance changed on load. The shipped
// schema must accept it, too.
func engineLoads(t *testing.T, res *Result) {
	t.Helper()
	var b bytes.Buffer
	if err := res.Manifest.Encode(&b); err != nil {
		t.Fatal(err)
	}
	text := b.Bytes()
	if !res.DryRun {
		if onDisk, err := os.ReadFile(res.ManifestPath); err != nil || !bytes.Equal(onDisk, text) {
			t.Fatalf("%s is not what Run returns: %v", res.ManifestPath, err)
		}
	}
	s, err := engineoracle.Decode(text)
	if err != nil {
		t.Fatalf("%s: %v", res.ManifestPath, err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := manifestSchema(t).Validate(doc); err != nil {
		t.Errorf("%s: the schema: %v", res.ManifestPath, err)
	}
	m := res.Manifest
	if s.Unusable != nil || len(s.Warnings) > 0 || s.Mode != m.PartitioningMode || s.Floors != m.HasFloors() {
		t.Errorf("%s: %v, %v, mode %s", res.ManifestPath, s.Unusable, s.Warnings, s.Mode)
	}
	if len(s.Tiles) != len(m.Tiles) || (s.Bucket == nil) != (m.SharedBucket == nil) || len(s.Lights) != len(m.SceneLights) || len(s.Cameras) != len(m.SceneCameras) {
		t.Fatalf("%s: the engine has %d tiles of %d, %d lights, %d cameras", res.ManifestPath, len(s.Tiles), len(m.Tiles), len(s.Lights), len(s.Cameras))
	}
	if (s.Zone == nil) != (m.InteriorZone == nil) || !(s.BatchCell > 0) {
		t.Errorf("%s: zone %v, batch cell %v", res.ManifestPath, s.Zone, s.BatchCell)
	}
	for i := range s.Tiles {
		engineTile(t, m, &m.Tiles[i], &s.Tiles[i])
	}
}

// engineTile compares one tile.
func engineTile(t *testing.T, m *manifest.Manifest, want *manifest.Tile, got *engineoracle.Tile) {
	t.Helper()
	b := m.BandsOf(want)
	near := func(a float32, b float64) bool { return math.Abs(float64(a)-b) <= 1e-3 }
	if got.ID != want.ID || got.Path != want.Path || got.Size != want.FileSizeBytes || int(got.Priority) != m.PriorityOf(want) ||
		got.Interior != want.Interior || got.Node != want.QuadtreeNodeID || got.Changed {
		t.Errorf("%s: the engine has %+v", want.ID, got)
	}
	if !near(got.Streaming, b.Streaming) || !near(got.Unload, b.Unload) || (got.HLOD == nil) != (b.HLOD == 0) || len(got.LODs) != len(b.LODs) {
		t.Errorf("%s: the engine has %+v, written %v", want.ID, got, b)
	}
	for i := range got.LODs {
		if !near(got.LODs[i].Switch, b.LODs[i]) {
			t.Errorf("%s: the engine has %v, written %v", want.ID, got.LODs, b)
		}
	}
	if m.HasFloors() && (got.Floor == nil || int(*got.Floor) != *want.FloorID) {
		t.Errorf("%s: floor %v", want.ID, got.Floor)
	}
	for a := range 3 {
		if lo, hi := got.Min[a], got.Max[a]; !(lo <= hi && lo <= got.Center[a] && got.Center[a] <= hi) {
			t.Errorf("%s: bounds %v to %v around %v", want.ID, got.Min, got.Max, got.Center)
		}
	}
}

// partitions are the three ways to cut a scene.
var partitions = []string{PartitionGrid, PartitionQuadtree, PartitionKDTree}

// withLevels are the options for a partition with the default levels.
func withLevels(kind string) Options {
	opts := floorOptions(kind)
	opts.LODs, opts.HLODs = manifest.DefaultLODLevels(), manifest.DefaultHLODLevels()
	opts.lookSide, opts.NoSync = smallPictures, true
	return opts
}

func TestEngineLoadsSmallScenes(t *testing.T) {
	for name, boxes := range map[string][]boxscene.Box{"town.gltf": townBoxes(), "house.gltf": houseBoxes()} {
		scene := runScene(t, name, boxes)
		for _, kind := range partitions {
			for _, dry := range []bool{false, true} {
				opts := withLevels(kind)
				opts.DryRun = dry
				engineLoads(t, mustRun(t, scene, t.TempDir(), opts))
			}
		}
	}
}

func TestEngineLoadsGeneratedScenes(t *testing.T) {
	if race.Enabled {
		t.Skip("takes minutes; make test runs it without the race detector")
	}
	for _, name := range []string{"office", "city"} {
		t.Run(name, func(t *testing.T) {
			scene := generated(t, name)
			for _, kind := range partitions {
				opts := withLevels(kind)
				opts.DryRun = true // the same manifest, but for sizes
				engineLoads(t, mustRun(t, scene, t.TempDir(), opts))
			}
		})
	}
}

// Real models have odd names, empty nodes, huge and tiny scales. Each is cut
// in one of the three ways.
func TestEngineLoadsAssets(t *testing.T) {
	n, seen := 0, 0
	eachModel(t, func(name, path string) {
		if st, err := os.Stat(path); err != nil || st.Size() > 2<<20 || testing.Short() && n > 20 {
			return
		}
		if strings.Contains(name, "gpu_instancing") {
			return // expands to millions of triangles; TestConvertAssets has it
		}
		if seen++; race.Enabled && seen%8 > 0 {
			return // make test loads all of them without the detector
		}
		opts := withLevels(partitions[n%len(partitions)])
		opts.DryRun, opts.AllowMissingImages = true, true
		res, err := Run(context.Background(), path, t.TempDir(), opts)
		if err != nil {
			return // TestConvertAssets judges what is refused
		}
		n++
		engineLoads(t, res)
	}, "models", "features")
	if n == 0 {
		t.Error("no model was cooked")
	}
	t.Logf("%d manifests", n)
}
