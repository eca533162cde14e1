package texfile

import (
	"image"
	"image/color"
	"image/draw"
)

// convert returns the pixels with straight alpha, 8 bits per channel, and
// whether none is transparent.
func convert(img image.Image) (l Level, opaque bool) {
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	if o, ok := img.(interface{ Opaque() bool }); ok {
		opaque = o.Opaque()
	}
	if pix := direct(img, opaque, w, h); pix != nil {
		return Level{w, h, pix}, opaque
	}
	pix := make([]byte, 4*w*h)
	switch src := img.(type) {
	case *image.NRGBA64:
		for y := range h {
			narrow(pix[4*w*y:][:4*w], src.Pix[src.PixOffset(b.Min.X, b.Min.Y+y):])
		}
	case *image.Gray16:
		for y := range h {
			gray16(pix[4*w*y:][:4*w], src.Pix[src.PixOffset(b.Min.X, b.Min.Y+y):])
		}
	case *image.Gray:
		for y := range h {
			gray(pix[4*w*y:][:4*w], src.Pix[src.PixOffset(b.Min.X, b.Min.Y+y):])
		}
	case *image.Paletted:
		table := palette(src.Palette)
		for y := range h {
			row := src.Pix[src.PixOffset(b.Min.X, b.Min.Y+y):]
			for x := range w {
				copy(pix[4*(w*y+x):][:4], table[row[x]][:])
			}
		}
	default:
		if opaque { // straight and premultiplied alpha are the same, and RGBA has the fast paths
			draw.Draw(&image.RGBA{Pix: pix, Stride: 4 * w, Rect: image.Rect(0, 0, w, h)}, image.Rect(0, 0, w, h), img, b.Min, draw.Src)
			break
		}
		straight(pix, img)
	}
	return Level{w, h, pix}, opaque
}

// direct returns the image's own pixels when they are already what is wanted.
func direct(img image.Image, opaque bool, w, h int) []byte {
	var pix []byte
	stride := 0
	switch src := img.(type) {
	case *image.NRGBA:
		pix, stride = src.Pix, src.Stride
	case *image.RGBA:
		if opaque {
			pix, stride = src.Pix, src.Stride
		}
	}
	if stride != 4*w || len(pix) < 4*w*h {
		return nil
	}
	return pix[:4*w*h]
}

// straight converts pixel by pixel.
func straight(pix []byte, img image.Image) {
	b := img.Bounds()
	i := 0
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			pix[i], pix[i+1], pix[i+2], pix[i+3] = c.R, c.G, c.B, c.A
			i += 4
		}
	}
}

// round8 rounds a big-endian 16-bit value to 8 bits; dropping the low byte would
// darken.
func round8(hi, lo byte) byte {
	v := uint32(hi)<<8 | uint32(lo)
	return byte((v*255 + 32767) / 65535)
}

func narrow(dst, src []byte) {
	for i := range dst {
		dst[i] = round8(src[2*i], src[2*i+1])
	}
}

func gray16(dst, src []byte) {
	for i := range len(dst) / 4 {
		v := round8(src[2*i], src[2*i+1])
		d := dst[4*i:][:4]
		d[0], d[1], d[2], d[3] = v, v, v, 255
	}
}

func gray(dst, src []byte) {
	for i := range len(dst) / 4 {
		d := dst[4*i:][:4]
		d[0], d[1], d[2], d[3] = src[i], src[i], src[i], 255
	}
}

// palette returns the colours with straight alpha; indices beyond the palette,
// which decoders let pass, are transparent black.
func palette(p color.Palette) (table [256][4]byte) {
	for i, c := range p[:min(len(p), 256)] {
		n := color.NRGBAModel.Convert(c).(color.NRGBA)
		table[i] = [4]byte{n.R, n.G, n.B, n.A}
	}
	return table
}
