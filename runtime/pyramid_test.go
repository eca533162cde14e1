package runtime

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

// pyramidOf returns a scene of side x side tiles of 20 m in the plane y = 0 with a
// pyramid over them that halves the side with each level. Errors are 0.5 m at level 1
// and double with each.
func pyramidOf(side int, unload float64) *manifest.Manifest {
	m := sceneOf()
	name := func(level, x, z int) string { return fmt.Sprintf("n%d_%d_%d", level, x, z) }
	for z := range side {
		for x := range side {
			m.Tiles = append(m.Tiles, tileAt(name(0, x, z), box(float64(20*x), 0, float64(20*z), float64(20*x+20), 5, float64(20*z+20)), radiiAt(unload, unload+10), hlodAt(60)))
		}
	}
	m.Pyramid = &manifest.Pyramid{}
	size := 20.0
	for level := 1; side > 1; level++ {
		side, size = side/2, size*2
		for z := range side {
			for x := range side {
				m.Pyramid.Nodes = append(m.Pyramid.Nodes, manifest.PyramidNode{
					ID: name(level, x, z), Level: level, Path: "tiles/" + name(level, x, z) + ".untold", FileSizeBytes: 1000,
					Children: []string{name(level-1, 2*x, 2*z), name(level-1, 2*x+1, 2*z), name(level-1, 2*x, 2*z+1), name(level-1, 2*x+1, 2*z+1)},
					Bounds:   box(float64(x)*size, 0, float64(z)*size, float64(x+1)*size, 5, float64(z+1)*size), VisualError: math.Ldexp(0.25, level), GeometricError: 1,
				})
			}
		}
	}
	return m
}

// spliced takes a node out of a pyramid: what is below it hangs below its parent, behind
// the parent's other children.
func spliced(m *manifest.Manifest, id string) {
	nodes := m.Pyramid.Nodes
	at := slices.IndexFunc(nodes, func(n manifest.PyramidNode) bool { return n.ID == id })
	for i := range nodes {
		if k := slices.Index(nodes[i].Children, id); k >= 0 {
			nodes[i].Children = append(slices.Delete(nodes[i].Children, k, k+1), nodes[at].Children...)
		}
	}
	m.Pyramid.Nodes = slices.Delete(nodes, at, at+1)
}

// covering returns, for the place of each tile, the parts of the mask that what is
// drawn there has, and reports a device that would cover some of it twice or not at all.
func (r *rig) covering(m *manifest.Manifest) (map[string][]Drawn, error) {
	places := map[string][]Drawn{}
	children := map[string][]string{}
	for i := range m.Pyramid.Nodes {
		children[m.Pyramid.Nodes[i].ID] = m.Pyramid.Nodes[i].Children
	}
	var cover func(id string, d Drawn)
	cover = func(id string, d Drawn) {
		if children[id] == nil {
			places[id] = append(places[id], d)
		}
		for _, c := range children[id] {
			cover(c, d)
		}
	}
	sc, parts := r.s.scenes[0], map[payload.Key]uint64{}
	for _, d := range r.s.AppendDrawn(nil) {
		id := sc.tiles.id[d.Tile]
		if children[id] == nil {
			cover(id, d)
			continue
		}
		if parts[d.Key]&d.Parts != 0 || d.Parts == 0 {
			return nil, fmt.Errorf("%s has entries for %b and %b", id, parts[d.Key], d.Parts)
		}
		parts[d.Key] |= d.Parts
		for bit, c := range children[id] {
			if d.Parts>>bit&1 != 0 {
				cover(c, d)
			}
		}
	}
	for id, list := range places {
		slices.SortStableFunc(list, func(a, b Drawn) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Fade, b.Fade)) })
		at := 0.0
		for _, d := range list {
			if d.From != at {
				return nil, fmt.Errorf("%s: the mask goes on at %v after %v: %+v", id, d.From, at, list)
			}
			at = d.From + d.Fade
		}
		if at != 1 {
			return nil, fmt.Errorf("%s: the opacities add up to %v: %+v", id, at, list)
		}
	}
	return places, nil
}

// names lists what is drawn.
func (r *rig) names() (out []string) {
	for _, d := range r.s.AppendDrawn(nil) {
		s := r.s.scenes[0].tiles.id[d.Tile] + " " + d.Rep.String()
		if d.Parts != 0 {
			s += fmt.Sprintf(" %b", d.Parts)
		}
		out = append(out, s)
	}
	return out
}

