package texture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// pngFile returns a PNG with something in every level.
func pngFile(t testing.TB, w, h int) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = byte(i) | byte(i>>8) | 255*byte(i%4/3)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFilesEndToEnd runs a Streamer on files, with its own loader and the real
// order of events.
func TestFilesEndToEnd(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := fake.Folder(t, map[string][]byte{
		"wall.png": pngFile(t, 1030, 515), "wall.utex": fake.Utex(t, utex.BC5, 2048, 1024, [16]byte{}), "bad.png": {1, 2, 3},
	})
	p, _ := ProfileNamed("balanced")
	d := &trimmingDevice{fakeDevice: &fakeDevice{t: t, has: map[ID]*texfile.Image{}}}
	s, err := NewStreamer(StreamOptions{Params: p, Device: d, Trimmer: d, Budget: 20 << 20, FirstLoads: 2})
	if err != nil {
		t.Fatal(err)
	}
	part := at(1, "")
	part.Slots = []Slot{{dir, "wall.png", texfile.Color, 0}, {dir, "wall.utex", texfile.Normal, 0}, {dir, "bad.png", texfile.Data, 0}, {dir, "gone.png", texfile.Data, 0}}
	e := s.Add(part)
	settle := func() {
		t.Helper()
		for v := (View{Visible: []Entity{e}, Force: true}); ; {
			s.Update(v)
			if s.Idle() {
				return
			}
			if err := s.Await(t.Context()); err != nil {
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
	dir := fake.Folder(t, map[string][]byte{"a.png": pngFile(t, 200, 200)})
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
	f.Add(pngFile(f, 40, 20), uint16(256), true)
	f.Add(fake.Utex(f, utex.BC7, 64, 64, [16]byte{}), uint16(16), true)
	f.Add(fake.Utex(f, utex.BC5, 9, 5, [16]byte{}), uint16(4), false)
	f.Add(fake.Utex(f, utex.BC7, 4, 4, [16]byte{}), uint16(1), true)
	f.Fuzz(func(t *testing.T, data []byte, edge uint16, blocks bool) {
		limit := max(1, int(edge))
		img, err := texfile.DecodeAt(bytes.NewReader(data), int64(len(data)), texfile.Options{MaxSize: limit, MaxPixels: 1 << 20, Blocks: blocks})
		size, bad := texfile.Measure(bytes.NewReader(data), int64(len(data)))
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

// elsewhere is a Reader.
type elsewhere struct{ uris chan string }

func (e elsewhere) ReadTexture(_ context.Context, dir, uri string, o texfile.Options) (*texfile.Image, error) {
	e.uris <- dir + "/" + uri
	s, err := texfile.NewSize(8, 8, texfile.RGBA8)
	if err != nil || !o.Blocks || !o.WebGL || o.Use != texfile.Normal {
		return nil, fmt.Errorf("%+v, %w", o, err)
	}
	return s.Blank(o.Use, o.MaxSize), nil
}

// TestFileLoaderReadsElsewhere: a Reader is asked for all, with the options of the loader.
func TestFileLoaderReadsElsewhere(t *testing.T) {
	defer goleak.VerifyNone(t)
	e := elsewhere{make(chan string, 2)}
	l := NewFileLoader(FileOptions{Workers: 1, Blocks: true, WebGL: true, Reader: e})
	done := newCompletions()
	req := Request{Token: 3, Dir: "far", URI: "a.png", Use: texfile.Normal, MaxSize: 4, Context: t.Context(), Done: done}
	l.Start(req)
	if uri := <-e.uris; uri != "far/a.png" {
		t.Error(uri)
	}
	img, err := l.Read(req)
	if err != nil || img.Levels[0].Width != 4 {
		t.Errorf("%+v, %v", img, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	got := done.box.Drain(nil)
	if len(got) != 1 || got[0].err != nil || got[0].image.Use != texfile.Normal || len(e.uris) != 1 {
		t.Errorf("%+v", got)
	}
}
