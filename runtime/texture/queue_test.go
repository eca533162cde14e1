package texture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/untoldkit/untold/format/utex"
	"go.uber.org/goleak"
)

// photo is a picture with something in every level.
func photo(w, h int) image.Image {
	return paint(image.NewNRGBA(image.Rect(0, 0, w, h)), func(x, y int) color.Color {
		return color.NRGBA{byte(x), byte(y), byte(x ^ y), 255}
	})
}

// folderOf returns a folder with files.
func folderOf(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFileLoaderRead(t *testing.T) {
	short := encodePNG(t, photo(64, 64))
	dir := folderOf(t, map[string][]byte{
		"wall.png":  encodePNG(t, photo(300, 200)),
		"wall.utex": cooked(t, utex.BC7, 300, 200, [16]byte{}),
		"text.png":  []byte("this is no picture"),
		"short.png": short[:len(short)/2],
	})
	l := NewFileLoader(FileOptions{Blocks: true, MaxPixels: 300 * 200})
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
		img, err := l.Read(Request{Dir: dir, URI: c.uri, MaxSize: c.maxSize, Context: c.ctx})
		if !errors.Is(err, c.err) || err == nil && (img.Levels[0].Width != c.w || img.Levels[0].Height != c.h) {
			t.Errorf("%s at %d: %v", c.uri, c.maxSize, err)
		}
		if err == nil {
			if _, _, err := shapeOf(img); err != nil {
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
	data := cooked(t, utex.BC7, 2048, 2048, [16]byte{})
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

// TestFilesEndToEnd runs a Streamer on files, with its own loader and the real
// order of events.
func TestFilesEndToEnd(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := folderOf(t, map[string][]byte{
		"wall.png": encodePNG(t, photo(1030, 515)), "wall.utex": cooked(t, utex.BC5, 2048, 1024, flatBC5(9, 9)), "bad.png": {1, 2, 3},
	})
	p, _ := ProfileNamed("balanced")
	d := &trimmingDevice{fakeDevice: &fakeDevice{t: t, has: map[ID]*Image{}}}
	s, err := NewStreamer(StreamOptions{Params: p, Device: d, Budget: 20 << 20, FirstLoads: 2})
	if err != nil {
		t.Fatal(err)
	}
	part := at(1, "")
	part.Slots = []Slot{{dir, "wall.png", Color}, {dir, "wall.utex", Normal}, {dir, "bad.png", Data}, {dir, "gone.png", Data}}
	e := s.Add(part)
	settle := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for v := (View{Visible: []Entity{e}, Force: true}); ; {
			s.Update(v)
			if s.Idle() {
				return
			}
			if err := s.Await(ctx); err != nil {
				t.Fatalf("%v: %+v", err, s.Stats())
			}
		}
	}
	settle()
	edges := func() (out []int) {
		for _, id := range s.Textures(nil, e) {
			out = append(out, s.Look(id).Edge)
		}
		return out
	}
	if got := fmt.Sprint(edges()); got != "[1030 2048 0 0]" {
		t.Errorf("%s", got)
	}
	far := at(100, "")
	s.Move(e, far.Min, far.Max)
	settle()
	if got := fmt.Sprint(edges()); got != "[128 256 0 0]" || d.trims != 2 { // 1030, 515, 257, 128
		t.Errorf("%s after %d trims", got, d.trims)
	}
	if err := s.Close(); err != nil || len(d.has) != 0 {
		t.Errorf("%v, left %v", err, d.has)
	}
}

// TestFileLoaderClose: what is queued is answered, what runs is waited for, and
// no goroutine stays.
func TestFileLoaderClose(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := folderOf(t, map[string][]byte{"a.png": encodePNG(t, photo(200, 200))})
	l := NewFileLoader(FileOptions{Workers: 1})
	done := newCompletions()
	start := func(token uint64) {
		l.Start(Request{Token: token, Dir: dir, URI: "a.png", MaxSize: 256, Context: context.Background(), Done: done})
	}
	var starters sync.WaitGroup
	for i := range 20 {
		starters.Go(func() { start(uint64(i)) })
	}
	starters.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	start(20)
	got := done.box.Drain(nil)
	if len(got) != 21 {
		t.Fatalf("%d answers", len(got))
	}
	for i, c := range got {
		if c.token != uint64(i) || (c.err == nil) == (c.image == nil) || c.err != nil && !errors.Is(c.err, ErrClosed) {
			t.Errorf("answer %d: %+v", i, c)
		}
	}
	if !errors.Is(got[20].err, ErrClosed) {
		t.Errorf("after Close: %v", got[20].err)
	}
	done.box.Close()
	done.Loaded(1, nil, nil)
	if len(done.box.Drain(nil)) != 0 {
		t.Error("an answer came through after the end")
	}
}

// TestUpdateNeverWaits: Update goes on while a loader is stuck.
func TestUpdateNeverWaits(t *testing.T) {
	r := newStreamRig(t)
	e := r.add(at(1, "a"))
	r.view.Visible = []Entity{e}
	for range 100 {
		r.tick() // nothing answers
	}
	if st := r.s.Stats(); st.Loading != 1 || len(r.loader.started) != 1 {
		t.Errorf("%+v", st)
	}
}

func TestAwait(t *testing.T) {
	r := newStreamRig(t)
	ctx, cancel := context.WithCancel(context.Background())
	if err := r.s.Await(ctx); err != nil {
		t.Errorf("nothing to wait for: %v", err)
	}
	a := r.add(at(1, "a"))
	r.add(at(1, "b"))
	r.tick()
	r.s.Remove(a) // it is waited for all the same
	r.loader.answer(0)
	cancel()
	if err := r.s.Await(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("one is not answered: %v", err)
	}
	r.loader.answer(0)
	if err := r.s.Await(context.Background()); err != nil {
		t.Errorf("all are answered: %v", err)
	}
	select {
	case <-r.s.Arrived():
	default:
		t.Error("answers wait, but nothing says so")
	}
	r.tick()
	if st := r.s.Stats(); st.Stale != 1 || st.Minimum != 1 {
		t.Errorf("%+v", st)
	}
}

// FuzzAnswers: no bytes of a texture file break the budget or the counters.
func FuzzAnswers(f *testing.F) {
	f.Add(encodePNG(f, photo(40, 20)), uint16(256), true)
	f.Add(cooked(f, utex.BC7, 64, 64, [16]byte{}), uint16(16), true)
	f.Add(cooked(f, utex.BC5, 9, 5, flatBC5(1, 2)), uint16(4), false)
	f.Add(cooked(f, utex.BC7, 4, 4, [16]byte{1}), uint16(1), true)
	f.Fuzz(func(t *testing.T, data []byte, edge uint16, blocks bool) {
		limit := max(1, int(edge))
		img, err := DecodeAt(bytes.NewReader(data), int64(len(data)), Options{MaxSize: limit, MaxPixels: 1 << 20, Blocks: blocks})
		size, bad := Measure(bytes.NewReader(data), int64(len(data)))
		if err == nil && (bad != nil || size.Width != img.SourceWidth || size.Height != img.SourceHeight) {
			t.Errorf("%d x %d decoded, but measured as %+v, %v", img.SourceWidth, img.SourceHeight, size, bad)
		}
		if err == nil && blocks && size.Blank(img.Use, limit).Bytes() != img.Bytes() {
			t.Errorf("%d bytes decoded, but measured as %+v", img.Bytes(), size)
		}
		r := newStreamRig(t, withBudget(1<<18), func(o *StreamOptions, _ *rig) {
			o.Params.MinDimension, o.Params.MaxDimension = limit, max(limit, 1024)
		})
		r.add(at(1, "a"))
		r.tick()
		for _, q := range r.loader.pending {
			q.Done.Loaded(q.Token, img, err)
		}
		r.tick()
		r.check()
		if err == nil && r.s.Stats().Missing == 0 && len(r.device.has) != 1 {
			t.Errorf("%d x %d decoded, but %+v", img.SourceWidth, img.SourceHeight, r.s.Stats())
		}
	})
}