// jump puts the camera somewhere, from within a pyramid to far away.
func (r *rig) jump(rt *rapid.T) {
	r.camera.Position = [3]float64{float64(rapid.IntRange(-2000, 2000).Draw(rt, "x")), 2, float64(rapid.IntRange(-200, 400).Draw(rt, "z"))}
	if rapid.Bool().Draw(rt, "near") {
		r.camera.Position[0] /= 10
	}
}

// TestPyramid flies away from a scene and back: far away its root alone is drawn, in
// between the nodes whose error is too small to be seen, near by the tiles.
func TestPyramid(t *testing.T) {
	m := pyramidOf(4, 100)
	r := newRig(t, m, withConfig(func(c *config.Config) { c.MaxQueryRadius = 5000; c.MinimumParsedTileResidentSeconds = 0 }))
	r.camera.Position = [3]float64{3000, 2, 40}
	r.until(3)
	if got := r.names(); !slices.Equal(got, []string{"n2_0_0 hlod 1111"}) {
		t.Errorf("from afar: %v", got)
	}
	if got := r.counter("bytesLoaded"); got != 1000 {
		t.Errorf("from afar %v bytes were loaded, want those of the root alone", got)
	}
	r.camera.Position[0] = 600 // the root's error of 1 m is 2 pixels at 467 m, a node's of half a metre at 234 m
	r.until(6)
	r.camera.Position[0] = 380
	r.until(9)
	if got := r.names(); !slices.Equal(got, []string{"n1_0_0 hlod 1111", "n1_1_0 hlod 1111", "n1_0_1 hlod 1111", "n1_1_1 hlod 1111"}) {
		t.Errorf("at 300 m: %v", got)
	}
	r.camera.Position[0] = 40
	r.until(20)
	for _, name := range r.names() {
		if !strings.HasPrefix(name, "n0_") {
			t.Errorf("in the middle %s is drawn", name)
		}
	}
	r.camera.Position[0] = 3000
	r.until(40)
	if got := r.names(); !slices.Equal(got, []string{"n2_0_0 hlod 1111"}) {
		t.Errorf("from afar again: %v", got)
	}
	if got := r.counter("residentHLOD") + r.counter("residentFull"); got != 1 {
		t.Errorf("from afar again %v representations are resident, want the root", got)
	}
	if !r.s.AtRest() {
		t.Error("not at rest")
	}
}

// TestPyramidStandsIn: a tile that is evicted, or does not load, is drawn by its node.
func TestPyramidStandsIn(t *testing.T) {
	m := pyramidOf(2, 100)
	r := newRig(t, m, withFault(func(req payload.Request) string {
		if req.TileID == "n0_1_0" {
			return "fail"
		}
		return ""
	}))
	r.camera.Position = [3]float64{20, 2, 20}
	r.until(5)
	if got := r.names(); !slices.Equal(got, []string{"n0_0_0 full", "n0_0_1 full", "n0_1_1 full", "n1_0_0 hlod 10"}) {
		t.Errorf("drawn: %v", got)
	}
	if c := r.s.Coverage(); c.Bare != 0 || c.InView != 4 {
		t.Errorf("coverage: %+v", c)
	}
}

// TestPyramidWithoutItsRoot: nodes that do not load count as not there.
func TestPyramidWithoutItsRoot(t *testing.T) {
	m := pyramidOf(4, 100)
	r := newRig(t, m, withFault(func(req payload.Request) string {
		if strings.HasPrefix(req.TileID, "n2") || strings.HasPrefix(req.TileID, "n1") {
			return "fail"
		}
		return ""
	}), withConfig(func(c *config.Config) { c.MaxQueryRadius = 5000 }))
	r.camera.Position = [3]float64{3000, 2, 40}
	r.until(10)
	places, err := r.covering(m)
	if err != nil || len(places) != 16 {
		t.Errorf("%d tiles are drawn, want 16: %v", len(places), err)
	}
}

