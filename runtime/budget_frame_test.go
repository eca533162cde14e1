package runtime

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// TestLeastFor: the least stretch is the one above which nothing exceeds the budget, though
// finer levels in view may have fewer triangles.
func TestLeastFor(t *testing.T) {
	of := func(coarsest float64, more ...float64) *frameBudget { // by stretch: 1, 2, 3
		f := &frameBudget{coarsest: coarsest}
		for i, n := range more {
			f.add(float64(i+1), n)
		}
		return f
	}
	for _, c := range []struct {
		f      *frameBudget
		budget float64
		want   float64
	}{
		{of(0), 0, 0},
		{of(10), 9, math.Inf(1)},
		{of(10), 10, 0},
		{of(10, 5, 5, 5), 25, 0},
		{of(10, 5, 5, 5), 24, stepFrom(stepOf(1) + 1)},
		{of(10, 5, 5, 5), 19, stepFrom(stepOf(2) + 1)},
		{of(10, 5, 5, 5), 14, stepFrom(stepOf(3) + 1)},
		{of(10, 5, -8, 5), 14, stepFrom(stepOf(3) + 1)}, // below it would fit, but not at 3
		{of(10, 5, -8, 5), 15, 0},
	} {
		if got := c.f.leastFor(c.budget); got != c.want {
			t.Errorf("%v, budget %v: %v, want %v", c.f.coarsest, c.budget, got, c.want)
		}
	}
}

// counted gives the representations of pyramidOf triangles: full tiles 400, their HLODs 40,
// nodes 60.
func counted(m *manifest.Manifest) *manifest.Manifest {
	for i := range m.Tiles {
		m.Tiles[i].TriangleCount, m.Tiles[i].HLODLevels[0].TriangleCount = 400, 40
		m.Tiles[i].FileSizeBytes, m.Tiles[i].HLODLevels[0].FileSizeBytes = 4000, 400
	}
	for i := range m.Pyramid.Nodes {
		m.Pyramid.Nodes[i].TriangleCount = 60
	}
	return m
}

// inView adds up the triangles of what is drawn in view.
func (r *rig) inView() (sum float64) {
	sc := r.s.scenes[0]
	for _, d := range r.s.AppendDrawn(nil) {
		if d.Tile >= sc.refinement.first {
			n, seen := &sc.refinement.nodes[d.Tile-sc.refinement.first], 0
			for bit, row := range n.children {
				if d.Parts>>bit&1 != 0 && sc.view.sees(&sc.tiles.box[row]) {
					seen++
				}
			}
			sum += n.triangles * float64(seen) / float64(len(n.children))
		} else if sc.view.sees(&sc.tiles.box[d.Tile]) {
			sum += sc.trianglesAt(d.Tile, d.Rep)
		}
	}
	return sum
}

// coarsest adds up the triangles of the roots in view.
func (r *rig) coarsest() (sum float64) {
	sc := r.s.scenes[0]
	for _, i := range sc.refinement.roots {
		sum += sc.refinement.trianglesInView(sc, &sc.refinement.nodes[i])
	}
	return sum
}

// countedRig opens a scene of counted in its middle.
func countedRig(t testing.TB, side, budget int, opts ...rigOption) (*rig, *manifest.Manifest) {
	m := counted(pyramidOf(side, 60))
	r := newRig(t, m, append([]rigOption{withLatency(0.05), withConfig(func(c *config.Config) {
		c.MaxQueryRadius, c.TriangleBudget = 1e6, budget
		c.MinimumParsedTileResidentSeconds, c.UnloadGracePeriod = 0.5, 0.5
		c.OutOfCorePolicy = config.OutOfCoreImmediate
	})}, opts...)...)
	r.loader.Bytes = func(q payload.Request) int64 { return r.s.scenes[0].tiles.fileOf(q.Key.Tile, q.Key.Rep).size }
	r.lens()
	r.camera.Position, r.camera.Forward = [3]float64{160, 20, 160}, [3]float64{1, 0, 0.01}
	return r, m
}

