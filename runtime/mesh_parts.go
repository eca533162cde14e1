package runtime

import (
	"errors"
	"slices"

	"github.com/untoldkit/untold/runtime/payload"
)

// Some files of out-of-core tiles come in parts. The geometry of a stub is then
// requested when the stub is wanted, and the stub takes a slot at the Device once
// its geometry is there.

const (
	// maxPartLoads is how many requests for geometry may be under way at a time.
	maxPartLoads = maxFetches
	// partBatch is how much geometry one request asks for, in bytes, when small
	// stubs lie side by side: as much as is sent in the time of a round trip.
	partBatch = 256 << 10
	// partAhead is how much of that may be for neighbours that are not wanted yet.
	partAhead = 128 << 10
)

// loadParts starts the loads of the best stubs whose geometry is not in the main
// memory, and returns the others, which may go to the Device.
func (ms *meshStreamer) loadParts(list []meshCandidate) []meshCandidate {
	warm := moveFirst(list, func(c meshCandidate) bool {
		return ms.registry.ready(c.record.meshes.root, &c.record.meshes.plan.Stubs[c.stub])
	})
	cold := list[warm:]
	cold = cold[:moveFirst(cold, func(c meshCandidate) bool { return c.record.meshes.stubs[c.stub].fetch == 0 })]
	n := min(len(cold), maxPartLoads-ms.loads.parts)
	selectFirst(cold, n, meshCandidate.compare)
	if n <= 0 {
		return list[:warm]
	}
	for i := range cold {
		cold[i].record.meshes.stubs[cold[i].stub].cold = ms.tickCount
	}
	for _, c := range cold[:n] {
		if c.record.meshes.stubs[c.stub].fetch == 0 { // else a better one has taken it along
			ms.startParts(c.record, ms.batch(c.record, c.stub))
		}
	}
	return list[:warm]
}

// batch lists a stub with its neighbours in the file that are wanted too or
// may be soon, in the order of the file: many small stubs must not cost a
// request each.
func (ms *meshStreamer) batch(r *record, stub int32) []int32 {
	m := r.meshes
	list := []int32{stub}
	bytes, ahead := m.plan.Stubs[stub].Bytes, int64(0)
	for _, step := range [2]int{1, -1} {
		for at := int(stub) + step; at >= 0 && at < len(m.stubs); at += step {
			x, n := &m.stubs[at], m.plan.Stubs[at].Bytes
			if x.cold != ms.tickCount {
				ahead += n
			}
			if bytes += n; bytes > partBatch || ahead > partAhead {
				break
			}
			if x.fetch == 0 && (x.cold == ms.tickCount || ms.soon(r, at)) {
				list = append(list, int32(at))
			}
		}
	}
	slices.Sort(list)
	return list
}

// soon reports whether a stub may be wanted next: it is within its unload
// radius, and its geometry has not been loaded.
func (ms *meshStreamer) soon(r *record, stub int) bool {
	x := &r.meshes.stubs[stub]
	return x.state == meshUnloaded && x.distance <= r.scene.tiles.radius[r.tile].unload &&
		!ms.registry.ready(r.meshes.root, &r.meshes.plan.Stubs[stub])
}

// startParts asks for the geometry of some stubs of a tile.
func (ms *meshStreamer) startParts(r *record, stubs []int32) {
	m := r.meshes
	asset := ms.registry.asset(m.root)
	if asset == nil || asset.Parts == nil {
		return
	}
	l := ms.loads.request(r, payload.RepFull, int(m.stubs[stubs[0]].fails)+1, nil)
	var meshes []int
	bytes := int64(0)
	for _, stub := range stubs {
		m.stubs[stub].fetch = l.request.Token
		for _, p := range m.plan.Stubs[stub].Parts {
			e := &asset.Entities[m.plan.Nodes[p.Index-1]]
			for k := range asset.MeshesOf(e) {
				meshes = append(meshes, int(e.FirstMesh)+k)
			}
			bytes += p.Bytes
		}
	}
	ms.count.partLoads++
	ms.loads.sendParts(l, asset.Parts, stubs, meshes, bytes)
}

// partsLoaded takes over the geometry of some stubs.
func (ms *meshStreamer) partsLoaded(r *record, l *load, res *payload.Result) {
	m := r.meshes
	err := res.Err
	if err == nil && !ms.registry.storeParts(m.root, m.plan, l.stubs, res.Asset) {
		err = errCold
	}
	res.Asset.Release() // the registry holds its own
	if err == nil {
		ms.loads.count.bytesLoaded += l.request.Size
	}
	for _, stub := range l.stubs {
		if m.stubs[stub].fetch != l.request.Token {
			continue // it was cancelled, and may be on its way again
		}
		m.stubs[stub].fetch = 0
		if err != nil {
			ms.failed(r, int(stub), err)
		}
	}
	if err != nil {
		ms.reloads.reportMismatch(r, payload.RepFull, err)
	}
	if errors.Is(err, payload.ErrReplaced) {
		// Nothing more of that version will come. What is drawn stays until the
		// file has been opened again.
		ms.registry.releaseWarm(m.root)
	}
}

// cancelParts gives up the load of a stub's geometry.
func (ms *meshStreamer) cancelParts(r *record, stub int) {
	x := &r.meshes.stubs[stub]
	if x.fetch == 0 {
		return
	}
	ms.loads.giveUpStub(x.fetch)
	x.fetch = 0
}
