package runtime

import (
	"slices"
	"testing"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
)

// withLoneRoot adds a tile with a root of its own, the first node, and one that no node
// stands for.
func withLoneRoot(m *manifest.Manifest) *manifest.Manifest {
	lone, free := box(180, 0, 80, 190, 5, 90), box(180, 0, 100, 190, 5, 110)
	m.Tiles = append(m.Tiles, tileAt("lone", lone, radiiAt(300, 310), hlodAt(60)), tileAt("free", free, radiiAt(300, 310), hlodAt(60)))
	m.Pyramid.Nodes = slices.Insert(m.Pyramid.Nodes, 0, manifest.PyramidNode{
		ID: "root", Level: 1, Path: "tiles/root.untold", FileSizeBytes: 1000, Children: []string{"lone"},
		Bounds: lone, VisualError: 100, GeometricError: 1,
	})
	return m
}

// firstLoads returns in which step each file is asked for first.
func firstLoads(r *rig, steps int) map[string]int {
	first := map[string]int{}
	for k := range steps {
		r.step()
		for _, e := range r.last {
			if e.Kind == event.HLODLoad || e.Kind == event.LODLoad || e.Kind == event.TileDispatch {
				if _, ok := first[e.Tile]; !ok {
					first[e.Tile] = k
				}
			}
		}
	}
	return first
}

// TestRootsComeFirst: roots come before all other nodes, wherever they stand among them and
// whichever scene they are of.
func TestRootsComeFirst(t *testing.T) {
	few := withConfig(func(c *config.Config) { c.MaxQueryRadius, c.MaxConcurrentHLODLoads = 1e6, 2 })
	t.Run("one scene", func(t *testing.T) {
		r := inTheMiddle(t, withLoneRoot(pyramidOf(8, 60)), few)
		first := firstLoads(r, 100)
		if first["n3_0_0"] != 0 || first["root"] != 0 {
			t.Errorf("the roots are asked for in steps %d and %d", first["n3_0_0"], first["root"])
		}
	})
	t.Run("two scenes", func(t *testing.T) {
		r := inTheMiddle(t, pyramidOf(8, 60), few)
		small := sceneOf(tileAt("a", box(120, 0, 80, 130, 5, 90), radiiAt(300, 310)))
		small.Pyramid = &manifest.Pyramid{Nodes: []manifest.PyramidNode{{
			ID: "small", Level: 1, Path: "tiles/small.untold", FileSizeBytes: 1000, Children: []string{"a"},
			Bounds: small.Tiles[0].Bounds, VisualError: 100, GeometricError: 1,
		}}}
		if _, err := r.s.AddScene(Source{Manifest: small, Path: "small/small.json"}); err != nil {
			t.Fatal(err)
		}
		first := firstLoads(r, 100)
		if first["n3_0_0"] != 0 || first["small"] != 0 {
			t.Errorf("the roots are asked for in steps %d and %d", first["n3_0_0"], first["small"])
		}
	})
}

// TestDraftWaitsForItsRoot: as a draft begins, a tile waits for the root above it alone, and
// not for long: one that does not come leaves the tiles to their outlines.
func TestDraftWaitsForItsRoot(t *testing.T) {
	for _, hung := range []string{"root", "n3_0_0"} {
		t.Run(hung, func(t *testing.T) {
			r := inTheMiddle(t, withLoneRoot(pyramidOf(8, 60)), withLatency(0.1), withFault(func(q payload.Request) string {
				if q.TileID == hung {
					return "hang"
				}
				return ""
			}))
			first := firstLoads(r, 100)
			at := func(tile string) int {
				k, ok := first[tile]
				if !ok {
					return 1000
				}
				return k
			}
			if k := at("free"); k > 10 {
				t.Errorf("the tile without a node above it is asked for in step %d", k)
			}
			waits, comes := "lone", "n0_4_4"
			if hung != "root" {
				waits, comes = comes, waits
			}
			if k := at(comes); k > 10 {
				t.Errorf("%s, whose root has come, is asked for in step %d", comes, k)
			}
			if k, limit := at(waits), int(rootTime/r.dt); k < limit || k > limit+10 {
				t.Errorf("%s, whose root does not come, is asked for in step %d", waits, k)
			}
			if r.record(waits).drawn == payload.RepNone {
				t.Errorf("%s is not drawn", waits)
			}
		})
	}
}
