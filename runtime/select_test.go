package runtime

import (
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

// selectTick runs the passes of the selector alone.
func (p *parts) selectTick() {
	p.budget.begin(p.loads.list)
	p.selector.begin()
	p.selector.startLook(true)
	p.selector.gatherFull(p.scene)
	p.selector.dispatchFull()
	p.selector.scanIdle(p.scene)
	p.selector.levelBacklog = p.selector.dispatchLevels(classLOD) + p.selector.dispatchLevels(classHLOD)
}

// What starts first, and what waits. Tiles stream within 50 m.
func TestSelector(t *testing.T) {
	two := func(c *config.Config) { c.MaxConcurrentTileLoads = 2 }
	for _, c := range []struct {
		name         string
		change       func(*config.Config)
		prepare      func(p *parts)
		from         float64
		events       string
		full, levels int // left over
	}{
		{"the nearest get the slots", two, nil, 0, "tile.dispatch a; tile.dispatch b; hlod.load far", 1, 0},
		{"priority goes before distance", two, func(p *parts) { p.scene.tiles.priority[2] = 11 }, 0, "tile.dispatch c; tile.dispatch a; hlod.load far", 1, 0},
		{"what is parsed already leaves less memory", func(c *config.Config) { c.MaxConcurrentTileLoads, c.TileParseMemoryBudgetMB = 3, 2.5 }, nil, 0, "tile.dispatch a; tile.dispatch b; hlod.load far", 0, 0},
		{"at the high-water mark no full tile starts", two, func(p *parts) { p.load(3, payload.RepFull, 900) }, 0, "", 0, 0},
		{"one out of reach is left alone", two, func(p *parts) {
			p.budget.split.scarce, p.budget.split.keepDistance = true, 15
		}, 0, "tile.dispatch a", 0, 0},
		{"from far away only levels are wanted", nil, nil, -400, "hlod.load far", 0, 0},
		{"beyond the query radius nothing", nil, nil, -5000, "", 0, 0},
		{"what was evicted a moment ago stays away", two, func(p *parts) {
			r := p.scene.activate(0)
			r.full().evicted, r.full().evictedAt = true, p.now
		}, 0, "tile.dispatch b; tile.dispatch c; hlod.load far", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newParts(t, c.change, tileAt("a", face(10)), tileAt("b", face(20)), tileAt("c", face(30)), tileAt("far", face(80), hlodAt(60), prefetchAt(51)))
			p.scene.tiles.levels[0].gpu = 10
			if c.prepare != nil {
				c.prepare(p)
			}
			p.lookFrom(c.from)
			p.selectTick()
			if got := p.events(); got != c.events {
				t.Errorf("events %s\nwant   %s", got, c.events)
			}
			if p.selector.fullBacklog != c.full || p.selector.levelBacklog != c.levels {
				t.Errorf("left over %d and %d, want %d and %d", p.selector.fullBacklog, p.selector.levelBacklog, c.full, c.levels)
			}
		})
	}
}

// Between two intervals a look is only worth it when something waits and there
// is a slot for it.
func TestSelectorSlotForWaiting(t *testing.T) {
	p := newParts(t, func(c *config.Config) { c.MaxConcurrentTileLoads = 1 }, tileAt("a", face(10)), tileAt("b", face(20)))
	p.lookFrom(0)
	before := p.selector.slotForWaiting()
	p.selectTick()
	taken := p.selector.slotForWaiting()
	p.answer(payload.Result{}, 1)
	if free := p.selector.slotForWaiting(); before || taken || !free {
		t.Errorf("before %v, while the slot is taken %v, when it is free %v", before, taken, free)
	}
}

// Gates keep full tiles out of a look and count them.
func TestSelectorGates(t *testing.T) {
	p := newParts(t, func(c *config.Config) { c.FloorProximityGateY, c.EnableFrustumGate, c.FillIdleSlots = 3, true, false },
		tileAt("upstairs", box(10, 20, -5, 20, 30, 5), interiorOn(2)), tileAt("behind", face(-40)), tileAt("ahead", face(10)))
	p.scene.tiles.flags[0] |= flagFloor
	p.camera.Forward = [3]float64{1, 0, 0}
	p.camera.FovYDegrees, p.camera.Aspect, p.camera.Near, p.camera.Far = 60, 1, 0.1, 1000
	p.lookFrom(0)
	p.selectTick()
	if got, want := p.selector.count, (selectorCounters{skippedByFrustum: 1, skippedByFloor: 1}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
	if got := p.events(); got != "tile.dispatch ahead" {
		t.Errorf("events %s", got)
	}
}

// distanceTo is the distance that boxes have themselves, to the last bit.
func TestDistanceTo(t *testing.T) {
	b := geom.Box{Min: geom.Vec3{-1, 2, 0.1}, Max: geom.Vec3{3, 2.5, 7}}
	for _, p := range []geom.Vec3{{}, {1, 2.2, 3}, {-5, 9, 0.3}, {3.1, 2.51, -40}, {1e9, -1e9, 7}} {
		if got, want := distanceTo(&b, &p), b.Distance(p); got != want {
			t.Errorf("%v: %v, want %v", p, got, want)
		}
	}
}
