package runtime

import (
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/payload"
)

// Each transition is reported once, and the device holds what is resident.
func TestResidency(t *testing.T) {
	for _, c := range []struct {
		name          string
		do            func(p *parts, r *record)
		events, asked string
		state         TileState
		bytes         int64
	}{
		{"a load", func(p *parts, r *record) {
			p.residency.start(r, payload.RepFull)
			p.answer(payload.Result{GeometryBytes: 7}, 1)
		}, "tile.dispatch a; tile.parsed a", "parse 1 full; upload 0 full 0", TileParsed, 7},
		{"a load and an unload", func(p *parts, r *record) {
			p.residency.start(r, payload.RepFull)
			p.answer(payload.Result{GeometryBytes: 7}, 1)
			p.residency.unload(r, payload.RepFull)
		}, "tile.dispatch a; tile.parsed a; tile.unload a", "parse 1 full; upload 0 full 0; release 0 full 0", TileUnloaded, 0},
		{"a failure waits", func(p *parts, r *record) {
			p.residency.start(r, payload.RepFull)
			p.answer(payload.Result{Err: fake.ErrFake}, 1)
			p.now += 4 * time.Second
			p.residency.endBackoff(r)
		}, "tile.dispatch a; tile.failed a", "parse 1 full", TileFailed, 0},
		{"and is over near the camera", func(p *parts, r *record) {
			p.residency.start(r, payload.RepFull)
			p.answer(payload.Result{Err: fake.ErrFake}, 1)
			p.now += 5 * time.Second
			p.residency.endBackoff(r)
		}, "tile.dispatch a; tile.failed a; tile.retry a", "parse 1 full", TileUnloaded, 0},
		{"a cancelled full tile waits for its worker", func(p *parts, r *record) {
			p.residency.start(r, payload.RepFull)
			p.residency.cancel(r, payload.RepFull)
		}, "tile.dispatch a; tile.cancel a", "parse 1 full", TileUnloading, 0},
		{"whose answer is discarded", func(p *parts, r *record) {
			p.residency.start(r, payload.RepFull)
			p.residency.cancel(r, payload.RepFull)
			p.answer(payload.Result{GeometryBytes: 7}, 1)
		}, "tile.dispatch a; tile.cancel a; tile.discard a", "parse 1 full", TileUnloaded, 0},
		{"a cancelled level is free at once", func(p *parts, r *record) {
			p.residency.start(r, payload.RepHLOD)
			p.residency.drop(r, payload.RepHLOD)
			p.answer(payload.Result{GeometryBytes: 7}, 1)
		}, "hlod.load a; hlod.unload a", "parse 1 hlod", TileUnloaded, 0},
		{
			"too many swaps draw a warning", func(p *parts, r *record) {
				for token := range uint64(2) {
					p.residency.start(r, payload.RepHLOD)
					p.answer(payload.Result{}, token+1)
					p.residency.drop(r, payload.RepHLOD)
				}
			}, "hlod.load a; hlod.loaded a; hlod.unload a; hlod.load a; hlod.loaded a; hlod.unload a; warn a",
			"parse 1 hlod; upload 0 hlod 0; release 0 hlod 0; parse 2 hlod; upload 0 hlod 0; release 0 hlod 0", TileUnloaded, 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newParts(t, nil, tileAt("a", face(0), hlodAt(60)))
			r := p.scene.activate(0)
			c.do(p, r)
			if got := p.events(); got != c.events {
				t.Errorf("events %s\nwant   %s", got, c.events)
			}
			if got := p.asked(); got != c.asked {
				t.Errorf("asked %s\nwant  %s", got, c.asked)
			}
			if r.full().state != c.state || p.budget.geometryBytes != c.bytes {
				t.Errorf("%v with %d bytes, want %v with %d", r.full().state, p.budget.geometryBytes, c.state, c.bytes)
			}
		})
	}
}
