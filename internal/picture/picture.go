// Package picture tells from the first bytes of a PNG, JPEG or WebP what
// memory its decoder will take, and shares memory among decoders: a picture of
// a few kilobytes may decode to gigabytes.
package picture

import (
	"encoding/binary"
)

// Cost is what the decoders of the standard library and of golang.org/x/image
// take for a picture.
type Cost struct {
	Width, Height int
	// Bytes is the peak while it is decoded and turned into RGBA of 8 bits.
	Bytes int64
}

// Inspect reads the header. ok is false when data begin with none of the three
// formats or end before the size; the decoders say more about those. It
// needs the bytes up to the frame header, which in a JPEG follows thumbnails
// and profiles.
func Inspect(data []byte) (c Cost, ok bool) {
	has := func(at int, magic string) bool {
		return len(data) >= at+len(magic) && string(data[at:at+len(magic)]) == magic
	}
	switch {
	case has(0, "\x89PNG\r\n\x1a\n") && has(12, "IHDR"):
		return inspectPNG(data)
	case has(0, "\xff\xd8"):
		return inspectJPEG(data)
	case has(0, "RIFF") && has(8, "WEBP"):
		return inspectWebP(data)
	}
	return Cost{}, false
}

// Estimate is Inspect for a picture of a size that its decoder has told: where
// Inspect cannot tell, the dearest form counts.
func Estimate(data []byte, width, height int) Cost {
	if c, ok := Inspect(data); ok {
		return c
	}
	const dearest = 24
	return Cost{Width: width, Height: height, Bytes: dearest * int64(width) * int64(height)}
}

// rgba is the size of the pixels that decoders hand over.
const rgba = 4

// cost multiplies in halves of a byte. Sizes have at most 32 bits each, so
// that the product saturates instead of overflowing.
func cost(width, height uint32, halves int64) (Cost, bool) {
	const most = 1 << 62
	c := Cost{Width: int(width), Height: int(height), Bytes: most}
	if pixels := uint64(width) * uint64(height); pixels < uint64(most/halves) {
		c.Bytes = int64(pixels) * halves / 2
	}
	return c, width > 0 && height > 0
}

// inspectPNG counts the decoded pixels, the largest pass of an interlaced
// picture, which is half of it, and the copy in RGBA.
func inspectPNG(data []byte) (Cost, bool) {
	if len(data) < 29 {
		return Cost{}, false
	}
	depth, kind, interlaced := data[24], data[25], data[28] != 0
	halves := int64(2)
	switch {
	case depth == 16 && kind == 0: // grey, which transparency turns into colour
		halves = 16
	case depth == 16:
		halves = 16
	case kind == 2 || kind == 4 || kind == 6 || kind == 0:
		halves = 8
	}
	if interlaced {
		halves += halves / 2
	}
	return cost(binary.BigEndian.Uint32(data[16:]), binary.BigEndian.Uint32(data[20:]), halves+2*rgba)
}

// inspectJPEG counts the planes, of a progressive picture the coefficients as
// well, at 4 bytes each, and the copy in RGBA.
func inspectJPEG(data []byte) (Cost, bool) {
	for at := 2; at+4 <= len(data); {
		marker := data[at+1]
		switch {
		case data[at] != 0xff || marker == 0 || marker == 0xff:
			at++
			continue
		case marker == 0x01 || marker >= 0xd0 && marker <= 0xd8: // without a length
			at += 2
			continue
		case marker == 0xda || marker == 0xd9:
			return Cost{}, false // the picture begins without a frame header
		case marker == 0xc0 || marker == 0xc1 || marker == 0xc2:
			return inspectFrame(data[at+4:], marker == 0xc2)
		}
		at += 2 + max(2, int(binary.BigEndian.Uint16(data[at+2:])))
	}
	return Cost{}, false
}

// inspectFrame reads a frame header behind its length.
func inspectFrame(b []byte, progressive bool) (Cost, bool) {
	if len(b) < 6 || len(b) < 6+3*int(b[5]) || b[5] == 0 || b[5] > 4 {
		return Cost{}, false
	}
	n := int(b[5])
	var area [4]int64
	var widest, highest int64 = 1, 1
	for i := range n {
		s := b[6+3*i+1]
		h, v := max(1, int64(s>>4)), max(1, int64(s&15))
		area[i], widest, highest = h*v, max(widest, h), max(highest, v)
	}
	var samples int64
	for _, a := range area {
		samples += a
	}
	most := widest * highest
	halves := (2*samples + most - 1) / most // bytes of the planes
	if progressive {
		halves += (8*samples + most - 1) / most
	}
	if n == 4 {
		halves += 2 * rgba // inks are undone in a copy
	}
	return cost(uint32(binary.BigEndian.Uint16(b[3:])), uint32(binary.BigEndian.Uint16(b[1:])), halves+2*rgba)
}

// inspectWebP counts planes or pixels, alpha where there may be some, and the
// copy in RGBA.
func inspectWebP(data []byte) (Cost, bool) {
	const lossy, lossless = 3, 16 // lossless pictures are transformed in a copy
	if len(data) < 25 || len(data) < 30 && data[15] != 'L' {
		return Cost{}, false
	}
	le := binary.LittleEndian
	switch string(data[12:16]) {
	case "VP8 ":
		return cost(uint32(le.Uint16(data[26:])&0x3fff), uint32(le.Uint16(data[28:])&0x3fff), lossy+2*rgba)
	case "VP8L":
		v := le.Uint32(data[21:])
		return cost(v&0x3fff+1, v>>14&0x3fff+1, lossless+2*rgba)
	case "VP8X":
		w := uint32(data[24]) | uint32(data[25])<<8 | uint32(data[26])<<16
		h := uint32(data[27]) | uint32(data[28])<<8 | uint32(data[29])<<16
		return cost(w+1, h+1, lossless+lossy+2*rgba)
	}
	return Cost{}, false
}
