package texture

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// horizon returns a Streamer with what is resident of a city of 3 km on a flight over its
// roofs: 30 tiles round the camera with their meshes, 220 more as levels, of which each has a
// mesh for each of its materials, and the nodes of a pyramid with textures of their own. It
// comes to rest; a third of it is in view.
func horizon(b *testing.B, budget int64) *rig {
	scales := Scales{}
	for i := range 160 {
		scales[fmt.Sprint("kit", i)] = []float64{0.5, 0.2, 0.05, 0.02}[i%4]
	}
	for i := range 120 * 3 {
		scales[fmt.Sprint("node", i)] = 1 / float64(int(200)<<(i%3))
	}
	r := newStreamRig(b, withBudget(budget), withTrim, func(o *StreamOptions, _ *rig) {
		o.Params, _ = AlignToManifest(120, 180)
		o.Params.Interval = 0.2
		o.Trace, o.Scales, o.NearestFirst, o.FirstEdge = nil, scales, true, NetworkEdge
	})
	// Of every tile so many parts, with three textures each.
	parts := func(x, z, size float64, n, first, kinds int, name string, fixed bool) {
		for i := range n {
			px, pz := x+size*float64(i%8)/8, z+size*float64(i/8%8)/8
			p := Part{Min: [3]float64{px, 0, pz}, Max: [3]float64{px + size/8, 12, pz + size/8}, Fixed: fixed, Burst: true}
			for k := range 3 {
				p.Slots = append(p.Slots, Slot{URI: fmt.Sprint(name, (first+i*3+k)%kinds), Use: texfile.Use(k)})
			}
			e := r.add(p)
			if pz > 1500 && math.Abs(px-1500) < pz-1500 {
				r.view.Visible = append(r.view.Visible, e)
			}
		}
	}
	for i := range 1024 {
		x, z := float64(i%32), float64(i/32)
		switch d := math.Hypot(x-16, z-16); {
		case d < 3.2:
			parts(x*94, z*94, 94, 90, i, 160, "kit", false)
		case d < 9:
			parts(x*94, z*94, 94, 8, i, 160, "kit", true)
		}
	}
	for i := range 120 {
		parts(float64(i%11)*272, float64(i/11)*272, 272, 1, i*3, 360, "node", true)
	}
	r.view.Camera = [3]float64{1500, 30, 1500}
	r.rest(b)
	return r
}

// rest answers loads until nothing is left to do.
func (r *rig) rest(b *testing.B) {
	for range 3000 {
		v := r.view
		v.Force = true
		r.s.Update(v)
		r.loader.answerAll()
		if r.s.Idle() {
			r.loader.started = nil
			return
		}
		r.view.Now += 100 * time.Millisecond
	}
	b.Fatalf("no rest: %+v", r.s.Stats())
}

// BenchmarkWorstUpdate measures the longest of the Updates of a flight at 60 frames a second,
// of which one in twelve judges sizes: the frame that a viewer sees being late. x-base is the
// longest of a second over what it takes to measure every entity once, in the same run.
func BenchmarkWorstUpdate(b *testing.B) {
	for _, c := range []struct {
		name   string
		budget int64
		speed  float64 // m/s
	}{
		{"over_roofs", 0, 20},
		{"fast", 0, 60},
		{"short_of_memory", 150 << 20, 20},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := horizon(b, c.budget)
			const second = 60
			var worst, took, base []time.Duration
			v := r.view
			v.Visible = nil
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				took = took[:0]
				for k := range second {
					v.Now += time.Second / second
					v.Camera[0] = r.view.Camera[0] + 60*math.Sin(float64(i*second+k)*c.speed/second/60)
					v.Visible = nil
					if r.s.Due(v.Now) {
						v.Visible = r.view.Visible
					}
					start := time.Now()
					r.s.Update(v)
					took = append(took, time.Since(start))
					if k%3 == 0 {
						r.loader.answerAll()
						r.loader.started = r.loader.started[:0]
					}
				}
				worst = append(worst, slices.Max(took))
			}
			b.StopTimer()
			for range 100 {
				start := time.Now()
				distances(r)
				base = append(base, time.Since(start))
			}
			slices.Sort(worst)
			slices.Sort(base)
			micro := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
			b.ReportMetric(micro(worst[len(worst)/2]), "worst-us")
			b.ReportMetric(micro(worst[len(worst)-1]), "max-us")
			b.ReportMetric(float64(worst[len(worst)/2])/float64(base[len(base)/2]), "x-base")
			st := r.s.Stats()
			b.ReportMetric(float64(st.Entities), "entities")
			b.ReportMetric(float64(st.Tracked), "tracked")
		})
	}
}
