package runtime

import (
	"strings"
	"testing"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// overlooked runs a scene of 16 x 16 tiles, of which full ones take 4,000 bytes, HLODs 100
// and nodes 1,000, with a budget until nothing changes. The errors of all nodes ask for
// them to be open.
func overlooked(t *testing.T, budget int64) (r *rig, m *manifest.Manifest) {
	m = pyramidOf(16, 15)
	bytes := func(q payload.Request) int64 {
		switch {
		case q.Key.Rep == payload.RepFull:
			return 4000
		case strings.HasPrefix(q.TileID, "n0"):
			return 100
		}
		return 1000
	}
	full := int64(4000)
	for i := range m.Tiles {
		m.Tiles[i].FileSizeBytes, m.Tiles[i].EstimatedMemoryBytes = full, &full
		m.Tiles[i].HLODLevels[0].FileSizeBytes = 100
	}
	for i := range m.Pyramid.Nodes {
		m.Pyramid.Nodes[i].VisualError += 1
	}
	r = newRig(t, m, withLatency(0.05), withConfig(func(c *config.Config) {
		c.MaxQueryRadius = 3000
		c.MinimumParsedTileResidentSeconds, c.UnloadGracePeriod = 0.5, 0.5
		c.OutOfCorePolicy = config.OutOfCoreImmediate
	}))
	r.loader.Bytes, r.memory = bytes, memory.Memory{GeometryBudget: budget}
	r.camera.Position = [3]float64{10, 2, 10}
	r.until(60)
	return r, m
}

// TestNodesLeaveRoomForDetail: where memory is short, nodes far away give way to what is
// near, and with more memory the picture becomes no coarser anywhere.
func TestNodesLeaveRoomForDetail(t *testing.T) {
	last := map[string]int{}
	for _, budget := range []int64{30_000, 45_000, 60_000, 90_000, 150_000, 400_000} {
		r, m := overlooked(t, budget)
		st := r.s.Stats()
		if st.GeometryUsed > budget || st.Undrawn > 0 {
			t.Errorf("%d bytes: %d in use, %d undrawn", budget, st.GeometryUsed, st.Undrawn)
		}
		places, err := r.covering(m)
		if err != nil {
			t.Errorf("%d bytes: %v", budget, err)
			continue
		}
		if d := places["n0_0_0"]; d[0].Rep != payload.RepFull {
			t.Errorf("%d bytes: the tile around the camera is drawn by %v of %s", budget, d[0].Rep, r.s.scenes[0].tiles.id[d[0].Tile])
		}
		finest := map[string]int{}
		for id, d := range places {
			name := r.s.scenes[0].tiles.id[d[0].Tile]
			finest[id] = -int(name[1] - '0') // level of the node
			if d[0].Rep == payload.RepFull {
				finest[id] = 1
			}
			if finest[id] < last[id] && len(last) > 0 {
				t.Errorf("%d bytes: %s is drawn by %s %v, with less memory by %d", budget, id, name, d[0].Rep, last[id])
			}
		}
		last = finest
	}
	for id, level := range last { // tiles from 25 to 60 m show nothing
		if level < -1 {
			t.Errorf("with plenty of memory %s is drawn by a node of level %d", id, -level)
		}
	}
}
