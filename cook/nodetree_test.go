package cook

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/boxscene"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/partition"
)

// namedTiles are tiles of floors in the given nodes.
func namedTiles(nodes ...string) (all []partition.Tile, numbers []int) {
	for i, n := range nodes {
		all, numbers = append(all, partition.Tile{NodeID: n}), append(numbers, i)
	}
	return all, numbers
}

func TestTreeCells(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes string
		want  string // cells: id, tiles, cells
	}{
		{"one tile", "F01_Q", "hlod_Q [0] []"},
		{"a chain", "F01_Q_3_1", "hlod_Q_3_1 [0] [] hlod_Q_3 [] [0] hlod_Q [] [1]"},
		{"storeys of a quadtree", "F01_Q F01_Q_2 F02_Q F02_Q_2", "hlod_Q_2 [1 3] [] hlod_Q [0 2] [0]"},
		{"storeys of a kd-tree", "F01_K F01_K_1 F12_K_1", "hlod_F01_K_1 [1] [] hlod_F12_K_1 [2] [] hlod_F01_K [0] [0] hlod_F12_K [] [1] hlod_floors [] [2 3]"},
		{"compact names", "F02Q10 F2_Q_1", "hlod_Q_1_0 [0] [] hlod_Q_1 [1] [0] hlod_Q [] [1]"},
		{"two trees", "F01_Q F01_K", "hlod_F01_K [1] [] hlod_Q [0] [] hlod_floors [] [0 1]"},
	} {
		var got []string
		for _, cell := range treeCells(namedTiles(strings.Fields(c.nodes)...)) {
			got = append(got, fmt.Sprint(cell.id, " ", cell.tiles, " ", cell.cells))
		}
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// TestTreeCellsAreATree: every tile and every cell but the last is in one cell, after
// what is in it; no cell has more children than a node may have.
func TestTreeCellsAreATree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.SliceOfN(rapid.StringMatching(`F0[1-3]_[QK](_[0-1]){0,3}|F[0-9]{2,3}_[QK]_1`), 1, 400).Draw(t, "nodes")
		cells := treeCells(namedTiles(nodes...))
		tiles, inner := make([]int, len(nodes)), make([]int, len(cells))
		ids := map[string]bool{}
		for i, c := range cells {
			if n := len(c.tiles) + len(c.cells); n == 0 || n > mostChildren || ids[c.id] {
				t.Fatalf("%s has %d children", c.id, n)
			}
			ids[c.id] = true
			for _, k := range c.tiles {
				tiles[k]++
			}
			for _, k := range c.cells {
				if inner[k]++; k >= i {
					t.Fatalf("cell %d is in %d", k, i)
				}
			}
		}
		once := func(n int) bool { return n != 1 }
		if slices.ContainsFunc(tiles, once) || slices.ContainsFunc(inner[:len(cells)-1], once) || inner[len(cells)-1] != 0 {
			t.Fatalf("tiles %v, cells %v", tiles, inner)
		}
	})
}

// towerBoxes are two facades of so many storeys with a desk in each, and a porch.
func towerBoxes(storeys int) []boxscene.Box {
	shell := map[string]any{"untold_semantic_override": "ExteriorShell"}
	out := []boxscene.Box{
		{Name: "Ground", At: [3]float64{20, -.1, -20}, Scale: [3]float64{60, .2, 60}, Extras: map[string]any{"untold_tile_policy": "force_local"}},
	}
	for i := range storeys {
		y := float64(3*i) + 1.5
		for k, x := range []float64{5, 35} {
			z := -5 - 30*float64(k)
			out = append(out,
				boxscene.Box{Name: "Facade", At: [3]float64{x, y, z}, Scale: [3]float64{8, 3, 8}, Extras: shell},
				boxscene.Box{Name: "Desk", At: [3]float64{x + 1, y, z}, Scale: [3]float64{1, 1, 1}})
		}
	}
	return out
}

// TestPyramidOfFloors: nodes are above the tiles of trees that are seen from outside,
// and above no others, up to one root.
func TestPyramidOfFloors(t *testing.T) {
	scene := runScene(t, "tower.gltf", towerBoxes(3))
	for kind, root := range map[string]string{PartitionQuadtree: "hlod_Q", PartitionKDTree: "hlod_floors"} {
		var first map[string]string
		for _, jobs := range []int{1, 3} {
			o := floorOptions(kind)
			o.WholeLimit, o.Pyramid, o.Jobs, o.nodeTexels, o.lookSide = 0, true, jobs, 64, smallPictures
			o.Floors.FloorCount, o.Floors.MinObjects, o.Floors.Profile = 3, 1, partition.ProfileIndoor
			dir := t.TempDir()
			res, err := Run(t.Context(), scene, dir, o)
			if err != nil {
				t.Fatal(err)
			}
			checkPyramid(t, dir, res)
			nodes := res.Manifest.Pyramid.Nodes
			if top := nodes[len(nodes)-1]; top.ID != root {
				t.Errorf("%s: the root is %s", kind, top.ID)
			}
			inside := 0
			for i := range res.Manifest.Tiles {
				if res.Manifest.Tiles[i].Interior {
					inside++
				}
			}
			if inside == 0 {
				t.Errorf("%s: no tile is wanted only from within", kind)
			}
			files := testfile.ReadTree(t, dir)
			if first == nil {
				first = files
			} else if d := cmp.Diff(first, files); d != "" {
				t.Errorf("%s: the files depend on the number of processors", kind)
			}
		}
	}
}
