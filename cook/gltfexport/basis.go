package gltfexport

import (
	"crypto/sha256"
	"fmt"
	"image"
	"io"
	"path"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/internal/picture"
)

// What textures of Basis Universal are called.
const (
	extBasis = "KHR_texture_basisu"
	ktx2MIME = "image/ktx2"
	ktx2Ext  = ".ktx2"
)

// dataRole is that of numbers, such as metallic and roughness.
var dataRole = texture.Role{Use: texture.Data}

// basis puts an open texture file into the buffer or the shared folder as KTX2, for its
// role, and returns the bytes of it; damaged says that it could not be decoded, when
// nothing was written.
func (t *textures) basis(img *imageJSON, f *opened, at texturePath, sum [sha256.Size]byte) (n int64, damaged bool, err error) {
	write := func(w io.Writer) (bool, error) {
		pixels, free, err := t.pixels(f)
		if err != nil {
			return false, err
		}
		if pixels == nil {
			return true, nil
		}
		defer free()
		return false, texture.WriteKTX2(t.e.ctx, w, pixels, at.role)
	}
	stem := path.Base(at.uri)
	stem = stem[:len(stem)-len(path.Ext(stem))]
	img.Name = stem
	if t.e.opts.Textures == nil {
		img.MimeType = ktx2MIME
		pixels, free, err := t.pixels(f)
		if err != nil || pixels == nil {
			return 0, pixels == nil && err == nil, err
		}
		defer free()
		n, err = t.embed(img, func(w io.Writer) error { return texture.WriteKTX2(t.e.ctx, w, pixels, at.role) })
		return n, false, err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%x %v", sum, at.role)
	name := sharedName(stem, [sha256.Size]byte(h.Sum(nil)), ktx2Ext)
	s := t.e.opts.Textures.put(name, write)
	if s.damaged || s.err != nil {
		return 0, s.damaged, s.err
	}
	img.URI, err = t.uri(name)
	return s.bytes, false, err
}

// pixels decodes a file; they are nil when it is damaged or too large. free gives back the
// memory.
func (t *textures) pixels(f *opened) (pixels *image.NRGBA, free func(), err error) {
	if f.utex != nil {
		if free, err = t.room(f.utex); err != nil {
			return nil, nil, err
		}
		if pixels, err = decodeUtex(f.utex); err != nil {
			free()
			return nil, nil, nil
		}
		return pixels, free, nil
	}
	if !affordable(f) {
		return nil, nil, nil
	}
	cfg, _, err := image.DecodeConfig(io.NewSectionReader(f, 0, 1<<62))
	if err != nil {
		return nil, nil, nil
	}
	if free, err = t.memory.Take(t.e.ctx, min(8*int64(cfg.Width)*int64(cfg.Height), largest)); err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, picture.MaxBytes))
	if err == nil {
		pixels, err = texture.Read(data, texture.Limits{})
	}
	if err != nil {
		free()
		return nil, nil, nil
	}
	return pixels, free, nil
}
