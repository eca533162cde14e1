package runtime

import (
	"slices"

	"github.com/untoldkit/untold/runtime/payload"
)

// Snapshot returns the present state. It allocates unless an Update has not
// happened since the last call.
func (s *Streamer) Snapshot() *Snapshot {
	if s.snapshot != nil && s.snapshotOf == s.changes && s.snapshot.Frame == s.frame && s.snapshot.Time == s.now {
		return s.snapshot
	}
	snap := &Snapshot{Frame: s.frame, Time: s.now, Stats: s.Stats()}
	n := 0
	for _, sc := range s.scenes {
		n += len(sc.active)
	}
	snap.Tiles = make([]TileStatus, 0, n)
	s.forEach(func(r *record) { snap.Tiles = append(snap.Tiles, s.status(r)) })
	s.snapshot, s.snapshotOf = snap, s.changes
	return snap
}

func (s *Streamer) status(r *record) TileStatus {
	t := TileStatus{
		Scene: r.scene.id, Tile: r.tile, ID: r.scene.tiles.id[r.tile], State: r.full().state,
		Wanted: r.wanted, Drawn: r.drawn, Fading: r.fading,
		Distance: r.scene.tiles.box[r.tile].Distance(r.scene.view.pos),
	}
	if r.fading != payload.RepNone {
		t.Progress = r.fadeProgress()
	}
	if m := r.meshes; m != nil {
		t.Meshes, t.MeshesLoaded = len(m.stubs), m.uploaded
		t.Visual = m.visual()
	}
	for i := range r.reps {
		if r.reps[i].resident() {
			t.Resident = t.Resident.With(payload.Rep(i + 1))
		}
	}
	return t
}

// overlap counts a tile with several representations.
func (st *Stats) overlap(r *record) {
	if r.full().resident() && slices.ContainsFunc(r.reps[1:], func(x repState) bool { return x.resident() }) {
		st.OverlapFullFallback++
	}
	if r.fading == payload.RepNone {
		return
	}
	a, b := classOf(r.fading), classOf(r.drawn)
	if a > b {
		a, b = b, a
	}
	switch {
	case b == classHLOD:
		st.OverlapFullHLOD++
	case a == classFull:
		st.OverlapFullLOD++
	case a == classHLOD:
		st.OverlapLODHLOD++
	default:
		st.OverlapLODLOD++
	}
}

// Stats returns the counters.
func (s *Streamer) Stats() Stats {
	st := s.stats
	s.loads.count.addTo(&st)
	s.budget.addTo(&st)
	s.meshes.count.addTo(&st)
	s.residency.count.addTo(&st)
	s.evictor.count.addTo(&st)
	s.selector.count.addTo(&st)
	s.handoff.count.addTo(&st)
	for _, sc := range s.scenes {
		st.TotalStreamingEntities += sc.tiles.tiles
		st.OctreeEntries += sc.tree.Len()
		nodes, leaves, depth := sc.tree.Shape()
		st.OctreeNodes, st.OctreeLeaves, st.OctreeDepth = st.OctreeNodes+nodes, st.OctreeLeaves+leaves, max(st.OctreeDepth, depth)
		for _, tile := range sc.active {
			st.overlap(sc.recordOf(tile))
		}
		st.PyramidNodes += sc.refinement.drawn()
		st.PyramidRootBytes += sc.rootBytes()
	}
	st.TotalStreamingEntities += st.Meshes
	st.LoadedCount = st.ResidentFull + st.MeshesLoaded
	st.LoadingCount += st.MeshesLoading
	st.UnloadedCount = st.TotalStreamingEntities - st.LoadedCount - st.LoadingCount
	st.TrackedEntities = st.ResidentFull + st.ResidentLOD + st.ResidentHLOD + st.MeshesLoaded
	st.ActiveLoads = len(s.loads.list) + len(s.meshes.loading)
	cpu := s.meshes.registry.usage()
	st.CPUBytes, st.CPURoots, st.PrewarmsActive = cpu.Bytes, cpu.Warm, cpu.Prewarming
	if s.cache != nil {
		u := s.cache.Usage()
		st.MeshCacheFiles, st.MeshCacheBytes, st.MeshCacheUsers, st.MeshCacheUnused = u.Files, u.Bytes, u.Users, u.Unused
	}
	st.LastApplyLoadedMeshMs, st.LastUnloadMeshMs = milliseconds(s.device.lastUpload), milliseconds(s.device.lastRelease)
	st.ActiveFades = s.activeFades()
	st.Frames, st.DroppedEvents = s.frame, s.dropped
	return st
}

// TileVisualState grades how much of a full tile is uploaded when its meshes
// are streamed one by one.
type TileVisualState uint8

// The grades. From VisualUsable on a tile may take over from its fallback.
const (
	VisualEmpty TileVisualState = iota
	VisualPartial
	VisualUsable
	VisualComplete
)

// visualState returns the grade of a tile in the given state with so many of
// its streamed meshes uploaded.
func visualState(state TileState, total, uploaded int) TileVisualState {
	switch {
	case state != TileParsed:
		return VisualEmpty
	case uploaded >= total:
		return VisualComplete
	case uploaded <= 0:
		return VisualEmpty
	case 2*uploaded >= total:
		return VisualUsable
	}
	return VisualPartial
}
