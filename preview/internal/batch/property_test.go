package batch

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// TestEveryMeshOnce: whatever comes, goes, fades, fails and is late, in every
// frame each triangle of what is drawn is drawn once, no batch is released while
// the GPU may read it, and at the end nothing is left.
func TestEveryMeshOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRig(t, func(o *Options) {
			o.Secondary = rapid.Bool().Draw(t, "secondary")
			o.StableFrames = rapid.IntRange(1, 3).Draw(t, "stable")
			o.VisibleFrames = rapid.IntRange(1, 20).Draw(t, "visible")
			o.MaxCellVertices = int64(rapid.SampledFrom([]int{20, 60, 1000}).Draw(t, "guard"))
			o.MaxBytes = int64(rapid.SampledFrom([]int{1000, 5000, 1 << 30}).Draw(t, "bytes"))
			o.Limits = Limits{
				Arrivals: rapid.IntRange(1, 8).Draw(t, "arrivals"), Cells: rapid.IntRange(1, 4).Draw(t, "cells"),
				Jobs: rapid.IntRange(1, 3).Draw(t, "jobs"), Results: rapid.IntRange(1, 3).Draw(t, "results"),
				Releases: rapid.IntRange(1, 3).Draw(t, "releases"), InFlight: rapid.IntRange(1, 4).Draw(t, "inFlight"),
				Vertices: 100, Indices: 100, Bytes: 2000,
			}
		})
		chance := func(percent int, label string) bool { return rapid.IntRange(0, 99).Draw(t, label) < percent }
		r.lost = func(Ref) bool { return chance(3, "lost") }
		r.refuse = func() bool { return chance(5, "refuse") }
		r.slow = func(ID) bool { return chance(50, "slow") }
		r.hidden = func(records.Bounds) bool { return chance(5, "hidden") }
		for range rapid.IntRange(20, 80).Draw(t, "frames") {
			for range rapid.IntRange(0, 4).Draw(t, "ops") {
				step(t, r)
			}
			redraw(t, r)
			r.tick()
			if chance(10, "late") && len(r.keys) > 0 { // between Update and drawing
				r.remove(rapid.SampledFrom(r.keys).Draw(t, "key"))
				r.check()
			}
		}
		r.finish()
	})
}

// step does something at random.
func step(t *rapid.T, r *rig) {
	switch op := rapid.IntRange(0, 99).Draw(t, "op"); {
	case op < 25:
		k := payload.Key{
			Scene: payload.SceneID(rapid.IntRange(1, 2).Draw(t, "scene")), Tile: int32(rapid.IntRange(0, 3).Draw(t, "tile")),
			Rep: rapid.SampledFrom([]payload.Rep{payload.RepFull, payload.RepHLOD, payload.RepLOD0}).Draw(t, "rep"),
		}
		if k.Rep == payload.RepFull {
			k.Part = int32(rapid.IntRange(0, 2).Draw(t, "part"))
		}
		meshes := make([]testMesh, rapid.IntRange(0, 5).Draw(t, "meshes"))
		for i := range meshes {
			meshes[i] = drawMesh(t, r)
		}
		r.add(k, meshes...)
	case op < 33:
		if len(r.keys) > 0 {
			r.remove(rapid.SampledFrom(r.keys).Draw(t, "key"))
		}
	case op < 35:
		r.b.SetMaxBytes(int64(rapid.SampledFrom([]int{0, 1, 300, 1000, 5000}).Draw(t, "bound")))
	case op < 95:
		if len(r.jobs) > 0 {
			i := rapid.IntRange(0, len(r.jobs)-1).Draw(t, "job")
			j := r.jobs[i]
			r.jobs = append(r.jobs[:i], r.jobs[i+1:]...)
			if rapid.IntRange(0, 19).Draw(t, "fails") == 0 {
				j.Finish(Result{})
			} else {
				j.Finish(j.Merge(r, &r.pool))
			}
		}
	case op < 97:
		r.b.Relieve(rapid.SampledFrom([]memory.PressureLevel{memory.PressureNone, memory.PressureWarning, memory.PressureCritical}).Draw(t, "level"))
		if rapid.Bool().Draw(t, "over") {
			r.b.holding = 0
		}
	case op < 98:
		r.b.RemoveScene(2)
		r.b.SetScene(2, 10)
		for i := len(r.keys) - 1; i >= 0; i-- {
			if r.keys[i].Scene == 2 {
				r.remove(r.keys[i])
			}
		}
	case op < 99:
		r.b.Reset()
		clear(r.resident)
		r.keys = nil
	}
}

func drawMesh(t *rapid.T, r *rig) testMesh {
	m := r.mesh(float32(rapid.SampledFrom([]int{-5, 3, 6, 15}).Draw(t, "x")), uint64(rapid.IntRange(0, 1).Draw(t, "material")), rapid.IntRange(1, 4).Draw(t, "triangles"))
	m.Channels = uint32(rapid.IntRange(0, 5).Draw(t, "channels")) / 5
	m.Level = int32(rapid.IntRange(0, 5).Draw(t, "level")) / 5
	m.Static = rapid.IntRange(0, 9).Draw(t, "static") > 0
	kind := rapid.SampledFrom([]vertex.IndexType{vertex.Index16, vertex.Index32}).Draw(t, "kind")
	return m.reindex(kind, func(int) uint32 { return uint32(rapid.IntRange(0, int(m.Vertices)-1).Draw(t, "index")) })
}

// redraw changes what is drawn now and then.
func redraw(t *rapid.T, r *rig) {
	old := map[payload.Key]float64{}
	for _, d := range r.drawn {
		old[d.Key] = d.Fade
	}
	r.drawn = r.drawn[:0]
	for _, k := range r.keys {
		fade, drawn := old[k]
		switch op := rapid.IntRange(0, 19).Draw(t, "draw"); {
		case op == 0:
			continue
		case op == 1:
			fade = 0.5
		case op < 6 || !drawn:
			fade = 1
		}
		r.drawn = append(r.drawn, runtime.Drawn{Key: k, Fade: fade})
	}
}
