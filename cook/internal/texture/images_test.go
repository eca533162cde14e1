package texture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"
)

// small is a 4 x 3 image whose content depends on seed.
func small(seed uint8) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, 4, 3))
	for i := range img.Pix {
		img.Pix[i] = uint8(i)*7 + seed
	}
	return img
}

func pngOf(_ testing.TB, img image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func jpegOf(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// chunk is one chunk of a PNG with its checksum.
func chunk(name string, body ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(append(b, name...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// header is the IHDR of a PNG.
func header(width, height uint32, depth, kind byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, width)
	b = binary.BigEndian.AppendUint32(b, height)
	return chunk("IHDR", append(b, depth, kind, 0, 0, 0)...)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// webpLossless is the head of a lossless WebP that claims a size.
func webpLossless(width, height int, rest ...byte) []byte {
	bits := uint32(width-1) | uint32(height-1)<<14
	vp8l := append(binary.LittleEndian.AppendUint32([]byte{0x2f}, bits), rest...)
	b := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(12+len(vp8l)))...)
	b = append(b, "WEBPVP8L"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(vp8l)))
	return append(b, vp8l...)
}

func decode(t testing.TB, data []byte) image.Image {
	t.Helper()
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// deep is a 16-bit image with transparent pixels that hold colours.
func deep() *image.NRGBA64 {
	img := image.NewNRGBA64(image.Rect(0, 0, 3, 2))
	for i, c := range []color.NRGBA64{
		{0xffff, 0x8080, 0, 0xffff},
		{0x00ff, 0xff00, 0x7fff, 0x8000},
		{0x1234, 0x5678, 0x9abc, 0},
		{128, 129, 385, 0xffff},
		{0xfeff, 0xff7e, 0xff7f, 1},
		{},
	} {
		img.SetNRGBA64(i%3, i/3, c)
	}
	return img
}
