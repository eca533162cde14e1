package runtime

import "slices"

// OutOfCorePolicy says which full tiles are streamed mesh by mesh.
type OutOfCorePolicy string

// The policies.
const (
	// OutOfCoreAuto decides by the number of nodes and their memory.
	OutOfCoreAuto OutOfCorePolicy = "auto"
	// OutOfCoreImmediate uploads every tile as a whole.
	OutOfCoreImmediate OutOfCorePolicy = "immediate"
	// OutOfCoreAlways streams every tile mesh by mesh.
	OutOfCoreAlways OutOfCorePolicy = "outOfCore"
)

func (p OutOfCorePolicy) known() bool {
	return p == OutOfCoreAuto || p == OutOfCoreImmediate || p == OutOfCoreAlways
}

// outOfCore decides whether a full tile that was loaded streams mesh by mesh
// (facts section 13): it has many nodes, or takes a large part of the geometry
// budget, if there is one. Entities own their meshes (DECISIONS R11), and LOD
// groups can only be switched part by part. A
// Loader that gives no asset leaves nothing to decide.
func (s *Streamer) outOfCore(r *record, res *Result) bool {
	if res.Asset == nil || s.cfg.OutOfCorePolicy == OutOfCoreImmediate {
		return false
	}
	n := res.Asset.layout()
	if len(n.stubs) == 0 {
		return false
	}
	if s.cfg.OutOfCorePolicy == OutOfCoreAlways || r.scene.tiles.has(r.tile, flagEntity) || n.groups > 0 || len(n.list) >= s.cfg.OutOfCoreNodeThreshold {
		return true
	}
	budget := s.memory.GeometryBudget
	return budget > 0 && float64(n.bytes)/float64(budget) > s.cfg.OutOfCoreGeometryFraction
}

// place takes over a representation that was loaded: it goes to the Device, or
// its meshes are registered. On an error the caller still has the asset.
func (s *Streamer) place(r *record, rep Rep, res *Result) error {
	if rep == RepFull && s.outOfCore(r, res) {
		s.registerMeshes(r, res)
		return nil
	}
	return s.uploadWhole(r, rep, res)
}

// uploadWhole uploads a representation as a whole; of LOD groups only the finest
// level, for nothing could hide the others.
func (s *Streamer) uploadWhole(r *record, rep Rep, res *Result) error {
	asset := res.Asset
	if asset == nil || rep != RepFull || asset.layout().groups == 0 {
		return s.deps.Device.Upload(r.key(rep), asset)
	}
	view := asset.View(asset.layout().finest()...)
	if view == nil {
		return errCold
	}
	if err := s.deps.Device.Upload(r.key(rep), view); err != nil {
		view.Release()
		return err
	}
	asset.Release()
	return nil
}

// finest lists the entities to draw when no level can be switched.
func (n *nodes) finest() []int {
	var out []int
	for i := range n.stubs {
		p := &n.stubs[i]
		for k := range p.parts {
			if p.parts[k].level == p.parts[0].level {
				out = append(out, int(n.list[p.parts[k].part-1]))
			}
		}
	}
	slices.Sort(out)
	return out
}
