package manifest

import (
	"math"
	"strings"
)

// ByUntold reports whether this program's cook wrote the manifest, by its
// generator: then its distances say all there is to say.
func (m *Manifest) ByUntold() bool { return strings.HasPrefix(m.Generator, "untold") }

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
			reach = max(reach, ScreenError(max(size[0], size[1], size[2]), pixels, fovY, height))
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
