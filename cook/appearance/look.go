package appearance

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/texture"
)

// textureSide is the longest side in pixels of textures: farther than a tile's
// side nobody sees more of them.
const textureSide = 256

// textureMemory bounds what decoding one of them may take. It does not depend on
// the machine, since the levels' errors must not.
const textureMemory = 1 << 30

// Look returns how a material is seen, without its texture.
func Look(m *gltfscene.Material) Material {
	return Material{
		Color: m.BaseColor, Emissive: m.Emissive, Cutoff: m.AlphaCutoff, DoubleSided: m.DoubleSided, Unlit: m.Unlit,
		Transparent: m.AlphaMode == gltfscene.AlphaBlend, Masked: m.AlphaMode == gltfscene.AlphaMask,
	}
}

// ReadTexture decodes the image of a base colour texture. The error says that it
// is none, or too large to be looked at.
func ReadTexture(data []byte) (*Texture, error) {
	img, err := texture.Read(data, texture.Limits{Each: textureMemory})
	if err != nil {
		return nil, err
	}
	return NewTexture(smaller(img), texture.Linear), nil
}

// Textures reads the base colour textures of a scene, each once, when it is first
// needed. It is safe for use by several goroutines.
type Textures struct {
	Images []gltfscene.Image

	mu   sync.Mutex
	read map[int]*Texture // by image; nil: it cannot be looked at
}

// Get returns the texture of an image, nil if it cannot be looked at: what is wrong
// with it is for others to say.
func (s *Textures) Get(image int) (*Texture, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.read[image]; ok {
		return t, nil
	}
	data, err := s.Images[image].Bytes()
	if err != nil {
		return nil, err
	}
	t, err := ReadTexture(data)
	if err != nil {
		t = nil
	}
	if s.read == nil {
		s.read = map[int]*Texture{}
	}
	s.read[image] = t
	return t, nil
}

// LoadTexture is ReadTexture for a file that a cook staged: nil, without an error,
// if it is in a container of compressed textures.
func LoadTexture(path string) (*Texture, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t, err := ReadTexture(data)
	if err != nil && strings.EqualFold(filepath.Ext(path), ".utex") {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// smaller returns an image with sides of at most textureSide.
func smaller(img *image.NRGBA) *image.NRGBA {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	most := max(w, h)
	if most <= textureSide {
		return img
	}
	return texture.Resize(img, max(1, w*textureSide/most), max(1, h*textureSide/most), texture.Color)
}
