package runtime

import (
	"fmt"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// refusing is a city of n*n tiles that memory refuses: others use the geometry
// budget up to a little below the high-water mark, and no tile fits into the
// rest. All but one, which comes in any case, are candidates in every tick.
func refusing(t testing.TB, n int, mode config.Handoff) *rig {
	m := cityOf(n, 12.5)
	m.StreamingDefaults.StreamingRadius, m.StreamingDefaults.UnloadRadius = 200, 300
	r := newRig(t, m, withBytes(200_000), withConfig(func(c *config.Config) { c.Handoff = mode }))
	r.until(5) // what tiles take is known now
	r.s.UnloadAll()
	r.memory = memory.Memory{GeometryBudget: 1_000_000, GeometryUsed: 840_000}
	r.loader.Bytes = func(payload.Request) int64 { return 1 }
	r.until(20)
	return r
}

// BenchmarkRefusedTick is a tick in which memory refuses everything, of scenes
// that differ in the number of tiles within reach: under the strict hand-off, where
// all of them are candidates, the time for each should grow by little.
func BenchmarkRefusedTick(b *testing.B) {
	for _, mode := range []config.Handoff{config.HandoffCovered, config.HandoffStrict} {
		for _, n := range []int{10, 20, 40, 80} {
			b.Run(fmt.Sprint(mode, "/", n*n), func(b *testing.B) {
				r := refusing(b, n, mode)
				b.ReportAllocs()
				for b.Loop() {
					r.camera.Position[0] += 0.001
					r.s.Update(r.camera, r.dt)
					r.clock.Time += 100 * time.Millisecond
				}
				n := float64(max(1, r.s.Stats().LoadCandidates))
				b.ReportMetric(float64(len(r.s.scenes[0].records)), "records")
				b.ReportMetric(n, "candidates")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/candidate")
			})
		}
	}
}
