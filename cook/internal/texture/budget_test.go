package texture

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/fuzzbound"
	"github.com/untoldkit/untold/internal/picture"
	"github.com/untoldkit/untold/internal/testfile"
)

// takeAll is an unlimited memory for convert.
func takeAll(int64) error { return nil }

// claiming returns a PNG or a progressive JPEG whose header claims w x h
// pixels, and that is long enough for its size to be credible.
func claiming(t testing.TB, kind string, w, h int) []byte {
	t.Helper()
	data := pngOf(t, image.NewNRGBA64(image.Rect(0, 0, 8, 8)))
	if kind == "jpeg" {
		data = []byte{0xff, 0xd8, 0xff, 0xc2, 0, 17, 8, byte(h >> 8), byte(h), byte(w >> 8), byte(w), 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0}
		data = append(data, 0xff, 0xda, 0, 2, 0xff, 0xd9)
		return append(data, make([]byte, w*h/1024)...)
	}
	binary.BigEndian.PutUint32(data[16:], uint32(w))
	binary.BigEndian.PutUint32(data[20:], uint32(h))
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	return append(data, make([]byte, 3*w*h/1032+1)...) // decoders ignore what is behind the end
}

// staged writes a file as Stage would.
func stagedFile(t *testing.T, dir, name string, data []byte, w, h int) Staged {
	t.Helper()
	testfile.Write(t, filepath.Join(dir, name), data)
	return Staged{File: name, Width: w, Height: h, Size: int64(len(data))}
}

// TestTooLargeIsNotDecoded: a header that means gigabytes for the decoder is
// refused before it runs, in staging, resizing and shrinking, with the figures
// and the remedy.
func TestTooLargeIsNotDecoded(t *testing.T) {
	dir := t.TempDir()
	jpeg16k := stagedFile(t, dir, "a.jpg", claiming(t, "jpeg", 16000, 16000), 16000, 16000) // 4.9 GB
	check := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "16000 x 16000 pixels take some ") || !strings.Contains(err.Error(), "store the image smaller") {
			t.Errorf("%s: %v", what, err)
		}
	}
	n := fuzzbound.Allocated(func() {
		png16 := claiming(t, "png", 16000, 16000)
		got, err := Stage(context.Background(), filepath.Join(dir, "stage"), []Source{source(0, "a.png", png16)}, Limits{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		check("stage", got[0].Err)
		cooked, err := Cook(context.Background(), dir, filepath.Join(dir, "out"), []Staged{jpeg16k}, colors(1), Options{Mode: ModeResize, Variants: []Variant{{MaxSize: 100}}, Jobs: 1})
		if err != nil {
			t.Fatal(err)
		}
		check("cook", cooked[0][0].Kept)
		small, err := Shrink(context.Background(), dir, []Staged{jpeg16k}, []Use{Color}, 100, "_hlod", Limits{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		check("shrink", small[0].Kept)
		_, err = Load(filepath.Join(dir, "a.jpg"))
		check("load", err)
	})
	if n > 64<<20 {
		t.Errorf("%d bytes allocated", n)
	}
}

func colors(n int) []Roles {
	out := make([]Roles, n)
	for i := range out {
		out[i].Add(Role{Use: Color})
	}
	return out
}

// TestLimitsEach: what one image may take is the caller's to say.
func TestLimitsEach(t *testing.T) {
	dir := t.TempDir()
	data := pngOf(t, image.NewNRGBA64(image.Rect(0, 0, 64, 64))) // 16 bytes a pixel and the file
	for each, want := range map[int64]bool{16 * 64 * 64: true, 16*64*64 - 1: false} {
		got, err := Stage(context.Background(), dir, []Source{source(0, "a.png", data)}, Limits{Each: each}, 1)
		if err != nil || errors.Is(got[0].Err, ErrTooLarge) == want || want && got[0].Err != nil {
			t.Errorf("%d bytes: %v, %v", each, got, err)
		}
	}
}

// TestImagesShareMemory: however many jobs there are, images at work hold no
// more than the budget together, and the outcome is the same.
func TestImagesShareMemory(t *testing.T) {
	const each = (4 + 12) * 64 * 64 // of a 16-bit PNG: the decoder and the converted file
	var want []Staged
	for _, size := range []int64{0, each + 20_000, 3 * each, 1} {
		dir := t.TempDir()
		b := picture.NewBudget(size)
		if size == 0 {
			b = picture.NewBudget(DefaultMemory)
		}
		var sources []Source
		for i := range 12 {
			img := image.NewNRGBA64(image.Rect(0, 0, 64, 64))
			img.Pix[0] = byte(i)
			s := source(i, fmt.Sprintf("%d.png", i), pngOf(t, img))
			data, _ := s.Bytes()
			s.Size = int64(len(data))
			sources = append(sources, s)
		}
		got, err := Stage(context.Background(), dir, sources, Limits{budgetForTests: b}, 6)
		if err != nil {
			t.Fatal(err)
		}
		if size > each && b.Peak() > size {
			t.Errorf("staging holds %d of %d bytes", b.Peak(), size)
		}
		if size == 1 && b.Peak() > each+20_000 {
			t.Errorf("staging holds %d bytes, images are larger than the budget and should come alone", b.Peak())
		}
		for _, s := range got {
			if s.Err != nil {
				t.Fatal(s.Err)
			}
		}
		if want == nil {
			want = got
		} else if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d bytes: another outcome", size)
		}
		work := picture.NewBudget(max(size, 1))
		l := Limits{budgetForTests: work}
		if _, err := Cook(context.Background(), dir, filepath.Join(dir, "out"), got, colors(len(got)), Options{Mode: ModeResize, Variants: []Variant{{MaxSize: 16}}, Jobs: 6, Limits: l}); err != nil {
			t.Fatal(err)
		}
		if _, err := Shrink(context.Background(), dir, got, make([]Use, len(got)), 16, "_hlod", l, 6); err != nil {
			t.Fatal(err)
		}
		if most := int64((14 + 8 + 4) * 64 * 64); work.Peak() > max(size, most) {
			t.Errorf("cooking holds %d of %d bytes", work.Peak(), size)
		}
	}
}

// FuzzDecodeCost: what decodes was judged before, and took no more memory than
// was said.
func FuzzDecodeCost(f *testing.F) {
	f.Add(claiming(f, "png", 30, 40))
	f.Add(claiming(f, "jpeg", 300, 400))
	f.Add(pngOf(f, image.NewNRGBA64(image.Rect(0, 0, 9, 9))))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, ok := picture.Inspect(data)
		if ok && c.Bytes > 16<<20 {
			return
		}
		var err error
		n := fuzzbound.Allocated(func() { _, err = decodeStaged(bytes.Clone(data)) })
		if err == nil && !ok {
			t.Errorf("decodes without having been judged")
		}
		if bound := uint64(c.Bytes) + 3*uint64(len(data)) + 4<<20; ok && n > bound {
			t.Errorf("%d bytes allocated, %d expected", n, bound)
		}
	})
}
