package texture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/webp"

	"github.com/untoldkit/untold/internal/picture"
	"github.com/untoldkit/untold/internal/plainfile"
)

// MaxPixels is the largest image that is staged.
const MaxPixels = 16384 * 16384

// ErrFormat says that an image's format cannot be staged; the slot is left
// empty.
var ErrFormat = errors.New("image format cannot be staged")

// ErrDamaged says that an image's bytes are broken.
var ErrDamaged = errors.New("damaged image")

// converted is an image in a form that the runtime and the reference engine
// load: 8-bit PNG or JPEG.
type converted struct {
	data          []byte
	ext           string
	width, height int
	change        string // what was done to it, empty for nothing
}

// convert passes 8-bit PNG and JPEG through unchanged, reduces 16-bit PNG to 8
// bits and turns WebP and KTX2 into PNG. take is called with what decoding needs
// before anything is decoded.
func convert(data []byte, take func(need int64) error, limits Limits) (converted, error) {
	return convertFor(false, data, take, limits)
}

// convertFor is convert for an image that serves as a normal map or not.
func convertFor(normal bool, data []byte, take func(need int64) error, limits Limits) (converted, error) {
	switch kind := picture.Sniff(data).Name; kind {
	case "PNG":
		return convertPNG(data, take, limits)
	case "JPEG":
		return convertJPEG(data)
	case "WebP":
		return convertWebP(data, take, limits)
	case "KTX2":
		return convertKTX2(data, normal, take, limits)
	case "":
		return converted{}, fmt.Errorf("%w: %s", ErrDamaged, noImage(data))
	default:
		return converted{}, fmt.Errorf("%w: %s", ErrFormat, kind)
	}
}

// noImage says what bytes are that no image begins with.
func noImage(data []byte) string {
	what, remedy := plainfile.StandIn(data)
	switch {
	case what != "":
		return what + ", " + remedy
	case len(data) == 0:
		return "the file is empty"
	}
	return "neither PNG, JPEG, WebP nor KTX2"
}

// decodable judges what decoding takes and waits for it.
func decodable(data []byte, cfg image.Config, take func(need int64) error, limits Limits) error {
	need, err := decodeCost(data, cfg)
	if err != nil {
		return err
	}
	// The converted file is in memory as well, as large as its pixels at most.
	need += 4 * int64(cfg.Width) * int64(cfg.Height)
	if err := limits.check(cfg.Width, cfg.Height, need); err != nil {
		return err
	}
	return take(need)
}

func convertPNG(data []byte, take func(need int64) error, limits Limits) (converted, error) {
	cfg, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return converted{}, decodeError(err)
	}
	if err := checkPixels(cfg.Width, cfg.Height); err != nil {
		return converted{}, err
	}
	if err := checkPNG(data); err != nil {
		return converted{}, err
	}
	switch cfg.ColorModel {
	case color.RGBA64Model, color.NRGBA64Model, color.Gray16Model:
	default:
		return converted{data: data, ext: ".png", width: cfg.Width, height: cfg.Height}, nil
	}
	// Deflate shrinks to a thousandth at best: what claims more is a lie, and
	// would make the decoder allocate gigabytes.
	const bestRatio = 1032
	if cfg.Width*cfg.Height/bestRatio > len(data) {
		return converted{}, fmt.Errorf("%w: %d bytes cannot hold %d x %d pixels", ErrDamaged, len(data), cfg.Width, cfg.Height)
	}
	if err := decodable(data, cfg, take, limits); err != nil {
		return converted{}, err
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return converted{}, decodeError(err)
	}
	return encodePNG(img, "16-bit PNG reduced to 8 bits")
}

func convertJPEG(data []byte) (converted, error) {
	cfg, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return converted{}, decodeError(err)
	}
	if err := checkPixels(cfg.Width, cfg.Height); err != nil {
		return converted{}, err
	}
	if err := checkJPEG(data); err != nil {
		return converted{}, err
	}
	return converted{data: data, ext: ".jpg", width: cfg.Width, height: cfg.Height}, nil
}

