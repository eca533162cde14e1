package ktx2

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
)

// TestDirect: blocks of BC5 and BC7 come as they are where they show the picture as it is meant,
// and stay what they are in the file.
func TestDirect(t *testing.T) {
	for _, c := range []struct {
		format   Format
		metadata map[string]string
		direct   bool
		alpha    bool
	}{
		{BC7, nil, true, true},
		{BC7SRGB, map[string]string{KeyOrientation: "rd", KeySwizzle: "rgba"}, true, true},
		{BC7SRGB, map[string]string{KeySwizzle: Opaque}, true, false},
		{BC5, nil, true, false},
		{BC7, map[string]string{KeySwizzle: "bgra"}, false, true},
		{BC7, map[string]string{KeySwizzle: "odd"}, false, true},
		{BC7, map[string]string{KeyOrientation: "ru"}, false, true},
		{BC3, nil, false, true},
		{Undefined, nil, false, false},
	} {
		for _, scheme := range []Scheme{None, Zstandard} {
			block := bytes.Repeat([]byte{0x40, 2, 3, 4}, 4) // mode 6
			data := written(t, Content{Format: c.format, Width: 4, Height: 4, Scheme: scheme, Metadata: c.metadata, Levels: [][]byte{block, block, block}})
			f, err := Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			if f.Direct() != c.direct || f.HasAlpha() != c.alpha {
				t.Errorf("%v %v: direct %t, alpha %t", c.format, c.metadata, f.Direct(), f.HasAlpha())
			}
			got, err := f.Blocks(1)
			if !c.direct {
				if !errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrDamaged) {
					t.Errorf("%v %v: %v", c.format, c.metadata, err)
				}
				continue
			}
			if err != nil || !bytes.Equal(got, block) {
				t.Fatalf("%v %v: %v, %v", c.format, c.metadata, got, err)
			}
			clear(got)
			if again, _ := f.Blocks(1); !bytes.Equal(again, block) {
				t.Errorf("%v, %v: what Blocks returned is the file's", c.format, scheme)
			}
		}
	}
	cut := written(t, Content{Format: BC7, Width: 4, Height: 4, Scheme: Zstandard, Levels: [][]byte{make([]byte, 16)}})
	cut[len(cut)-1] ^= 1
	f, err := Parse(cut)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Blocks(0); !errors.Is(err, ErrDamaged) {
		t.Errorf("%v", err)
	}
}

// TestTwoChannelsWithoutSamples: a descriptor that names no channels is no reason to look at one.
func TestTwoChannelsWithoutSamples(t *testing.T) {
	for _, format := range []Format{BC5, RG8} {
		data := written(t, Content{Format: format, Width: 4, Height: 4, Levels: [][]byte{make([]byte, map[Format]int{BC5: 16, RG8: 32}[format])}})
		at := int(binary.LittleEndian.Uint32(data[48:])) + 4
		binary.LittleEndian.PutUint16(data[at+6:], basicSize)
		if img := decoded(t, data, 0); img.Pix[3] != 255 {
			t.Errorf("%v: %v", format, img.Pix[:4])
		}
	}
}
