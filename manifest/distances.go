package manifest

import (
	"math"
	"slices"
	"strings"

	"github.com/untoldkit/untold/manifest/band"
)

// ByUntold reports whether this program's cook wrote the manifest, by its
// generator: then its distances say all there is to say.
func (m *Manifest) ByUntold() bool { return strings.HasPrefix(m.Generator, "untold") }

// BandsOf returns the distances of a tile as the engine reads them: with the
// defaults for what the tile lacks, the first HLOD level, and the LODs sorted.
func (m *Manifest) BandsOf(t *Tile) band.Bands {
	b := band.Bands{Streaming: m.StreamingDefaults.StreamingRadius, Unload: m.StreamingDefaults.UnloadRadius}
	if t.StreamingRadius != nil {
		b.Streaming = *t.StreamingRadius
	}
	if t.UnloadRadius != nil {
		b.Unload = *t.UnloadRadius
	}
	switch {
	case t.PrefetchRadius != nil:
		b.Prefetch = *t.PrefetchRadius
	case m.StreamingDefaults.PrefetchRadius != nil:
		b.Prefetch = *m.StreamingDefaults.PrefetchRadius
	}
	if len(t.HLODLevels) > 0 {
		b.HLOD = t.HLODLevels[0].SwitchDistance
	}
	for _, l := range t.LODLevels {
		b.LODs = append(b.LODs, l.SwitchDistance)
	}
	slices.Sort(b.LODs)
	return b
}

// PriorityOf returns the load priority of a tile or of the shared bucket.
func (m *Manifest) PriorityOf(t *Tile) int {
	if t.Priority != nil {
		return *t.Priority
	}
	return m.StreamingDefaults.Priority
}

// Reach returns how far from the camera anything of the scene is wanted, in
// metres: the largest unload radius. A tile with levels, whose coarsest one has
// no end of its own, counts at least to where it is two pixels high on a screen
// of 1080 pixels with a field of view of 60 degrees.
func (m *Manifest) Reach() float64 {
	const pixels, fovY, height = 2, 60, 1080
	reach := 0.0
	for i := range m.Tiles {
		t := &m.Tiles[i]
		b := m.BandsOf(t)
		reach = max(reach, b.Unload, b.Streaming)
		if b.HLOD > 0 || len(b.LODs) > 0 {
			size := t.Bounds.Box().Size()
			reach = max(reach, band.ScreenError(max(size[0], size[1], size[2]), pixels, fovY, height))
		}
	}
	if b := m.SharedBucket; b != nil && b.UnloadRadius != nil {
		reach = max(reach, *b.UnloadRadius)
	}
	if !(reach <= math.MaxFloat32) {
		return math.MaxFloat32
	}
	return reach
}
