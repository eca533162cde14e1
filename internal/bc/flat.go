package bc

import "sync"

// flat is the pair of ends between which the second weight is nearest to a value.
type flat struct {
	ends [2]uint8
	err  int32
}

// flatTable has them by value.
type flatTable [256]flat

// flatTables are made when they are first asked for, by bits of an end, its parity and bits of
// a weight: one for every choice of lowest bits.
var flatTables [9][oddParity + 1][5]struct {
	once sync.Once
	of   []flatTable
}

// flats returns the tables of a layout.
func flats(l *layout) []flatTable {
	t := &flatTables[l.bits][l.parity][l.index]
	t.once.Do(func() {
		var lows [][2]uint8
		switch l.parity {
		case noParity:
			t.of = []flatTable{newFlatTable(l, 0, 0, 0)}
			return
		case pairParity:
			lows = [][2]uint8{{0, 0}, {1, 1}}
		case oddParity:
			lows = [][2]uint8{{1, 1}}
		case endParity:
			lows = [][2]uint8{{0, 0}, {0, 1}, {1, 0}, {1, 1}}
		}
		for _, low := range lows {
			t.of = append(t.of, newFlatTable(l, low[0], low[1], 1))
		}
	})
	return t.of
}

// newFlatTable tries all ends whose lowest bits, as far as the mask goes, are these.
func newFlatTable(l *layout, low0, low1, mask uint8) (t flatTable) {
	for v := range t {
		t[v].err = 1 << 20
	}
	w := weights[l.index][1]
	grid := ladder[l.bits]
	for a := range 1 << l.bits {
		if uint8(a)&mask != low0 {
			continue
		}
		for b := range 1 << l.bits {
			if uint8(b)&mask != low1 {
				continue
			}
			va, vb := grid.value[a], grid.value[b]
			at := va + (w*(vb-va)+32)>>6
			if t[at].err > 0 {
				t[at] = flat{[2]uint8{uint8(a), uint8(b)}, 0}
			}
		}
	}
	for v := range t { // what no pair meets takes the nearest value that one does
		for d := 1; t[v].err > 0; d++ {
			for _, at := range [2]int{v - d, v + d} {
				if at >= 0 && at < len(t) && t[at].err == 0 {
					t[v] = flat{t[at].ends, int32(d * d)}
					break
				}
			}
			if t[v].err == int32(d*d) {
				break
			}
		}
	}
	return t
}
