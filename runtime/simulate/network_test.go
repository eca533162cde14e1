package simulate

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/internal/hostqueue"
	"pgregory.net/rapid"
)

// wide are limits that no test comes to.
var wide = hostqueue.NewLimits(100, 50, 100)

func TestNetworkShares(t *testing.T) {
	n := newNetwork(1000, 100*time.Millisecond, wide)
	at := func(ms int) []uint64 { return n.advance(time.Duration(ms) * time.Millisecond) }
	n.start(1, 1000, hostqueue.Request{})
	n.start(2, 500, hostqueue.Request{})
	// Both flow from 0.1 s, 500 bytes a second each: 2 is done at 1.1 s, then 1
	// has all and needs 0.5 s more.
	for _, c := range []struct {
		ms   int
		want []uint64
	}{{0, nil}, {1099, nil}, {1100, []uint64{2}}, {1599, nil}, {1600, []uint64{1}}} {
		if got := at(c.ms); !slices.Equal(got, c.want) {
			t.Errorf("at %d ms: %v, want %v", c.ms, got, c.want)
		}
	}
	n.start(3, 1000, hostqueue.Request{})
	n.start(4, 1000, hostqueue.Request{})
	at(1800) // both have had 50 bytes
	n.cancel(3)
	if got := at(2749); got != nil {
		t.Errorf("too early: %v", got)
	}
	if got := at(2750); !slices.Equal(got, []uint64{4}) {
		t.Errorf("the share of a cancelled download is lost: %v", got)
	}
}

func TestNetworkUnlimited(t *testing.T) {
	n := newNetwork(0, 50*time.Millisecond, wide)
	n.start(1, 1<<40, hostqueue.Request{})
	if got := n.advance(49 * time.Millisecond); got != nil {
		t.Error(got)
	}
	if got := n.advance(50 * time.Millisecond); !slices.Equal(got, []uint64{1}) {
		t.Error(got)
	}
}

// TestNetworkConserves: however the time is cut, the last download is complete
// when the bandwidth has moved the sum of all bytes.
func TestNetworkConserves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNetwork(rapid.Float64Range(1, 1e9).Draw(t, "bandwidth"), 0, wide)
		var sum float64
		sizes := rapid.SliceOfN(rapid.Int64Range(0, 1<<30), 1, 20).Draw(t, "sizes")
		for i, s := range sizes {
			n.start(uint64(i), s, hostqueue.Request{})
			sum += float64(s)
		}
		all := sum / n.bandwidth
		if all > 1e8 {
			return // more than time.Duration holds
		}
		var done []uint64
		for i := range rapid.IntRange(0, 5).Draw(t, "stops") {
			done = append(done, n.advance(max(n.now, duration(all*float64(i)/6)))...)
		}
		slack := 1e-6 + all*1e-9
		if all > 1 {
			done = append(done, n.advance(max(n.now, duration(all-slack-1e-3)))...)
			last := slices.Max(sizes)
			if len(done) == len(sizes) && float64(last)/n.bandwidth > slack+2e-3 {
				t.Fatalf("all done %v s before their time", slack)
			}
		}
		done = append(done, n.advance(max(n.now, duration(all+slack)))...)
		if len(done) != len(sizes) || len(n.flows) != 0 {
			t.Fatalf("%d of %d done after %v s", len(done), len(sizes), all)
		}
		if !slices.IsSortedFunc(done, func(a, b uint64) int {
			// The smaller one is never later than a larger one, but for what the
			// clock of nanoseconds cannot tell apart.
			if float64(abs(sizes[a]-sizes[b])) <= n.bandwidth*2e-9 {
				return 0
			}
			return int(math.Copysign(1, float64(sizes[a]-sizes[b]))) * min(1, int(abs(sizes[a]-sizes[b])))
		}) {
			t.Fatalf("order %v of %v", done, sizes)
		}
	})
}

func abs(v int64) int64 { return max(v, -v) }