// TestPyramidProperty holds that each place is covered exactly once, by one entry or
// by several whose opacities add up to 1, and that none is bare once the root is
// there, whatever fails, however the camera moves and the memory shrinks.
func TestPyramidProperty(t *testing.T) {
	race.Checks(t, 25) // make test does all of them without the detector
	rapid.Check(t, func(rt *rapid.T) {
		m := pyramidOf(8, float64(rapid.IntRange(5, 200).Draw(rt, "radius")))
		for range rapid.IntRange(0, 6).Draw(rt, "spliced") { // as in trees, tiles hang beside nodes
			n := rapid.SampledFrom(m.Pyramid.Nodes[:len(m.Pyramid.Nodes)-1]).Draw(rt, "node")
			spliced(m, n.ID)
		}
		// One roll for each file and attempt.
		odds := rapid.IntRange(0, 4).Draw(rt, "odds")
		fault := func(req payload.Request) string {
			h := uint32(2166136261)
			for _, b := range []byte(fmt.Sprint(req.TileID, req.Key.Rep, req.Attempt)) {
				h = (h ^ uint32(b)) * 16777619
			}
			if int(h>>8)%10 < odds && req.TileID != "n3_0_0" {
				return "fail"
			}
			return ""
		}
		latency := rapid.IntRange(0, 1000).Draw(rt, "latency")
		fade := rapid.Bool().Draw(rt, "fade")
		r := newRig(t, m, withFault(fault), withLatency(float64(latency)/1000), withBytes(1000), withConfig(func(c *config.Config) {
			c.MaxQueryRadius = 3000
			c.RetryBackoffBase = 0.5
			c.EnableFadeTransitions = fade
			c.FadeDuration = rapid.SampledFrom([]float64{0.05, 0.3, 2}).Draw(rt, "length")
			c.MinimumParsedTileResidentSeconds, c.UnloadGracePeriod = 0.5, 0.5
		}))
		r.dt = 50 * time.Millisecond
		stood := false
		for range rapid.IntRange(1, 12).Draw(rt, "legs") {
			r.jump(rt)
			r.memory.GeometryBudget = int64(rapid.SampledFrom([]int{0, 8000, 20000, 60000}).Draw(rt, "budget"))
			for range rapid.IntRange(1, 60).Draw(rt, "frames") {
				r.step()
				places, err := r.covering(m)
				if err != nil {
					rt.Fatalf("%v of %v", err, r.names())
				}
				if !fade {
					for id, list := range places {
						if len(list) != 1 {
							rt.Fatalf("%s fades: %v", id, list)
						}
					}
				}
				root := r.record("n3_0_0").rep(payload.RepHLOD).resident()
				if stood && !root {
					rt.Fatal("the root went")
				}
				if stood = stood || root; stood && len(places) != 64 {
					rt.Fatalf("%d of 64 places are drawn: %v", len(places), r.names())
				}
			}
		}
	})
}

// TestPyramidFadesProperty holds that nothing of a pyramid comes or goes at once while
// nothing fails and memory lasts: from frame to frame no node's share of a place changes
// by more than the fades of its ancestors and its own allow.
func TestPyramidFadesProperty(t *testing.T) {
	race.Checks(t, 25) // make test does all of them without the detector
	faded := 0
	rapid.Check(t, func(rt *rapid.T) {
		m := pyramidOf(8, float64(rapid.IntRange(5, 200).Draw(rt, "radius")))
		latency := rapid.IntRange(0, 300).Draw(rt, "latency")
		grace := rapid.SampledFrom([]float64{0, 0.5}).Draw(rt, "grace")
		r := newRig(t, m, withLatency(float64(latency)/1000), withBytes(1000), withConfig(func(c *config.Config) {
			c.MaxQueryRadius, c.EnableFadeTransitions, c.FadeDuration = 3000, true, 0.5
			c.MinimumParsedTileResidentSeconds, c.UnloadGracePeriod = grace, grace
		}))
		r.dt = 25 * time.Millisecond
		const most = 4*0.025/0.5 + 4.0/maskSteps // three levels of nodes and the tile
		var last map[string][]Drawn
		for range rapid.IntRange(1, 12).Draw(rt, "legs") {
			r.jump(rt)
			for range rapid.IntRange(1, 40).Draw(rt, "frames") {
				r.step()
				places, err := r.covering(m)
				if err != nil {
					rt.Fatalf("%v of %v", err, r.names())
				}
				for id, before := range last {
					shares := map[int32]float64{}
					for _, d := range places[id] {
						shares[r.nodeOf(&d)] += d.Fade
						if d.Fade < 1 {
							faded++
						}
					}
					for _, d := range before {
						shares[r.nodeOf(&d)] -= d.Fade
					}
					for _, by := range shares {
						if math.Abs(by) > most {
							rt.Fatalf("%s at %v: %v after %v", id, r.now(), places[id], before)
						}
					}
				}
				last = places
			}
		}
		r.dt = 200 * time.Millisecond
		if r.until(r.now() + 30); !r.s.AtRest() || r.counter("activeFades") != 0 {
			rt.Fatalf("not at rest: %v", r.names())
		}
	})
	if faded == 0 {
		t.Error("nothing faded")
	}
}

