package render

import (
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture"
)

// TextureView is what texture streaming needs to know of a frame.
type TextureView struct {
	// Frame is what the next Draw will draw, of which Camera, CullCamera, Drawn
	// and Root are read: what is in view comes first. Nil means what the last
	// Draw has seen.
	Frame *Frame
	// Now is the time since an arbitrary but fixed origin; it never goes back.
	Now time.Duration
	// Camera is the point of view in world space, metres.
	Camera [3]float64
	// Pixel is what a pixel covers at a distance of a metre: texture.PixelSize.
	Pixel float64
	// Busy says that geometry is on its way too.
	Busy bool
	// Draft says that the picture is the draft of a scene: texture.View.
	Draft bool
	// Root returns the transform from a scene to the world; nil means identity.
	Root func(payload.SceneID) geom.Mat4
}

// textureKey is the textures of a material by slot, 0 for none.
type textureKey [slots]texture.ID

// textureSet is the textures of a material. Materials with the same textures
// share a set.
type textureSet struct {
	refs int
	key  textureKey

	// Where the textures are, as bindings.settle has it:
	seen    uint64
	binding uint32
	layers  [2]uint32 // a byte by slot
	page    int       // from which something with them was drawn
}

// textureSets holds the sets in use.
type textureSets struct{ byKey map[textureKey]*textureSet }

func newTextureSets() textureSets { return textureSets{map[textureKey]*textureSet{}} }

// acquire returns the set of some textures; nil when there is none.
func (t *textureSets) acquire(key textureKey) *textureSet {
	if key == (textureKey{}) {
		return nil
	}
	s, ok := t.byKey[key]
	if !ok {
		s = &textureSet{key: key}
		t.byKey[key] = s
	}
	s.refs++
	return s
}

// release gives a set back.
func (t *textureSets) release(s *textureSet) {
	if s == nil {
		return
	}
	if s.refs--; s.refs == 0 {
		delete(t.byKey, s.key)
	}
}

// has returns the bits of the slots that have a texture.
func (s *textureSet) has() (bits uint32) {
	if s == nil {
		return 0
	}
	for i, id := range s.key {
		if id != 0 {
			bits |= 1 << i
		}
	}
	return bits
}

// shown returns the texture whose size ViewTextureTiers shows: the base colour,
// or whatever there is; 0 for none.
func (s *textureSet) shown() texture.ID {
	if s == nil {
		return 0
	}
	for _, id := range s.key {
		if id != 0 {
			return id
		}
	}
	return 0
}

// tierColor returns the colour of a texture in ViewTextureTiers.
func tierColor(id texture.ID, l texture.Look) [3]uint8 {
	switch {
	case id == 0:
		return tierColors.none
	case l.Missing:
		return tierColors.missing
	case l.Busy || l.Edge == 0:
		return tierColors.loading
	case l.Tier == texture.TierFull:
		return tierColors.full
	case l.Tier == texture.TierMedium:
		return tierColors.medium
	}
	return tierColors.minimum
}

// worldBox returns the box around a box of a scene, given by its centre and
// half its size, in the world.
func worldBox(center, half [3]float64, root *geom.Mat4) geom.Box {
	c, h := geom.Vec3(center), geom.Vec3(half)
	return geom.Box{Min: c.Sub(h), Max: c.Add(h)}.Transform(root)
}
