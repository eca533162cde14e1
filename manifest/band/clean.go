package band

// Clean changes written distances as little as it takes for the engine to
// take them as they are and for full geometry to be wanted in the whole
// streaming radius, by the same rules as Fit: a streaming radius below 0
// becomes 0, the unload radius is widened where it is too small, distances are moved into their range, and levels that
// find no room are dropped, LODs coarsest first, the HLOD last. What is clean
// already stays as it is, to the bit.
//
// All distances are metres, also those up to 1. b.LODs may be in any order;
// the levels of the result are indices into it. The result's Bands are
// unchanged by Normalize and by Clean.
func Clean(b Bands) Fitted {
	b.Streaming = max(b.Streaming, 0)
	f := Fitted{Bands: Bands{Streaming: b.Streaming, Unload: b.Unload}}
	out := &f.Bands
	if b.Unload < b.Streaming+Gap {
		out.Unload, f.Widened = b.Streaming+Gap, true
	}
	if b.Prefetch > 0 {
		out.Prefetch = clamp(b.Prefetch, b.Streaming, out.Unload)
	}
	ceiling, room := out.Unload, true
	if b.HLOD > 0 {
		lo, hi := b.Streaming+Gap, out.Unload-1
		if room = lo <= hi; room {
			out.HLOD = keep(b.HLOD, lo, hi)
			f.HLOD = []Switch{{0, out.HLOD}}
			ceiling = out.HLOD
		}
	}
	ceiling -= Gap
	order := f.fitting(ascending(b.LODs), ceiling, room)
	least := max(b.Streaming, 1)
	for rank, i := range order {
		most := max(least, ceiling-float64(Gap*float64(len(order)-1-rank)))
		d := keep(b.LODs[i], least, most)
		out.LODs = append(out.LODs, d)
		f.LODs = append(f.LODs, Switch{i, d})
		least = d + Gap
	}
	if !room {
		f.drop(true, 0, "it needs %v m between the streaming and the unload radius, there are %v",
			Gap+1, Round(out.Unload-b.Streaming))
	}
	return f
}

// keep returns v when it is in its range, else the nearest end, with two
// decimals where there is room for them.
func keep(v, lo, hi float64) float64 {
	if lo <= v && v <= hi {
		return v
	}
	return snap(clamp(v, lo, hi), lo, hi)
}
