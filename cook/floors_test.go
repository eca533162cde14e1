package cook

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/boxscene"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/tileid"
	"github.com/untoldkit/untold/partition"
)

// houseBoxes is a house of two floors with facades, a roof and furniture.
func houseBoxes() []boxscene.Box {
	type m = map[string]any
	at := func(name string, x, y, z, w, h, d float64, extra m) boxscene.Box {
		return boxscene.Box{Name: name, At: [3]float64{x, y, z}, Scale: [3]float64{w, h, d}, Extras: extra}
	}
	return []boxscene.Box{
		at("Facade south", 10, 3, 0, 20, 6, .2, nil), at("Roof", 10, 6.1, 10, 20, .2, 20, nil),
		at("Slab", 10, -.1, 10, 20, .2, 20, nil), at("Slab", 10, 2.9, 10, 20, .2, 20, nil),
		at("OfficeChair", 4, .5, 4, .6, 1, .6, m{"untold_streaming_priority_hint": "Critical"}),
		at("OfficeChair", 4, 3.5, 4, .6, 1, .6, nil),
		at("Thing", 16, .5, 16, 1, 1, 1, m{"untold_semantic_override": "FineProps"}),
		at("Kiosk", 15, .5, 4, 1, 1, 1, m{"untold_tile_policy": "force_shared"}),
	}
}

func floorOptions(kind string) Options {
	o := ClassicOptions()
	o.Partition = kind
	return o
}