// TestTriangleBudget: what is in view keeps to the budget, uses it, and covers all; what is
// out of view does not count.
func TestTriangleBudget(t *testing.T) {
	last := 0.0
	for _, budget := range []int{60, 1000, 3000, 6000, 12_000, 0} {
		r, m := countedRig(t, 16, budget)
		r.until(60)
		got := r.inView()
		if _, err := r.covering(m); err != nil {
			t.Errorf("%d triangles: %v", budget, err)
		}
		if budget > 0 && got > max(float64(budget), r.coarsest()) {
			t.Errorf("%d triangles: %v in view", budget, got)
		}
		if got < last || budget >= 1000 && got < 0.6*float64(budget) {
			t.Errorf("%d triangles: only %v in view, with a smaller budget %v", budget, got, last)
		}
		if st := r.s.Stats(); st.Undrawn > 0 || !r.s.AtRest() {
			t.Errorf("%d triangles: %d undrawn, at rest %v", budget, st.Undrawn, r.s.AtRest())
		}
		last = got
	}
	if last < 13_000 {
		t.Errorf("without a budget there are %v triangles in view: the scene is too small for this test", last)
	}
}

// TestTriangleBudgetLeavesAlone: what cannot exceed the budget, and scenes without a
// pyramid, are loaded and drawn as without one.
func TestTriangleBudgetLeavesAlone(t *testing.T) {
	run := func(budget int, pyramid bool) string {
		m := counted(pyramidOf(8, 60))
		if !pyramid {
			m.Pyramid = nil
		}
		r := newRig(t, m, withConfig(func(c *config.Config) { c.MaxQueryRadius, c.TriangleBudget = 1e6, budget }))
		r.lens()
		r.camera.Position, r.camera.Forward = [3]float64{80, 20, 80}, [3]float64{1, 0, 0.01}
		log := ""
		for range 200 {
			r.step()
			log += fmt.Sprintln(r.last, r.names())
		}
		return log
	}
	const all = 8 * 8 * 400
	if run(all, true) != run(0, true) {
		t.Error("a budget for all triangles changes what is drawn")
	}
	if run(all-1, true) == run(10, true) {
		t.Error("a small budget changes nothing")
	}
	if run(10, false) != run(0, false) {
		t.Error("a scene without a pyramid is drawn otherwise")
	}
}

// TestTriangleBudgetIsCalm: with a camera that stands nothing changes any more, and one that
// sways to and fro loads little anew.
func TestTriangleBudgetIsCalm(t *testing.T) {
	r, _ := countedRig(t, 16, 5000)
	r.until(30)
	drawn, st := r.names(), r.s.Stats()
	r.until(90)
	if now := r.s.Stats(); now.Loads != st.Loads || now.RepresentationChanges != st.RepresentationChanges || !slices.Equal(r.names(), drawn) {
		t.Errorf("in a minute %d loads and %d changes", now.Loads-st.Loads, now.RepresentationChanges-st.RepresentationChanges)
	}
	sway := func() uint64 {
		before := r.s.Stats().RepresentationChanges
		for i := range 200 {
			r.camera.Forward = [3]float64{1, 0, 0.01 + float64(i%20)*0.01}
			r.step()
		}
		return r.s.Stats().RepresentationChanges - before
	}
	sway()
	if changes := sway(); changes > 4*10 { // of 10 sways
		t.Errorf("10 sways change %d places", changes)
	}
}

// TestTriangleBudgetTurns: who turns away for long and back finds what there was, where
// memory is not short.
func TestTriangleBudgetTurns(t *testing.T) {
	r, _ := countedRig(t, 16, 5000)
	look := func(x float64) {
		r.camera.Forward = [3]float64{x, 0, 0.01}
		r.until(r.now() + 20)
	}
	look(1)
	look(-1)
	loads := r.s.Stats().Loads
	look(1)
	look(-1)
	if n := r.s.Stats().Loads - loads; n > 0 {
		t.Errorf("%d loads", n)
	}
}

