package texture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/untoldkit/untold/runtime/texture/texfile"
	"pgregory.net/rapid"
)

// pictures writes PNG files of 64 x 64 texels called 0.png, 1.png, ...
func pictures(t testing.TB, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 64, 64))); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.png", i)), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// request asks a loader and returns the answer if it came at once.
func request(l Loader, dir, uri string, maxSize int) (*texfile.Image, bool) {
	done := newCompletions()
	l.Start(Request{Token: 1, Dir: dir, URI: uri, MaxSize: maxSize, Context: context.Background(), Done: done})
	if err := done.box.Await(context.Background(), 1); err != nil {
		panic(err)
	}
	list := done.box.Drain(nil)
	return list[0].image, list[0].err == nil
}

func TestWarmer(t *testing.T) {
	dir := pictures(t, 3)
	files := NewFileLoader(FileOptions{})
	defer files.Close()
	w := NewWarmer(files, 0)
	slots := []Slot{{dir, "0.png", texfile.Color, 0}, {dir, "", texfile.Color, 0}, {dir, "lost.png", texfile.Color, 0}, {dir, "0.png", texfile.Color, 0}, {dir, "../1.png", texfile.Color, 0}, {dir, "1.png", texfile.Color, 0}}
	if err := w.Warm(t.Context(), slots, 16); err != nil {
		t.Fatal(err)
	}
	each := texfile.Size{Width: 16, Height: 16, Mips: 5}.Bytes(0)
	if w.Bytes() != 2*each {
		t.Errorf("%d bytes, want %d", w.Bytes(), 2*each)
	}
	// What is kept needs no file any more, and is handed out once.
	if err := os.Remove(filepath.Join(dir, "0.png")); err != nil {
		t.Fatal(err)
	}
	if img, ok := request(w, dir, "0.png", 16); !ok || img.Levels[0].Width != 16 || w.Bytes() != each {
		t.Errorf("%v, %d bytes", ok, w.Bytes())
	}
	if _, ok := request(w, dir, "0.png", 16); ok {
		t.Error("the file is gone, but there is an image")
	}
	// Another size comes from the file.
	if img, ok := request(w, dir, "1.png", 64); !ok || img.Levels[0].Width != 64 || w.Bytes() != each {
		t.Errorf("%v, %d bytes", ok, w.Bytes())
	}
	// What has been asked for is there: other tiles that have it do not decode it.
	if err := w.Warm(t.Context(), []Slot{{dir, "1.png", texfile.Color, 0}}, 64); err != nil || w.Bytes() != each {
		t.Errorf("%v, %d bytes", err, w.Bytes())
	}
	if n := w.Clear(); n != each || w.Bytes() != 0 {
		t.Errorf("cleared %d, %d are left", n, w.Bytes())
	}
	w.Close()
	if err := w.Warm(t.Context(), slots, 16); err != nil || w.Bytes() != 0 {
		t.Errorf("%d bytes after Close, %v", w.Bytes(), err)
	}
}

func TestWarmerEndsWithItsContext(t *testing.T) {
	dir := pictures(t, 1)
	files := NewFileLoader(FileOptions{})
	defer files.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := NewWarmer(files, 0)
	if err := w.Warm(ctx, []Slot{{dir, "0.png", texfile.Color, 0}}, 16); !errors.Is(err, context.Canceled) || w.Bytes() != 0 {
		t.Errorf("%v, %d bytes", err, w.Bytes())
	}
}

// Whatever is warmed and asked for: the bytes are those of the images that are
// kept, and within the limit; the newest are kept.
func TestWarmerLimit(t *testing.T) {
	const n = 12
	dir := pictures(t, n)
	files := NewFileLoader(FileOptions{})
	defer files.Close()
	each := texfile.Size{Width: 8, Height: 8, Mips: 4}.Bytes(0)
	rapid.Check(t, func(t *rapid.T) {
		w := NewWarmer(files, 4*each+each/2)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			uri := fmt.Sprintf("%d.png", rapid.IntRange(0, n-1).Draw(t, "file"))
			if rapid.Bool().Draw(t, "warm") {
				if err := w.Warm(context.Background(), []Slot{{dir, uri, texfile.Color, 0}}, 8); err != nil {
					t.Fatal(err)
				}
				if !w.has(warmKey{keyOf(Slot{dir, uri, texfile.Color, 0}), 8}) {
					t.Fatal("the newest is not kept")
				}
			} else {
				w.take(warmKey{keyOf(Slot{dir, uri, texfile.Color, 0}), 8})
				clear(w.asked)
			}
			if int64(len(w.kept))*each != w.bytes || w.bytes > w.limit || len(w.order) > 2*len(w.kept)+66 {
				t.Fatalf("%d kept, %d bytes, %d in order", len(w.kept), w.bytes, len(w.order))
			}
		}
	})
}

func TestWarmerFromManyGoroutines(t *testing.T) {
	dir := pictures(t, 8)
	files := NewFileLoader(FileOptions{})
	defer files.Close()
	w := NewWarmer(files, 20_000)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 20 {
				_ = w.Warm(t.Context(), []Slot{{dir, fmt.Sprintf("%d.png", (i+g)%8), texfile.Color, 0}}, 32)
				request(w, dir, fmt.Sprintf("%d.png", i%8), 32)
			}
		})
	}
	all.Wait()
	if w.Bytes() > 20_000 {
		t.Errorf("%d bytes", w.Bytes())
	}
}
