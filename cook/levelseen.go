package cook

import (
	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/palette"
	"github.com/untoldkit/untold/cook/simplify"
)

// look returns how a material is seen.
func (b *tileBuilder) look(i int) (appearance.Material, error) {
	m := &b.materials[i]
	out := appearance.Look(m)
	var err error
	if image := m.BaseColorTex.Image; image >= 0 {
		out.Texture, err = b.lookTexture(image)
	}
	return out, err
}

// lookTexture reads a base colour texture. Staged or not, it is the same picture: a
// dry run stages nothing. It is nil if a note says that the image is left out.
func (b *tileBuilder) lookTexture(image int) (*appearance.Texture, error) {
	if b.staged[image].File == "" {
		return nil, nil
	}
	return b.looks.Get(image)
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
	r := appearance.New(seenMesh(src.mesh()), materials)
	if b.lookSide > 0 {
		r.SetLeast(b.lookSide)
	}
	return r, nil
}

// findPalettes looks for textures that are palettes in a tile.
func (b *tileBuilder) findPalettes(src *levelSource) (*palette.Palettes, error) {
	looks := make([]palette.Look, len(src.names))
	for g := range src.names {
		var err error
		if looks[g], err = palette.LookOf(&b.materials[src.names[g].material], b.lookTexture); err != nil {
			return nil, err
		}
	}
	return palette.Find(src.mesh(), looks), nil
}

// seenMesh hands a mesh on with the coordinates of the base colour textures.
func seenMesh(m *simplify.Mesh) *appearance.Mesh {
	return &appearance.Mesh{
		Positions: m.Positions, Normals: m.Normals, UV: m.UV[0], Colors: m.Colors, Indices: m.Indices, Materials: m.Groups,
	}
}
