package runtime

import (
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

// What a tile draws of what it has: full, else the planned level, else what it
// draws already, else the finest level, else the HLOD.
func TestDrawnAfter(t *testing.T) {
	for _, c := range []struct {
		name          string
		has, waits    []payload.Rep // drawable, and resident but not drawable yet
		target, drawn payload.Rep
		retire        bool
		want          payload.Rep
	}{
		{"nothing", nil, nil, payload.RepNone, payload.RepNone, false, payload.RepNone},
		{"full before all", []payload.Rep{payload.RepFull, payload.RepHLOD, payload.LOD(0)}, nil, payload.LOD(0), payload.RepHLOD, false, payload.RepFull},
		{"full cannot be drawn yet", []payload.Rep{payload.LOD(1)}, []payload.Rep{payload.RepFull}, payload.RepNone, payload.RepNone, false, payload.LOD(1)},
		{"the planned level", []payload.Rep{payload.LOD(0), payload.LOD(1)}, nil, payload.LOD(1), payload.LOD(0), false, payload.LOD(1)},
		{"what is drawn stays until the planned level can be", []payload.Rep{payload.LOD(0)}, []payload.Rep{payload.LOD(1)}, payload.LOD(1), payload.LOD(0), false, payload.LOD(0)},
		{"the finest level", []payload.Rep{payload.LOD(1), payload.RepHLOD}, nil, payload.RepNone, payload.RepNone, false, payload.LOD(1)},
		{"the HLOD", []payload.Rep{payload.RepHLOD}, nil, payload.LOD(0), payload.RepNone, false, payload.RepHLOD},
		{"a full tile that is about to go", []payload.Rep{payload.RepFull, payload.LOD(0)}, nil, payload.LOD(0), payload.RepFull, true, payload.LOD(0)},
		{"unless nothing follows it", []payload.Rep{payload.RepFull}, nil, payload.LOD(0), payload.RepFull, true, payload.RepFull},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newParts(t, nil, tileAt("a", face(0), hlodAt(95), lodsAt(60, 80)))
			r := p.scene.activate(0)
			for _, rep := range c.has {
				p.load(0, rep, 1)
			}
			for _, rep := range c.waits {
				p.load(0, rep, 1).rep(rep).drawable = false
			}
			r.target, r.drawn, r.retire = c.target, c.drawn, c.retire
			if got := r.drawnAfter(); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// What is planned at a distance for a tile that streams within 50 m, has LODs
// from 60 and 80 m and an HLOD from 95 m on.
func TestHandoffPlans(t *testing.T) {
	for _, c := range []struct {
		name   string
		from   float64 // distance
		has    []payload.Rep
		drawn  payload.Rep
		want   payload.Rep // wanted
		asks   payload.Rep // proposed to the selector
		events string
	}{
		{"near and bare: the finest level stands in", 10, nil, payload.RepNone, payload.RepFull, payload.LOD(0), ""},
		{"near with a level: that is enough", 10, []payload.Rep{payload.LOD(1)}, payload.LOD(1), payload.RepFull, payload.RepNone, ""},
		{"near with the full tile: its levels go", 10, []payload.Rep{payload.RepFull, payload.LOD(1)}, payload.RepFull, payload.RepFull, payload.RepNone, "lod.unload a"},
		{"at the first level", 65, nil, payload.RepNone, payload.LOD(0), payload.LOD(0), ""},
		{"the level is there: the others go", 65, []payload.Rep{payload.LOD(0), payload.RepHLOD}, payload.LOD(0), payload.LOD(0), payload.RepNone, "hlod.unload a"},
		{"another level is drawn: it stays until the right one is there", 65, []payload.Rep{payload.LOD(1)}, payload.LOD(1), payload.LOD(0), payload.LOD(0), ""},
		{"far", 96, nil, payload.RepNone, payload.RepHLOD, payload.RepHLOD, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newParts(t, nil, tileAt("a", face(0), hlodAt(95), lodsAt(60, 80)))
			r := p.scene.activate(0)
			for _, rep := range c.has {
				p.load(0, rep, 1)
			}
			r.drawn = c.drawn
			p.lookFrom(-c.from)
			p.handoff.plan(r)
			asks := payload.RepNone
			for _, list := range p.selector.candidates {
				for i := range list {
					asks = list[i].rep
				}
			}
			if r.wanted != c.want || asks != c.asks {
				t.Errorf("wants %v and asks for %v; want %v and %v", r.wanted, asks, c.want, c.asks)
			}
			if got := p.events(); got != c.events {
				t.Errorf("events %q, want %q", got, c.events)
			}
		})
	}
}

// A full tile beyond its unload radius of 100 m goes after the grace period, when
// its successor can be drawn, a few in a tick and the farthest first.
func TestHandoffUnloads(t *testing.T) {
	const grace = 5 * time.Second
	for _, c := range []struct {
		name     string
		handoff  config.Handoff
		from     float64
		after    time.Duration
		has      []payload.Rep // of tile a besides the full one
		want     string
		leftOver int
	}{
		{"in range it stays", config.HandoffCovered, 90, grace, nil, "", 0},
		{"out of range its grace begins", config.HandoffCovered, 120, grace - 1, nil, "tile.grace b; tile.grace a", 0},
		{"without a successor it stays", config.HandoffCovered, 120, grace, nil, "tile.grace b; tile.grace a; tile.unload b", 0},
		{"with one it goes", config.HandoffCovered, 120, grace, []payload.Rep{payload.RepHLOD}, "tile.grace b; tile.grace a; tile.unload b; tile.unload a", 0},
		{"under the strict rule it goes at once", config.HandoffStrict, 120, grace, nil, "tile.grace b; tile.grace a; tile.unload b; tile.unload a", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newParts(t, func(cfg *config.Config) { cfg.Handoff, cfg.UnloadGracePeriod = c.handoff, grace.Seconds() },
				tileAt("b", face(10)), tileAt("a", face(0), hlodAt(95)))
			p.load(0, payload.RepFull, 1)
			p.load(1, payload.RepFull, 1)
			for _, rep := range c.has {
				p.load(1, rep, 1)
			}
			p.lookFrom(-c.from)
			p.handoff.unloadPass()
			p.now += c.after
			p.handoff.unloadPass()
			if got := p.events(); got != c.want {
				t.Errorf("events %s\nwant   %s", got, c.want)
			}
		})
	}
}
