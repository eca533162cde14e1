package runtime

import (
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/payload"
)

// The nodes X_LOD0, X_LOD1, ... of an out-of-core tile are one stub, a LOD group.
// All its levels are on the Device; the camera's distance chooses the one that is
// drawn.

// switchLevels chooses the levels of all LOD groups anew on every
// lod.frameInterval-th frame, and whenever the camera has moved by more than
// lod.minCameraMove.
func (ms *meshStreamer) switchLevels() {
	if ms.groups == 0 {
		return
	}
	moved := geom.Vec3(ms.camera.Position).Sub(ms.switchedFrom).Len()
	if ms.switched && ms.frame-ms.switchedAt < uint64(ms.cfg.LOD.FrameInterval) && moved <= ms.cfg.LOD.MinCameraMove {
		return
	}
	ms.switched, ms.switchedAt, ms.switchedFrom = true, ms.frame, ms.camera.Position
	ms.forEachSplit(func(r *record) {
		if r.meshes.plan.Groups == 0 {
			return
		}
		camera := r.scene.inverse.Point(ms.camera.Position)
		for i := range r.meshes.stubs {
			if r.meshes.stubs[i].state == meshLoaded && len(r.meshes.plan.Stubs[i].Parts) > 1 {
				ms.pickLevel(r, i, camera, false)
			}
		}
	})
}

// pickLevel chooses the level of a group; first is set when the group has just
// been loaded.
func (ms *meshStreamer) pickLevel(r *record, i int, camera geom.Vec3, first bool) {
	x, p := &r.meshes.stubs[i], &r.meshes.plan.Stubs[i]
	distance := float64(x.box.Center().Sub(camera).Len() * ms.cfg.LOD.Bias)
	current := x.level
	if first {
		current = p.Parts[0].Level
	}
	level := nearestResident(p, x.resident, ms.levelAt(p, distance, current, first))
	if !first && level != x.level {
		ms.count.lodSwitches++
	}
	x.level = level
}

// levelAt returns the level for a distance: the first whose switch distance it
// is within, else the last. One that is finer than the present one must be
// nearer by lod.hysteresis.
func (ms *meshStreamer) levelAt(p *payload.Stub, distance float64, current int16, first bool) int16 {
	for k := range p.Parts {
		level := p.Parts[k].Level
		if int(level) >= len(ms.cfg.LOD.Distances) {
			break
		}
		limit := ms.cfg.LOD.Distances[level]
		if !first && level < current {
			limit -= ms.cfg.LOD.Hysteresis
		}
		if distance <= limit {
			return level
		}
	}
	return p.Parts[len(p.Parts)-1].Level
}

// nearestResident returns the level if it is on the Device, else the next
// coarser one that is, else the next finer one.
func nearestResident(p *payload.Stub, resident uint64, level int16) int16 {
	finer := level
	found := false
	for k := range p.Parts {
		if resident>>k&1 == 0 {
			continue
		}
		if p.Parts[k].Level >= level {
			return p.Parts[k].Level
		}
		finer, found = p.Parts[k].Level, true
	}
	if found {
		return finer
	}
	return level
}
