package runtime

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
)

func TestNodeOrder(t *testing.T) {
	want := []nodeOf{
		{node: 0, root: true},
		{node: 1, frees: true, low: true},
		{node: 2, seen: math.Inf(1)},
		{node: 4, seen: 3},
		{node: 3, seen: 3}, // of equal ones the coarsest
		{node: 9, seen: 2},
		{node: 6, seen: 8, spare: true},
		{node: 7, seen: 9, low: true},
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortStableFunc(got, nodeOf.compare)
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestDoublings(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want int32
	}{
		{0, -mostDoublings},
		{1e-9, -mostDoublings},
		{math.NaN(), -mostDoublings},
		{0.5, 0},
		{0.99, 0},
		{1, 1},
		{1.99, 1},
		{2, 2},
		{4.5, 3},
		{1e30, mostDoublings + 1},
		{math.Inf(1), mostDoublings + 1},
	} {
		if got := doublings(c.x); got != c.want {
			t.Errorf("%v: %d, want %d", c.x, got, c.want)
		}
	}
}

// nodesInOrder reports nodes that wait although more of an error is seen in their places than in
// those of nodes that have been asked for in this step.
func nodesInOrder(r *rig, sc *scene, fail func(format string, args ...any)) {
	ref := sc.refinement
	worth := func(i int32) float64 { return ref.seenAt(sc, ref.nodes[i].place, ref.nodes[i].distance) }
	least := math.Inf(1)
	for _, e := range r.last {
		if row := int32(slices.Index(sc.tiles.id, e.Tile)); e.Kind == event.HLODLoad && row >= ref.first && ref.nodes[row-ref.first].node >= 0 {
			least = min(least, worth(row-ref.first))
		}
	}
	if math.IsInf(least, 1) {
		return
	}
	for i := range ref.nodes {
		n, st := &ref.nodes[i], ref.record(sc, int32(i)).rep(payload.RepHLOD)
		if n.node < 0 || !n.wanted || n.leaps || st.loading() || st.resident() || st.fails > 0 || !sc.view.sees(&sc.tiles.box[ref.first+int32(i)]) {
			continue
		}
		if ref.coversBelow(sc, int32(i)) {
			continue
		}
		if w := worth(int32(i)); w > least {
			fail("at %v %s waits, of which %v is seen, behind one of which %v is", r.now(), sc.tiles.id[ref.first+int32(i)], w, least)
		}
	}
}

// TestNodesBySeenErrors: below the roots, nodes come first in whose places most of an error is
// seen, wherever the camera is.
func TestNodesBySeenErrors(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := pyramidOf(16, 60)
		r := inTheMiddle(t, m, withLatency(0.1), withConfig(func(c *config.Config) {
			c.MaxQueryRadius, c.MaxConcurrentHLODLoads = 1e6, rapid.IntRange(1, 4).Draw(rt, "slots")
		}))
		for i := range 3 {
			r.camera.Position[i] = rapid.Float64Range([3]float64{-100, 2, -100}[i], [3]float64{420, 100, 420}[i]).Draw(rt, "at")
		}
		r.camera.Forward = [3]float64{rapid.Float64Range(-1, 1).Draw(rt, "x"), -0.2, 0.7}
		for range 60 {
			r.step()
			nodesInOrder(r, r.s.scenes[0], rt.Fatalf)
		}
	})
}

// TestHeadStart: over a network the roots are asked for alone in the first tick of a draft, and
// the rest follows in the next one. Reads from a disk do not wait for each other.
func TestHeadStart(t *testing.T) {
	for _, network := range []bool{false, true} {
		var opts []rigOption
		f := &fakeFetcher{latency: 50 * time.Millisecond}
		if network {
			opts = append(opts, withFetcher(f))
		}
		r := inTheMiddle(t, pyramidOf(8, 60), opts...)
		r.dt = 16_000_000
		var loads []string
		for range 2 {
			loads = append(loads, "|")
			r.step()
			for _, e := range r.last {
				if e.Kind == event.HLODLoad {
					loads = append(loads, e.Tile)
				}
			}
		}
		second := slices.Index(loads[1:], "|") + 1
		if root := loads[1] == "n3_0_0"; !root || (second == 2) != network || network && second+1 == len(loads) {
			t.Errorf("network %v: loads of the first two ticks: %v", network, loads)
		}
	}
}

