package partition

import (
	"fmt"
	"math"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/geom"
)

// flat is a box on the ground; v counts along -Z.
func flat(u0, v0, u1, v1 float64) geom.Box { return box(u0, 0, -v1, u1, 1, -v0) }

// alone never collapses, and all objects are of one tier.
var alone = FloorOptions{MinObjects: 1, FloorCount: 1, UntaggedTier: StructuralInterior}

func nodesOf(p *Plan) map[int]string {
	out := map[int]string{}
	for _, t := range p.Tiles {
		for _, o := range t.Objects {
			out[o] = t.NodeID
		}
	}
	return out
}

func TestQuadtreeNodes(t *testing.T) {
	// The first two make the footprint 0 to 64 in both directions.
	objects := of(flat(0, 0, 1, 1), flat(63, 63, 64, 64),
		flat(40, 3, 41, 4), flat(3, 40, 4, 41), // high u; high v
		flat(31, 3, 33, 4),    // crosses the first midline
		flat(31, 3, 32, 4),    // touches it from below
		flat(32, 3, 33, 4),    // and from above
		flat(32, 32, 32, 32),  // a point on both
		flat(16, 8, 16, 16),   // a line on a deeper one
		flat(15, 15, 17, 17),  // spans node 0
		flat(.2, .2, .8, .8),  // as deep as it gets
		flat(0, 0, 0.5, 63.9)) // spans along v only
	want := map[int]string{
		0: "F01_Q_0_0_0_0_0_0", 1: "F01_Q_3_3_3_3_3_3", 2: "F01_Q_1_0_1_0_2_2", 3: "F01_Q_2_0_2_0_1_1",
		4: "F01_Q", 5: "F01_Q_0_1_1_1_3_3", 6: "F01_Q_1_0_0_0_2_2", 7: "F01_Q_3_0_0_0_0_0", 8: "F01_Q_0_1_2",
		9: "F01_Q_0", 10: "F01_Q_0_0_0_0_0_0", 11: "F01_Q",
	}
	got := nodesOf(mustFloors(t, Quadtree, objects, alone))
	if d := gocmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	compat := alone
	compat.Compat = true
	got = nodesOf(mustFloors(t, Quadtree, objects, compat))
	for i, node := range map[int]string{5: "F01_Q", 6: "F01_Q", 7: "F01_Q", 4: "F01_Q", 10: "F01_Q_0_0_0_0_0_0"} {
		if got[i] != node {
			t.Errorf("compat: object %d is in %s, want %s", i, got[i], node)
		}
	}
}

func TestQuadtreeCells(t *testing.T) {
	p := mustFloors(t, Quadtree, of(flat(0, 0, 64, .5), flat(0, 63, 1, 64), flat(40, 3, 41, 4)), alone)
	if len(p.Tiles) != 3 || nodesOf(p)[2] != "F01_Q_1_0_1_0_2_2" {
		t.Error(nodesOf(p))
	}
	for _, tile := range p.Tiles {
		if tile.NodeID == "F01_Q_1_0_1_0_2_2" && tile.Cell != box(40, 0, -4, 41, 1, -3) {
			t.Error(tile.Cell)
		}
		if tile.NodeID == "F01_Q" && (tile.Cell != box(0, 0, -64, 64, 1, 0) || math.Signbit(tile.Cell.Max[2])) {
			t.Error(tile.Cell)
		}
	}
}

func TestShellThatSpansItsFloorIsShared(t *testing.T) {
	objects := of(flat(0, 0, 64, 64), flat(0, 0, 64, 64), flat(0, 0, 64, 64), flat(1, 1, 2, 2), flat(2, 2, 3, 3))
	for i, n := range []string{"Facade", "Facade", "Wall", "Roof", "Roof"} {
		objects[i].Name = n
	}
	objects[1].Policy, objects[4].Policy = PolicyForceLocal, PolicyForceShared
	for name, run := range planners {
		p := mustFloors(t, run, objects, FloorOptions{MinObjects: 1, FloorCount: 1})
		if !slices.Equal(p.Shared, []int{0, 4}) && name == "quadtree" || !slices.Contains(p.Shared, 4) {
			t.Errorf("%s: bucket %v", name, p.Shared)
		}
		if got := p.Objects[4].Reasons.Strings(); !slices.Equal(got, []string{"force_shared"}) {
			t.Error(got)
		}
	}
	p := mustFloors(t, Quadtree, objects, FloorOptions{MinObjects: 1, FloorCount: 1})
	got := p.Objects[0].Reasons.Strings()
	got = append(got, p.Objects[1].Reasons.Strings()...)
	if !slices.Equal(got, []string{"spans_floor", "force_local", "spans_floor"}) {
		t.Error(got)
	}
}

