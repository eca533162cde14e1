package runtime

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

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

// covering counts what is drawn in the place of each tile.
func (r *rig) covering(m *manifest.Manifest) map[string]int {
	times := map[string]int{}
	children := map[string][]string{}
	for i := range m.Pyramid.Nodes {
		children[m.Pyramid.Nodes[i].ID] = m.Pyramid.Nodes[i].Children
	}
	var cover func(id string)
	cover = func(id string) {
		if children[id] == nil {
			times[id]++
		}
		for _, c := range children[id] {
			cover(c)
		}
	}
	sc, last := r.s.scenes[0], int32(-1)
	for _, d := range r.s.AppendDrawn(nil) {
		id := sc.tiles.id[d.Tile]
		if children[id] == nil {
			if d.Tile != last { // else it fades
				times[id]++
			}
			last = d.Tile
			continue
		}
		for bit, c := range children[id] {
			if d.Parts>>bit&1 != 0 {
				cover(c)
			}
		}
	}
	return times
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
	for id, n := range r.covering(m) {
		if n != 1 {
			t.Errorf("%s is drawn %d times", id, n)
		}
	}
	if got := len(r.covering(m)); got != 16 {
		t.Errorf("%d tiles are drawn, want 16", got)
	}
}

// TestPyramidProperty holds that no place is drawn twice, and that none is bare once
// the root is there, whatever fails, however the camera moves and the memory shrinks.
func TestPyramidProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := pyramidOf(8, float64(rapid.IntRange(5, 200).Draw(rt, "radius")))
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
		r := newRig(t, m, withFault(fault), withLatency(float64(latency)/1000), withBytes(1000), withConfig(func(c *config.Config) {
			c.MaxQueryRadius = 3000
			c.RetryBackoffBase = 0.5
			c.EnableFadeTransitions = rapid.Bool().Draw(rt, "fade")
			c.MinimumParsedTileResidentSeconds, c.UnloadGracePeriod = 0.5, 0.5
		}))
		r.dt = 50 * time.Millisecond
		stood := false
		for range rapid.IntRange(1, 12).Draw(rt, "legs") {
			r.camera.Position = [3]float64{float64(rapid.IntRange(-2000, 2000).Draw(rt, "x")), 2, float64(rapid.IntRange(-200, 400).Draw(rt, "z"))}
			if rapid.Bool().Draw(rt, "near") {
				r.camera.Position[0] /= 10
			}
			r.memory.GeometryBudget = int64(rapid.SampledFrom([]int{0, 8000, 20000, 60000}).Draw(rt, "budget"))
			for range rapid.IntRange(1, 60).Draw(rt, "frames") {
				r.step()
				times := r.covering(m)
				for id, n := range times {
					if n > 1 {
						rt.Fatalf("%s is drawn %d times: %v", id, n, r.names())
					}
				}
				root := r.record("n3_0_0").rep(payload.RepHLOD).resident()
				if stood && !root {
					rt.Fatal("the root went")
				}
				if stood = stood || root; stood && len(times) != 64 {
					rt.Fatalf("%d of 64 places are drawn: %v", len(times), r.names())
				}
			}
		}
	})
}
