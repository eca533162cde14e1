package texture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"

	"github.com/untoldkit/untold/internal/picture"
)

// Load decodes a staged image. Colours under transparent pixels are kept. The
// error matches ErrDamaged, ErrFormat or ErrTooLarge when the file is at fault; what its
// header claims is judged before memory is taken for it.
func Load(path string) (*image.NRGBA, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	img, err := decodeStaged(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return toNRGBA(img), nil
}

// Read decodes an image as it would be staged, unless that would take more memory
// than the limits allow for one: the error matches ErrTooLarge then, else those of
// Load.
func Read(data []byte, limits Limits) (*image.NRGBA, error) {
	ready := func(int64) error { return nil }
	if picture.Sniff(data).Name == "KTX2" {
		img, _, err := readKTX2(data, false, ready, limits)
		return img, err
	}
	c, err := convert(data, ready, limits)
	if err != nil {
		return nil, err
	}
	config := png.DecodeConfig
	if picture.Sniff(c.data).Name == "JPEG" {
		config = jpeg.DecodeConfig
	}
	cfg, err := config(bytes.NewReader(c.data))
	if err != nil {
		return nil, decodeError(err)
	}
	if err := decodable(c.data, cfg, ready, limits); err != nil {
		return nil, err
	}
	img, err := decodeStaged(c.data)
	if err != nil {
		return nil, err
	}
	return toNRGBA(img), nil
}

func decodeStaged(data []byte) (image.Image, error) {
	config, decode := png.DecodeConfig, png.Decode
	kind := picture.Sniff(data).Name
	switch kind {
	case "PNG":
	case "JPEG":
		config, decode = jpeg.DecodeConfig, jpeg.Decode
	default:
		return nil, fmt.Errorf("%w: neither PNG nor JPEG", ErrDamaged)
	}
	cfg, err := config(bytes.NewReader(data))
	if err != nil {
		return nil, decodeError(err)
	}
	if err := checkPixels(cfg.Width, cfg.Height); err != nil {
		return nil, err
	}
	if err := checkBacked(kind, cfg, len(data)); err != nil {
		return nil, err
	}
	if _, err := decodeCost(data, cfg); err != nil {
		return nil, err
	}
	img, err := decode(bytes.NewReader(data))
	if err != nil {
		return nil, decodeError(err)
	}
	return img, nil
}

// checkBacked refuses headers that claim more pixels than the bytes can hold:
// the decoder would allocate gigabytes for nothing.
func checkBacked(kind string, cfg image.Config, size int) error {
	pixels := int64(cfg.Width) * int64(cfg.Height)
	least := int64(0)
	switch kind {
	case "PNG":
		const bestRatio = 1032 // of deflate
		least = pixels / 8 / bestRatio
		if m := cfg.ColorModel; m == color.NRGBAModel || m == color.RGBAModel {
			least = 3 * pixels / bestRatio
		}
	case "JPEG":
		// A picture of one colour takes about a bit per 64 pixels; only large ones
		// must be backed by that.
		const free, perByte = 64 << 20, 1024
		if pixels > free {
			least = pixels / perByte
		}
	}
	if int64(size) < least {
		return fmt.Errorf("%w: %d bytes cannot hold %d x %d pixels", ErrDamaged, size, cfg.Width, cfg.Height)
	}
	return nil
}

// toNRGBA converts a decoded 8-bit image.
func toNRGBA(img image.Image) *image.NRGBA {
	b := img.Bounds()
	if src, ok := img.(*image.NRGBA); ok && b.Min == (image.Point{}) && src.Stride == 4*b.Dx() {
		return src
	}
	out := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	switch src := img.(type) {
	case *image.NRGBA:
		for y := range b.Dy() {
			copy(out.Pix[y*out.Stride:], src.Pix[y*src.Stride:][:4*b.Dx()])
		}
	case *image.Paletted:
		var colors [256]color.NRGBA
		for i, c := range src.Palette {
			colors[i] = color.NRGBAModel.Convert(c).(color.NRGBA)
		}
		for y := range b.Dy() {
			for x, i := range src.Pix[y*src.Stride:][:b.Dx()] {
				c := colors[i]
				copy(out.Pix[y*out.Stride+4*x:], []byte{c.R, c.G, c.B, c.A})
			}
		}
	default: // opaque kinds, where premultiplied colours are the same
		rgba := &image.RGBA{Pix: out.Pix, Stride: out.Stride, Rect: out.Rect}
		draw.Draw(rgba, rgba.Rect, img, b.Min, draw.Src)
	}
	return out
}
