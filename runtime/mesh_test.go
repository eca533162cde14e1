package runtime

import (
	"fmt"
	"testing"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/payload"
)

// meshParts is a tile of four meshes of 100 bytes at 0, 10, 20 and 150 m, which
// stream within 50 m and go beyond 100 m.
func meshParts(t *testing.T, change func(*config.Config), opts ...tileOption) (*parts, *record) {
	nodes := make([]fake.Node, 4)
	for i, x := range []float64{0, 10, 20, 150} {
		nodes[i] = fake.Node{Name: fmt.Sprint("m", i), Bytes: 100, Box: [6]float64{x, -1, -1, x + 1, 1, 1}}
	}
	p := newParts(t, func(c *config.Config) {
		c.OutOfCorePolicy, c.MaxConcurrentLoads, c.NearBandMaxConcurrentLoads = config.OutOfCoreAlways, 8, 8
		if change != nil {
			change(c)
		}
	}, tileOf("a", nodes, opts...))
	p.residency.start(p.scene.activate(0), payload.RepFull)
	p.answer(payload.Result{Asset: fake.Asset(nil, nodes...)}, 1)
	p.events()
	p.asked()
	return p, p.scene.recordOf(0)
}

// meshTick runs the passes of the meshes alone.
func (p *parts) meshTick(x float64) {
	p.lookFrom(x)
	p.meshes.scan()
	p.meshes.dispatch(p.evictor)
}

// What of a tile is on the device after the camera was somewhere.
func TestMeshStreamer(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*config.Config)
		opts   []tileOption
		path   []float64 // of the camera, a tick each
		before func(p *parts, r *record)
		events string // of the last tick
		loaded int
		usable bool
	}{
		{
			"what is in range is loaded, the nearest first", nil, nil,
			[]float64{-5},
			nil,
			"mesh.load a/m0; mesh.loaded a/m0; mesh.load a/m1; mesh.loaded a/m1; mesh.load a/m2; mesh.loaded a/m2", 3, true,
		},
		{
			"as slots allow", func(c *config.Config) { c.MaxConcurrentLoads, c.NearBandMaxConcurrentLoads = 2, 1 }, nil,
			[]float64{-5},
			nil,
			"mesh.load a/m0; mesh.loaded a/m0; mesh.load a/m1; mesh.loaded a/m1", 2, true,
		},
		{"nothing out of range", nil, nil, []float64{-60}, nil, "", 0, false},
		{
			"what is out of range goes, the farthest first, but for half of the tile", nil, nil,
			[]float64{-5, -110},
			nil,
			"mesh.unload a/m2", 2, true,
		},
		{
			"all of it when a level stands in", nil,
			[]tileOption{hlodAt(60)},
			[]float64{-5, -110},
			func(p *parts, _ *record) { p.load(0, payload.RepHLOD, 1) },
			"mesh.unload a/m3; mesh.unload a/m2; mesh.unload a/m1; mesh.unload a/m0", 0, false,
		},
		{
			"no more than may go in a tick", func(c *config.Config) { c.MaxUnloadsPerUpdate = 1 },
			[]tileOption{hlodAt(60)},
			[]float64{-5, -110},
			func(p *parts, _ *record) { p.load(0, payload.RepHLOD, 1) }, "mesh.unload a/m3", 3, true,
		},
		{
			"nothing beyond the budget", nil, nil,
			[]float64{-5},
			func(p *parts, _ *record) { p.budget.book(750, 0) },
			"mesh.load a/m0; mesh.loaded a/m0; mesh.load a/m1; mesh.loaded a/m1", 2, true,
		},
		{"what is near takes the place of what is far", nil, nil, []float64{140, 70}, func(p *parts, _ *record) {
			p.budget.book(690, 0)
			p.budget.pending = 150
		}, "evict.lru a/m3; mesh.unload a/m3; mesh.load a/m2; mesh.loaded a/m2", 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, r := meshParts(t, c.change, c.opts...)
			for i, x := range c.path {
				p.events()
				if i == len(c.path)-1 && c.before != nil {
					c.before(p, r)
				}
				p.meshTick(x)
			}
			if got := p.events(); got != c.events {
				t.Errorf("events %s\nwant   %s", got, c.events)
			}
			if r.meshes.uploaded != c.loaded || r.full().drawable != c.usable || p.meshes.count.loaded != c.loaded {
				t.Errorf("%d loaded, usable %v; want %d, %v", r.meshes.uploaded, r.full().drawable, c.loaded, c.usable)
			}
		})
	}
}
