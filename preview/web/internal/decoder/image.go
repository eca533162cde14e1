package decoder

import (
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// maxLevels is more than any chain of levels has.
const maxLevels = 32

// Bits of an image.
const (
	bitOpaque = 1 << iota
	bitNormalPacked
)

// writeImage writes a decoded texture.
func writeImage(token uint64, img *texfile.Image) *writer {
	w := newWriter(kindImage, token)
	w.u8(uint8(img.Use))
	w.u8(uint8(img.Encoding))
	w.u8(bit(img.Opaque, bitOpaque) | bit(img.NormalPacked, bitNormalPacked))
	w.u32(uint32(img.SourceWidth))
	w.u32(uint32(img.SourceHeight))
	w.u8(uint8(len(img.Levels)))
	for i := range img.Levels {
		l := &img.Levels[i]
		w.u32(uint32(l.Width))
		w.u32(uint32(l.Height))
		w.block(l.Pix)
	}
	return w
}

// readImage is the inverse; texels stay in the message. Its levels are those of an
// image, with as many bytes as their sizes take.
func readImage(r *reader) (*texfile.Image, error) {
	img := &texfile.Image{Use: texfile.Use(r.u8()), Encoding: texfile.Encoding(r.u8())}
	bits := r.u8()
	img.Opaque, img.NormalPacked = bits&bitOpaque != 0, bits&bitNormalPacked != 0
	img.SourceWidth, img.SourceHeight = int(r.u32()), int(r.u32())
	n := int(r.u8())
	if img.Use > texfile.OpaqueColor || bits >= bitNormalPacked<<1 || n > maxLevels {
		r.fail("use %d, bits %x, %d levels", img.Use, bits, n)
	}
	for range n {
		l := texfile.Level{Width: int(r.u32()), Height: int(r.u32())}
		l.Pix = r.block()
		if r.err != nil {
			break
		}
		img.Levels = append(img.Levels, l)
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	if _, _, err := texfile.SizeOf(img); err != nil {
		r.fail("%v", err)
		return nil, r.err
	}
	return img, nil
}
