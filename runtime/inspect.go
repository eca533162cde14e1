package runtime

import (
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/payload"
)

// TileInfo is what the runtime goes by for a tile: its box and distances after
// defaults and normalisation. Distances are metres of the scene.
type TileInfo struct {
	ID        string
	Bounds    manifest.Bounds
	Streaming float64   // full geometry from here on; infinite for a shared bucket
	Prefetch  float64   // its load may start
	Unload    float64   // it may go
	HLOD      float64   // switch distance, 0: none
	LODs      []float64 // switch distances, the finest first
	Shared    bool      // the shared bucket
}

// TileCount returns the number of tiles of a scene, its shared bucket
// included; 0 for an unknown one.
func (s *Streamer) TileCount(id payload.SceneID) int {
	sc, _ := s.sceneByID(id)
	if sc == nil {
		return 0
	}
	return sc.tiles.tiles
}

// TileInfo describes a tile by its index in the manifest; the shared bucket
// comes last. ok is false when there is no such tile.
func (s *Streamer) TileInfo(id payload.SceneID, tile int32) (info TileInfo, ok bool) {
	sc, _ := s.sceneByID(id)
	if sc == nil || tile < 0 || int(tile) >= sc.tiles.tiles {
		return info, false
	}
	t := sc.tiles
	r := &t.radius[tile]
	info = TileInfo{
		ID: t.id[tile], Bounds: manifest.BoundsOf(t.box[tile]), Streaming: r.stream, Prefetch: r.prefetch, Unload: r.unload,
		Shared: t.has(tile, flagShared),
	}
	info.HLOD, _ = t.hlod(tile)
	for _, l := range t.lods(tile) {
		info.LODs = append(info.LODs, l.from)
	}
	return info, true
}

// SceneTransform returns the root of a scene, column-major; ok is false for an
// unknown one.
func (s *Streamer) SceneTransform(id payload.SceneID) (m [16]float64, ok bool) {
	sc, _ := s.sceneByID(id)
	if sc == nil {
		return m, false
	}
	return sc.root, true
}

// AppendOctreeLeaves appends the boxes of the leaves of a scene's spatial
// index, in scene space.
func (s *Streamer) AppendOctreeLeaves(dst []manifest.Bounds, id payload.SceneID) []manifest.Bounds {
	sc, _ := s.sceneByID(id)
	if sc == nil {
		return dst
	}
	for _, b := range sc.tree.AppendLeaves(nil) {
		dst = append(dst, manifest.BoundsOf(b))
	}
	return dst
}

// Occlusion is the occlusion test of a scene as it stands
// for the last camera.
type Occlusion struct {
	// Covered is the part of the screen that loaded tiles cover: bit 8*row+column
	// of an 8 x 8 grid, row 0 at the bottom and column 0 at the left.
	Covered   uint64
	Occluders int // loaded tiles in view
	// Hidden lists tiles in view, within their prefetch radius and not loaded,
	// that nearer tiles cover: they load last.
	Hidden []int32
}

// Occlusion tests occlusion anew, for a debug view: it has no effect on what is
// loaded. It is empty for an unknown scene or a camera without a view.
func (s *Streamer) Occlusion(id payload.SceneID) (out Occlusion) {
	sc, _ := s.sceneByID(id)
	if sc == nil || !sc.view.lens {
		return out
	}
	o := occlusion{full: s.cfg.OcclusionFullThreshold, minimum: s.cfg.OcclusionMinWeight, view: &sc.view}
	loaded := func(tile int32) bool {
		return sc.tiles.record[tile] >= 0 && sc.recordOf(tile).full().resident()
	}
	for _, tile := range sc.active {
		box := clip(sc.tiles.box[tile], sc.bounds)
		if f, ok := sc.view.footprint(&box, false); ok && loaded(tile) {
			x := occluder{sc.tiles.box[tile].Distance(sc.view.pos), tile, f.mask()}
			o.list = append(o.list, x)
			out.Covered |= x.mask
		}
	}
	o.sort()
	out.Occluders = len(o.list)
	for _, tile := range sc.query.tiles {
		d := sc.tiles.box[tile].Distance(sc.view.pos)
		if loaded(tile) || d > sc.tiles.radius[tile].prefetch {
			continue
		}
		box := clip(sc.tiles.box[tile], sc.bounds)
		if !sc.view.sees(&box) {
			continue
		}
		if w, _ := o.weight(&box, -1, d); w <= o.minimum {
			out.Hidden = append(out.Hidden, tile)
		}
	}
	return out
}

// SceneBounds returns the box around all tiles of a scene, in scene space; ok
// is false when it has none.
func (s *Streamer) SceneBounds(id payload.SceneID) (b manifest.Bounds, ok bool) {
	sc, _ := s.sceneByID(id)
	if sc == nil || sc.tiles.len() == 0 {
		return b, false
	}
	box := geom.EmptyBox()
	for i := range sc.tiles.tiles {
		box = box.Union(sc.tiles.box[i])
	}
	return manifest.BoundsOf(box), !box.IsEmpty()
}
