package cook

import (
	"sync"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/cook/texture"
)

// seenTexture is the longest side in pixels of the textures that levels are
// judged with: farther than a tile's side nobody sees more of them.
const seenTexture = 256

// seenMemory bounds what decoding one of them may take. It does not depend on the
// machine, since the levels' errors must not.
const seenMemory = 1 << 30

// looks holds the materials as they are seen from afar, of which the textures
// are read once, when they are first needed.
type looks struct {
	mu       sync.Mutex
	textures map[int]*appearance.Texture // by image; nil: it cannot be read
}

// look returns how a material is seen.
func (b *tileBuilder) look(i int) (appearance.Material, error) {
	m := &b.materials[i]
	out := appearance.Material{
		Color: m.BaseColor, Emissive: m.Emissive, Cutoff: m.AlphaCutoff, DoubleSided: m.DoubleSided, Unlit: m.Unlit,
		Transparent: m.AlphaMode == gltfscene.AlphaBlend, Masked: m.AlphaMode == gltfscene.AlphaMask,
	}
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
	img, err := texture.Read(data, texture.Limits{Each: seenMemory})
	var t *appearance.Texture
	if err == nil { // else a note says what is wrong with it, or it is too large to be looked at
		w, h := img.Rect.Dx(), img.Rect.Dy()
		if most := max(w, h); most > seenTexture {
			w, h = max(1, w*seenTexture/most), max(1, h*seenTexture/most)
			img = texture.Resize(img, w, h, texture.Color)
		}
		t = appearance.NewTexture(img, texture.Linear)
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