func TestCollapseMovesWholeGroups(t *testing.T) {
	// Three in one corner, two beside it, one far off; at least three wanted.
	objects := of(flat(0, 0, 1, 1), flat(.1, .1, .9, .9), flat(.2, .2, .8, .8), flat(9, 9, 9.5, 9.5), flat(9.6, 9.6, 9.9, 9.9), flat(63, 63, 64, 64))
	opts := alone
	opts.MinObjects = 3
	got := nodesOf(mustFloors(t, Quadtree, objects, opts))
	want := map[int]string{0: "F01_Q_0_0_0_0_0_0", 1: "F01_Q_0_0_0_0_0_0", 2: "F01_Q_0_0_0_0_0_0", 3: "F01_Q", 4: "F01_Q", 5: "F01_Q"}
	if d := gocmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	// Only groups of roots may be small, and no group keeps a part of itself.
	for n := range 7 {
		opts.MinObjects = n + 1
		for _, run := range planners {
			for _, tile := range mustFloors(t, run, million(500), opts).Tiles {
				if len(tile.Objects) <= n && len(tile.NodeID) > len("F01_Q") {
					t.Errorf("least %d: %s has %d objects", n+1, tile.ID, len(tile.Objects))
				}
			}
		}
	}
}

func TestKDTreeTriesTheOtherAxis(t *testing.T) {
	var boxes []geom.Box
	for i := range 8 { // all at the same u; the footprint is longest along u
		boxes = append(boxes, flat(0, float64(i), 100, float64(i)+.5))
	}
	tiles := func(opts FloorOptions) int { return len(mustFloors(t, KDTree, of(boxes...), opts).Tiles) }
	compat := alone
	compat.Compat = true
	if ours, theirs := tiles(alone), tiles(compat); ours != 2 || theirs != 1 {
		t.Errorf("%d tiles, compat %d", ours, theirs)
	}
}

func TestKDTreeBalances(t *testing.T) {
	var boxes []geom.Box
	for i := range 16 {
		boxes = append(boxes, flat(float64(i), 0, float64(i)+.5, .5))
	}
	objects := of(boxes...)
	for i := range objects {
		objects[i].Triangles = 10
	}
	objects[0].Triangles, objects[1].Triangles = 1000, 1000
	heaviest := func(balance Balance) (n int) {
		opts := alone
		opts.Balance = balance
		for _, tile := range mustFloors(t, KDTree, objects, opts).Tiles {
			if tile.NodeID[:7] == "F01_K_0" {
				n += len(tile.Objects)
			}
		}
		return n
	}
	if a, b := heaviest(BalanceTriangles), heaviest(BalanceObjects); a > 2 || b != 8 {
		t.Errorf("the low side has %d objects by triangles, %d by objects", a, b)
	}
}

// Cuts lie between objects where they can, so rows of objects are not torn to
// the inner nodes.
func TestKDTreeCutsBetweenObjects(t *testing.T) {
	for _, tile := range mustFloors(t, KDTree, of(func() (b []geom.Box) {
		for i := range 64 {
			b = append(b, flat(float64(i%8), float64(i/8), float64(i%8)+.9, float64(i/8)+.9))
		}
		return b
	}()...), alone).Tiles {
		if tile.Spanning || len(tile.Objects) != 4 {
			t.Errorf("%s: %d objects, spanning %v", tile.ID, len(tile.Objects), tile.Spanning)
		}
	}
}

func ExampleQuadtree() {
	objects := []Object{
		{ID: 0, Name: "Facade", Box: geom.Box{Max: geom.Vec3{20, 6, 20}}},
		{ID: 1, Name: "Slab", Box: geom.Box{Min: geom.Vec3{0, -0.2, 0}, Max: geom.Vec3{20, 0, 20}}},
		{ID: 2, Name: "OfficeChair", Box: geom.Box{Min: geom.Vec3{4, 0, 4}, Max: geom.Vec3{5, 1, 5}}},
	}
	p, err := Quadtree(objects, FloorOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range p.Tiles {
		fmt.Println(t.ID, t.Tier, "floor", t.Floor, "interior", t.Interior)
	}
	fmt.Println("shared", p.Shared)
	// Output:
	// F01_Q_RC RoomContents floor 0 interior true
	// F01_Q_SI StructuralInterior floor 0 interior true
	// shared [0]
}
