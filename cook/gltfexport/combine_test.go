package gltfexport

import (
	"bytes"
	"testing"
)

// TestAffordable: what is decoded to combine textures keeps to the limits of
// all pictures, by its header.
func TestAffordable(t *testing.T) {
	jpeg := func(frame byte, side uint16) []byte {
		h, l := byte(side>>8), byte(side)
		return []byte{0xff, 0xd8, 0xff, 0xe0, 0, 16, 'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0xff, frame, 0, 17, 8, h, l, h, l, 3, 1, 0x11, 0, 2, 0x11, 1, 3, 0x11, 1}
	}
	for name, c := range map[string]struct {
		data []byte
		want bool
	}{
		"baseline":             {jpeg(0xc0, 8000), true},
		"progressive":          {jpeg(0xc2, 4000), true},
		"progressive, a GB":    {jpeg(0xc2, 8000), false},
		"more pixels":          {jpeg(0xc0, 8200), false},
		"no picture":           {[]byte("hello"), false},
		"nothing":              {nil, false},
		"an end in the header": {jpeg(0xc0, 800)[:30], false},
	} {
		if got := affordable(bytes.NewReader(c.data)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
