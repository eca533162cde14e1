package texfile

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/format/utex"
)

// What Measure says is what DecodeAt gives.
func TestMeasure(t *testing.T) {
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewNRGBA(image.Rect(0, 0, 300, 200))); err != nil {
		t.Fatal(err)
	}
	r := bytes.NewReader(file.Bytes())
	size, err := Measure(r, r.Size())
	if want := (Size{300, 200, 9, RGBA8}); err != nil || size != want {
		t.Fatalf("%+v, %v, want %+v", size, err, want)
	}
	for _, limit := range []int{0, 1, 100, 256, 4096} {
		img, err := DecodeAt(r, r.Size(), Options{MaxSize: limit})
		if err != nil {
			t.Fatal(err)
		}
		blank := size.Blank(Color, limit)
		if blank.Bytes() != img.Bytes() || len(blank.Levels) != len(img.Levels) {
			t.Errorf("up to %d texels: %d bytes in %d levels, want %d in %d", limit, blank.Bytes(), len(blank.Levels), img.Bytes(), len(img.Levels))
		}
		have, start, err := SizeOf(blank)
		want, wantStart, _ := SizeOf(img)
		if err != nil || have != want || start != wantStart {
			t.Errorf("up to %d texels: %+v from %d, %v, want %+v from %d", limit, have, start, err, want, wantStart)
		}
	}
}

func TestMeasureRefuses(t *testing.T) {
	for text, want := range map[string]error{
		"":                         ErrFormat,
		"hello":                    ErrFormat,
		"\x89PNG\r\n\x1a\n":        ErrDamaged,
		utex.Magic + "and no more": ErrDamaged,
	} {
		if _, err := Measure(bytes.NewReader([]byte(text)), int64(len(text))); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	if _, err := NewSize(0, 1, RGBA8); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if _, err := NewSize(1, MaxEdge+1, RGBA8); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

// An image without texels that does not say so has a defect.
func TestBlankMustBeSaid(t *testing.T) {
	size, err := NewSize(64, 64, BC7)
	if err != nil {
		t.Fatal(err)
	}
	img := size.Blank(Data, 16)
	if _, _, err := SizeOf(img); err != nil {
		t.Error(err)
	}
	img.Blank = false
	if _, _, err := SizeOf(img); !errors.Is(err, ErrChain) {
		t.Error(err)
	}
}

// StartFor finds the largest level within a limit, and MostBytes bounds it.
func TestStartFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Size{rapid.IntRange(1, 5000).Draw(t, "w"), rapid.IntRange(1, 5000).Draw(t, "h"), 0, Encoding(rapid.IntRange(0, 2).Draw(t, "encoding"))}
		f.Mips = fullMips(f.Width, f.Height)
		limit := rapid.IntRange(1, 5000).Draw(t, "edge")
		start := f.StartFor(limit)
		if f.Edge(start) > limit || start > 0 && f.Edge(start-1) <= limit {
			t.Fatalf("%+v for %d: level %d", f, limit, start)
		}
		if n := f.Bytes(start); limit >= 4 && n > MostBytes(limit)+5*16 {
			t.Fatalf("%d bytes, more than %d", n, MostBytes(limit))
		}
	})
}

func TestSizeOf(t *testing.T) {
	sound := func() *Image {
		return &Image{SourceWidth: 4, SourceHeight: 2, Levels: []Level{{2, 1, make([]byte, 8)}, {1, 1, make([]byte, 4)}}}
	}
	if f, start, err := SizeOf(sound()); err != nil || start != 1 || f != (Size{4, 2, 3, RGBA8}) {
		t.Errorf("a sound image: %+v from %d, %v", f, start, err)
	}
	short := sound()
	short.Levels = short.Levels[:1]
	if f, start, err := SizeOf(short); err != nil || start != 1 || f.Mips != 2 {
		t.Errorf("a file that ends early: %+v from %d, %v", f, start, err)
	}
	for name, damage := range map[string]func(*Image){
		"encoding":       func(i *Image) { i.Encoding = 9 },
		"no size":        func(i *Image) { i.SourceWidth = 0 },
		"huge":           func(i *Image) { i.SourceHeight = MaxEdge + 1 },
		"no levels":      func(i *Image) { i.Levels = nil },
		"no such level":  func(i *Image) { i.Levels[0].Height = 2 },
		"a wrong one":    func(i *Image) { i.Levels[1].Width = 2 },
		"one too many":   func(i *Image) { i.Levels = append(i.Levels, i.Levels[1]) },
		"bytes":          func(i *Image) { i.Levels[1].Pix = nil },
		"larger than it": func(i *Image) { i.Levels[0] = Level{8, 4, make([]byte, 4*8*4)} },
	} {
		img := sound()
		damage(img)
		if _, _, err := SizeOf(img); !errors.Is(err, ErrChain) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := SizeOf(nil); !errors.Is(err, ErrChain) {
		t.Errorf("no image: %v", err)
	}
}
