package runtime

import "github.com/untoldkit/untold/runtime/payload"

// learned sums up what the payloads of a class have taken on the Device.
type learned struct {
	n, bytes     float64
	sizes, sized float64 // of those with a declared size: sizes, and bytes taken
}

// maxCost bounds what manifests can claim, so that sums stay exact.
const maxCost = 1 << 50

// declared returns the size that the manifest gives for a representation: the
// memory that it takes if that is told, else that of its file; 0 without, or where it is
// negative.
func (t *table) declared(tile int32, rep payload.Rep) int64 {
	if rep == payload.RepFull {
		return max(0, t.memory[tile])
	}
	return t.fileOf(tile, rep).geometry
}

// learn remembers what a representation takes on the Device.
func (b *geometryBudget) learn(r *record, rep payload.Rep, bytes int64) {
	b.taught = true
	p := r.scene.tiles.fileOf(r.tile, rep)
	if p.gpu == bytes {
		return
	}
	if p.gpu == 0 {
		for _, c := range [...]class{classOf(rep), classes} {
			l := &b.learned[c]
			l.n, l.bytes = l.n+1, l.bytes+float64(bytes)
			if size := r.scene.tiles.declared(r.tile, rep); size > 0 {
				l.sizes, l.sized = l.sizes+float64(size), l.sized+float64(bytes)
			}
		}
	}
	p.gpu = bytes
}

// cost returns what a representation takes on the Device, in bytes. That is
// what it took the last time. Else the manifest's declaration counts, scaled
// by what such declarations have been worth, and without one the mean of what
// has been loaded. Before the first load the cost is 0.
func (b *geometryBudget) cost(sc *scene, tile int32, rep payload.Rep) float64 {
	p := sc.tiles.fileOf(tile, rep)
	if p.gpu > 0 {
		return float64(p.gpu)
	}
	l := &b.learned[classOf(rep)]
	if l.n == 0 {
		l = &b.learned[classes]
	}
	switch {
	case l.sizes > 0 && sc.tiles.declared(tile, rep) > 0:
		return min(maxCost, float64(sc.tiles.declared(tile, rep))*(l.sized/l.sizes))
	case l.n > 0:
		return min(maxCost, l.bytes/l.n)
	}
	return 0
}

// expect is cost, but before the first load it trusts the estimates of the
// manifest, and the sizes of the files of levels: at a cost of 0 all of the first wave
// would be admitted.
func (b *geometryBudget) expect(sc *scene, tile int32, rep payload.Rep) float64 {
	if !b.taught && (rep != payload.RepFull || sc.tiles.has(tile, flagEstimated)) && sc.tiles.fileOf(tile, rep).gpu == 0 {
		return min(maxCost, float64(b.device.estimate(sc.tiles.declared(tile, rep))))
	}
	return b.cost(sc, tile, rep)
}

// expected returns the bytes that a load will bring to the Device at once: 0
// for a tile whose meshes follow one by one.
func (b *geometryBudget) expected(r *record, rep payload.Rep) int64 {
	if rep == payload.RepFull && r.scene.ownsMeshes(r.tile, r) {
		return 0
	}
	return int64(b.expect(r.scene, r.tile, rep))
}

// sumPending counts the geometry that is on its way.
func (b *geometryBudget) sumPending(loads []*load) {
	b.pending = 0
	for _, f := range loads {
		if r := f.record(); r != nil && !f.orphan && !f.reread && f.phase != phaseParts {
			b.pending += b.expected(r, f.request.Key.Rep)
		}
	}
}
