package runtime

import (
	"testing"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// What goes when memory is short, of tiles at 0, 200, 220, 240, 260 and 280 m.
func TestEvictor(t *testing.T) {
	for _, c := range []struct {
		name   string
		used   int64 // by each of the tiles
		signal memory.PressureLevel
		before func(p *parts)
		want   string
		short  bool // afterwards
	}{
		{"below the mark nothing", 130, memory.PressureNone, nil, "", false},
		{
			"above the mark the farthest, down to the low one", 140, memory.PressureNone, nil,
			"evict.tile f full; tile.unload f; evict.tile e full; tile.unload e", true,
		},
		{
			"a tick takes no more than four", 400, memory.PressureNone, nil,
			"evict.tile f full; tile.unload f; evict.tile e full; tile.unload e; evict.tile d full; tile.unload d; evict.tile c full; tile.unload c", true,
		},
		{
			"a critical signal takes all but what is in range", 10, memory.PressureCritical, nil,
			"evict.tile f full; tile.unload f; evict.tile e full; tile.unload e; evict.tile d full; tile.unload d; evict.tile c full; tile.unload c; evict.tile b full; tile.unload b", false,
		},
		{"the last that a tile can draw stays while the budget holds it", 140, memory.PressureNone, func(p *parts) { p.cfg.Handoff = config.HandoffCovered }, "warn", true},
		{"but not what it has besides", 140, memory.PressureNone, func(p *parts) {
			p.cfg.Handoff = config.HandoffCovered
			p.load(5, payload.RepHLOD, 10)
		}, "evict.tile f full; tile.unload f", true},
		{"what has come just now stays", 140, memory.PressureNone, func(p *parts) { p.minResident = seconds(1) }, "warn", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newParts(t, func(c *config.Config) { c.Handoff = config.HandoffStrict },
				tileAt("a", face(0)), tileAt("b", face(200)), tileAt("c", face(220)), tileAt("d", face(240)), tileAt("e", face(260)), tileAt("f", face(280), hlodAt(300)))
			for tile := range int32(6) {
				p.load(tile, payload.RepFull, c.used)
			}
			if c.before != nil {
				c.before(p)
			}
			p.lookFrom(0)
			p.evictor.evict(c.signal)
			if got := p.events(); got != c.want {
				t.Errorf("events %s\nwant   %s", got, c.want)
			}
			if p.budget.evicting != c.short {
				t.Errorf("evicting %v, want %v", p.budget.evicting, c.short)
			}
		})
	}
}

// A warning that nothing can go is given once, until there was room again.
func TestEvictorWarnsOnce(t *testing.T) {
	p := newParts(t, nil, tileAt("a", face(0)))
	p.load(0, payload.RepFull, 900)
	got := ""
	for range 3 {
		p.evictor.evict(memory.PressureNone)
		got += p.events()
	}
	if got != "warn" {
		t.Errorf("events %q", got)
	}
}

// A mesh of the near band may take the place of a few representations that lie
// farther away, if those are enough.
func TestEvictorMakesRoomFarAway(t *testing.T) {
	for _, c := range []struct {
		beyond, need float64
		ok           bool
		want         string
	}{
		{100, 300, true, "evict.tile c full; tile.unload c; evict.tile b full; tile.unload b"},
		{100, 500, false, ""},
		{210, 300, false, ""},
	} {
		p := newParts(t, func(c *config.Config) { c.Handoff = config.HandoffStrict }, tileAt("a", face(0)), tileAt("b", face(200)), tileAt("c", face(220)))
		r := p.load(0, payload.RepFull, 200)
		p.load(1, payload.RepFull, 200)
		p.load(2, payload.RepFull, 200)
		p.lookFrom(0)
		if ok := p.evictor.makeRoomFarAway(r, c.beyond, c.need); ok != c.ok {
			t.Errorf("%+v: %v", c, ok)
		}
		if got := p.events(); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