func TestRunFloors(t *testing.T) {
	for kind, mode := range map[string]string{PartitionQuadtree: manifest.ModeQuadtreeFloor, PartitionKDTree: manifest.ModeKDTreeFloor} {
		dir := filepath.Join(t.TempDir(), kind)
		res := mustRun(t, runScene(t, "house.gltf", houseBoxes()), dir, floorOptions(kind))
		m, err := manifest.Load(res.ManifestPath)
		if err != nil {
			t.Fatal(err)
		}
		if m.Version != manifest.VersionFloor || m.PartitioningMode != mode || len(m.ObjectClassification) > 0 || len(m.FailedTiles) > 0 {
			t.Errorf("%s: version %d, %s", kind, m.Version, m.PartitioningMode)
		}
		if p := m.PartitionQualityConfig; !p.CollapseUnderfilled || p.MinObjectsPerTileTier != 4 {
			t.Errorf("%+v", p)
		}
		letter := map[string]string{PartitionQuadtree: "Q", PartitionKDTree: "K"}[kind]
		got := map[string]int{}
		for i := range m.Tiles {
			e := &m.Tiles[i]
			checkFloorTile(t, dir, m, e)
			got[e.ID] = *e.ObjectCount
			if want := map[bool]int{true: 15, false: 8}[e.ID == "F01_"+letter+"_RC"]; e.SemanticTier == "RoomContents" && *e.Priority != want {
				t.Errorf("%s: priority %d, want %d", e.ID, *e.Priority, want)
			}
		}
		want := map[string]int{"F01_" + letter + "_SI": 1, "F02_" + letter + "_SI": 1, "F01_" + letter + "_RC": 1, "F02_" + letter + "_RC": 1, "F01_" + letter + "_FP": 1}
		shell := 0
		for id, n := range got {
			if id[len(id)-2:] == "ES" {
				shell += n
				delete(got, id)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", kind, d)
		}
		if m.InteriorZone == nil || m.SharedBucket == nil || len(m.SharedBucket.Members)+shell != 3 {
			t.Fatalf("%s: zone %v, bucket %+v, %d in tiles of the shell", kind, m.InteriorZone, m.SharedBucket, shell)
		}
		for _, b := range m.SharedBucket.Members {
			if b.Name == "" || b.ExportPolicy != "" || b.XZOverlapCount != nil || b.Dimensions != nil || b.Reasons != nil {
				t.Errorf("%s: bucket object %+v", kind, b)
			}
		}
		if f, err := manifest.ValidateFile(res.ManifestPath, manifest.ValidateOptions{CheckFiles: true}); err != nil || len(f) > 0 {
			t.Errorf("%s: %v %v", kind, err, f)
		}
		if res.TileTriangles != res.Triangles {
			t.Errorf("%s: %d triangles in tiles, %d in the scene: objects must be in one tile", kind, res.TileTriangles, res.Triangles)
		}
	}
}

// checkFloorTile compares a tile of a floor with its file.
func checkFloorTile(t *testing.T, dir string, m *manifest.Manifest, e *manifest.Tile) {
	t.Helper()
	r, err := format.Open(filepath.Join(dir, filepath.FromSlash(e.Path)), format.VerifyOnOpen())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if b := boundsOf(r.Header().WorldBounds); b != e.Bounds {
		t.Errorf("%s: bounds %v, the file has %v", e.ID, e.Bounds, b)
	}
	if e.FloorID == nil || e.QuadtreeNodeID == "" || e.SemanticTier == "" || e.StreamingRadius == nil || e.UnloadRadius == nil || e.CellBounds == nil {
		t.Fatalf("%s lacks keys: %+v", e.ID, e)
	}
	if e.GridCoord != nil || e.Objects != nil || *e.UnloadRadius < *e.StreamingRadius+4 || e.SecondaryRepresentationPolicy == "" {
		t.Errorf("%s: %+v", e.ID, e)
	}
	inside, zone := e.SemanticTier != tileid.TierExteriorShell, m.InteriorZone
	for _, a := range []int{0, 2} {
		inside = inside && e.Bounds.Min[a] >= zone.Min[a]-1 && e.Bounds.Max[a] <= zone.Max[a]+1
	}
	if e.Interior != inside {
		t.Errorf("%s: interior %v", e.ID, e.Interior)
	}
	for i := range 3 {
		if e.CellBounds.Min[i] > e.Bounds.Min[i] || e.CellBounds.Max[i] < e.Bounds.Max[i] {
			t.Errorf("%s: bounds %v are not in cell %v", e.ID, e.Bounds, e.CellBounds)
		}
	}
}

func TestRunFloorsIsDeterministicAndPlansDry(t *testing.T) {
	scene := runScene(t, "house.gltf", houseBoxes())
	opts := floorOptions(PartitionKDTree)
	opts.Jobs = 1
	a, b, dry := t.TempDir(), t.TempDir(), t.TempDir()
	want := mustRun(t, scene, a, opts)
	opts.Jobs = 8
	mustRun(t, scene, b, opts)
	if d := cmp.Diff(testfile.ReadTree(t, a), testfile.ReadTree(t, b)); d != "" {
		t.Error("the number of workers matters")
	}
	opts.DryRun = true
	got := mustRun(t, scene, dry, opts)
	if len(got.Manifest.Tiles) != len(want.Manifest.Tiles) {
		t.Fatalf("%d tiles in a dry run, %d in the real one", len(got.Manifest.Tiles), len(want.Manifest.Tiles))
	}
	for i, e := range got.Manifest.Tiles {
		if w := want.Manifest.Tiles[i]; e.ID != w.ID || e.Bounds != w.Bounds || e.FileSizeBytes != 0 || *e.StreamingRadius != *w.StreamingRadius {
			t.Errorf("tile %d is %s in a dry run, %s in the real one", i, e.ID, w.ID)
		}
	}
}

func TestRunFollowsAnnotations(t *testing.T) {
	boxes := []boxscene.Box{
		{Name: "Desk__UT_F02Q100_L_RC"}, {Name: "Desk__UT_F02Q100_L_RC", At: [3]float64{9, 0, 0}}, // made unique: .001
		{Name: "Thing", At: [3]float64{0, 9, 0}, Extras: map[string]any{
			"userProperties:untold_quadtree_node_id": "F01Q", "untold_semantic_guess": "FineProps", "untold_semantic_confidence": .9, "untold_floor_id": 1,
		}},
	}
	m := mustRun(t, runScene(t, "house.gltf", boxes), t.TempDir(), floorOptions(PartitionKDTree)).Manifest
	var ids []string
	for _, e := range m.Tiles {
		ids = append(ids, e.ID)
	}
	if d := cmp.Diff([]string{"F01Q_FP", "F02Q100_RC"}, ids); d != "" || m.PartitioningMode != manifest.ModeQuadtreeFloor || m.PartitionQualityConfig.CollapseUnderfilled {
		t.Errorf("%s %s", m.PartitioningMode, d)
	}
}

func TestRunFloorsBadInput(t *testing.T) {
	for _, extra := range []map[string]any{
		{"untold_semantic_override": "Attic"}, {"untold_streaming_priority_hint": "urgent"}, {"untold_tile_policy": "none of these"},
	} {
		scene := runScene(t, "house.gltf", []boxscene.Box{{Name: "a", Extras: extra}})
		if _, err := Run(t.Context(), scene, t.TempDir(), floorOptions(PartitionQuadtree)); !errors.Is(err, ErrBadInput) {
			t.Errorf("%v: %v", extra, err)
		}
	}
	scene := runScene(t, "house.gltf", houseBoxes())
	if _, err := Run(t.Context(), scene, t.TempDir(), floorOptions("octree")); err == nil {
		t.Error("an unknown partition is accepted")
	}
	opts := floorOptions(PartitionQuadtree)
	opts.Floors.Profile = "underwater"
	if _, err := Run(t.Context(), scene, t.TempDir(), opts); !errors.Is(err, partition.ErrBadOptions) {
		t.Errorf("a bad profile: %v", err)
	}
}

// The generated office has four storeys on a wide terrain.
func TestRunOfficeFloors(t *testing.T) {
	scene := generated(t, "office")
	for _, kind := range []string{PartitionQuadtree, PartitionKDTree} {
		if race.Enabled && kind == PartitionKDTree {
			continue // make test cooks both without the detector
		}
		dir := t.TempDir()
		res := mustRun(t, scene, dir, floorOptions(kind))
		if f, err := manifest.ValidateFile(res.ManifestPath, manifest.ValidateOptions{CheckFiles: true}); err != nil || len(f) > 0 {
			t.Errorf("%s: %v %v", kind, err, f)
		}
		m, floors, tiers, objects := res.Manifest, map[int]bool{}, map[string]bool{}, 0
		for i := range m.Tiles {
			checkFloorTile(t, dir, m, &m.Tiles[i])
			floors[*m.Tiles[i].FloorID], tiers[m.Tiles[i].SemanticTier] = true, true
			objects += *m.Tiles[i].ObjectCount
		}
		if len(floors) != 4 || len(tiers) != 4 || m.StreamingProfile.Resolved != partition.ProfileIndoor {
			t.Errorf("%s: floors %v, tiers %v, %s", kind, floors, tiers, m.StreamingProfile.Resolved)
		}
		if res.TileTriangles != res.Triangles {
			t.Errorf("%s: %d triangles of %d", kind, res.TileTriangles, res.Triangles)
		}
		if zone, all := m.InteriorZone.Box().Size(), m.SceneBounds.Box().Size(); zone[0] > all[0]/2 || zone[2] > all[2]/2 {
			t.Errorf("%s: the interior zone is %v of %v", kind, zone, all)
		}
	}
}
