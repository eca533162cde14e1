package meshopt

import (
	"bytes"
	"errors"
	"testing"
)

// check decodes anything; it must not panic, and must fail in a known way.
func check(t *testing.T, src []byte, l Layout) {
	const most = 16 << 20
	size, err := l.Size(src)
	if err == nil && (size > 1024*len(src) || size > most) {
		if size > 1024*len(src) {
			t.Fatalf("%+v: %d bytes from %d", l, size, len(src))
		}
		return
	}
	out, err := Decode(src, l)
	switch {
	case err != nil && !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrLayout):
		t.Fatalf("error of no kind: %v", err)
	case err == nil && len(out) != size:
		t.Fatalf("%d bytes, want %d", len(out), size)
	case err == nil:
		if again, _ := Decode(src, l); !bytes.Equal(again, out) {
			t.Fatal("decodes differently the second time")
		}
	}
}

// addGolden adds the short streams of one mode.
func addGolden(f *testing.F, m Mode, add func(v vector)) {
	for _, v := range golden(f) {
		if v.layout.Mode == m && len(v.src) < 300 {
			add(v)
		}
	}
}

func FuzzAttributes(f *testing.F) {
	addGolden(f, Attributes, func(v vector) {
		f.Add(v.src, uint16(v.layout.Count), uint16(v.layout.Stride), uint8(v.layout.Filter))
	})
	f.Fuzz(func(t *testing.T, src []byte, count, stride uint16, filter uint8) {
		check(t, src, Layout{Attributes, Filter(filter % 8), int(count), int(stride)})
	})
}

func FuzzTriangles(f *testing.F) {
	addGolden(f, Triangles, func(v vector) { f.Add(v.src, uint16(v.layout.Count), v.layout.Stride == 4) })
	f.Fuzz(func(t *testing.T, src []byte, count uint16, wide bool) {
		check(t, src, Layout{Mode: Triangles, Count: int(count), Stride: strideOf(wide)})
	})
}

func FuzzIndices(f *testing.F) {
	addGolden(f, Indices, func(v vector) { f.Add(v.src, uint16(v.layout.Count), v.layout.Stride == 4) })
	f.Fuzz(func(t *testing.T, src []byte, count uint16, wide bool) {
		check(t, src, Layout{Mode: Indices, Count: int(count), Stride: strideOf(wide)})
	})
}

func strideOf(wide bool) int {
	if wide {
		return 4
	}
	return 2
}
