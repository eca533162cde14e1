package texture

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"testing"
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
		have, start, err := shapeOf(blank)
		want, wantStart, _ := shapeOf(img)
		if err != nil || have != want || start != wantStart {
			t.Errorf("up to %d texels: %+v from %d, %v, want %+v from %d", limit, have, start, err, want, wantStart)
		}
	}
}

func TestMeasureRefuses(t *testing.T) {
	for text, want := range map[string]error{
		"":                        ErrFormat,
		"hello":                   ErrFormat,
		"\x89PNG\r\n\x1a\n":       ErrDamaged,
		utexMagic + "and no more": ErrDamaged,
	} {
		if _, err := Measure(bytes.NewReader([]byte(text)), int64(len(text))); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	if _, err := NewSize(0, 1, RGBA8); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if _, err := NewSize(1, maxEdge+1, RGBA8); !errors.Is(err, ErrTooLarge) {
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
	if _, _, err := shapeOf(img); err != nil {
		t.Error(err)
	}
	img.Blank = false
	if _, _, err := shapeOf(img); !errors.Is(err, ErrChain) {
		t.Error(err)
	}
}
