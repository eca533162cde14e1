package runtime

import (
	"testing"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/payload"
)

// low is a Packer whose estimates are too low, as they are of vertices with colours.
type low struct{}

func (low) Estimate(bytes int64) int64 { return bytes / 8 * 5 }

func (low) Packed(_ payload.Key, bytes int64) int64 { return bytes }

// TestLowEstimatesOfMeshes: what meshes have taken tells what they will take. Once the
// camera stands still they come to rest, as they do where estimates are right.
func TestLowEstimatesOfMeshes(t *testing.T) {
	for _, from := range []float64{100, 40} {
		for _, bytes := range []int64{20, 50, 80, 100, 130, 160, 200, 240, 300} {
			var d []float64
			for i := range 60 {
				d = append(d, from+float64(i)/10)
			}
			nodes := fake.NodesAt(bytes, d...)
			r := newRig(t, sceneOf(tileOf("a", nodes, radiiAt(300, 400))), withNodes(map[string][]fake.Node{"a": nodes}), withPolicy(config.OutOfCoreAlways),
				func(_ *config.Config, d *Deps, _ *rig) { d.Packer = low{} })
			r.memory.GeometryBudget = 1000
			r.until(30)
			before := r.s.Stats()
			r.until(60)
			st := r.s.Stats()
			if st.MeshEvictions != before.MeshEvictions || st.MeshLoads != before.MeshLoads || st.PeakGeometryBytes > 1000 {
				t.Errorf("%d bytes each, from %v m: %d evictions and %d loads while nothing changes, up to %d bytes", bytes, from,
					st.MeshEvictions-before.MeshEvictions, st.MeshLoads-before.MeshLoads, st.PeakGeometryBytes)
			}
		}
	}
}
