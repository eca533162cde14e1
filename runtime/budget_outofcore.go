package runtime

import (
	"math"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

// outOfCore reports whether a full tile that was loaded streams mesh by mesh:
// it has many nodes, takes a large part of the geometry budget, belongs to an
// entity, or has LOD groups, which can only be switched part by part. A result
// without an asset never does.
func (b *geometryBudget) outOfCore(r *record, res *payload.Result) bool {
	if res.Asset == nil {
		return false
	}
	if res.Asset.Parts != nil {
		return true // it was decided before the request, and has no geometry
	}
	split := b.splitRule(r)
	return split != nil && split.Admits(res.Asset.Layout())
}

// splitRule returns the rule by which a full tile streams mesh by mesh; nil:
// it never does.
func (b *geometryBudget) splitRule(r *record) *payload.Split {
	if b.cfg.OutOfCorePolicy == config.OutOfCoreImmediate {
		return nil
	}
	p := &payload.Split{
		Always: b.cfg.OutOfCorePolicy == config.OutOfCoreAlways || r.scene.tiles.has(r.tile, flagEntity),
		Nodes:  b.cfg.OutOfCoreNodeThreshold,
	}
	if budget := b.memory.GeometryBudget; budget > 0 {
		p.Bytes = max(1, int64(min(float64(budget)*b.cfg.OutOfCoreGeometryFraction, math.MaxInt64/4)))
	}
	return p
}

// splitOf returns the splitRule for a request. It is nil when the file is
// smaller than what it decodes to: such a file is compressed and cannot be
// read in parts.
func (b *geometryBudget) splitOf(r *record, rep payload.Rep) *payload.Split {
	size := r.scene.tiles.fileOf(r.tile, rep).size
	if rep != payload.RepFull || !b.fetches || size > 0 && size < r.scene.tiles.memory[r.tile] {
		return nil
	}
	return b.splitRule(r)
}
