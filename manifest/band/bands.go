// Package band fits the distances at which tiles switch between their full
// geometry, LODs and HLOD: [Fit] for configured distances, [Clean] for written
// ones, [Normalize] as the reference engine does on load. All distances are
// metres from a tile's bounds.
package band

import (
	"fmt"
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// Gap is the distance in metres that the engine keeps between neighbouring
// switches of one tile.
const Gap = 4.0

// Bands holds the distances at which a tile changes its representation, in
// metres from its bounds: full geometry up to Streaming, then LODs, then the
// HLOD; the full geometry goes beyond Unload.
type Bands struct {
	Streaming float64
	Unload    float64
	Prefetch  float64   // 0: automatic
	HLOD      float64   // first HLOD switch, 0: no HLOD
	LODs      []float64 // switches of the LODs, ascending
}

// Equal reports whether all distances are the same.
func (b Bands) Equal(o Bands) bool {
	return b.Streaming == o.Streaming && b.Unload == o.Unload && b.Prefetch == o.Prefetch &&
		b.HLOD == o.HLOD && slices.Equal(b.LODs, o.LODs)
}

// Near reports whether both have the same representations and all distances
// are equal to within a millimetre, which no camera can tell.
func (b Bands) Near(o Bands) bool {
	near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-3 }
	return near(b.Streaming, o.Streaming) && near(b.Unload, o.Unload) && near(b.Prefetch, o.Prefetch) &&
		near(b.HLOD, o.HLOD) && slices.EqualFunc(b.LODs, o.LODs, near)
}

// String lists the distances, rounded to a tenth of a millimetre.
func (b Bands) String() string {
	s := fmt.Sprintf("streaming %v, unload %v", geom.Round(b.Streaming, 4), geom.Round(b.Unload, 4))
	if b.Prefetch != 0 {
		s += fmt.Sprintf(", prefetch %v", geom.Round(b.Prefetch, 4))
	}
	if b.HLOD != 0 {
		s += fmt.Sprintf(", hlod %v", geom.Round(b.HLOD, 4))
	}
	if len(b.LODs) > 0 {
		s += ", lod"
		for _, l := range b.LODs {
			s += fmt.Sprintf(" %v", geom.Round(l, 4))
		}
	}
	return s
}

// AutoPrefetch returns the distance from which a tile is fetched, in metres:
// Prefetch, or half way between the radii when that is 0.
func (b Bands) AutoPrefetch() float64 {
	switch {
	case b.Prefetch > 0:
		return b.Prefetch
	case math.IsInf(b.Streaming, 1):
		return b.Streaming // and Unload is no less
	}
	return b.Streaming + float64((b.Unload-b.Streaming)*0.5)
}

// Normalize clamps the distances as the reference engine does on load.
// LODs that do not fit are dropped from the coarse end. Distances that survive
// unchanged are what a cook should write; see Fit. The result shares no
// memory with b.
func Normalize(b Bands) Bands {
	out := Bands{Streaming: b.Streaming, Unload: max(b.Unload, b.Streaming+Gap)}
	ceiling := out.Unload
	if b.HLOD > 0 {
		lo := b.Streaming + Gap
		out.HLOD = clamp(b.HLOD, lo, max(lo, out.Unload-1))
		ceiling = out.HLOD
	}
	ceiling -= Gap
	lods := slices.Sorted(slices.Values(b.LODs))
	prev := max(1, float64(0.35*b.Streaming))
	for i, l := range lods {
		v := clamp(l, prev, max(prev, ceiling-float64(Gap*float64(len(lods)-1-i))))
		prev = v + Gap
		if v < ceiling+0.001 {
			out.LODs = append(out.LODs, v)
		}
	}
	if b.Prefetch > 0 {
		out.Prefetch = clamp(b.Prefetch, b.Streaming, out.Unload)
	}
	return out
}

// clamp is the engine's: the lower limit wins over the value, and is applied
// after the upper one.
func clamp(v, lo, hi float64) float64 { return max(lo, min(hi, v)) }

// Round rounds a switch distance to two decimals, as manifests have
// it.
func Round(v float64) float64 { return geom.Round(v, 2) }

// HLODDistances resolves configured HLOD distances against a tile's radii (in
// metres): a distance of at most 1 is a fraction of the band between streaming
// and unload, a larger one is metres. The result is parallel to configured and
// not rounded. In narrow bands the reference formula gives distances that the
// engine will change; see Fit.
func HLODDistances(streaming, unload float64, configured []float64) []float64 {
	lo := streaming + Gap
	hi := max(lo, unload-min(4, float64(0.25*max(unload-streaming, 8))))
	return resolve(configured, lo, hi, func(d float64) float64 {
		return lo + float64((hi-lo)*(1-float64((1-d)*(1-d))))
	})
}

// LODDistances resolves configured LOD distances, like HLODDistances, into the
// band between the streaming radius and the nearest HLOD switch, or the unload
// radius when hlod is empty. hlod is a result of HLODDistances.
func LODDistances(streaming, unload float64, hlod, configured []float64) []float64 {
	far := unload - Gap
	if len(hlod) > 0 {
		far = slices.Min(hlod) - Gap
	}
	near := max(streaming+Gap, float64(0.45*streaming), Gap)
	need := float64(Gap * float64(len(configured)-1))
	if far < near+need {
		near = max(Gap, far-need)
	}
	far = max(far, near+need)
	return resolve(configured, near, far, lodFraction(near, far))
}

// lodFraction returns the distance of a fraction of the LOD band: fractions
// crowd at the near end, by d to the power 1.25.
func lodFraction(near, far float64) func(float64) float64 {
	return func(d float64) float64 {
		d = max(d, 0)
		// math.Pow may differ in the last bit between machines; square roots
		// are exact.
		return near + float64((far-near)*float64(d*math.Sqrt(math.Sqrt(d))))
	}
}

// resolve places the configured distances between lo and hi in ascending
// order, Gap apart where there is room.
func resolve(configured []float64, lo, hi float64, fraction func(float64) float64) []float64 {
	out := make([]float64, len(configured))
	least := lo
	for rank, i := range ascending(configured) {
		want := configured[i]
		if want <= 1 {
			want = fraction(want)
		}
		out[i] = clamp(want, least, hi-float64(Gap*float64(len(configured)-1-rank)))
		least = out[i] + Gap
	}
	return out
}

// ascending returns the indices of v in ascending order of the values.
func ascending(v []float64) []int {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case v[a] < v[b]:
			return -1
		case v[a] > v[b]:
			return 1
		}
		return 0
	})
	return order
}

// LevelError returns the error in metres that decides where a level may begin: what is
// seen of its difference, else its greatest distance, a bound that reads as far more.
// none stands for a level whose errors are both unknown.
func LevelError(visual, geometric *float64, none float64) float64 {
	switch {
	case visual != nil:
		return *visual
	case geometric != nil:
		return *geometric
	}
	return none
}

// ScreenError returns how many pixels an error of the geometry covers at a
// distance, both in metres, on a screen of the given height in pixels and
// vertical field of view in degrees.
func ScreenError(geometric, distance, fovY, height float64) float64 {
	return geometric * height / (2 * distance * geom.Tan(fovY*math.Pi/360))
}
