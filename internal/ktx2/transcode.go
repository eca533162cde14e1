package ktx2

import (
	"bytes"
	"slices"

	"github.com/untoldkit/untold/internal/basisu"
)

// Plain reports whether the blocks of UASTC show the picture as it is meant: with rows
// from the top, and channels where they belong. Only then Transcode turns them into other
// blocks.
func (f *File) Plain() bool {
	return f.Format == Undefined && f.Descriptor.Model == ModelUASTC && !f.TwoChannels() && f.upright("rgba")
}

// Direct reports whether the blocks of BC5 or BC7 show the picture as it is meant, but for
// alpha that Opaque takes away. Only then Blocks returns them.
func (f *File) Direct() bool {
	return (f.Format == BC5 || f.Format == BC7 || f.Format == BC7SRGB) && f.upright("rgba", Opaque)
}

// upright reports whether the file has blocks with rows from the top, and channels in one of
// some orders.
func (f *File) upright(orders ...string) bool {
	swizzle, err := f.swizzle()
	if err != nil || !slices.Contains(orders, swizzle) {
		return false
	}
	x, y, err := f.flips()
	return err == nil && !x && !y && f.Scheme != BasisLZ
}

// Blocks returns the blocks of a level of a Direct file, rows from the top. The error matches
// ErrDamaged or ErrUnsupported, or is one of reading.
func (f *File) Blocks(level int) ([]byte, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	if !f.Direct() {
		return nil, unsupported("%s is not taken block by block", f.Kind())
	}
	data, err := f.inflate(level)
	if err == nil && f.Scheme == None && f.in.src == nil {
		data = bytes.Clone(data) // what was parsed stays as it is
	}
	return data, err
}

// HasAlpha reports whether the picture may have pixels that are not opaque, by what the
// file says of its channels.
func (f *File) HasAlpha() bool {
	c := f.Descriptor.Channels
	switch {
	case f.TwoChannels() || f.Metadata[KeySwizzle] == Opaque:
		return false
	case f.Scheme == BasisLZ:
		return len(c) > 1
	case f.Format == Undefined:
		return len(c) > 0 && c[0] == UASTCRGBA
	}
	switch f.Format {
	case RGBA8, RGBA8SRGB, BGRA8, BGRA8SRGB, BC1, BC1SRGB, BC2, BC2SRGB, BC3, BC3SRGB, BC7, BC7SRGB:
		return true
	}
	return false
}

// Target is what Transcode makes of blocks.
type Target uint8

// The targets: blocks of 4 x 4 pixels in 16 bytes.
const (
	ToBC7     Target = iota // the nearest ones
	ToASTC4x4               // the same without loss
)

// Transcode turns the blocks of a level of a Plain file into those of another format, rows
// from the top. The error matches ErrDamaged or ErrUnsupported, or is one of reading.
func (f *File) Transcode(level int, to Target) ([]byte, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	if !f.Plain() {
		return nil, unsupported("%s is not turned into other blocks", f.Kind())
	}
	data, err := f.inflate(level)
	if err != nil {
		return nil, err
	}
	out := data
	if f.Scheme == None && f.in.src == nil {
		out = make([]byte, len(data)) // what was parsed stays as it is
	}
	if to == ToBC7 {
		err = basisu.TranscodeBC7(out, data)
	} else {
		err = basisu.TranscodeASTC(out, data)
	}
	if err != nil {
		return nil, damaged("level %d: %v", level, err)
	}
	return out, nil
}

// Verify inflates a level and checks its blocks of UASTC; what else there is is decoded.
// The error matches ErrDamaged or ErrUnsupported, or is one of reading.
func (f *File) Verify(level int) error {
	if f.Format != Undefined || f.Scheme == BasisLZ {
		_, err := f.Raw(level)
		return err
	}
	if err := f.Check(); err != nil {
		return err
	}
	data, err := f.inflate(level)
	if err != nil {
		return err
	}
	if err := basisu.CheckUASTC(data); err != nil {
		return damaged("level %d: %v", level, err)
	}
	return nil
}
