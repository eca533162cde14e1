package runtime

import (
	"math"
	"slices"
	"testing"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
)

func TestTileInfo(t *testing.T) {
	m := sceneOf(tileAt("a", face(0), radiiAt(30, 60), lodsAt(70, 40), hlodAt(90)), tileAt("b", face(20)))
	m.SharedBucket = &manifest.SharedBucket{Tile: tileAt(manifest.SharedTileID, face(0))}
	r := newRig(t, m)
	id := r.s.Scenes()[0]
	if n := r.s.TileCount(id); n != 3 {
		t.Errorf("%d tiles", n)
	}
	a, ok := r.s.TileInfo(id, 0)
	if !ok || a.ID != "a" || a.Bounds != face(0) || a.Streaming != 30 || a.Prefetch != 45 || a.Unload != 60 ||
		a.HLOD != 90 || !slices.Equal(a.LODs, []float64{40, 70}) || a.Shared {
		t.Errorf("a: %v %+v", ok, a)
	}
	if b, _ := r.s.TileInfo(id, 1); b.Streaming != 50 || b.Unload != 100 || b.HLOD != 0 || len(b.LODs) != 0 {
		t.Errorf("b: %+v", b)
	}
	if s, _ := r.s.TileInfo(id, 2); !s.Shared || !math.IsInf(s.Streaming, 1) {
		t.Errorf("shared: %+v", s)
	}
	for _, bad := range []int32{-1, 3} {
		if _, ok := r.s.TileInfo(id, bad); ok {
			t.Errorf("tile %d is known", bad)
		}
	}
	if b, ok := r.s.SceneBounds(id); !ok || b != box(0, -5, -5, 30, 5, 5) {
		t.Errorf("bounds %v %v", b, ok)
	}
	root := [16]float64{2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 5, 6, 7, 1}
	if err := r.s.SetSceneTransform(id, root); err != nil {
		t.Fatal(err)
	}
	if got, ok := r.s.SceneTransform(id); !ok || got != root {
		t.Errorf("transform %v %v", got, ok)
	}
	_, known := r.s.TileInfo(id+1, 0)
	_, root2 := r.s.SceneTransform(id + 1)
	_, bounds := r.s.SceneBounds(id + 1)
	if known || root2 || bounds || r.s.TileCount(id+1) != 0 || len(r.s.AppendOctreeLeaves(nil, id+1)) != 0 || r.s.Occlusion(id+1).Occluders != 0 {
		t.Error("an unknown scene is known")
	}
}

func TestOctreeLeaves(t *testing.T) {
	var tiles []manifest.Tile
	for i := range 40 {
		tiles = append(tiles, tileAt(string(rune('a'+i%26))+string(rune('a'+i/26)), face(float64(i)*12)))
	}
	r := newRig(t, sceneOf(tiles...))
	leaves := r.s.AppendOctreeLeaves(nil, r.s.Scenes()[0])
	if want := r.s.Stats().OctreeLeaves; len(leaves) != want || want < 2 {
		t.Fatalf("%d leaves, want %d", len(leaves), want)
	}
	for i := range tiles {
		c := tiles[i].Bounds
		if !slices.ContainsFunc(leaves, func(l manifest.Bounds) bool { return l.Box().Contains(c.Box(), 1e-3) }) {
			t.Errorf("tile %d is in no leaf", i)
		}
	}
	if empty := newRig(t, sceneOf()); len(empty.s.AppendOctreeLeaves(nil, empty.s.Scenes()[0])) != 0 {
		t.Error("an empty scene has leaves")
	}
}

func TestOcclusionView(t *testing.T) {
	// A wall across the view, a tile behind it, one beside and one behind the
	// camera.
	wall := tileAt("wall", box(-50, -50, -20, 50, 50, -15), radiiAt(100, 200))
	m := sceneOf(wall,
		tileAt("hidden", box(-2, -2, -40, 2, 2, -36), radiiAt(100, 200), prefetchAt(150)),
		tileAt("behind", box(-2, -2, 36, 2, 2, 40), radiiAt(100, 200)))
	r := newRig(t, m, withConfig(func(c *config.Config) { c.MaxConcurrentTileLoads = 1 }))
	r.lens()
	r.step()
	id := r.s.Scenes()[0]
	if o := r.s.Occlusion(id); o.Covered != 0 || o.Occluders != 0 || len(o.Hidden) != 0 {
		t.Errorf("nothing is loaded: %+v", o)
	}
	before := r.s.Stats()
	r.until(0.5)
	o := r.s.Occlusion(id)
	if o.Covered != math.MaxUint64 || o.Occluders != 1 || !slices.Equal(o.Hidden, []int32{1}) {
		t.Errorf("behind a wall: %+v", o)
	}
	if r.s.Occlusion(id); r.s.Stats().TilesSkippedByHierarchy != before.TilesSkippedByHierarchy {
		t.Error("looking counts")
	}
	r.camera.FovYDegrees = 0
	r.step()
	if o := r.s.Occlusion(id); o.Covered != 0 {
		t.Errorf("without a view: %+v", o)
	}
}