func convertWebP(data []byte, take func(need int64) error, limits Limits) (converted, error) {
	if len(data) > 20 && string(data[12:16]) == "VP8X" && data[20]&2 != 0 {
		return converted{}, fmt.Errorf("%w: animated WebP", ErrFormat)
	}
	cfg, err := webp.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return converted{}, decodeError(err)
	}
	if err := checkPixels(cfg.Width, cfg.Height); err != nil {
		return converted{}, err
	}
	// A WebP of one colour has a few bytes at any size, so only big ones must
	// be backed by some.
	const free, perByte = 64 << 20, 64
	if n := cfg.Width * cfg.Height; n > free && n/perByte > len(data) {
		return converted{}, fmt.Errorf("%w: %d bytes hardly hold %d x %d pixels", ErrDamaged, len(data), cfg.Width, cfg.Height)
	}
	if err := decodable(data, cfg, take, limits); err != nil {
		return converted{}, err
	}
	img, err := webp.Decode(bytes.NewReader(data))
	if err != nil {
		return converted{}, decodeError(err)
	}
	return encodePNG(img, "WebP converted to PNG")
}

// decodeError tells what the decoders do not support from what is broken.
func decodeError(err error) error {
	var p png.UnsupportedError
	var j jpeg.UnsupportedError
	if errors.As(err, &p) || errors.As(err, &j) {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// encodePNG writes an image with 8 bits per channel.
func encodePNG(img image.Image, change string) (converted, error) {
	b := img.Bounds()
	var buf bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := enc.Encode(&buf, to8Bit(img)); err != nil {
		return converted{}, err
	}
	return converted{data: buf.Bytes(), ext: ".png", width: b.Dx(), height: b.Dy(), change: change}, nil
}

// to8Bit reduces an image to 8 bits per channel. Colours under transparent
// pixels are kept, which the premultiplied colours of package draw would lose:
// textures bleed them over their cut-outs' edges or hold data in them.
func to8Bit(img image.Image) image.Image {
	b := img.Bounds()
	switch src := img.(type) {
	case *image.NRGBA:
		return src
	case *image.Gray16:
		out := image.NewGray(b)
		for i := range out.Pix {
			out.Pix[i] = round8(src.Pix[2*i:])
		}
		return out
	case *image.NRGBA64:
		return &image.NRGBA{Pix: halve(src.Pix), Stride: src.Stride / 2, Rect: b}
	case *image.RGBA64: // from a PNG without alpha
		return &image.NRGBA{Pix: halve(src.Pix), Stride: src.Stride / 2, Rect: b}
	case *image.NYCbCrA:
		out := image.NewNRGBA(b)
		for y := b.Min.Y; y < b.Max.Y; y++ {
			row := out.Pix[(y-b.Min.Y)*out.Stride:]
			for x := b.Min.X; x < b.Max.X; x++ {
				k, c := src.YOffset(x, y), src.COffset(x, y)
				p := row[4*(x-b.Min.X):][:4]
				p[0], p[1], p[2] = color.YCbCrToRGB(src.Y[k], src.Cb[c], src.Cr[c])
				p[3] = src.A[src.AOffset(x, y)]
			}
		}
		return out
	}
	out := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(out, out.Bounds(), img, b.Min, draw.Src)
	return out
}

// halve rounds big-endian 16-bit channels to 8 bits.
func halve(pix []byte) []byte {
	out := make([]byte, len(pix)/2)
	for i := range out {
		out[i] = round8(pix[2*i:])
	}
	return out
}

// round8 returns round(v * 255 / 65535) of a big-endian channel.
func round8(b []byte) uint8 {
	v := uint32(b[0])<<8 | uint32(b[1])
	return uint8((v*255 + 32767) / 65535)
}
