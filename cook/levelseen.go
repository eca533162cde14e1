package cook

import (
	"sync"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/simplify"
)

// looks holds the materials as they are seen from afar, of which the textures
// are read once, when they are first needed.
type looks struct {
	mu       sync.Mutex
	textures map[int]*appearance.Texture // by image; nil: it cannot be read
}

// look returns how a material is seen.
func (b *tileBuilder) look(i int) (appearance.Material, error) {
	m := &b.materials[i]
	out := appearance.Look(m)
	var err error
	if t := &m.BaseColorTex; t.Image >= 0 && b.staged[t.Image].File != "" {
		out.Texture, err = b.lookTexture(t.Image)
	}
	return out, err
}

// lookTexture reads a base colour texture.
func (b *tileBuilder) lookTexture(i int) (*appearance.Texture, error) {
	s := &b.looks
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.textures[i]; ok {
		return t, nil
	}
	// Staged or not, it is the same picture: a dry run stages nothing.
	data, err := b.scene.Images[i].Bytes()
	if err != nil {
		return nil, err
	}
	t, err := appearance.ReadTexture(data)
	if err != nil {
		t = nil // a note says what is wrong with it, or it is too large to be looked at
	}
	if s.textures == nil {
		s.textures = map[int]*appearance.Texture{}
	}
	s.textures[i] = t
	return t, nil
}

// newReference prepares the comparison of levels with a tile's full geometry.
func (b *tileBuilder) newReference(src *levelSource) (*appearance.Reference, error) {
	materials := make([]appearance.Material, len(src.names))
	for g := range src.names {
		var err error
		if materials[g], err = b.look(src.names[g].material); err != nil {
			return nil, err
		}
	}
	return appearance.New(seenMesh(src.mesh()), materials), nil
}

// seenMesh hands a mesh on with the coordinates of the base colour textures.
func seenMesh(m *simplify.Mesh) *appearance.Mesh {
	return &appearance.Mesh{
		Positions: m.Positions, Normals: m.Normals, UV: m.UV[0], Colors: m.Colors, Indices: m.Indices, Materials: m.Groups,
	}
}
