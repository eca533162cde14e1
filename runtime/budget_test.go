package runtime

import (
	"testing"

	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// Whether something fits depends on what is used here and elsewhere, what is on
// its way, and what would go for it.
func TestBudgetFits(t *testing.T) {
	const tile = 0
	for _, c := range []struct {
		name                          string
		budget                        int64
		here, elsewhere, pending, own int64 // own: of here, by the tile itself
		cost                          int64
		mark, swap, whole             bool
	}{
		{"without a budget everything fits", 0, 1e6, 1e6, 1e6, 0, 1e6, true, true, true},
		{"below the mark", 1000, 300, 0, 0, 0, 499, true, true, true},
		{"at the mark", 1000, 300, 0, 0, 0, 500, false, false, true},
		{"use elsewhere counts", 1000, 300, 300, 0, 0, 200, false, false, true},
		{"what is on its way counts", 1000, 300, 0, 300, 0, 200, false, false, true},
		{"the whole budget", 1000, 300, 0, 0, 0, 700, false, false, true},
		{"beyond the budget", 1000, 300, 0, 0, 0, 701, false, false, false},
		{"a swap frees what the tile has", 1000, 700, 0, 0, 200, 299, false, true, true},
		{"a swap needs both for a moment", 1000, 700, 0, 0, 700, 301, false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newParts(t, nil, tileAt("a", face(0), hlodAt(60)), tileAt("b", face(20)))
			r := p.load(tile, payload.RepHLOD, c.own)
			p.load(1, payload.RepFull, c.here-c.own)
			p.budget.memory = memory.Memory{GeometryBudget: c.budget, GeometryUsed: c.elsewhere}
			p.budget.pending = c.pending
			p.scene.tiles.full[tile].gpu = c.cost
			for within, want := range map[limit]bool{limitMark: c.mark, limitSwap: c.swap, limitBudget: c.whole} {
				if got := p.budget.fits(p.scene, tile, r, payload.RepFull, within); got != want {
					t.Errorf("limit %d: fits %v, want %v", within, got, want)
				}
			}
		})
	}
}

// Which level a tile may load at and above the mark.
func TestBudgetMayLoadLevel(t *testing.T) {
	for _, c := range []struct {
		name    string
		used    int64 // by another tile
		prepare func(p *parts, r *record)
		want    payload.Rep
		refused bool
	}{
		{"below the mark what it wants", 100, nil, payload.LOD(0), false},
		{"at the mark the cheapest", 750, nil, payload.RepHLOD, false},
		{"beyond the budget nothing", 995, nil, payload.RepNone, true},
		{"what draws something waits at the mark", 750, func(p *parts, r *record) { p.load(0, payload.LOD(1), 20); r.drawn = payload.LOD(1) }, payload.RepNone, true},
		{"what draws something may get cheaper", 600, func(p *parts, r *record) { p.load(0, payload.LOD(1), 190); r.drawn = payload.LOD(1) }, payload.LOD(0), false},
		{"what was evicted a moment ago stays away", 100, func(p *parts, r *record) {
			r.rep(payload.LOD(0)).evicted, r.rep(payload.LOD(0)).evictedAt = true, p.now
		}, payload.RepNone, false},
		{"what is out of reach gets nothing", 100, func(_ *parts, r *record) { r.grant = grantNothing }, payload.RepNone, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newParts(t, nil, tileAt("a", face(0), hlodAt(60), lodsAt(20, 40)), tileAt("b", face(20)))
			p.scene.tiles.levels[0].size, p.scene.tiles.levels[1].size, p.scene.tiles.levels[2].size = 10, 100, 20
			p.scene.tiles.levels[0].gpu, p.scene.tiles.levels[1].gpu, p.scene.tiles.levels[2].gpu = 10, 100, 20
			p.load(1, payload.RepFull, c.used)
			r := p.scene.activate(0)
			if c.prepare != nil {
				c.prepare(p, r)
			}
			if got := p.budget.mayLoadLevel(r, payload.LOD(0)); got != c.want || p.budget.refused != c.refused {
				t.Errorf("%v, refused %v; want %v, %v", got, p.budget.refused, c.want, c.refused)
			}
		})
	}
}

// Costs are what was measured, else what declarations have been worth.
func TestBudgetLearnsCosts(t *testing.T) {
	p := newParts(t, nil, tileAt("a", face(0)), tileAt("b", face(20)), tileAt("c", face(40), hlodAt(60)))
	tiles := p.scene.tiles
	if got := p.budget.cost(p.scene, 1, payload.RepFull); got != 0 {
		t.Errorf("before the first load: %v", got)
	}
	p.load(0, payload.RepFull, mib/2)
	tiles.memory[1] = 4 * mib
	for _, c := range []struct {
		tile int32
		rep  payload.Rep
		want float64
	}{{0, payload.RepFull, mib / 2}, {1, payload.RepFull, 2 * mib}, {2, payload.RepHLOD, 500}} {
		if got := p.budget.cost(p.scene, c.tile, c.rep); got != c.want {
			t.Errorf("tile %d %v: %v, want %v", c.tile, c.rep, got, c.want)
		}
	}
}

// The probe's budget wins; marks are parts of it.
func TestBudgetMarks(t *testing.T) {
	p := newParts(t, nil, tileAt("a", face(0)))
	for _, c := range []struct {
		used      int64
		probe     memory.Memory
		high, low bool
		budget    int64
	}{
		{600, memory.Memory{}, false, false, 1000},
		{601, memory.Memory{}, false, true, 1000},
		{800, memory.Memory{}, true, true, 1000},
		{100, memory.Memory{GeometryUsed: 700}, true, true, 1000},
		{800, memory.Memory{GeometryBudget: 2000}, false, false, 2000},
	} {
		b := newGeometryBudget(p.env, fixedMemory(c.probe), nil)
		b.book(c.used, 0)
		b.begin(nil)
		if b.high() != c.high || b.aboveLow() != c.low || b.memory.GeometryBudget != c.budget {
			t.Errorf("%+v: high %v, above low %v, budget %d", c, b.high(), b.aboveLow(), b.memory.GeometryBudget)
		}
	}
}
