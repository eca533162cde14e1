package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/tileid"
	"github.com/untoldkit/untold/partition"
)

func box(x0, y0, z0, x1, y1, z1 float64) geom.Box {
	return geom.Box{Min: geom.Vec3{x0, y0, z0}, Max: geom.Vec3{x1, y1, z1}}
}

// manifestOf writes down a plan as a cook does that keeps objects whole.
func manifestOf(p *partition.Plan, objects []partition.Object) *manifest.Manifest {
	m := &manifest.Manifest{
		Version: manifest.VersionGrid, PartitioningMode: p.Mode, Generator: "untold test",
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: p.Defaults.Streaming, UnloadRadius: p.Defaults.Unload},
	}
	fill := func(t *manifest.Tile, members []int) {
		for _, o := range members {
			t.TriangleCount += objects[o].Triangles
			t.FileSizeBytes += int64(objects[o].Triangles) * 100
			if p.Mode == manifest.ModeUniformGrid {
				t.Objects = append(t.Objects, objects[o].Name)
			}
		}
		t.ObjectCount, t.EstimatedMemoryBytes = pointer(len(members)), pointer(t.FileSizeBytes*2)
	}
	for i := range p.Tiles {
		t := &p.Tiles[i]
		e := manifest.Tile{ID: t.ID, Path: "tiles/" + t.ID + ".untold", Bounds: manifest.BoundsOf(t.Content)}
		if p.Mode != manifest.ModeUniformGrid {
			e.FloorID, e.QuadtreeNodeID, e.SemanticTier, e.Interior = pointer(t.Floor), t.NodeID, t.Tier.String(), t.Interior
			e.StreamingRadius, e.UnloadRadius = pointer(t.Radii.Streaming), pointer(t.Radii.Unload)
		}
		fill(&e, t.Objects)
		m.Tiles = append(m.Tiles, e)
	}
	if len(p.Shared) > 0 {
		m.SharedBucket = &manifest.SharedBucket{Tile: manifest.Tile{ID: manifest.SharedTileID}}
		fill(&m.SharedBucket.Tile, p.Shared)
	}
	return m
}

// yard has a local object, one over two cells, a ground plane, one without
// geometry, and one that is forced into the bucket.
func yard(t *testing.T, clip bool) ([]partition.Object, *partition.Plan) {
	t.Helper()
	objects := []partition.Object{
		{ID: 0, Name: "Box", Box: box(1, 0, -4, 4, 3, -1), Triangles: 12},
		{ID: 1, Name: "Fence", Box: box(5, 0, -3, 15, 1, -2), Triangles: 40},
		{ID: 2, Name: "Ground", Box: box(-40, -1, -60, 60, 0, 40), Triangles: 2},
		{ID: 3, Name: "Nothing", Box: geom.EmptyBox()},
		{ID: 4, Name: "Sky", Box: box(0, 0, -9, 9, 9, -1), Triangles: 100, Policy: partition.PolicyForceShared},
	}
	p, err := partition.Grid(objects, partition.GridOptions{TileSize: geom.Vec3{10, 1000, 10}, Clip: clip, SplitMaxTiles: 4})
	if err != nil {
		t.Fatal(err)
	}
	return objects, p
}

