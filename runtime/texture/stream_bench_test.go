package texture

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// city returns a Streamer with n entities on a square of 10 m cells, three
// textures each of which every tenth is shared, all visible.
func city(b *testing.B, n int, change ...func(*StreamOptions, *rig)) *rig {
	r := newStreamRig(b, append(change, func(o *StreamOptions, _ *rig) {
		o.Params, _ = AlignToManifest(80, 120)
		o.Trace = nil
	})...)
	edge := int(math.Ceil(math.Sqrt(float64(n))))
	for i := range n {
		x, z := float64(i%edge)*10, float64(i/edge)*10
		p := Part{Min: [3]float64{x, 0, z}, Max: [3]float64{x + 8, 12, z + 8}}
		for k := range 3 {
			p.Slots = append(p.Slots, Slot{URI: fmt.Sprint("t", i/10, "_", k), Use: texfile.Use(k)})
		}
		r.view.Visible = append(r.view.Visible, r.add(p))
	}
	r.view.Camera = [3]float64{float64(edge) * 5, 2, float64(edge) * 5}
	r.rest(b)
	return r
}

// distances is the baseline: what it takes to measure every entity, and nothing
// else.
func distances(r *rig) (sum float64) {
	for i := range r.s.entities.list {
		sum += r.s.entities.list[i].distanceTo(&r.s.camera)
	}
	return sum
}

// BenchmarkUpdate measures single calls of Update. Every call ticks. x-base is
// the median over that of the distances alone, in the same run.
func BenchmarkUpdate(b *testing.B) {
	for _, c := range []struct {
		name   string
		n      int
		budget int64
		speed  float64 // m/s
	}{
		{"3000_still", 3000, 0, 0},
		{"3000_short_of_memory", 3000, 400 << 20, 0},
		{"3000_flying", 3000, 0, 20},
		{"30000_still", 30000, 0, 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := city(b, c.n, withBudget(c.budget), withTrim)
			took := make([]time.Duration, 0, b.N)
			var base []time.Duration
			v := r.view
			v.Force = true
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				v.Now += 100 * time.Millisecond
				v.Camera[0] = r.view.Camera[0] + 100*math.Sin(float64(i)*c.speed/1000)
				start := time.Now()
				r.s.Update(v)
				took = append(took, time.Since(start))
				r.loader.answerAll()
				r.loader.started = r.loader.started[:0]
			}
			b.StopTimer()
			for range 100 {
				start := time.Now()
				runtime.KeepAlive(distances(r))
				base = append(base, time.Since(start))
			}
			slices.Sort(took)
			slices.Sort(base)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1000, "p50-us")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1000, "p99-us")
			b.ReportMetric(float64(took[len(took)-1].Nanoseconds())/1000, "max-us")
			b.ReportMetric(float64(took[len(took)/2])/float64(base[len(base)/2]), "x-base")
		})
	}
}
