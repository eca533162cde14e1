package cook

import "testing"

// TestBackstop: garbage is collected where the heap is too large, and not again while nearly
// all of it is in use.
func TestBackstop(t *testing.T) {
	live, garbage, collected := int64(0), int64(0), 0
	b := newBackstop(3200)
	b.heap = func() int64 { return live + garbage }
	b.collect = func() { garbage = 0; collected++ }
	for i, c := range []struct{ live, garbage, collected int64 }{
		{100, 1800, 0}, {100, 1900, 1}, {1999, 0, 1}, {1990, 10, 2}, {1990, 90, 2}, {1990, 110, 3}, {2600, 0, 4}, {2600, 90, 4}, {2600, 100, 5}, {10, 20, 5}, {10, 1990, 5}, {10, 2900, 6},
	} {
		if live, garbage = c.live, c.garbage; i == 3 {
			b.left = 0
		}
		if b.check(); int64(collected) != c.collected {
			t.Errorf("%d: %d in use and %d of garbage: collected %d times, want %d", i, c.live, c.garbage, collected, c.collected)
		}
	}
	if newBackstop(1 << 40).check(); heapBytes() <= 0 {
		t.Error("the heap has no bytes")
	}
}