func TestNewGrid(t *testing.T) {
	objects, p := yard(t, false)
	m := manifestOf(p, objects)
	r := New(m, p, objects)
	if r.Totals.Objects != 4 || r.Totals.Triangles != 154 || r.Totals.TileTriangles != 12+40+40+102 || r.Totals.Tiles != 2 {
		t.Errorf("totals %+v", r.Totals)
	}
	if s := r.Shared; s == nil || s.Objects != 2 || s.Triangles != 102 || math.Abs(s.TriangleShare-102.0/194) > 1e-12 || math.Abs(s.ByteShare-102.0/194) > 1e-12 {
		t.Errorf("shared %+v", r.Shared)
	}
	type place struct {
		Place, Policy, Why string
		Tiles              []string
	}
	got := map[string]place{}
	for i := range r.Objects {
		o := &r.Objects[i]
		got[o.Name] = place{o.Place, o.Policy, r.why(o, true), o.Tiles}
	}
	// The grid begins at the ground's corner.
	want := map[string]place{
		"Box":     {"tiles", "", "local: in one cell; 1 cell, longest side 0.3 x the tile's", []string{"tile_4_0_4"}},
		"Fence":   {"tiles", "", "local: whole in every cell it overlaps; 2 cells, longest side 1 x the tile's", []string{"tile_4_0_4", "tile_5_0_4"}},
		"Ground":  {"shared", "", "bucket: wider than the spanning limit, deeper than the spanning limit, overlaps too many cells", []string{}},
		"Nothing": {"none", "", "no geometry", []string{}},
		"Sky":     {"shared", "force_shared", "bucket: forced into the bucket", []string{}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(r.Floors.Floors) != 0 || len(r.Tiers) != 0 || r.Floors.Method != "none" {
		t.Errorf("a grid with floors: %+v %+v", r.Floors, r.Tiers)
	}
	// A cell that only a box reaches into is not named.
	m.Tiles[1].Objects = []string{"somebody else"}
	r = New(m, p, objects)
	if o := r.Objects[1]; o.TileCount != 1 || len(o.Tiles) != 1 {
		t.Errorf("%+v", o)
	}
}

func TestWhyClipped(t *testing.T) {
	r := &Report{Clip: true}
	for _, c := range []struct {
		o    Object
		want string
	}{
		{Object{Place: PlaceTiles, Export: "local_overlap", TileCount: 1}, "local: in one cell"},
		{Object{Place: PlaceTiles, Export: "local_overlap", TileCount: 3}, "local: cut at cell borders"},
		{Object{Place: PlaceTiles, Export: "shared_bucket", TileCount: 9, Reasons: []string{"width_threshold"}}, "spanning (wider than the spanning limit), cut at cell borders"},
		{Object{Place: PlaceTiles, Export: "local_overlap", Reasons: []string{"depth_threshold", "force_local"}}, "local: deeper than the spanning limit, forced into tiles"},
		{Object{Place: PlaceShared, Export: "shared_bucket", Reasons: []string{"a new word"}}, "bucket: a new word"},
		{Object{Place: PlaceNone, Export: "local_overlap"}, "left out: no triangle with an area, or outside of the sample"},
		{Object{Place: PlaceTiles, Tier: "FineProps", TierSource: "name", Confidence: .9, Spanning: true}, "FineProps by name, at an inner node because it crosses the borders below"},
		{Object{Place: PlaceTiles, Tier: "StructuralInterior", TierSource: "size", Confidence: .3}, "StructuralInterior by size, unsure"},
	} {
		if got := r.why(&c.o, false); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}

// house has two floors by its slabs.
func house() []partition.Object {
	add := func(list []partition.Object, name string, b geom.Box) []partition.Object {
		return append(list, partition.Object{ID: len(list), Name: name, Box: b, Triangles: 10})
	}
	var out []partition.Object
	for f := range 2 {
		y := float64(3 * f)
		out = add(out, "Floor slab", box(0, y-.2, 0, 20, y, 20))
		for i := range 6 {
			x := float64(3 * i)
			out = add(out, "Chair", box(x, y, 2, x+1, y+1, 3))
			out = add(out, "Wall", box(x, y, 10, x+.2, y+2.8, 19))
		}
	}
	out = add(out, "Roof", box(-1, 5.8, -1, 21, 6.2, 21))
	return add(out, "Facade", box(-1, 0, -1, 21, 6, -.8))
}

func TestNewFloors(t *testing.T) {
	objects := house()
	p, err := partition.KDTree(objects, partition.FloorOptions{Profile: partition.ProfileIndoor})
	if err != nil {
		t.Fatal(err)
	}
	m := manifestOf(p, objects)
	r := New(m, p, objects)
	if r.Floors.Method != "slabs" || len(r.Floors.Slabs) != 2 || len(r.Floors.Floors) != 2 {
		t.Errorf("%+v", r.Floors)
	}
	sum := 0
	for i, f := range r.Floors.Floors {
		sum += f.Objects
		if f.ID != i || f.Bottom == nil || *f.Top < *f.Bottom {
			t.Errorf("%+v", f)
		}
	}
	tiers := 0
	for i, c := range r.Tiers {
		tiers += c.Objects
		if i > 0 && tierRank(c.Tier) <= tierRank(r.Tiers[i-1].Tier) {
			t.Errorf("tiers out of order: %+v", r.Tiers)
		}
	}
	shared := 0
	for _, o := range r.Objects {
		switch {
		case o.Place == PlaceShared:
			shared++
		case o.Name == "Chair" && (o.Tier != tileid.TierRoomContents || o.TierSource != "name" || o.Floor == nil || o.TileCount != 1):
			t.Errorf("%+v", o)
		}
	}
	if sum != tiers || sum+shared != len(objects) {
		t.Errorf("%d objects on floors, %d in tiers, %d shared of %d", sum, tiers, shared, len(objects))
	}
}

func TestCompat(t *testing.T) {
	objects, ours := yard(t, true)
	_, engine := yard(t, false)
	m := manifestOf(ours, objects)
	got := NewCompat(nil, ours, engine, objects)
	want := Side{
		Tiles: 2, Objects: 4, Assigned: 3, Duplicated: 1, SharedObjects: 2, SharedTriangles: 102,
		StoredTriangles: 194, MedianTriangles: 46, MaxTriangles: 52,
	}
	if d := cmp.Diff(want, got.Engine); d != "" {
		t.Error(d)
	}
	// What was cut is counted as it was written.
	for i := range m.Tiles {
		m.Tiles[i].TriangleCount = 7 + i
	}
	m.Tiles[1].Objects, m.Tiles[1].ObjectCount = nil, pointer(0)
	got = NewCompat(m, ours, engine, objects)
	if s := got.Ours; s.MaxTriangles != 8 || s.MedianTriangles != 7.5 || s.StoredTriangles != 117 || s.Duplicated != 0 || s.Assigned != 2 {
		t.Errorf("%+v", s)
	}

	rooms := house()
	p, err := partition.Quadtree(rooms, partition.FloorOptions{Profile: partition.ProfileIndoor})
	if err != nil {
		t.Fatal(err)
	}
	compat, err := partition.Quadtree(rooms, partition.FloorOptions{Compat: true})
	if err != nil {
		t.Fatal(err)
	}
	c := NewCompat(manifestOf(p, rooms), p, compat, rooms)
	if c.Ours.Floors != 2 || c.Ours.Objects != len(rooms) || c.Engine.Objects != len(rooms) || c.Ours.InteriorTiles == 0 {
		t.Errorf("%+v", c)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []int
		want float64
	}{{nil, 0}, {[]int{3}, 3}, {[]int{3, 4}, 3.5}, {[]int{1, 2, 9}, 2}} {
		if got := median(c.in); got != c.want {
			t.Errorf("%v: %v", c.in, got)
		}
	}
}

func TestLevelNames(t *testing.T) {
	r := New(floorManifest(), nil, nil)
	var names []string
	for _, l := range r.Tiles[1].Levels {
		names = append(names, l.Name)
	}
	if got := strings.Join(names, " "); got != "lod1 lod3 hlod" {
		t.Errorf("%s", got)
	}
	if got := levelName("a", "tiles/other.untold", "lod2"); got != "lod2" {
		t.Errorf("%s", got)
	}
	if s := r.Shared; s.Objects != 1 || s.Streaming != nil {
		t.Errorf("a foreign bucket: %+v", s)
	}
	if r.Totals.Levels != 3 || r.Totals.LevelTriangles != 390 || r.Totals.LevelBytes != 11_200 {
		t.Errorf("%+v", r.Totals)
	}
}

func TestWriteJSON(t *testing.T) {
	objects, p := yard(t, false)
	m := manifestOf(p, objects)
	m.SceneBounds = pointer(bounds(0, 0, 0, math.Inf(1), 1, 1))
	r := New(m, p, objects)
	r.Options = []KV{{"--partition", "grid"}}
	r.Notes = []Note{{Code: "a", Count: 2, Message: "<b>", Warning: true}}
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	want := *r
	want.Manifest, want.Failed, want.Tiers, want.Dropped = nil, []manifest.FailedTile{}, []TierCount{}, []DroppedLevel{}
	want.Floors.Slabs, want.Floors.Floors = []SlabLevel{}, []Floor{}
	if d := cmp.Diff(&want, &back); d != "" {
		t.Error(d)
	}
	b.Reset()
	if err := (&Report{}).WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{`"tiles": []`, `"objects": []`, `"notes": []`, `"floors": []`, `"shared_bucket": null`} {
		if !strings.Contains(b.String(), s) {
			t.Errorf("an empty report lacks %s", s)
		}
	}
}