// nodeOf returns the tile or node of an entry: -1 for tiles, whose representations
// have fades of their own.
func (r *rig) nodeOf(d *Drawn) int32 {
	if d.Parts == 0 {
		return -1
	}
	return d.Tile
}

// TestPyramidFade: the place of a tile passes from its node within the time of a fade,
// goes back from where it is, and is the node's alone before the tile's level goes.
func TestPyramidFade(t *testing.T) {
	m := pyramidOf(2, 100)
	r := newRig(t, m, withConfig(func(c *config.Config) {
		c.MaxQueryRadius, c.EnableFadeTransitions, c.FadeDuration = 5000, true, 1
		c.UnloadGracePeriod, c.MinimumParsedTileResidentSeconds = 0, 0
	}))
	shares := func() string {
		var s []string
		for _, d := range r.s.AppendDrawn(nil) {
			s = append(s, fmt.Sprintf("%s %v %.2f-%.2f %b", r.s.scenes[0].tiles.id[d.Tile], d.Rep, d.From, d.From+d.Fade, d.Parts))
		}
		return strings.Join(s, ", ")
	}
	r.camera.Position = [3]float64{340, 2, 20}
	r.until(3)
	if got, want := shares(), "n1_0_0 hlod 0.00-1.00 1111"; got != want {
		t.Errorf("from afar %s, want %s", got, want)
	}
	r.camera.Position[0] = 240 // tiles show their HLODs from 60 m on
	for r.step(); r.s.activeFades() == 0; r.step() {
	}
	for range 3 {
		r.step()
	}
	at := func(lo string) string {
		const tile = " hlod LO-1.00 0, "
		return strings.ReplaceAll("n0_0_0"+tile+"n0_1_0"+tile+"n0_0_1"+tile+"n0_1_1"+tile+"n1_0_0 hlod 0.00-LO 1111", "LO", lo)
	}
	if got := shares(); got != at("0.70") {
		t.Errorf("three frames on %s", got)
	}
	if r.s.AtRest() {
		t.Error("at rest while the place passes")
	}
	r.camera.Position[0] = 340
	for _, want := range []string{"0.60", "0.70", "0.80"} { // the turn is noticed at the end of a frame
		if r.step(); shares() != at(want) {
			t.Errorf("turned round: %s, want %s", shares(), want)
		}
	}
	r.until(r.now() + 2)
	if got, n := shares(), r.counter("residentHLOD"); got != "n1_0_0 hlod 0.00-1.00 1111" || n != 1 {
		t.Errorf("back: %s, %v are resident", got, n)
	}
	if !r.s.AtRest() {
		t.Error("not at rest")
	}
}

