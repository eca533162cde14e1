package texfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/png"
	"strings"
	"sync"
	"testing"

	"github.com/untoldkit/untold/internal/fuzzbound"
	"github.com/untoldkit/untold/internal/picture"
)

// progressive is the start of a JPEG that claims w x h pixels of three planes.
func progressive(w, h int) []byte {
	return append([]byte{
		0xff, 0xd8, 0xff, 0xc2, 0, 17, 8, byte(h >> 8), byte(h), byte(w >> 8), byte(w), 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0,
		0xff, 0xda, 0, 2,
	}, make([]byte, 4096)...)
}

// TestDecodeIsBudgeted: a picture of few pixels enough, but of a form whose
// decoder would take more than the limit, fails before it is decoded.
func TestDecodeIsBudgeted(t *testing.T) {
	n := fuzzbound.Allocated(func() {
		_, err := Decode(bytes.NewReader(progressive(8192, 8192)), Options{})
		if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "JPEG: texture: too many pixels: decoding 8192 x 8192 takes some 1275 MB") {
			t.Errorf("%v", err)
		}
	})
	if n > 1<<20 {
		t.Errorf("%d bytes allocated", n)
	}
}

// TestDecodersShareMemory: at no time do decoders hold more than the budget,
// but for one picture that is larger and alone; waiting ends with the context.
func TestDecodersShareMemory(t *testing.T) {
	var data bytes.Buffer
	if err := png.Encode(&data, image.NewNRGBA64(image.Rect(0, 0, 64, 64))); err != nil {
		t.Fatal(err)
	}
	const each = (12 + 2) * 64 * 64
	for _, size := range []int64{1, each, 3 * each} {
		b := picture.NewBudget(size)
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				if _, err := Decode(bytes.NewReader(data.Bytes()), Options{budget: b}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if b.Peak() > max(size, each) {
			t.Errorf("%d of %d bytes held", b.Peak(), size)
		}
	}
	b := picture.NewBudget(10)
	free, _ := b.Take(context.Background(), 10)
	defer free()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Decode(bytes.NewReader(data.Bytes()), Options{budget: b, ctx: ctx}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// FuzzDecodeBudget: what decodes has taken no more than was said.
func FuzzDecodeBudget(f *testing.F) {
	f.Add(progressive(100, 100))
	var small bytes.Buffer
	_ = png.Encode(&small, image.NewGray16(image.Rect(0, 0, 9, 9)))
	f.Add(small.Bytes())
	big := bytes.Clone(small.Bytes())
	binary.BigEndian.PutUint32(big[16:], 1000)
	binary.BigEndian.PutUint32(big[29:], crc32.ChecksumIEEE(big[12:29]))
	f.Add(big)
	f.Fuzz(func(t *testing.T, data []byte) {
		b := picture.NewBudget(1 << 30)
		n := fuzzbound.Allocated(func() { _, _ = Decode(bytes.NewReader(data), Options{budget: b, MaxPixels: 1 << 20}) })
		if bound := uint64(b.Peak()) + 3*uint64(len(data)) + 4<<20; n > bound {
			t.Errorf("%d bytes allocated, %d taken", n, b.Peak())
		}
	})
}
