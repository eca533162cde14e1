package ktx2

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// Keys of the metadata that change a picture.
const (
	KeyOrientation = "KTXorientation" // rd: from the upper left
	KeySwizzle     = "KTXswizzle"     // four of r, g, b, a, 0 and 1
	KeyWriter      = "KTXwriter"
)

// Opaque is the value of KeySwizzle that makes all pixels opaque.
const Opaque = "rgb1"

// parseMetadata reads keys and values. Of a key that occurs twice the first counts.
func parseMetadata(b []byte) (map[string]string, error) {
	m := map[string]string{}
	for len(b) > 0 {
		if len(b) < 4 {
			return nil, damaged("the metadata end within a size")
		}
		n := binary.LittleEndian.Uint32(b)
		if b = b[4:]; uint64(n) > uint64(len(b)) {
			return nil, damaged("an entry of the metadata has %d bytes, %d are left", n, len(b))
		}
		key, value, ok := bytes.Cut(b[:n], []byte{0})
		if !ok {
			return nil, damaged("an entry of the metadata has no key")
		}
		if _, twice := m[string(key)]; !twice {
			m[string(key)] = strings.TrimRight(string(value), "\x00")
		}
		b = b[min(len(b), (int(n)+3)&^3):]
	}
	return m, nil
}

// swizzle returns where the channels of the picture come from.
func (f *File) swizzle() (string, error) {
	const plain = "rgba"
	s, ok := f.Metadata[KeySwizzle]
	if !ok {
		return plain, nil
	}
	if len(s) != len(plain) || strings.Trim(s, plain+"01") != "" {
		return "", damaged("%s is %q", KeySwizzle, s)
	}
	return s, nil
}

// flips says along which axes the picture lies mirrored in the file.
func (f *File) flips() (x, y bool, err error) {
	switch s, ok := f.Metadata[KeyOrientation]; {
	case !ok:
		return false, false, nil
	case len(s) == 2 && strings.Contains("rl", s[:1]) && strings.Contains("du", s[1:]):
		return s[0] == 'l', s[1] == 'u', nil
	default:
		return false, false, damaged("%s is %q", KeyOrientation, s)
	}
}
