package band

import (
	"fmt"
	"slices"
)

// Fitted is the result of Fit.
type Fitted struct {
	Bands   Bands    // unchanged by Normalize
	HLOD    []Switch // at most one
	LODs    []Switch // ascending by distance
	Widened bool     // the unload radius had to grow to streaming + Gap
	Dropped []Drop   // in the order in which they went
}

// Switch is a level that is to be made.
type Switch struct {
	Level    int     // index in the configured distances
	Distance float64 // metres; two decimals unless the band has no room for them
}

// Drop is a configured level that found no room.
type Drop struct {
	HLOD   bool // an HLOD level, else a LOD
	Level  int  // index in the configured distances
	Reason string
}

// String returns one line.
func (d Drop) String() string {
	kind := "lod"
	if d.HLOD {
		kind = "hlod"
	}
	return fmt.Sprintf("%s level %d dropped: %s", kind, d.Level, d.Reason)
}

// Fit resolves configured distances as HLODDistances and LODDistances do,
// but so that the engine takes them as they are and full geometry is wanted in
// the whole streaming radius: the unload radius is at least Gap beyond the
// streaming radius, and the first LOD begins at the streaming radius or
// farther. To get there it widens the unload radius where that is smaller,
// then drops LODs, coarsest first, and the HLOD last. Of several HLODs it
// keeps the nearest, the only one that the engine would use.
//
// One HLOD needs 5 m between the radii. With the exporter's HLOD at the end of
// the band, n LODs beside it always find room in 4n + 5 m; n LODs alone need
// 4n m. All distances are metres; what configured distances up to 1 mean is
// said at HLODDistances.
func Fit(streaming, unload float64, hlod, lods []float64) Fitted {
	f := Fitted{Bands: Bands{Streaming: streaming, Unload: unload}}
	if unload < streaming+Gap {
		f.Bands.Unload, f.Widened = streaming+Gap, true
	}
	level := f.fitHLOD(hlod)
	room := level < 0 || f.Bands.HLOD > 0
	f.fitLODs(lods, room)
	switch {
	case level >= 0 && room:
		f.HLOD = []Switch{{level, f.Bands.HLOD}}
	case level >= 0:
		f.drop(true, level, "it needs %v m between the streaming and the unload radius, there are %v",
			Gap+1, Round(f.Bands.Unload-streaming))
	}
	return f
}

func (f *Fitted) drop(hlod bool, level int, format string, args ...any) {
	f.Dropped = append(f.Dropped, Drop{hlod, level, fmt.Sprintf(format, args...)})
}

// fitHLOD places the HLOD when there is room and returns its level, -1 when
// none is configured.
func (f *Fitted) fitHLOD(configured []float64) int {
	order := ascending(configured)
	if len(order) == 0 {
		return -1
	}
	for _, i := range slices.Backward(order[1:]) {
		f.drop(true, i, "the engine uses one hlod level only, the nearest")
	}
	level := order[0]
	b := &f.Bands
	lo, hi := b.Streaming+Gap, b.Unload-1
	if lo <= hi {
		want := HLODDistances(b.Streaming, b.Unload, configured[level:level+1])[0]
		b.HLOD = snap(want, lo, hi)
	}
	return level
}

// fitLODs places as many LODs as there is room for, the finest first. Without
// room for the HLOD, which goes last, there is none for LODs.
func (f *Fitted) fitLODs(configured []float64, room bool) {
	b := &f.Bands
	ceiling := b.Unload - Gap
	if b.HLOD > 0 {
		ceiling = b.HLOD - Gap
	}
	first := max(b.Streaming, 1)
	order := f.fitting(ascending(configured), ceiling, room)
	n := len(order)
	need := float64(Gap * float64(n-1))
	near := max(b.Streaming+Gap, float64(0.45*b.Streaming), Gap)
	if ceiling < near+need {
		near = max(first, ceiling-need)
	}
	least := first
	fraction := lodFraction(near, ceiling)
	for rank, i := range order {
		want := configured[i]
		if want <= 1 {
			want = fraction(want)
		}
		most := max(least, ceiling-float64(Gap*float64(n-1-rank)))
		d := snap(clamp(want, max(near, least), most), least, most)
		b.LODs = append(b.LODs, d)
		f.LODs = append(f.LODs, Switch{i, d})
		least, near = d+Gap, 0
	}
}

// fitting drops LODs from the coarse end, the last of order, until the others
// have room between the streaming radius and the ceiling, Gap below the
// next representation's switch.
func (f *Fitted) fitting(order []int, ceiling float64, room bool) []int {
	b := &f.Bands
	first := max(b.Streaming, 1)
	for len(order) > 0 {
		if need := float64(Gap * float64(len(order)-1)); room && first <= ceiling-need {
			break
		}
		last := len(order) - 1
		f.drop(false, order[last], "%d levels need %v m between the streaming radius and the next representation's switch, there are %v",
			len(order), Gap*float64(len(order)), Round(ceiling+Gap-b.Streaming))
		order = order[:last]
	}
	return order
}

// snap rounds v to two decimals without leaving [lo, hi]; where that interval
// holds no such number it only clamps.
func snap(v, lo, hi float64) float64 {
	for _, c := range []float64{Round(v), Round(v + 0.01), Round(v - 0.01)} {
		if lo <= c && c <= hi {
			return c
		}
	}
	return clamp(v, lo, hi)
}
