package gltfexport

import (
	"crypto/sha256"
	"fmt"
	"image"
	"image/png"
	"io"
	"path"
	"strings"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/internal/basisu"
	"github.com/untoldkit/untold/internal/ktx2"
	"github.com/untoldkit/untold/internal/picture"
)

// What textures of Basis Universal are called.
const (
	extBasis = "KHR_texture_basisu"
	ktx2MIME = "image/ktx2"
	ktx2Ext  = ".ktx2"
)

// encode writes a picture that is made here, for its role.
func (t *textures) encode(w io.Writer, pixels *image.NRGBA, role texture.Role) error {
	if t.e.opts.KTX2 {
		return texture.WriteKTX2(t.e.ctx, w, pixels, role)
	}
	return png.Encode(w, pixels)
}

// encodedMIME is the type of what encode writes.
func (t *textures) encodedMIME() string {
	if t.e.opts.KTX2 {
		return ktx2MIME
	}
	return "image/png"
}

// basis puts an open texture file into the buffer or the shared folder as KTX2, for its
// role, and returns the bytes of it. What cannot be decoded is errDamaged.
func (t *textures) basis(img *imageJSON, f *opened, at texturePath, sum [sha256.Size]byte) (n int64, err error) {
	img.Name = strings.TrimSuffix(path.Base(at.uri), path.Ext(at.uri))
	write := func(w io.Writer) error {
		if fitsBasis(f.ktx2) {
			_, err := io.Copy(w, io.NewSectionReader(f, 0, 1<<62))
			return err
		}
		pixels, free, err := t.pixels(f)
		if err != nil {
			return err
		}
		defer free()
		return t.encode(w, pixels, at.role)
	}
	if t.e.opts.Textures == nil {
		img.MimeType = t.encodedMIME()
		return t.embed(img, write)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%x %v", sum, at.role)
	return t.share(img, sharedName(img.Name, [sha256.Size]byte(h.Sum(nil)), ktx2Ext), write)
}

// fitsBasis reports whether a KTX2 file is one that KHR_texture_basisu allows, as a cook
// writes it: it stays as it is.
func fitsBasis(k *ktx2.File) bool {
	return k != nil && k.Plain() && (k.Width|k.Height)%basisu.BlockSize == 0
}

// pixels decodes a file; one that is damaged or too large is errDamaged. free gives back
// the memory.
func (t *textures) pixels(f *opened) (pixels *image.NRGBA, free func(), err error) {
	if f.utex != nil {
		if free, err = t.room(f.utex); err != nil {
			return nil, nil, err
		}
		if pixels, err = decodeUtex(f.utex); err != nil {
			free()
			return nil, nil, errDamaged
		}
		return pixels, free, nil
	}
	if f.ktx2 != nil {
		if free, err = t.memory.Take(t.e.ctx, min(f.ktx2.Cost(0), largest)); err != nil {
			return nil, nil, err
		}
		if pixels, err = f.ktx2.Decode(0); err != nil {
			free()
			return nil, nil, errDamaged
		}
		if f.ktx2.TwoChannels() {
			ktx2.RaiseNormals(pixels) // they are normal maps, of which a cook keeps no third channel
		}
		return pixels, free, nil
	}
	if !affordable(f) {
		return nil, nil, errDamaged
	}
	cfg, _, err := image.DecodeConfig(io.NewSectionReader(f, 0, 1<<62))
	if err != nil {
		return nil, nil, errDamaged
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
		return nil, nil, errDamaged
	}
	return pixels, free, nil
}
