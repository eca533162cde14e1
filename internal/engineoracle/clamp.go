package engineoracle

import "slices"

// gap is what the engine keeps between two switches, in metres.
const gap float32 = 4

// clamp does the engine's normalisation, in
// single precision.
func (t *Tile) clamp(s, u, p float32, hlods, lods []Level) {
	t.Streaming, t.Unload = s, max(u, s+gap)
	t.note(u, t.Unload)
	ceiling := t.Unload
	if len(hlods) > 0 && hlods[0].Switch > 0 {
		h := hlods[0]
		h.Switch = limit(h.Switch, s+gap, max(s+gap, t.Unload-1))
		t.note(hlods[0].Switch, h.Switch)
		t.HLOD, ceiling = &h, h.Switch
	}
	ceiling -= gap
	sorted := slices.Clone(lods)
	slices.SortStableFunc(sorted, func(a, b Level) int {
		switch {
		case a.Switch < b.Switch:
			return -1
		case a.Switch > b.Switch:
			return 1
		}
		return 0
	})
	prev := max(1, 0.35*s)
	for i, l := range sorted {
		behind := float32(len(sorted) - 1 - i)
		was := l.Switch
		l.Switch = limit(was, prev, max(prev, ceiling-behind*gap))
		prev = l.Switch + gap
		if l.Switch >= ceiling+0.001 {
			t.Changed = true
			continue
		}
		t.note(was, l.Switch)
		t.LODs = append(t.LODs, l)
	}
	if p > 0 {
		t.Prefetch = limit(p, s, t.Unload)
		t.note(p, t.Prefetch)
	}
}

func limit(v, lo, hi float32) float32 { return max(lo, min(hi, v)) }

// note marks the tile as changed when the two differ visibly.
func (t *Tile) note(was, is float32) {
	if d := float64(was) - float64(is); d > 1e-3 || d < -1e-3 {
		t.Changed = true
	}
}
