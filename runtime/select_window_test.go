package runtime

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/runtime/config"
)

// smallTiles is a rig over a city of 900 tiles of 12.5 m.
func smallTiles(t *testing.T, window int) *rig {
	r := newRig(t, cityOf(30, 12.5), withLatency(0.05), withConfig(func(c *config.Config) { c.EnableFrustumGate = true }))
	r.s.selector.window = window
	r.dt = 16 * time.Millisecond
	r.lens()
	return r
}

func (r *rig) loads() []string { return r.events("hlod.load", "lod.load", "tile.dispatch") }

// What a window leaves over is not forgotten: the best come first, as if every
// tick looked at all tiles.
func TestShortlistKeepsTheOrder(t *testing.T) {
	whole, windows := smallTiles(t, 1<<30), smallTiles(t, 64)
	whole.until(1)
	windows.until(1)
	if a, b := whole.loads(), windows.loads(); len(a) < 100 || !slices.Equal(a, b) {
		t.Errorf("loads with windows:\n%s\nwithout:\n%s", strings.Join(b, "\n"), strings.Join(a, "\n"))
	}
}

// Window by window every tile gets its turn.
func TestWindowsReachEveryTile(t *testing.T) {
	drawn := func(r *rig) string {
		r.until(20)
		for range 300 { // 12.5 m/s
			r.camera.Position[0] += 0.2
			r.step()
		}
		r.until(60)
		if st := r.s.Stats(); st.Undrawn != 0 || st.PendingLoadBacklog != 0 || r.s.selector.scanning {
			t.Errorf("window of %d: undrawn %d, backlog %d, scanning %v", r.s.selector.window, st.Undrawn, st.PendingLoadBacklog, r.s.selector.scanning)
		}
		var out []string
		for _, d := range r.s.AppendDrawn(nil) {
			out = append(out, fmt.Sprint(d.Tile, d.Rep))
		}
		return strings.Join(out, " ")
	}
	want := drawn(smallTiles(t, 1<<30))
	for _, window := range []int{1, 64} {
		if race.Enabled && window > 1 {
			continue // make test tries both without the detector
		}
		r := smallTiles(t, window)
		if got := drawn(r); got != want {
			t.Errorf("a window of %d draws %s\nwant %s", window, got, want)
		}
		again := smallTiles(t, window)
		if drawn(again); !slices.Equal(again.log, r.log) {
			t.Errorf("two runs with a window of %d differ", window)
		}
	}
}

// After a jump the first loads are those of the new place, not what the next
// window happens to hold.
func TestJumpLooksAtEverything(t *testing.T) {
	whole, windows := smallTiles(t, 1<<30), smallTiles(t, 64)
	for _, r := range []*rig{whole, windows} {
		r.until(0.5)
		r.camera.Position[0] = 150
		r.until(0.7)
		r.log = nil
		r.until(1)
	}
	if a, b := whole.loads(), windows.loads(); !slices.Equal(a, b) {
		t.Errorf("loads with windows:\n%s\nwithout:\n%s", strings.Join(b, "\n"), strings.Join(a, "\n"))
	}
}

// Between two intervals nobody looks for loads while all slots are taken; the
// counters keep what the last look has found.
func TestNoLookWhileSlotsAreTaken(t *testing.T) {
	r := newRig(t, cityOf(8, 12.5), withLatency(1000))
	r.dt = 16 * time.Millisecond
	r.until(0.13) // the first tick and one more
	want := r.s.Stats()
	if want.LoadCandidates == 0 || want.PendingLoadBacklog == 0 {
		t.Fatalf("nothing waits: %+v", want)
	}
	looks := 0
	for range 20 {
		r.step()
		if r.s.sinceLook == 0 {
			looks++
		}
		if st := r.s.Stats(); !st.UpdateTriggered || st.LoadCandidates != want.LoadCandidates && st.LoadCandidates == 0 || st.PendingLoadBacklog == 0 {
			t.Errorf("frame %d: %d candidates, backlog %d", r.frame, st.LoadCandidates, st.PendingLoadBacklog)
		}
	}
	if looks != 3 {
		t.Errorf("%d looks in 20 frames of 16 ms, want 3", looks)
	}
}
