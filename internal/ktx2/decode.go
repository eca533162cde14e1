package ktx2

import (
	"image"

	"github.com/untoldkit/untold/internal/basisu"
)

// Check reports whether the pixels can be decoded, as far as that is known without
// doing it. The error matches ErrDamaged or ErrUnsupported.
func (f *File) Check() error {
	if _, err := f.swizzle(); err != nil {
		return err
	}
	if _, _, err := f.flips(); err != nil {
		return err
	}
	_, plain := f.layout()
	switch {
	case f.Scheme == BasisLZ:
		if f.Descriptor.Model != ModelETC1S || f.Format != Undefined {
			return damaged("BasisLZ over %s", f.Kind())
		}
	case !plain:
		return unsupported("%s is not decoded", f.Kind())
	}
	const least = 64 << 20 // pixels that any number of bytes may hold
	if n := int64(f.Width) * int64(f.Height); n > least && n/pixelsPerByte > f.levels[0].size {
		return damaged("%d bytes hardly hold %d x %d pixels", f.levels[0].size, f.Width, f.Height)
	}
	return nil
}

// pixelsPerByte is what large pictures are compressed to at best: a picture of one
// colour has a few bytes at any size, so that only large ones must be backed.
const pixelsPerByte = 1024

// Raw decodes a level to RGBA as it is stored, rows from the first in the file on,
// without regard to what the channels stand for: what the reference transcoder
// gives for RGBA32. The error matches ErrDamaged or ErrUnsupported.
func (f *File) Raw(level int) (*image.NRGBA, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	w, h := f.Size(level)
	if f.Scheme == BasisLZ {
		return f.etc1s(level, w, h)
	}
	data, err := f.inflate(level)
	if err != nil {
		return nil, err
	}
	l, _ := f.layout()
	if l.edge > 1 && f.Format != Undefined {
		return f.blocks(data, w, h)
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	if f.Format == Undefined {
		if err := basisu.DecodeUASTC(out.Pix, data, w, h); err != nil {
			return nil, damaged("level %d: %v", level, err)
		}
		return out, nil
	}
	at := [...]int{'r': 0, 'g': 1, 'b': 2, 'a': 3}
	for i := 0; i < len(out.Pix); i += 4 {
		p := out.Pix[i : i+4]
		p[3] = 255
		for k := range l.bytes {
			p[at[l.order[k]]] = data[k]
		}
		data = data[l.bytes:]
	}
	return out, nil
}

// etc1s decodes both slices of a level.
func (f *File) etc1s(level, w, h int) (*image.NRGBA, error) {
	books, s, err := f.basisLZ(level)
	if err != nil {
		return nil, err
	}
	if len(s.rgb) == 0 {
		return nil, damaged("level %d has no colour slice", level)
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	err = books.DecodeRGB(out.Pix, s.rgb, w, h)
	if err == nil && len(f.Descriptor.Channels) > 1 {
		err = books.DecodeAlpha(out.Pix, s.alpha, w, h)
	}
	if err != nil {
		return nil, damaged("level %d: %v", level, err)
	}
	return out, nil
}

// blocks decodes the formats of the BC family.
func (f *File) blocks(data []byte, w, h int) (*image.NRGBA, error) {
	pix, err := decodeBC(f.Format, data, w, h)
	if err != nil {
		return nil, err
	}
	if len(pix) != 4*w*h {
		return nil, damaged("%v gives %d bytes, %d x %d pixels have %d", f.Format, len(pix), w, h, 4*w*h)
	}
	out := &image.NRGBA{Pix: pix, Stride: 4 * w, Rect: image.Rect(0, 0, w, h)}
	for i := 0; i < len(pix); i += 4 {
		switch f.Format {
		case BC1RGB, BC1RGBSRGB:
			pix[i+3] = 255
		case BC4:
			pix[i+1], pix[i+2], pix[i+3] = 0, 0, 255
		case BC5:
			pix[i+2], pix[i+3] = 0, 255
		}
	}
	return out, nil
}

// TwoChannels reports whether the picture has a red and a green channel alone, as
// normal maps may have.
func (f *File) TwoChannels() bool {
	c := f.Descriptor.Channels
	switch {
	case f.Scheme == BasisLZ:
		return len(c) == 2 && c[0] == ETC1SRRR && c[1] == ETC1SGGG
	case f.Format == Undefined && f.Descriptor.Model == ModelUASTC:
		return len(c) > 0 && (c[0] == UASTCRRRG || c[0] == UASTCRG)
	}
	return f.Format == RG8 || f.Format == BC5
}

// Decode decodes a level to the picture that is meant: with rows from the top,
// channels where they belong, and KTXswizzle followed. Blue is 0 where there are
// two channels alone. The error matches ErrDamaged or ErrUnsupported.
func (f *File) Decode(level int) (*image.NRGBA, error) {
	img, err := f.Raw(level)
	if err != nil {
		return nil, err
	}
	swizzle, err := f.swizzle()
	if err != nil {
		return nil, err
	}
	order := f.channels()
	if swizzle != "rgba" {
		order = chain(swizzle, order)
	}
	if order != "rgba" {
		reorder(img.Pix, order)
	}
	x, y, err := f.flips()
	if err != nil {
		return nil, err
	}
	flip(img, x, y)
	return img, nil
}

// channels says where red, green, blue and alpha lie in what Raw gives.
func (f *File) channels() string {
	if !f.TwoChannels() {
		return "rgba"
	}
	if f.Scheme == BasisLZ || f.Format == Undefined && f.Descriptor.Channels[0] == UASTCRRRG {
		return "ra01"
	}
	return "rg01"
}

// chain takes each channel of outer through inner.
func chain(outer, inner string) string {
	out := []byte(outer)
	for i, c := range out {
		switch c {
		case 'r':
			out[i] = inner[0]
		case 'g':
			out[i] = inner[1]
		case 'b':
			out[i] = inner[2]
		case 'a':
			out[i] = inner[3]
		}
	}
	return string(out)
}

// reorder fills the channels of every pixel from where order says.
func reorder(pix []byte, order string) {
	from := [...]int{'r': 0, 'g': 1, 'b': 2, 'a': 3, '0': 4, '1': 5}
	var pick [4]int
	for i := range pick {
		pick[i] = from[order[i]]
	}
	for ; len(pix) >= 4; pix = pix[4:] {
		v := [6]byte{pix[0], pix[1], pix[2], pix[3], 0, 255}
		for i, k := range pick {
			pix[i] = v[k]
		}
	}
}

// flip mirrors a picture in place.
func flip(img *image.NRGBA, x, y bool) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	row := func(i int) []byte { return img.Pix[i*img.Stride:][:4*w] }
	if x {
		for i := range h {
			r := row(i)
			for a, b := 0, len(r)-4; a < b; a, b = a+4, b-4 {
				for k := range 4 {
					r[a+k], r[b+k] = r[b+k], r[a+k]
				}
			}
		}
	}
	if y {
		for a, b := 0, h-1; a < b; a, b = a+1, b-1 {
			top, bottom := row(a), row(b)
			for k := range top {
				top[k], bottom[k] = bottom[k], top[k]
			}
		}
	}
}