// besideNetwork returns a pyramid of five levels over a slow network, seen whole from beside it.
// The ratio is that of the errors of a level and the one below it.
func besideNetwork(t *testing.T, ratio float64) (*rig, *fakeFetcher) {
	m := pyramidOf(32, 60)
	for i := range m.Pyramid.Nodes {
		n := &m.Pyramid.Nodes[i]
		n.VisualError = 64 * math.Pow(ratio, float64(n.Level-5))
	}
	f := &fakeFetcher{latency: 500 * time.Millisecond}
	r := inTheMiddle(t, m, withFetcher(f))
	r.camera.Position, r.camera.Forward = [3]float64{-120, 60, 320}, [3]float64{1, -0.1, 0.01}
	return r, f
}

// TestRootCompany: over a network few nodes are loaded beside the root until that has come, and
// more at a time afterwards.
func TestRootCompany(t *testing.T) {
	r, f := besideNetwork(t, 2)
	sc := r.s.scenes[0]
	ref := sc.refinement
	before, after := 0, 0
	for r.now() < 3 {
		f.deliver()
		if r.step(); ref.hasRoot(sc, ref.roots[0]) {
			after = max(after, r.s.loads.fetching[classHLOD])
		} else {
			before = max(before, r.s.loads.fetching[classHLOD])
		}
	}
	if before != rootCompany || after <= before {
		t.Errorf("%d loads of nodes at a time before the root has come, then %d", before, after)
	}
}

// TestDraftLeavesOutSteps: over a network, of the nodes that are granted to be open a draft leaves out those just
// above what will be seen, and after a while of these only such as show little more than what
// stands above them.
func TestDraftLeavesOutSteps(t *testing.T) {
	for _, ratio := range []float64{2, 20} {
		r, f := besideNetwork(t, ratio)
		sc := r.s.scenes[0]
		ref := sc.refinement
		early, late := 0, 0
		for sc.drafts() && r.now() < 8 {
			f.deliver()
			r.step()
			for i := range ref.nodes {
				n := &ref.nodes[i]
				if !n.leaps {
					continue
				}
				if early++; ref.leapt(r.s.now) {
					late++
				}
				for _, row := range n.children {
					if row >= ref.first && ref.nodes[row-ref.first].granted(sc) && r.s.tickCount > 1 && sc.drafts() {
						t.Fatalf("ratio %v, at %v: %s is left out above %s", ratio, r.now(), sc.tiles.id[ref.first+int32(i)], sc.tiles.id[row])
					}
				}
			}
		}
		if early == 0 || (late > 0) != (ratio < leapStep) {
			t.Errorf("ratio %v: left out %d times, after %v %d", ratio, early, leapTime, late)
		}
	}
}

// TestDraftStagesShowWhatIsGranted: a stage of a draft does not end before tiles in view show what
// they are granted in it, not just anything.
func TestDraftStagesShowWhatIsGranted(t *testing.T) {
	m := pyramidOf(8, 60)
	for i := range m.Tiles {
		lodsAt(40, 55)(&m.Tiles[i])
	}
	f := &fakeFetcher{latency: 50 * time.Millisecond}
	r := inTheMiddle(t, m, withFetcher(f))
	r.loader.Latency = func(q payload.Request) time.Duration {
		if q.Key.Rep == payload.RepLOD0 {
			return 3 * time.Second
		}
		return 300 * time.Millisecond
	}
	sc := r.s.scenes[0]
	for sc.drafts() && r.now() < draftTime.Seconds() {
		stage := sc.refinement.stages
		f.deliver()
		r.step()
		if sc.refinement.stages == stage {
			continue
		}
		for _, tile := range sc.query.tiles {
			rec := sc.recordOf(tile)
			if rec == nil || sc.closes(tile) || !sc.view.sees(&sc.tiles.box[tile]) {
				continue
			}
			if isFiner(rec.granted(), rec.drawn) {
				t.Errorf("stage %d ends at %v, and of %s %v is drawn, %v granted", stage, r.now(), sc.tiles.id[tile], rec.drawn, rec.granted())
			}
		}
	}
	if sc.drafts() {
		t.Error("the draft does not end")
	}
}
