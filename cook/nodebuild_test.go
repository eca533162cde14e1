package cook

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook/internal/pyramid"
	"github.com/untoldkit/untold/partition"
)

// TestNodeBuilderOrder: tiles below one node follow one another, what has no node above
// it comes first, and nothing that lies below a node is kept once that is there.
func TestNodeBuilderOrder(t *testing.T) {
	c := &scenePlan{planned: &partition.Plan{}, opts: &Options{Jobs: 1}}
	const side = 6
	payloads := make([]payload, side*side+1) // the last is the shared bucket
	for z := range side {
		for x := range side {
			c.planned.Tiles = append(c.planned.Tiles, partition.Tile{Coord: [3]int{x, 0, z}})
			payloads[len(c.planned.Tiles)-1].above = true
		}
	}
	y, err := c.newNodeBuilder(nil, payloads)
	if err != nil {
		t.Fatal(err)
	}
	order := y.order(len(payloads))
	if d := cmp.Diff([]int{side * side, 0, 1, side, side + 1}, order[:5]); d != "" {
		t.Error(d)
	}
	seen, most := map[int]bool{}, 0
	for _, i := range order {
		if seen[i] {
			t.Errorf("payload %d comes twice", i)
		}
		seen[i] = true
		// Without geometry nodes are not made, but all the same counted.
		if err := y.put(t.Context(), i, nil); err != nil {
			t.Fatal(err)
		}
		open := 0
		for k := range y.cells {
			if n := len(y.cells[k].tiles); n > 0 && y.waits[k] > 0 && y.waits[k] < n {
				open++
			}
		}
		most = max(most, open)
	}
	if len(seen) != len(payloads) || most > 1 || len(y.all()) != 0 {
		t.Errorf("%d of %d payloads, %d cells open at a time, %d nodes", len(seen), len(payloads), most, len(y.all()))
	}
	for k := range y.cells {
		if y.waits[k] != 0 {
			t.Errorf("%s waits for %d more", y.cells[k].id, y.waits[k])
		}
	}
	if err := (*nodeBuilder)(nil).put(t.Context(), 0, []pyramid.Part{{}}); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff([]int{0, 1}, (*nodeBuilder)(nil).order(2)); d != "" {
		t.Error(d)
	}
}
