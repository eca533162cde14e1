package texture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

const pngMagic = "\x89PNG\r\n\x1a\n"

// checkPixels refuses what no loader could take.
func checkPixels(width, height int) error {
	switch {
	case width <= 0 || height <= 0:
		return fmt.Errorf("%w: %d x %d pixels", ErrDamaged, width, height)
	case width > MaxPixels/height:
		return fmt.Errorf("%w: %d x %d pixels, the limit is %d", ErrFormat, width, height, MaxPixels)
	}
	return nil
}

// checkPNG walks the chunks of a PNG that is passed through without decoding:
// those that a decoder needs must be complete and have the right checksum.
// Bytes behind the end are ignored, as decoders do.
func checkPNG(data []byte) error {
	pixels := false
	for at := len(pngMagic); ; {
		if len(data)-at < 12 {
			return fmt.Errorf("%w: the PNG is cut off at byte %d", ErrDamaged, at)
		}
		n := binary.BigEndian.Uint32(data[at:])
		if uint64(n) > uint64(len(data)-at-12) {
			return fmt.Errorf("%w: the PNG is cut off in the chunk at byte %d", ErrDamaged, at)
		}
		body, end := data[at+4:at+8+int(n)], at+8+int(n)
		critical := body[0]&0x20 == 0 // an upper-case first letter
		if critical && crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(data[end:]) {
			return fmt.Errorf("%w: the PNG's chunk at byte %d has a wrong checksum", ErrDamaged, at)
		}
		switch string(body[:4]) {
		case "IDAT":
			pixels = true
		case "IEND":
			if !pixels {
				return fmt.Errorf("%w: the PNG has no pixels", ErrDamaged)
			}
			return nil
		}
		at = end + 4
	}
}

// checkJPEG looks for the end marker behind the start of the first scan. In a
// scan's data 0xFF is followed by 0 or a restart marker, so that the end
// marker hardly occurs by chance; a thumbnail's lies before.
func checkJPEG(data []byte) error {
	const scan, end = 0xda, 0xd9
	for at := 2; at+4 <= len(data); {
		switch marker := data[at+1]; {
		case data[at] != 0xff || marker == 0 || marker == 0xff: // padding, or bytes that decoders skip
			at++
			continue
		case marker == scan:
			if bytes.Contains(data[at:], []byte{0xff, end}) {
				return nil
			}
			return fmt.Errorf("%w: the JPEG is cut off", ErrDamaged)
		}
		at += 2 + int(binary.BigEndian.Uint16(data[at+2:]))
	}
	return fmt.Errorf("%w: the JPEG has no pixels", ErrDamaged)
}
