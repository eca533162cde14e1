package measure

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/untoldkit/untold/internal/geom"
)

// Report tells how far two surfaces lie apart.
type Report struct {
	RMS    float64 // root mean square distance over the samples of both surfaces, in units of the model
	Max    float64 // largest distance of a sample or vertex
	Normal float64 // mean angle between the shading normals in degrees; NaN if a surface has no normals

	// The same seen from one surface only: [0] from the first, [1] from the
	// second.
	OneWay [2]Way
}

// Way holds the figures of one direction.
type Way struct {
	RMS, Max, Normal float64
}

// chunk is the number of queries that share a hint. It is fixed, so that
// results do not depend on the number of workers.
const chunk = 2048

// Compare measures the distance between two surfaces with the given number of
// samples on each (at least 1). If one of them has no area the distances are
// infinite, unless neither has.
func Compare(a, b *Index, samples int) Report {
	if a.Area() == 0 && b.Area() == 0 {
		return Report{}
	}
	if a.Area() == 0 || b.Area() == 0 {
		inf := math.Inf(1)
		return Report{RMS: inf, Max: inf, Normal: math.NaN(), OneWay: [2]Way{{inf, inf, math.NaN()}, {inf, inf, math.NaN()}}}
	}
	var r Report
	var weights [2]float64
	for k, pair := range [2][2]*Index{{a, b}, {b, a}} {
		r.OneWay[k], weights[k] = compare(pair[0], pair[1], samples)
	}
	r.RMS = math.Sqrt((float64(r.OneWay[0].RMS*r.OneWay[0].RMS) + float64(r.OneWay[1].RMS*r.OneWay[1].RMS)) / 2)
	r.Max = max(r.OneWay[0].Max, r.OneWay[1].Max)
	r.Normal = math.NaN()
	if n := weights[0] + weights[1]; n > 0 {
		sum := 0.0
		for k, w := range r.OneWay {
			if weights[k] > 0 {
				sum += float64(w.Normal * weights[k])
			}
		}
		r.Normal = sum / n
	}
	return r
}

// partial is what one chunk of samples adds.
type partial struct {
	sum2, max2  float64
	angle, seen float64
}

// compare measures from a to b; seen is the number of samples whose normals
// could be compared.
func compare(a, b *Index, samples int) (w Way, seen float64) {
	list := a.samples(max(samples, 1))
	parts := make([]partial, (len(list)+chunk-1)/chunk)
	shading := a.s.Normals != nil && b.s.Normals != nil
	each(len(parts), func(c int) {
		p := &parts[c]
		hint := int32(-1)
		for _, s := range list[c*chunk : min((c+1)*chunk, len(list))] {
			h := b.nearest(a.point(s), hint, 0)
			hint = h.leaf
			p.sum2 += h.d2
			p.max2 = max(p.max2, h.d2)
			if !shading {
				continue
			}
			na, nb := a.s.normal(s.tri, s.w), b.s.normal(b.order[h.leaf], h.w)
			if na != (geom.Vec3{}) && nb != (geom.Vec3{}) {
				p.angle += angle(na, nb)
				p.seen++
			}
		}
	})
	var all partial
	for _, p := range parts {
		all.sum2 += p.sum2
		all.max2 = max(all.max2, p.max2)
		all.angle += p.angle
		all.seen += p.seen
	}
	w = Way{RMS: math.Sqrt(all.sum2 / float64(len(list))), Max: math.Sqrt(vertexMax(a, b, all.max2)), Normal: math.NaN()}
	if all.seen > 0 {
		w.Normal = all.angle / all.seen
	}
	return w, all.seen
}

// vertexMax returns the largest squared distance of a's vertices to b, or
// known if that is more.
func vertexMax(a, b *Index, known float64) float64 {
	var most atomic.Uint64 // of non-negative numbers the bits are in order
	most.Store(math.Float64bits(known))
	n := len(a.s.Indices)
	done := make([]atomic.Bool, len(a.s.Positions))
	each((n+chunk-1)/chunk, func(c int) {
		hint := int32(-1)
		for _, v := range a.s.Indices[c*chunk : min((c+1)*chunk, n)] {
			if done[v].Swap(true) {
				continue
			}
			// Only a vertex beyond the largest distance so far matters.
			h := b.nearest(a.s.Positions[v], hint, math.Float64frombits(most.Load()))
			hint = h.leaf
			for bits := math.Float64bits(h.d2); ; {
				old := most.Load()
				if bits <= old || most.CompareAndSwap(old, bits) {
					break
				}
			}
		}
	})
	return math.Float64frombits(most.Load())
}

// each calls f for 0 to n-1 on all processors.
func each(n int, f func(int)) {
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := int(next.Add(1) - 1); i < n; i = int(next.Add(1) - 1) {
				f(i)
			}
		}()
	}
	wg.Wait()
}

// sample is a point of a surface.
type sample struct {
	tri uint32
	w   [3]float64
}

func (x *Index) point(s sample) geom.Vec3 { return x.s.point(s) }

func (s *Surface) point(at sample) geom.Vec3 {
	a, b, c := s.corner(at.tri, 0), s.corner(at.tri, 1), s.corner(at.tri, 2)
	var p geom.Vec3
	for k := range p {
		p[k] = a[k] + float64(at.w[1]*(b[k]-a[k])) + float64(at.w[2]*(c[k]-a[k]))
	}
	return p
}

// samples spreads n points over the surface, which has an area.
func (x *Index) samples(n int) []sample { return samplesOf(x.sums(), n) }

// samplesOf spreads n points over triangles by running sums of their areas, which are not all
// 0: the k-th lies in the k-th of n parts of equal area, in the order of the triangles.
func samplesOf(sums []float64, n int) []sample {
	list := make([]sample, n)
	total, t := last(sums), 0
	for k := range list {
		at := (float64(k) + unit(k, 0)) / float64(n) * total
		for t < len(sums)-1 && sums[t] <= at {
			t++
		}
		// Square root warp to barycentric coordinates (Osada et al., Shape
		// distributions, 2002).
		r, v := math.Sqrt(unit(k, 1)), unit(k, 2)
		list[k] = sample{uint32(t), [3]float64{1 - r, r * (1 - v), r * v}}
	}
	return list
}

// unit returns a number of [0, 1) that depends on k and the stream alone, by
// SplitMix64 (Steele et al., Fast splittable pseudorandom number generators,
// 2014).
func unit(k, stream int) float64 {
	z := (uint64(k)*3 + uint64(stream) + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return float64(float64(z>>11) / (1 << 53))
}
