package runtime

import (
	"slices"
	"testing"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
)

// TestDraft opens a scene from its middle: until all in view has come, nothing is loaded
// that is out of view, and what is in view takes fewer loads than without a draft. In the
// end the same is drawn.
func TestDraft(t *testing.T) {
	open := func() *rig {
		m := pyramidOf(16, 60)
		for i := range m.Pyramid.Nodes {
			m.Pyramid.Nodes[i].VisualError *= 0.2
		}
		r := newRig(t, m, withConfig(func(c *config.Config) { c.MaxQueryRadius = 1e6 }))
		r.lens()
		r.camera.Position, r.camera.Forward = [3]float64{160, 20, 160}, [3]float64{1, 0, 0.01}
		return r
	}
	// loadsUntil runs until all in view is drawn and returns how many loads that took.
	loadsUntil := func(r *rig, inView bool) (loads int) {
		sc := r.s.scenes[0]
		for range 1000 {
			r.step()
			for _, e := range r.last {
				if e.Kind != event.HLODLoad && e.Kind != event.LODLoad && e.Kind != event.TileDispatch {
					continue
				}
				loads++
				row := int32(slices.Index(sc.tiles.id, e.Tile))
				if inView && e.Kind != event.TileDispatch && sc.drafts() && !sc.view.sees(&sc.tiles.box[row]) {
					t.Errorf("%v: %s is loaded, which is out of view", e.Time, e.Tile)
				}
			}
			if sc.showsDraft() {
				return loads
			}
		}
		t.Fatal("not all in view comes")
		return 0
	}
	r := open()
	if !r.s.scenes[0].drafts() {
		t.Fatal("there is no draft")
	}
	with := loadsUntil(r, true)
	plain := open()
	plain.s.scenes[0].refinement.drafted = true
	without := loadsUntil(plain, false)
	if 4*with > 3*without {
		t.Errorf("the draft takes %d loads, all that is in view %d", with, without)
	}
	for _, r := range []*rig{r, plain} {
		r.until(r.now() + 60)
		if r.s.scenes[0].drafts() || !r.s.AtRest() {
			t.Errorf("after a minute: drafts %v, at rest %v", r.s.scenes[0].drafts(), r.s.AtRest())
		}
	}
	if a, b := r.names(), plain.names(); !slices.Equal(a, b) {
		t.Errorf("in the end there are %v, without a draft %v", a, b)
	}
}

// TestDraftEnds: one of which nothing comes ends after a pause.
func TestDraftEnds(t *testing.T) {
	m := pyramidOf(4, 60)
	r := newRig(t, m)
	r.loader.Fault = func(payload.Request) string { return "fail" }
	r.until(20)
	if r.s.scenes[0].drafts() {
		t.Error("there is still a draft")
	}
}
