package texfile

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"io/fs"
	"testing"

	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/runtime/internal/fake"
)

// photo is a picture with something in every level.
func photo(w, h int) image.Image {
	return paint(image.NewNRGBA(image.Rect(0, 0, w, h)), func(x, y int) color.Color {
		return color.NRGBA{byte(x), byte(y), byte(x ^ y), 255}
	})
}

func TestReadFile(t *testing.T) {
	short := encodePNG(t, photo(64, 64))
	dir := fake.Folder(t, map[string][]byte{
		"wall.png":  encodePNG(t, photo(300, 200)),
		"wall.utex": fake.Utex(t, utex.BC7, 300, 200, [16]byte{}),
		"text.png":  []byte("this is no picture"),
		"short.png": short[:len(short)/2],
	})
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		uri     string
		ctx     context.Context
		maxSize int
		w, h    int
		err     error
	}{
		{uri: "wall.png", maxSize: 4096, w: 300, h: 200},
		{uri: "WALL.PNG", maxSize: 256, w: 150, h: 100},
		{uri: "wall.utex", maxSize: 256, w: 150, h: 100},
		{uri: "wall.utex", maxSize: 1, w: 1, h: 1},
		{uri: "text.png", err: ErrFormat},
		{uri: "short.png", err: ErrDamaged},
		{uri: "none.png", err: fs.ErrNotExist},
		{uri: "../wall.png", err: ErrURI},
		{uri: "wall.png", ctx: done, err: context.Canceled},
	} {
		if c.ctx == nil {
			c.ctx = context.Background()
		}
		img, err := ReadFile(c.ctx, dir, c.uri, Options{Blocks: true, MaxPixels: 300 * 200, MaxSize: c.maxSize})
		if !errors.Is(err, c.err) || err == nil && (img.Levels[0].Width != c.w || img.Levels[0].Height != c.h) {
			t.Errorf("%s at %d: %v", c.uri, c.maxSize, err)
		}
		if err == nil {
			if _, _, err := SizeOf(img); err != nil {
				t.Errorf("%s at %d: %v", c.uri, c.maxSize, err)
			}
		}
	}
}

// countingReader counts the bytes that are asked for.
type countingReader struct {
	*bytes.Reader
	n int64
}

func (r *countingReader) ReadAt(p []byte, off int64) (int, error) {
	r.n += int64(len(p))
	return r.Reader.ReadAt(p, off)
}

// TestStartMipReadsNoMore: of a cooked texture the large levels are not
// touched.
func TestStartMipReadsNoMore(t *testing.T) {
	data := fake.Utex(t, utex.BC7, 2048, 2048, [16]byte{})
	for _, c := range []struct{ edge, most int }{{2048, len(data)}, {1024, len(data) / 3}, {256, len(data) / 60}, {1, 1000}} {
		r := &countingReader{Reader: bytes.NewReader(data)}
		img, err := DecodeAt(interruptible{context.Background(), r}, int64(len(data)), Options{MaxSize: c.edge, Blocks: true})
		if err != nil || img.Levels[0].Width != c.edge {
			t.Fatalf("%d: %v", c.edge, err)
		}
		if r.n > int64(c.most)+200 {
			t.Errorf("%d texels: %d bytes read of %d", c.edge, r.n, len(data))
		}
	}
}
