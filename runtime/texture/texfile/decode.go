package texfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"

	"github.com/untoldkit/untold/internal/picture"
)

// Errors that callers can test for.
var (
	// ErrFormat: the bytes are no PNG, JPEG or WebP, or a cooked texture in a format that
	// is not decoded. Typically a DDS file under another name.
	ErrFormat = errors.New("texture: neither PNG nor JPEG nor WebP")
	// ErrTooLarge: the header promises more pixels than Options.MaxPixels, or
	// decoding would take more than 1 GiB. Typically a damaged or hostile
	// file.
	ErrTooLarge = errors.New("texture: too many pixels")
	// ErrDamaged: the image ends early or its data make no sense.
	ErrDamaged = errors.New("texture: damaged image")
)

// DefaultMaxPixels is 8192 x 8192, which decodes to 256 MiB.
const DefaultMaxPixels = picture.MaxPixels

// Use says how a texture is read, which decides how its levels are filtered.
type Use uint8

// The uses.
const (
	Color  Use = iota // sRGB colour with straight linear alpha: base colour, emissive
	Data              // linear: roughness, metallic, occlusion
	Normal            // tangent-space directions, green up, as v = 2c - 1
	// OpaqueColor is colour whose alpha nobody looks at: of opaque materials, and
	// of what glows. Alpha becomes 255.
	OpaqueColor
)

// String returns color, data, normal or opaque color.
func (u Use) String() string {
	return [...]string{"color", "data", "normal", "opaque color"}[min(u, OpaqueColor)]
}

// SRGB reports whether the values are sRGB colours, not numbers.
func (u Use) SRGB() bool { return u == Color || u == OpaqueColor }

// Options says how to decode. The zero value decodes a colour at its full size.
type Options struct {
	Use Use
	// Cutoff, above 0 and at most 1, keeps the share of texels whose alpha is at or above
	// it the same in all levels that are computed of a Color: means of alpha fall below it,
	// and leaves and fences would thin out with distance.
	Cutoff float32
	// MaxSize is the longest edge of the first level in pixels; larger levels
	// are computed and dropped. 0 keeps all.
	MaxSize int
	// MaxPixels is the largest size to accept, judged by the header before
	// anything is allocated; 0 means DefaultMaxPixels.
	MaxPixels int
	// Blocks keeps the blocks of cooked textures in BC7 and BC5, for GPUs that
	// read them, and ASTC those in ASTC; UASTC becomes BC7, or ASTC without Blocks
	// (DecodeAt only).
	Blocks, ASTC bool
	// WebGL keeps them only as WebGL 2 takes them: BC7 and BC5 where the edges of
	// the first level are multiples of 4, ASTC where no normals are packed, since
	// it cannot put channels in another order.
	WebGL bool

	ctx    context.Context // of waiting for memory; nil: without end
	budget *picture.Budget // nil: the one that all share
}

// Image is a decoded texture.
type Image struct {
	Use    Use
	Opaque bool // alpha is 255 everywhere
	// Encoding is RGBA8 but for cooked textures with Options.Blocks or ASTC.
	Encoding Encoding
	// NormalPacked says that a normal map's X is in red and its Y in alpha, not in
	// green: in blocks of ASTC only.
	NormalPacked bool
	// SourceWidth and SourceHeight are pixels of the file.
	SourceWidth, SourceHeight int
	// Levels is the mip chain from the first level kept down to 1 x 1, each half
	// the size of the one before, rounded down. A cooked texture may end earlier.
	Levels []Level
	// Blank says that the levels have sizes but no texels, see Size.Blank.
	Blank bool
}

// Level is one level of the mip chain, rows from the top, without padding:
// RGBA, 8 bits each, or blocks.
type Level struct {
	Width, Height int
	Pix           []byte
}

// Bytes returns the size of all levels.
func (i *Image) Bytes() int64 {
	var n int64
	for k := range i.Levels {
		n += i.LevelBytes(k)
	}
	return n
}

// LevelBytes returns the size of one level; of a blank image what it would be.
func (i *Image) LevelBytes(level int) int64 {
	l := &i.Levels[level]
	if i.Blank {
		return levelBytes(i.Encoding, l.Width, l.Height)
	}
	return int64(len(l.Pix))
}

// Decode reads one image. Sizes are checked by the header first; animations
// give their first picture. Pictures that take more than 1 GiB together
// are decoded one after the other. Errors match ErrFormat, ErrTooLarge or ErrDamaged,
// or are r's own.
func Decode(r io.Reader, o Options) (*Image, error) {
	in := &source{r: bufio.NewReader(r)}
	f, err := codecOf(in.r)
	if err != nil {
		return nil, err
	}
	header, size, err := readHeader(f, in)
	if err != nil {
		return nil, in.explain(f.name, err)
	}
	if err := checkSize(size, o.MaxPixels); err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	free, err := o.takePicture(f.name, header, size)
	if err != nil {
		return nil, err
	}
	defer free()
	img, err := f.decode(io.MultiReader(bytes.NewReader(header), in))
	if err != nil {
		return nil, in.explain(f.name, err)
	}
	level, opaque := convert(img)
	if o.Use == OpaqueColor && !opaque {
		for i := 3; i < len(level.Pix); i += 4 {
			level.Pix[i] = 255
		}
		opaque = true
	}
	out := &Image{Use: o.Use, Opaque: opaque, SourceWidth: size.Width, SourceHeight: size.Height}
	out.Levels = chain(level, o.Use, opaque, o.Cutoff, o.MaxSize)
	return out, nil
}

type codec struct {
	name   string
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

var codecs = [...]codec{
	{"PNG", png.DecodeConfig, png.Decode},
	{"JPEG", jpeg.DecodeConfig, jpeg.Decode},
	{"WebP", webp.DecodeConfig, webp.Decode},
}

// codecOf returns the codec of what r begins with.
func codecOf(r *bufio.Reader) (*codec, error) {
	head, err := r.Peek(picture.SniffBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("texture: %w", err)
	}
	name := picture.Sniff(head).Name
	for i := range codecs {
		if codecs[i].name == name {
			return &codecs[i], nil
		}
	}
	return nil, ErrFormat
}

// readHeader returns the size and the bytes that were read to know it.
func readHeader(f *codec, r io.Reader) ([]byte, image.Config, error) {
	var seen bytes.Buffer
	c, err := f.config(io.TeeReader(r, &seen))
	return seen.Bytes(), c, err
}

func checkSize(c image.Config, limit int) error {
	if limit <= 0 {
		limit = DefaultMaxPixels
	}
	switch {
	case c.Width <= 0 || c.Height <= 0:
		return fmt.Errorf("%w: %d x %d pixels", ErrDamaged, c.Width, c.Height)
	case c.Width > MaxEdge || c.Height > MaxEdge || int64(c.Width)*int64(c.Height) > int64(limit):
		return fmt.Errorf("%w: %d x %d, at most %d are accepted", ErrTooLarge, c.Width, c.Height, limit)
	}
	return nil
}

// source remembers a read error of the underlying reader, which decoders wrap
// beyond recognition.
type source struct {
	r   *bufio.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

func (s *source) explain(name string, err error) error {
	if s.err != nil {
		return fmt.Errorf("texture: %s: %w", name, s.err)
	}
	return fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
}
