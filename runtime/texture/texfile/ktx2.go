package texfile

import (
	"errors"
	"fmt"

	"github.com/untoldkit/untold/internal/ktx2"
)

// ktx2Error tells a damaged file and one of a foreign format from one that could not be
// read.
func ktx2Error(err error) error {
	switch {
	case errors.Is(err, ktx2.ErrDamaged):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	case errors.Is(err, ktx2.ErrUnsupported):
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return fmt.Errorf("texture: %w", err)
}

// ktx2Encoding returns how a device that takes blocks gets the levels: those of UASTC
// become BC7 or ASTC, which are of the same size.
func ktx2Encoding(f *ktx2.File) Encoding {
	switch {
	case f.Direct() && f.Format == ktx2.BC5:
		return BC5
	case f.Direct() || f.Plain():
		return BC7
	}
	return RGBA8
}

// decodeKTX2 reads the levels of at most Options.MaxSize texels.
func decodeKTX2(f *ktx2.File, o Options) (*Image, error) {
	if err := f.Check(); err != nil {
		return nil, ktx2Error(err)
	}
	size := Size{f.Width, f.Height, f.Levels(), ktx2Encoding(f)}
	first := 0
	if o.MaxSize > 0 {
		first = size.StartFor(o.MaxSize)
	}
	w, h := f.Size(first)
	if err := checkPixels("KTX2", w, h, o.MaxPixels); err != nil {
		return nil, err
	}
	img := &Image{
		Use: o.Use, Opaque: !f.HasAlpha() || o.Use == OpaqueColor, Encoding: o.blocksFor(f, w, h),
		SourceWidth: f.Width, SourceHeight: f.Height,
	}
	var need int64
	for k := first; k < size.Mips; k++ {
		need += f.Cost(k)
	}
	free, err := o.take(need)
	if err != nil {
		return nil, err
	}
	defer free()
	for k := first; k < size.Mips; k++ {
		w, h := f.Size(k)
		pix, err := ktx2Level(f, k, img)
		if err != nil {
			return nil, ktx2Error(err)
		}
		img.Levels = append(img.Levels, Level{w, h, pix})
	}
	return img, nil
}

// blocksFor returns how the levels from one of w x h texels go to the device.
func (o *Options) blocksFor(f *ktx2.File, w, h int) Encoding {
	switch {
	case !f.Plain() && !f.Direct():
	case o.Blocks && (!o.WebGL || (w|h)%4 == 0):
		return ktx2Encoding(f)
	case o.ASTC && f.Plain():
		return ASTC4x4
	}
	return RGBA8
}

// ktx2Level returns a level as the image has it.
func ktx2Level(f *ktx2.File, level int, img *Image) ([]byte, error) {
	switch {
	case img.Encoding != RGBA8 && f.Direct():
		return f.Blocks(level)
	case img.Encoding == BC7:
		return f.Transcode(level, ktx2.ToBC7)
	case img.Encoding == ASTC4x4:
		return f.Transcode(level, ktx2.ToASTC4x4)
	}
	out, err := f.Decode(level)
	if err != nil {
		return nil, err
	}
	if img.Use == Normal && f.TwoChannels() {
		ktx2.RaiseNormals(out)
	}
	if img.Opaque && f.HasAlpha() {
		for i := 3; i < len(out.Pix); i += 4 {
			out.Pix[i] = 255
		}
	}
	return out.Pix, nil
}
