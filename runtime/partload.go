package runtime

import (
	"errors"
	"math"
)

// Out-of-core tiles whose file comes in parts: a stub that is wanted has its
// geometry loaded first, in a queue like that of downloads, and takes a slot at
// the Device when it is there.

// maxPartLoads is how many stubs may wait for their geometry at a time.
const maxPartLoads = maxFetches

// loadParts starts the loads of the best stubs whose geometry is not in the main
// memory, and returns the others, which may go to the Device.
func (s *Streamer) loadParts(list []meshCandidate) []meshCandidate {
	warm := moveFirst(list, func(c meshCandidate) bool {
		return s.registry.ready(c.record.meshes.root, &c.record.meshes.plan.stubs[c.stub])
	})
	cold := list[warm:]
	cold = cold[:moveFirst(cold, func(c meshCandidate) bool { return c.record.meshes.stubs[c.stub].fetch == 0 })]
	n := min(len(cold), maxPartLoads-s.partLoads)
	selectFirst(cold, n, meshCandidate.compare)
	for i := range max(0, n) {
		s.startParts(cold[i].record, cold[i].stub)
	}
	return list[:warm]
}

// startParts asks for the geometry of a stub.
func (s *Streamer) startParts(r *record, stub int32) {
	m := r.meshes
	asset := s.registry.asset(m.root)
	if asset == nil || asset.Parts == nil {
		return
	}
	x := &m.stubs[stub]
	var meshes []int
	bytes := int64(0)
	for _, p := range m.plan.stubs[stub].parts {
		e := &asset.Entities[m.plan.list[p.part-1]]
		for k := range asset.meshesOf(e) {
			meshes = append(meshes, int(e.FirstMesh)+k)
		}
		bytes += p.bytes
	}
	f := s.request(r, RepFull, int(x.fails)+1)
	f.phase, f.request.Split, f.stub = phaseParts, nil, stub
	s.stats.BytesRequested += bytes - f.request.Size
	f.request.Size, f.request.SHA256 = bytes, ""
	x.fetch = f.request.Token
	s.partLoads++
	s.stats.PartLoads++
	asset.Parts.LoadParts(f.request, meshes)
}

// partsLoaded ends such a load.
func (s *Streamer) partsLoaded(r *record, f *flight, res *Result) {
	m := r.meshes
	m.stubs[f.stub].fetch = 0
	err := res.Err
	if err == nil && !s.registry.storeParts(m.root, &m.plan.stubs[f.stub], res.Asset) {
		err = errCold
	}
	res.Asset.Release() // the registry holds its own
	if err == nil {
		s.stats.BytesLoaded += f.request.Size
		return
	}
	s.meshFailure(r, int(f.stub), err)
	if errors.Is(err, ErrReplaced) {
		// Nothing more of that version will come. What is drawn stays until the
		// file has been opened again.
		s.registry.ReleaseWarm(m.root)
	}
}

// cancelParts gives up the load of a stub's geometry.
func (s *Streamer) cancelParts(r *record, stub int) {
	x := &r.meshes.stubs[stub]
	if at := s.flightByToken(x.fetch); x.fetch != 0 && at >= 0 {
		s.orphan(at)
	}
	x.fetch = 0
}

// meshFailure puts a stub that is not with the Device into backoff.
func (s *Streamer) meshFailure(r *record, i int, err error) {
	x := &r.meshes.stubs[i]
	x.state, x.failedAt = meshFailed, s.now
	if x.fails < math.MaxUint16 {
		x.fails++
	}
	s.stats.MeshFailures++
	if errors.Is(err, ErrTimeout) {
		s.stats.MeshTimeouts++
	}
	e := s.meshEvent(EventMeshFailed, r, i)
	e.Attempt, e.RetryIn, e.Err = int(x.fails), s.backoff(x.fails), err
	s.emit(e)
	s.log.Warn("mesh load failed", "tile", e.Tile, "mesh", e.Mesh, "attempt", e.Attempt, "retry_in", e.RetryIn, "err", err)
}
