package runtime

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/manifest"
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
				if inView && sc.drafts() && !sc.view.sees(&sc.tiles.box[row]) {
					t.Errorf("%v: %s is loaded, which is out of view", e.Time, e.Tile)
				}
			}
			if sc.showsDraft(r.s.residency) {
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

// TestDraftLeaps: a draft begins with the roots and what will be seen of it. Nodes between
// them all of which is in view come later, and tiles after the roots. In the end all nodes
// are there that would be without.
func TestDraftLeaps(t *testing.T) {
	open := func() *rig {
		r := inTheMiddle(t, pyramidOf(16, 60), withLatency(0.1))
		r.camera.Position, r.camera.Forward = [3]float64{-60, 60, 160}, [3]float64{1, -0.1, 0.01}
		return r
	}
	r := open()
	sc := r.s.scenes[0]
	ref := sc.refinement
	first, firstTile := map[string]int{}, -1
	between := 0
	for k := 0; !ref.leapt(r.s.now); k++ {
		r.step()
		for i := range ref.nodes {
			if n := &ref.nodes[i]; n.leaps {
				between++
			}
		}
		for _, e := range r.last {
			if e.Kind != event.HLODLoad && e.Kind != event.LODLoad && e.Kind != event.TileDispatch {
				continue
			}
			row := int32(slices.Index(sc.tiles.id, e.Tile))
			if row < ref.first {
				if firstTile < 0 {
					firstTile = k
				}
				continue
			}
			first[e.Tile] = k
			if ref.nodes[row-ref.first].leaps {
				t.Errorf("%v: %s is loaded", r.now(), e.Tile)
			}
		}
		if firstTile >= 0 && !ref.hasRoot(sc, ref.roots[0]) {
			t.Fatal("a tile is loaded before the root")
		}
	}
	if between == 0 || firstTile < 0 || first["n4_0_0"] != 0 {
		t.Errorf("%d nodes left out, first tile in step %d, root in step %d", between, firstTile, first["n4_0_0"])
	}
	slow := open()
	slow.s.scenes[0].refinement.drafted = true
	for _, r := range []*rig{r, slow} {
		r.until(r.now() + 60)
	}
	resident := func(r *rig) (out []string) {
		sc := r.s.scenes[0]
		for i := range sc.refinement.nodes {
			if row := sc.refinement.first + int32(i); sc.recordOf(row).rep(payload.RepHLOD).resident() {
				out = append(out, sc.tiles.id[row])
			}
		}
		return out
	}
	if a, b := resident(r), resident(slow); !slices.Equal(a, b) || !slices.Equal(r.names(), slow.names()) {
		t.Errorf("in the end %v are there, without a draft %v", a, b)
	}
}

// TestDraftBelowALeap: what lies below a node that is left out is drawn in its place as a
// whole, and until then the root.
func TestDraftBelowALeap(t *testing.T) {
	m := pyramidOf(8, 60)
	r := inTheMiddle(t, m, withFault(func(req payload.Request) string {
		if req.TileID == "n1_3_3" && req.Attempt < 3 {
			return "fail"
		}
		return ""
	}))
	r.camera.Position, r.camera.Forward = [3]float64{-60, 60, 80}, [3]float64{1, -0.1, 0.01}
	for range 600 {
		r.step()
		places, err := r.covering(m)
		if err != nil {
			t.Fatalf("%v of %v", err, r.names())
		}
		if r.record("n3_0_0").rep(payload.RepHLOD).resident() && len(places) != 64 {
			t.Fatalf("%d of 64 places are drawn: %v", len(places), r.names())
		}
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

// inTheMiddle opens a scene with a pyramid in its middle, where the last camera is.
func inTheMiddle(t *testing.T, m *manifest.Manifest, opts ...rigOption) *rig {
	r := newRig(t, m, append([]rigOption{withConfig(func(c *config.Config) { c.MaxQueryRadius = 1e6 })}, opts...)...)
	r.lens()
	r.camera.Position, r.camera.Forward = [3]float64{80, 20, 80}, [3]float64{1, 0, 0.01}
	return r
}

// drawnOf lists what is drawn of a scene.
func drawnOf(s *Streamer, id payload.SceneID) (keys []payload.Key) {
	for _, d := range s.AppendDrawn(nil) {
		if d.Scene == id {
			keys = append(keys, d.Key)
		}
	}
	return keys
}

// TestDraftOfAnotherScene: what is there loses nothing while a second scene has a draft.
func TestDraftOfAnotherScene(t *testing.T) {
	m := pyramidOf(8, 60)
	r := inTheMiddle(t, m)
	r.until(60)
	first := r.s.Scenes()[0]
	before := drawnOf(r.s, first)
	id, err := r.s.AddScene(Source{Manifest: m, Path: "scene/scene.json"})
	if err != nil {
		t.Fatal(err)
	}
	drafts := 0
	for range 300 {
		r.step()
		if r.s.scenes[1].drafts() {
			drafts++
		}
		if now := drawnOf(r.s, first); !slices.Equal(now, before) {
			t.Fatalf("at %v of the first scene %v is drawn, before %v", r.now(), now, before)
		}
	}
	if drafts == 0 || r.s.scenes[1].drafts() || len(drawnOf(r.s, id)) != len(before) {
		t.Errorf("%d ticks of a draft, drawn %v and %v", drafts, before, drawnOf(r.s, id))
	}
}

// TestDraftOfASuccessor: a scene that takes over from one that is drawn has no draft,
// and one that is read beside the frames changes nothing.
func TestDraftOfASuccessor(t *testing.T) {
	m := pyramidOf(8, 60)
	r := inTheMiddle(t, m)
	r.until(60)
	done, before := make(chan *scene), r.names()
	go func() {
		next, err := r.s.register(Source{Manifest: m, Path: "scene/scene.json"})
		if err != nil {
			t.Error(err)
		}
		done <- next
	}()
	for range 20 {
		r.step()
	}
	next := <-done
	if r.step(); r.s.budget.split.scarce || !slices.Equal(r.names(), before) {
		t.Errorf("scarce: %v; drawn: %v, before %v", r.s.budget.split.scarce, r.names(), before)
	}
	r.s.succeedScene(r.s.scenes[0], next, "cooked again")
	for range 300 {
		r.step()
		if r.s.scenes[0].drafts() {
			t.Fatal("the successor has a draft")
		}
	}
	if got := r.names(); !slices.Equal(got, before) || len(r.s.succession.retired) > 0 {
		t.Errorf("drawn: %v, before %v", got, before)
	}
}

// TestSuccessorsNodes: a tile is drawn until a node of the new scene stands for it.
func TestSuccessorsNodes(t *testing.T) {
	m := pyramidOf(4, 60)
	r := inTheMiddle(t, m, withLatency(2))
	r.camera.Position = [3]float64{40, 2, 40}
	r.until(60)
	next, err := r.s.register(Source{Manifest: m, Path: "scene/scene.json"})
	if err != nil {
		t.Fatal(err)
	}
	r.s.succeedScene(r.s.scenes[0], next, "cooked again")
	r.camera.Position[0] = 3000
	for range 100 {
		r.step()
		if len(r.s.AppendDrawn(nil)) == 0 {
			t.Fatalf("nothing is drawn at %v", r.now())
		}
	}
	if got := r.names(); !slices.Equal(got, []string{"n2_0_0 hlod 1111"}) || len(r.s.succession.retired) > 0 {
		t.Errorf("drawn: %v, retired %d", got, len(r.s.succession.retired))
	}
}

// TestDraftIsNoRest: who waits for rest does not get a draft.
func TestDraftIsNoRest(t *testing.T) {
	for _, latency := range []float64{0, 0.05, 0.25, 0.9} {
		m := pyramidOf(8, 60)
		for i := range m.Pyramid.Nodes {
			m.Pyramid.Nodes[i].VisualError *= 0.2
		}
		r := inTheMiddle(t, m, withLatency(latency))
		r.dt = 20e6
		for k := 0; !r.s.AtRest(); k++ {
			if r.step(); k > 10_000 {
				t.Fatal("there is no rest")
			}
		}
		at, got := r.now(), r.names()
		drafts := r.s.scenes[0].drafts()
		r.until(at + 30)
		if drafts || !slices.Equal(got, r.names()) {
			t.Errorf("latency %v: at rest at %v, drafts %v, with %d things of %d", latency, at, drafts, len(got), len(r.names()))
		}
	}
}

// TestDraftWantsNoMore: a draft is complete without what is wanted nowhere near, and it
// is not without the root.
func TestDraftWantsNoMore(t *testing.T) {
	m := pyramidOf(4, 60)
	m.Tiles = append(m.Tiles, tileAt("far", around(500, 0, 45, 10), radiiAt(50, 60))) // without levels, below no node
	r := inTheMiddle(t, m)
	r.camera.Position = [3]float64{10, 2, 40}
	sc := r.s.scenes[0]
	if r.step(); sc.showsDraft(r.s.residency) {
		t.Error("complete at once")
	}
	r.until(60)
	if !sc.showsDraft(r.s.residency) {
		t.Errorf("not complete: %v", r.names())
	}
	away := inTheMiddle(t, pyramidOf(4, 60))
	away.camera.Position = [3]float64{-3000, 2, 40}
	away.camera.Forward = [3]float64{-1, 0, 0}
	if away.step(); !away.s.scenes[0].drafts() {
		t.Error("a draft ends before the root has come")
	}
	away.until(5)
	if away.s.scenes[0].drafts() {
		t.Error("a draft of what is out of view does not end")
	}
}

// TestHungLoads: a load that hangs leaves one place coarse, and does not keep all the rest a
// draft. Loads that all take long are no reason to end one.
func TestHungLoads(t *testing.T) {
	for _, c := range []struct {
		hangs    string // ID of a tile or node
		latency  float64
		from, to float64 // seconds
	}{
		{"", 0.2, 2, 3},
		{"n2_0_0", 0.2, 5, 8}, // a root out of view
		{"n2_1_1", 0.2, 5, 8}, // one in view
		{"n1_2_2", 0.2, 5, 8},
		{"n0_5_5", 0.2, 5, 8},
		{"", 2, 20, 30},
	} {
		m := pyramidOf(8, 60)
		m.Pyramid.Nodes = m.Pyramid.Nodes[:len(m.Pyramid.Nodes)-1] // four roots
		r := inTheMiddle(t, m, withLatency(c.latency), withFault(func(q payload.Request) string {
			if q.TileID == c.hangs {
				return "hang"
			}
			return ""
		}))
		sc := r.s.scenes[0]
		for sc.drafts() && r.now() < 60 {
			r.step()
		}
		if at := r.now(); sc.drafts() || at < c.from || at > c.to {
			t.Errorf("%q hangs, latency %v: the draft ends at %v", c.hangs, c.latency, at)
		}
	}
}

// TestDraftProperty holds that drafts end, whatever fails, whatever the memory and wherever
// the camera looks, that no place is bare meanwhile once the root stands, and none drawn
// twice; and that in the end, with memory for all, the same is drawn as without a draft. (Not
// so where the frustum gate keeps out what was in view only once, or a node is still open that
// was so for want of what failed.)
func TestDraftProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := pyramidOf(8, float64(rapid.IntRange(60, 200).Draw(rt, "radius")))
		scale := rapid.SampledFrom([]float64{0.05, 0.2, 1}).Draw(rt, "errors")
		for i := range m.Pyramid.Nodes {
			m.Pyramid.Nodes[i].VisualError *= scale
		}
		odds := rapid.IntRange(0, 5).Draw(rt, "odds")
		fault := func(req payload.Request) string {
			h := uint32(2166136261)
			for _, b := range []byte(fmt.Sprint(req.TileID, req.Key.Rep, req.Attempt)) {
				h = (h ^ uint32(b)) * 16777619
			}
			if int(h>>8)%10 < odds {
				return "fail"
			}
			return ""
		}
		latency, budget := rapid.Float64Range(0, 1).Draw(rt, "latency"), int64(rapid.SampledFrom([]int{0, 0, 8000, 20000, 60000}).Draw(rt, "budget"))
		gate, fade := rapid.Bool().Draw(rt, "gate"), rapid.Bool().Draw(rt, "fade")
		position := [3]float64{rapid.Float64Range(-400, 400).Draw(rt, "x"), 2, rapid.Float64Range(-200, 400).Draw(rt, "z")}
		ways := rapid.SliceOfN(rapid.SampledFrom([][3]float64{{1, 0, 0}, {-1, 0, 0}, {0, 0, 1}, {0, 0, -1}}), 1, 6).Draw(rt, "looks")
		frames := rapid.IntRange(1, 60).Draw(rt, "frames")
		play := func(drafts bool) *rig {
			r := newRig(t, m, withFault(fault), withLatency(latency), withBytes(1000), withConfig(func(c *config.Config) {
				c.MaxQueryRadius, c.RetryBackoffBase, c.RetryBackoffMax = 3000, 0.5, 2
				c.EnableFrustumGate, c.EnableFadeTransitions = gate, fade
				c.MinimumParsedTileResidentSeconds, c.UnloadGracePeriod = 0.5, 0.5
			}))
			r.lens()
			r.s.scenes[0].refinement.drafted = !drafts
			r.camera.Position, r.memory.GeometryBudget = position, budget
			stood := false
			step := func() {
				r.step()
				if !r.s.scenes[0].drafts() && r.frame%16 != 0 {
					return
				}
				places, err := r.covering(m)
				if err != nil {
					rt.Fatalf("%v of %v", err, r.names())
				}
				if stood = stood || r.record("n3_0_0").rep(payload.RepHLOD).resident(); stood && len(places) != 64 {
					rt.Fatalf("%d of 64 places are drawn: %v", len(places), r.names())
				}
			}
			for _, way := range ways {
				r.camera.Forward = way
				for range frames {
					step()
				}
			}
			r.dt *= 2
			for end := r.now() + 40; r.now() < end; {
				step()
			}
			if r.s.scenes[0].drafts() {
				rt.Fatal("the draft does not end")
			}
			return r
		}
		a, b := play(true), play(false)
		if x, y := a.names(), b.names(); budget == 0 && odds == 0 && !gate && !slices.Equal(x, y) {
			rt.Fatalf("in the end there is %v, without a draft %v", x, y)
		}
	})
}
