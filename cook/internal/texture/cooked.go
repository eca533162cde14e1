package texture

import (
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/internal/basisu"
)

// Mode says what becomes of the images.
type Mode uint8

// The modes.
const (
	ModeCopy   Mode = iota // as they are, or converted where a loader could not read them
	ModeResize             // those above a size are made smaller, as PNG or JPEG
	ModeBC                 // BC7 and BC5 with mip chains, as .utex
	ModeASTC               // ASTC with mip chains, as .utex
	ModeKTX2               // UASTC of Basis Universal with mip chains, as .ktx2

	modes // their number
)

var modeNames = [modes]string{"copy", "resize", "bc", "astc", "ktx2"}

// String returns copy, resize, bc, astc or ktx2.
func (m Mode) String() string { return modeNames[min(m, modes-1)] }

// Known reports whether m is one of the modes.
func (m Mode) Known() bool { return m < modes }

// blockExt ends the names of what a mode compresses to blocks; it is empty for modes that
// do not.
func (m Mode) blockExt() string {
	switch m {
	case ModeBC, ModeASTC:
		return utexExt
	case ModeKTX2:
		return ktx2Ext
	}
	return ""
}

// size returns the size that a picture of w x h pixels gets in a mode.
func (m Mode) size(w, h int) (int, int) {
	if m == ModeKTX2 {
		return basisSize(w, h)
	}
	return w, h
}

// scaled returns a picture at a size that the mode gives.
func (m Mode) scaled(c *workers, img *image.NRGBA, w, h int, r Role) *image.NRGBA {
	if m == ModeKTX2 {
		img = atLeast(img, basisu.BlockSize)
	}
	return scaled(c, img, w, h, r)
}

// ParseMode is the inverse of String.
func ParseMode(s string) (Mode, error) {
	for i, name := range modeNames {
		if s == name {
			return Mode(i), nil
		}
	}
	return ModeCopy, fmt.Errorf("%q is unknown; use %s", s, strings.Join(modeNames[:], ", "))
}

// What the names of compressed textures end in.
const (
	utexExt = ".utex"
	ktx2Ext = ".ktx2"
)

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
func (to *Cooked) encode(ctx context.Context, w io.Writer, c *workers, base *image.NRGBA, r Role, how coding, deflate png.CompressionLevel) error {
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
	case strings.HasSuffix(to.File, ktx2Ext):
		// The record has no format for it: loaders go by the file.
		levels, err := writeUASTC(ctx, w, c, revealed(base, r), r)
		if err != nil {
			return err
		}
		info := utex.NewInfo(to.Width, to.Height, utex.BC7, 0) // as which it is drawn, or as ASTC of that size
		to.Levels, to.GPU = levels, info.Bytes(0)
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

// EncodeOne writes a picture that is made while cooking, for one role: in modes that
// compress as they do, else as PNG. The name that it returns ends with the fitting
// extension.
func EncodeOne(w io.Writer, stem string, img *image.NRGBA, r Role, m Mode, a ASTC) (Cooked, error) {
	c := newWorkers(1)
	c.join()
	to := Cooked{File: stem + OneExt(m)}
	width, height := m.size(img.Rect.Dx(), img.Rect.Dy())
	err := to.encode(context.Background(), w, c, m.scaled(c, img, width, height, r), r, m.coding(r, a), png.DefaultCompression)
	return to, err
}

// OneExt is the extension of what EncodeOne writes.
func OneExt(m Mode) string {
	if ext := m.blockExt(); ext != "" {
		return ext
	}
	return ".png"
}