// TestPyramidOfATree: tiles that hang beside nodes come as soon as their node is open.
func TestPyramidOfATree(t *testing.T) {
	m := pyramidOf(4, 1000)
	spliced(m, "n1_0_0")
	r := newRig(t, m, withConfig(func(c *config.Config) { c.MaxQueryRadius = 5000; c.MinimumParsedTileResidentSeconds = 0 }))
	r.camera.Position = [3]float64{3000, 2, 40}
	r.until(60) // longer than tiles sleep that want nothing
	r.camera.Position[0] = 380
	r.until(63)
	want := []string{"n0_0_0 full", "n0_1_0 full", "n0_0_1 full", "n0_1_1 full", "n1_1_0 hlod 1111", "n1_0_1 hlod 1111", "n1_1_1 hlod 1111"}
	if got := r.names(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestPyramidKeepsToTheBudget: nodes and tiles together take no more than the geometry
// budget, which holds the roots, wherever the camera goes; PyramidBytes says what of
// that nodes take.
func TestPyramidKeepsToTheBudget(t *testing.T) {
	race.Checks(t, 25) // make test does all of them without the detector
	rapid.Check(t, func(rt *rapid.T) {
		m := pyramidOf(8, float64(rapid.IntRange(5, 200).Draw(rt, "radius")))
		memory := int64(1000)
		for i := range m.Tiles {
			m.Tiles[i].FileSizeBytes, m.Tiles[i].EstimatedMemoryBytes = 1000, &memory
		}
		size := func(q payload.Request) int64 {
			if q.Key.Rep == payload.RepHLOD && strings.HasPrefix(q.TileID, "n0") {
				return 100
			}
			return 1000
		}
		for i := range m.Tiles {
			m.Tiles[i].HLODLevels[0].FileSizeBytes = 100
		}
		latency := rapid.IntRange(0, 1000).Draw(rt, "latency")
		r := newRig(t, m, withLatency(float64(latency)/1000), withConfig(func(c *config.Config) {
			c.MaxQueryRadius = 3000
			c.EnableFadeTransitions = rapid.Bool().Draw(rt, "fade")
			c.MinimumParsedTileResidentSeconds, c.UnloadGracePeriod = 0.5, 0.5
			c.OutOfCorePolicy = config.OutOfCoreImmediate
		}))
		r.loader.Bytes = size
		r.memory.GeometryBudget = int64(rapid.IntRange(3000, 60000).Draw(rt, "budget"))
		r.dt = 50 * time.Millisecond
		for range rapid.IntRange(1, 12).Draw(rt, "legs") {
			r.jump(rt)
			for range rapid.IntRange(1, 60).Draw(rt, "frames") {
				r.step()
				st, nodes := r.s.Stats(), int64(0)
				for _, n := range m.Pyramid.Nodes {
					nodes += r.record(n.ID).rep(payload.RepHLOD).geometry
				}
				if st.GeometryUsed > st.GeometryBudget {
					rt.Fatalf("%d bytes of %d are in use: %v", st.GeometryUsed, st.GeometryBudget, r.names())
				}
				if root := r.record("n3_0_0").rep(payload.RepHLOD).geometry; st.PyramidRootBytes != root {
					rt.Fatalf("the root takes %d bytes, told %d", root, st.PyramidRootBytes)
				}
				if st.PyramidBytes != nodes || nodes > st.GeometryUsed {
					rt.Fatalf("nodes take %d bytes of %d, told %d", nodes, st.GeometryUsed, st.PyramidBytes)
				}
				if _, err := r.covering(m); err != nil {
					rt.Fatal(err)
				}
			}
		}
	})
}

// TestPyramidIsTheOutline: over a network a tile below an open node loads what is wanted
// of it, since the node shows it in the meantime; without a pyramid its smallest
// representation comes first.
func TestPyramidIsTheOutline(t *testing.T) {
	for _, above := range []bool{true, false} {
		m := pyramidOf(2, 100)
		for i := range m.Tiles {
			m.Tiles[i].FileSizeBytes, m.Tiles[i].HLODLevels[0].FileSizeBytes = 100_000, 1000
		}
		if !above {
			m.Pyramid = nil
		}
		f := &fakeFetcher{latency: 200 * time.Millisecond}
		r := newRig(t, m, withFetcher(f), withConfig(func(c *config.Config) { c.MaxQueryRadius = 5000 }))
		if above {
			r.s.scenes[0].refinement.drafted = true // a draft has HLODs of tiles for another reason
		}
		r.camera.Position = [3]float64{600, 2, 20} // the root comes first
		for above && len(r.names()) == 0 {
			f.deliver()
			r.step()
		}
		r.camera.Position[0] = 60
		for r.now() < 20 {
			f.deliver()
			r.step()
		}
		loads := map[string]int{}
		for _, l := range r.log {
			if what := strings.Fields(l); len(what) > 2 && strings.HasPrefix(what[2], "n0_") {
				loads[what[1]]++
			}
		}
		hlods := 4
		if above {
			hlods = 0
		}
		if loads["hlod.load"] != hlods || loads["tile.dispatch"] != 4 {
			t.Errorf("with a pyramid %t: %v", above, loads)
		}
	}
}

// TestNodeBelowAnotherIsNotBare: a node that is on its way below one that is drawn holds
// nothing back.
func TestNodeBelowAnotherIsNotBare(t *testing.T) {
	m := pyramidOf(4, 100)
	f := &fakeFetcher{latency: time.Hour} // nothing more comes
	r := newRig(t, m, withFetcher(f), withConfig(func(c *config.Config) { c.MaxQueryRadius = 5000 }))
	r.camera.Position = [3]float64{3000, 2, 40}
	sc := r.s.scenes[0]
	row := func(id string) int32 { return int32(slices.Index(sc.tiles.id, id)) }
	f.latency = 0
	for len(r.names()) == 0 {
		f.deliver()
		r.step()
	}
	f.latency = time.Hour
	r.camera.Position[0] = 380
	for range 30 {
		r.step()
	}
	n := row("n1_0_0")
	if rec := sc.recordOf(n); !rec.reps[1].loading() || !rec.nothingDrawn() {
		t.Fatalf("%+v", rec.reps)
	}
	if sc.bare(n, sc.recordOf(n)) || sc.bare(row("n0_0_0"), sc.recordOf(row("n0_0_0"))) {
		t.Error("what the root shows counts as bare")
	}
	if r.s.selector.outlining() {
		t.Error("full tiles wait for a node")
	}
}
