package runtime

import (
	"strings"
	"testing"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// TestBudgetBelowBrokenNodes: tiles below nodes that cannot be loaded share the geometry
// budget as tiles without a pyramid do, although no error asks for the nodes to be open.
func TestBudgetBelowBrokenNodes(t *testing.T) {
	for _, pyramid := range []bool{false, true} {
		m := pyramidOf(16, 400)
		full := int64(4000)
		for i := range m.Tiles {
			m.Tiles[i].FileSizeBytes, m.Tiles[i].EstimatedMemoryBytes = full, &full
			m.Tiles[i].HLODLevels[0].FileSizeBytes, m.Tiles[i].HLODLevels[0].SwitchDistance = 100, 150
		}
		for i := range m.Pyramid.Nodes {
			m.Pyramid.Nodes[i].VisualError = 0.001
		}
		if !pyramid {
			m.Pyramid = nil
		}
		r := newRig(t, m, withLatency(0.05), withConfig(func(c *config.Config) {
			c.MaxQueryRadius = 3000
			c.MinimumParsedTileResidentSeconds, c.UnloadGracePeriod = 0.5, 0.5
			c.OutOfCorePolicy = config.OutOfCoreImmediate
		}))
		r.loader.Bytes = func(q payload.Request) int64 {
			if q.Key.Rep == payload.RepFull {
				return 4000
			}
			return 100
		}
		r.loader.Fault = func(q payload.Request) string {
			if !strings.HasPrefix(q.TileID, "n0") {
				return "fail"
			}
			return ""
		}
		r.memory = memory.Memory{GeometryBudget: 60_000}
		r.camera.Position = [3]float64{160, 30, -20}
		r.until(60)
		began := len(r.loader.Started)
		r.until(90)
		st := r.s.Stats()
		again := 0
		for _, q := range r.loader.Started[began:] {
			if strings.HasPrefix(q.TileID, "n0") {
				again++
			}
		}
		drawn := len(r.s.AppendDrawn(nil))
		if drawn != len(m.Tiles) || st.GeometryUsed > 60_000 || again > 0 {
			t.Errorf("pyramid %v: %d of %d tiles drawn, %d bytes in use, %d loads while the camera stands", pyramid, drawn, len(m.Tiles), st.GeometryUsed, again)
		}
	}
}
