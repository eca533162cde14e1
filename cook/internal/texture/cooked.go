package texture

import (
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/utex"
)

// Mode says what becomes of the images.
type Mode uint8

// The modes.
const (
	ModeCopy   Mode = iota // as they are, or converted where a loader could not read them
	ModeResize             // those above a size are made smaller, as PNG or JPEG
	ModeBC                 // BC7 and BC5 with mip chains, as .utex
	ModeASTC               // ASTC with mip chains, as .utex

	modes // their number
)

var modeNames = [modes]string{"copy", "resize", "bc", "astc"}

// String returns copy, resize, bc or astc.
func (m Mode) String() string { return modeNames[min(m, modes-1)] }

// Known reports whether m is one of the modes.
func (m Mode) Known() bool { return m < modes }

// compresses reports whether a mode writes .utex files.
func (m Mode) compresses() bool { return m == ModeBC || m == ModeASTC }

// ParseMode is the inverse of String.
func ParseMode(s string) (Mode, error) {
	for i, name := range modeNames {
		if s == name {
			return Mode(i), nil
		}
	}
	return ModeCopy, fmt.Errorf("%q is unknown; use %s", s, strings.Join(modeNames[:], ", "))
}

// utexExt ends the names of compressed textures.
const utexExt = ".utex"

// Cooked is the file that serves one use of an image.
type Cooked struct {
	File          string // inside the folder
	Width, Height int    // pixels of the first level
	Levels        int    // in the file
	Format        records.TextureFormat
	Size          int64 // bytes of the file
	GPU           int64 // bytes with the full mip chain
}

// As returns the file that serves a use: the cooked one, or the staged image
// itself.
func (s *Staged) As(u Use) Cooked {
	if c := s.Cooked[u]; c != nil {
		return *c
	}
	return Cooked{
		File: s.File, Width: s.Width, Height: s.Height, Levels: 1, Format: records.TextureUnknown,
		Size: s.Size, GPU: plainGPU(s.Width, s.Height),
	}
}

// Names reports whether one of the image's files has the name, whatever its
// case.
func (s *Staged) Names(name string) bool {
	for _, c := range s.Cooked {
		if c != nil && strings.EqualFold(c.File, name) {
			return true
		}
	}
	return strings.EqualFold(s.File, name)
}

// plainGPU returns the bytes of an RGBA texture with a full mip chain.
func plainGPU(w, h int) int64 {
	n := int64(0)
	for {
		n += 4 * int64(w) * int64(h)
		if w <= 1 && h <= 1 {
			return n
		}
		w, h = max(1, w/2), max(1, h/2)
	}
}

// encode writes base for its role, in blocks or in the format that the file
// name ends in, and fills in what is known then.
func (to *Cooked) encode(w io.Writer, c *workers, base *image.NRGBA, r Role, how coding, deflate png.CompressionLevel) error {
	to.Width, to.Height, to.Levels, to.Format = base.Rect.Dx(), base.Rect.Dy(), 1, records.TextureUnknown
	switch {
	case strings.HasSuffix(to.File, utexExt):
		var info *utex.Info
		info, err := writeBlocks(w, c, base, r, how)
		if err != nil {
			return err
		}
		to.Format = how.record
		to.Levels, to.GPU = len(info.Levels), info.Bytes(0)
		return nil
	case strings.EqualFold(filepath.Ext(to.File), ".png"):
		to.GPU = plainGPU(to.Width, to.Height)
		return (&png.Encoder{CompressionLevel: deflate}).Encode(w, opaqueOr(base))
	}
	to.GPU = plainGPU(to.Width, to.Height)
	return jpeg.Encode(w, base, &jpeg.Options{Quality: jpegQuality})
}

// jpegQuality loses little that the source's own compression had kept.
const jpegQuality = 92

// opaqueOr returns an opaque image in a type that PNG stores without alpha.
func opaqueOr(img *image.NRGBA) image.Image {
	if !img.Opaque() {
		return img
	}
	return &image.RGBA{Pix: img.Pix, Stride: img.Stride, Rect: img.Rect}
}

// EncodeOne writes a picture that is made while cooking, for one role: in ModeBC
// and ModeASTC as .utex, else as PNG. The name that it returns ends with the fitting
// extension.
func EncodeOne(w io.Writer, stem string, img *image.NRGBA, r Role, m Mode, a ASTC) (Cooked, error) {
	c := newWorkers(1)
	c.join()
	to := Cooked{File: stem + OneExt(m)}
	err := to.encode(w, c, scaled(c, img, img.Rect.Dx(), img.Rect.Dy(), r), r, m.coding(r, a), png.DefaultCompression)
	return to, err
}

// OneExt is the extension of what EncodeOne writes.
func OneExt(m Mode) string {
	if m.compresses() {
		return utexExt
	}
	return ".png"
}