// TestTriangleBudgetRests: there is no rest while the stretch may still change.
func TestTriangleBudgetRests(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		budget := 30 + rng.IntN(2000)
		r, _ := countedRig(t, 8, budget)
		for i := range 400 {
			rested, before := r.s.AtRest(), r.s.budget.split.frame.stretch
			if i%95 == 90 {
				rested = false
				r.camera.Position = [3]float64{rng.Float64()*360 - 100, 2 + rng.Float64()*200, rng.Float64()*360 - 100}
				r.camera.Forward = [3]float64{rng.Float64() - 0.5, -rng.Float64(), rng.Float64() - 0.5}
			}
			r.step()
			if now := r.s.budget.split.frame.stretch; rested && now != before {
				t.Errorf("%d triangles, step %d: the stretch was %v, is %v", budget, i, before, now)
			}
		}
	}
}

// TestTriangleBudgetBelowBrokenNodes: what stands in for nodes that cannot be loaded counts.
func TestTriangleBudgetBelowBrokenNodes(t *testing.T) {
	r, _ := countedRig(t, 16, 500)
	for i := range r.s.scenes[0].refinement.nodes {
		r.s.scenes[0].refinement.nodes[i].error = 0.001 // never seen
	}
	r.loader.Fault = func(q payload.Request) string {
		if strings.HasPrefix(q.TileID, "n0") {
			return ""
		}
		return "fail"
	}
	r.until(60)
	f := &r.s.budget.split.frame
	if got, want := f.coarsest+f.triangles[splitSteps-1], r.inView(); got != want || want == r.coarsest() {
		t.Errorf("%v triangles are counted, %v are in view, %v of roots", got, want, r.coarsest())
	}
}

// TestTriangleBudgetOfOneStep: what the smallest step of the stretch grants counts, too. Here it
// is 205 triangles.
func TestTriangleBudgetOfOneStep(t *testing.T) {
	r, _ := countedRig(t, 8, 1145)
	r.camera.Position, r.camera.Forward = [3]float64{0.0011865882594947474, 10.596646979390925, 0}, [3]float64{0, -0.19604481756687164, 0.3}
	r.until(r.now() + 0.125)
	r.camera.Position, r.camera.Forward = [3]float64{0, 7.264917373657227, 0.45598509508658935}, [3]float64{-0.00039514843473398287, 0, 0.3}
	r.until(r.now() + 65)
	if got := r.inView(); got > 1145 {
		t.Errorf("%v triangles in view", got)
	}
}

// TestTriangleBudgetHolds: wherever the camera stands and whatever the memory, what is drawn
// in view in the end has no more triangles than the budget, or is the coarsest there is.
func TestTriangleBudgetHolds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		budget := rapid.IntRange(30, 8000).Draw(rt, "budget")
		r, m := countedRig(t, 8, budget)
		r.memory = memory.Memory{GeometryBudget: rapid.SampledFrom([]int64{0, 60_000, 200_000}).Draw(rt, "memory")}
		coordinate := rapid.Float64Range(-100, 260)
		for range rapid.IntRange(1, 4).Draw(rt, "stops") {
			r.camera.Position = [3]float64{coordinate.Draw(rt, "x"), rapid.Float64Range(2, 200).Draw(rt, "y"), coordinate.Draw(rt, "z")}
			r.camera.Forward = [3]float64{rapid.Float64Range(-1, 1).Draw(rt, "dx"), rapid.Float64Range(-1, 0).Draw(rt, "dy"), 0.3}
			r.until(r.now() + rapid.Float64Range(0.1, 20).Draw(rt, "seconds"))
		}
		r.until(r.now() + 60)
		if got, least := r.inView(), r.coarsest(); got > max(float64(budget), least) {
			rt.Errorf("%d triangles: %v in view, the roots have %v", budget, got, least)
		}
		if _, err := r.covering(m); err != nil {
			rt.Error(err)
		}
		if st := r.s.Stats(); st.Undrawn > 0 {
			rt.Errorf("%d undrawn", st.Undrawn)
		}
	})
}
