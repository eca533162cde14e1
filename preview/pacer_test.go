package preview

import (
	"context"
	"slices"
	"testing"
	"time"
)

// fakeWaiter is a machine on which sleeping takes longer than asked for and
// looking at the clock takes a moment.
type fakeWaiter struct {
	now       time.Time
	overshoot time.Duration // what a sleep takes too long
	tick      time.Duration // a yield
	yields    int
}

func (w *fakeWaiter) Now() time.Time { return w.now }
func (w *fakeWaiter) Yield()         { w.now, w.yields = w.now.Add(w.tick), w.yields+1 }
func (w *fakeWaiter) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.now = w.now.Add(d + w.overshoot)
	return nil
}

const ms = time.Millisecond

// paced hands over frames that take the given times and returns the intervals.
func paced(p *pacer, w *fakeWaiter, busy ...time.Duration) (intervals []time.Duration) {
	p.wall = w
	p.start()
	for _, b := range busy {
		w.now = w.now.Add(b)
		intervals = append(intervals, p.hand(context.Background()))
	}
	return intervals
}

// TestPacer: frames are due on a grid of 10 ms.
func TestPacer(t *testing.T) {
	for _, c := range []struct {
		name       string
		busy, want []time.Duration
	}{
		{"short frames", []time.Duration{1 * ms, 9 * ms, 0, 5 * ms}, []time.Duration{0, 10 * ms, 10 * ms, 10 * ms}},
		// 14 ms: at once, and back on the grid with the next, no burst after it.
		{"a late one", []time.Duration{1 * ms, 14 * ms, ms, ms}, []time.Duration{0, 14 * ms, 6 * ms, 10 * ms}},
		// The place 1 ms after it is left out.
		{"very late", []time.Duration{1 * ms, 19 * ms, ms, ms}, []time.Duration{0, 19 * ms, 11 * ms, 10 * ms}},
		{"many steps", []time.Duration{1 * ms, 137 * ms, ms, ms, ms}, []time.Duration{0, 137 * ms, 13 * ms, 10 * ms, 10 * ms}},
		// The third one is almost in time for a place.
		{"always late", []time.Duration{13 * ms, 13 * ms, 13 * ms, 13 * ms}, []time.Duration{0, 13 * ms, 14 * ms, 13 * ms}},
	} {
		w := &fakeWaiter{now: time.Unix(1000, 0), tick: time.Microsecond}
		if got := paced(&pacer{step: 10 * ms}, w, c.busy...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	w := &fakeWaiter{now: time.Unix(1000, 0)}
	if got, want := paced(new(pacer), w, 3*ms, 4*ms, 5*ms), []time.Duration{0, 4 * ms, 5 * ms}; !slices.Equal(got, want) {
		t.Errorf("without a rate: %v, want %v", got, want)
	}
}

// TestPacerDoesNotDrift: whatever the machine adds to a sleep, after a thousand
// frames the last one is where it should be.
func TestPacerDoesNotDrift(t *testing.T) {
	for _, over := range []time.Duration{0, 80 * time.Microsecond, 900 * time.Microsecond, 5 * ms} {
		w := &fakeWaiter{now: time.Unix(1000, 0), overshoot: over, tick: 3 * time.Microsecond}
		begin := w.now
		p := &pacer{step: time.Second / 60}
		busy := slices.Repeat([]time.Duration{2 * ms}, 1000)
		got := paced(p, w, busy...)
		behind := w.now.Sub(begin.Add(1000 * p.step))
		accurate := leastSlack + over
		if over <= mostSlack-leastSlack {
			accurate = w.tick
			for i, d := range got[3:] { // the first ones learn
				if off := d - p.step; max(off, -off) > accurate {
					t.Fatalf("sleeps that take %v too long: interval %d is %v", over, i+3, d)
				}
			}
		}
		if behind < 0 || behind > accurate {
			t.Errorf("sleeps that take %v too long: the last frame is %v behind", over, behind)
		}
	}
}

// TestPacerYieldsBriefly: what is yielded is no more than sleeping has been seen
// to add, and a delay that was seen once is forgotten.
func TestPacerYieldsBriefly(t *testing.T) {
	w := &fakeWaiter{now: time.Unix(1000, 0), overshoot: 30 * ms, tick: time.Microsecond}
	p := &pacer{step: 10 * ms}
	paced(p, w, ms)
	w.overshoot, w.yields = 0, 0
	paced(p, w, ms)
	if most := int(mostSlack / w.tick); w.yields > most {
		t.Errorf("%d yields, want at most %d", w.yields, most)
	}
	paced(p, w, slices.Repeat([]time.Duration{ms}, 400)...)
	w.yields = 0
	paced(p, w, ms)
	if most := int(2 * leastSlack / w.tick); w.yields > most {
		t.Errorf("%d yields long after, want at most %d", w.yields, most)
	}
}

// TestPacerEnds: a run that ends does not wait.
func TestPacerEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w := &fakeWaiter{now: time.Unix(1000, 0)}
	p := &pacer{wall: w, step: time.Hour}
	p.start()
	p.hand(ctx)
	if d := w.now.Sub(time.Unix(1000, 0)); d != 0 {
		t.Errorf("waited for %v", d)
	}
}
