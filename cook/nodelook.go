package cook

import (
	"errors"
	"sync"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/bake"
	"github.com/untoldkit/untold/cook/internal/texture"
)

// bakedTexels is how large textures are from which leaves are baked, along a side: a
// leaf has no more texels itself.
const bakedTexels = 256

// blendedLeast is the opacity below which blended surfaces are left out; the others
// are baked as opaque ones.
const blendedLeast = 0.1

// bakedImages are the textures of the scene for baking, each read once.
type bakedImages struct {
	mu   sync.Mutex
	read map[bakedImage]*bake.Image
}

type bakedImage struct {
	image int
	color bool
}

// look returns how a material is baked.
func (s *bakedImages) look(b *tileBuilder, m *gltfscene.Material) (bake.Look, error) {
	l := bake.Look{
		BaseColor: m.BaseColor, Metallic: m.Metallic, Roughness: m.Roughness, NormalScale: 1, OcclusionStrength: m.OcclusionStrength,
		Emissive: m.Emissive, Masked: m.AlphaMode == gltfscene.AlphaMask, Cutoff: leafCutoff, DoubleSided: m.DoubleSided,
	}
	var err error
	for _, t := range []struct {
		from  *gltfscene.TextureRef
		to    *bake.Texture
		color bool
	}{{&m.BaseColorTex, &l.Color, true}, {&m.MetalRoughTex, &l.MetalRough, false}, {&m.OcclusionTex, &l.Occlusion, false}, {&m.EmissiveTex, &l.Emission, true}} {
		if t.from.Image < 0 || b.staged[t.from.Image].File == "" {
			continue
		}
		if t.to.Image, err = s.get(b, bakedImage{t.from.Image, t.color}); err != nil {
			return l, err
		}
	}
	return l, nil
}

// leafCutoff is the part of a texel that leaves must cover to show there: less than a
// half, or crowns would vanish with the distance.
const leafCutoff = 0.2

// get reads an image; what cannot be read counts as none, which a note says.
func (s *bakedImages) get(b *tileBuilder, key bakedImage) (*bake.Image, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if img, ok := s.read[key]; ok {
		return img, nil
	}
	data, err := b.scene.Images[key.image].Bytes()
	if err != nil {
		return nil, err
	}
	img, err := texture.Read(data, texture.Limits{Each: texture.DefaultMemory})
	switch {
	case errors.Is(err, texture.ErrDamaged), errors.Is(err, texture.ErrFormat), errors.Is(err, texture.ErrTooLarge):
		return nil, nil
	case err != nil:
		return nil, err
	}
	use, decode := texture.Data, func(v uint8) float32 { return float32(v) / 255 }
	if key.color {
		use, decode = texture.Color, texture.Linear
	}
	if w, h := img.Rect.Dx(), img.Rect.Dy(); max(w, h) > bakedTexels {
		img = texture.Resize(img, max(1, w*bakedTexels/max(w, h)), max(1, h*bakedTexels/max(w, h)), use)
	}
	if s.read == nil {
		s.read = map[bakedImage]*bake.Image{}
	}
	s.read[key] = bake.NewImage(img, decode)
	return s.read[key], nil
}
