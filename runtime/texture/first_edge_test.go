package texture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// overNetwork makes cooked textures come small first.
func overNetwork(o *StreamOptions, _ *rig) { o.FirstEdge = 32 }

// Cooked textures come at 32 texels, all of them before any grows, and grow to the minimum
// size, the nearest first, seen or not. Images, whose file comes as a whole, do not.
func TestFirstEdge(t *testing.T) {
	r := newStreamRig(t, overNetwork)
	uris := []string{"far.utex", "near.utex", "tiny.utex", "wall.png"}
	for i, uri := range uris {
		f := fakeFile{w: 1024, h: 1024, enc: texfile.BC7}
		switch i {
		case 2:
			f.w, f.h = 16, 16
		case 3:
			f.enc = texfile.RGBA8
		}
		r.loader.files[uri] = f
	}
	es := []Entity{r.add(at(90, uris[0])), r.add(at(70, uris[1])), r.add(at(80, uris[2])), r.add(at(85, uris[3]))}
	var got []string
	for range 6 {
		r.tick()
		r.loader.answerAll()
		r.tick()
		got = append(got, fmt.Sprint(r.edges(es...)))
	}
	want := []string{"[32 32 16 256]", "[256 256 16 256]", "[256 256 16 256]"}
	if !slices.Equal(got[:3], want) {
		t.Errorf("%v, want %v", got, want)
	}
	var loads []string
	for _, req := range r.loader.started {
		loads = append(loads, fmt.Sprint(req.URI, " ", req.MaxSize))
	}
	if want := "near.utex 32, tiny.utex 32, wall.png 256, far.utex 32, near.utex 256, far.utex 256"; strings.Join(loads, ", ") != want {
		t.Errorf("%v, want %s", loads, want)
	}
	if !r.s.Idle() {
		t.Error("no rest")
	}
}

// A texture whose scale is known grows when the picture shows more of it, whether
// visible or not.
func TestFirstEdgeByScale(t *testing.T) {
	for _, visible := range []bool{false, true} {
		r := newStreamRig(t, overNetwork, func(o *StreamOptions, _ *rig) { o.Scales = Scales{"a.utex": 0.25, "b.utex": 0.25} })
		r.loader.files["a.utex"] = fakeFile{w: 1024, h: 1024, enc: texfile.BC7}
		r.loader.files["b.utex"] = r.loader.files["a.utex"]
		// 32 texels on 4 m are no larger than pixels from 117 m on.
		es := []Entity{r.add(at(116, "a.utex")), r.add(at(118, "b.utex"))}
		if visible {
			r.view.Visible = es
		}
		r.settle()
		if got := fmt.Sprint(r.edges(es...)); got != "[256 32]" {
			t.Errorf("visible %t: %s", visible, got)
		}
		r.view.Camera[0] = 50
		r.settle()
		if got := fmt.Sprint(r.edges(es...)); got != "[256 256]" {
			t.Errorf("nearer, visible %t: %s", visible, got)
		}
	}
}

// While geometry is on its way textures stay small, seen or not, but not for ever.
func TestFirstEdgeYields(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		r := newStreamRig(t, overNetwork)
		r.loader.files["a.utex"] = fakeFile{w: 1024, h: 1024, enc: texfile.BC7}
		r.loader.files["b.utex"] = r.loader.files["a.utex"]
		es := []Entity{r.add(at(5, "a.utex")), r.add(at(90, "b.utex"))}
		r.view.Visible, r.view.Busy = es[:1], true
		start := r.view.Now
		for r.view.Now-start < yieldTime/2 {
			r.tick()
			r.loader.answerAll()
		}
		if got := fmt.Sprint(r.edges(es...)); got != "[32 32]" {
			t.Errorf("busy: %s", got)
		}
		if r.view.Busy = !quiet; quiet {
			r.view.Now += quietTime
		} else {
			r.view.Now = start + 2*yieldTime
		}
		for range 4 {
			r.tick()
			r.loader.answerAll()
		}
		r.tick()
		if got := fmt.Sprint(r.edges(es...)); got != "[1024 256]" {
			t.Errorf("quiet %t: %s", quiet, got)
		}
	}
}

// A texture that cannot grow stays as it is, and is tried again.
func TestFirstEdgeFails(t *testing.T) {
	r := newStreamRig(t, overNetwork)
	good := fakeFile{w: 512, h: 512, enc: texfile.BC7}
	r.loader.files["a.utex"] = good
	e := r.add(at(90, "a.utex"))
	r.tick()
	r.loader.answerAll()
	r.loader.files["a.utex"] = fakeFile{err: errors.New("broken")}
	r.tick()
	r.loader.answerAll()
	r.tick()
	if st := r.s.Stats(); fmt.Sprint(r.edges(e)) != "[32]" || st.Missing != 0 || st.Failures != 1 || st.Reserved != 0 {
		t.Errorf("%v, %+v", r.edges(e), st)
	}
	r.loader.files["a.utex"] = good
	r.view.Now += 2 * backoffBase
	r.settle()
	if fmt.Sprint(r.edges(e)) != "[256]" {
		t.Errorf("%v", r.edges(e))
	}
	// It grows to what the minimum size is in a budget, and no more.
	r = newStreamRig(t, overNetwork, withBudget(texfile.MostBytes(256)))
	r.loader.files["a.utex"], r.loader.files["b.png"] = good, fakeFile{w: 256, h: 256}
	e = r.add(at(90, "a.utex"))
	r.add(at(80, "b.png"))
	r.settle()
	if got := r.edges(e)[0]; got != r.s.textures.minimum || got >= 256 {
		t.Errorf("%d texels, the minimum is %d", got, r.s.textures.minimum)
	}
	r.check()
}

// parcel is a Source of one folder whose files come when it is told so.
type parcel struct {
	mu     sync.Mutex
	gates  map[string]chan struct{}
	data   []byte
	open   int
	asked  []string
	failed error
}

type parcelFile struct {
	io.ReaderAt
	p *parcel
}

func (f parcelFile) Size() int64 { return int64(len(f.p.data)) }

func (f parcelFile) Close() error {
	f.p.mu.Lock()
	defer f.p.mu.Unlock()
	f.p.open--
	return nil
}

func (p *parcel) OpenTexture(ctx context.Context, dir, uri string, maxSize int) (texfile.File, bool, error) {
	if dir != "remote" {
		return nil, false, nil
	}
	p.mu.Lock()
	p.asked = append(p.asked, fmt.Sprint(uri, " ", maxSize))
	gate := p.gates[uri]
	p.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, true, ctx.Err()
		}
	}
	if uri == "broken" {
		return nil, true, p.failed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open++
	return parcelFile{strings.NewReader(string(p.data)), p}, true, nil
}

// Files of a Source that wait take no worker from those that are there; every request is
// answered once, and every file is closed.
func TestFileLoaderOfASource(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := &parcel{gates: map[string]chan struct{}{"late": make(chan struct{}), "never": make(chan struct{})}, data: fake.Utex(t, utex.BC7, 64, 64, [16]byte{}), failed: errors.New("gone")}
	dir := fake.Folder(t, map[string][]byte{"a.png": pngFile(t, 20, 20)})
	l := NewFileLoader(FileOptions{Workers: 1, Blocks: true, Source: p})
	done := newCompletions()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i, x := range [][2]string{{"remote", "never"}, {"remote", "late"}, {"remote", "broken"}, {dir, "a.png"}, {"remote", "now"}, {dir, "none.png"}} {
		l.Start(Request{Token: uint64(i), Dir: x[0], URI: x[1], MaxSize: 32, Context: ctx, Done: done})
	}
	got := map[uint64]string{}
	take := func(n int) {
		t.Helper()
		for len(got) < n {
			<-done.box.Ready()
			for _, c := range done.box.Drain(nil) {
				got[c.token] = fmt.Sprint(c.err == nil, c.image != nil && c.image.Levels[0].Width <= 32)
			}
		}
	}
	take(4)
	close(p.gates["late"])
	take(5)
	cancel()
	take(6)
	if want := "map[0:false false 1:true true 2:false false 3:true true 4:true true 5:false false]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if img, err := l.Read(Request{Dir: "remote", URI: "now", MaxSize: 16, Context: t.Context()}); err != nil || img.Levels[0].Width != 16 {
		t.Error(err)
	}
	if err := l.Close(); err != nil || p.open != 0 {
		t.Errorf("%v, %d files are open", err, p.open)
	}
	l.Start(Request{Token: 9, Dir: "remote", URI: "now", MaxSize: 32, Context: t.Context(), Done: done})
	if c := done.box.Drain(nil); len(c) != 1 || !errors.Is(c[0].err, ErrClosed) {
		t.Errorf("%+v", c)
	}
}

// During a draft over a network textures of data wait for its end, which nothing else waits
// for, or for a while. What lies on a disk does not.
func TestDraftDefers(t *testing.T) {
	for _, c := range []struct {
		name    string
		network bool
		draft   bool
		lasts   bool
		want    string // loads
		then    string // with those after the draft
	}{
		{"draft", true, true, false, "color.png, normal.png, normal.utex", "color.png, normal.png, normal.utex, data.png, data.utex"},
		{"a long draft", true, true, true, "color.png, normal.png, normal.utex", "color.png, normal.png, normal.utex, data.png, data.utex"},
		{"no draft", true, false, false, "color.png, normal.png, data.png, normal.utex, data.utex", "color.png, normal.png, data.png, normal.utex, data.utex"},
		{"disk", false, true, false, "color.png, normal.png, data.png, normal.utex, data.utex", "color.png, normal.png, data.png, normal.utex, data.utex"},
	} {
		r := newStreamRig(t, func(o *StreamOptions, r *rig) {
			if c.network {
				overNetwork(o, r)
			}
		})
		p := at(5, "color.png")
		p.Slots = append(p.Slots, Slot{URI: "normal.png", Use: texfile.Normal}, Slot{URI: "data.png", Use: texfile.Data}, Slot{URI: "normal.utex", Use: texfile.Normal}, Slot{URI: "data.utex", Use: texfile.Data})
		for i := range p.Slots {
			r.loader.files[p.Slots[i].URI] = fakeFile{w: 16, h: 16, enc: texfile.BC7}
		}
		e := r.add(p)
		loads := func() string {
			var uris []string
			for _, q := range r.loader.started {
				uris = append(uris, q.URI)
			}
			return strings.Join(uris, ", ")
		}
		r.view.Draft = c.draft
		r.tick()
		if got := loads(); got != c.want || r.s.Begun(e) {
			t.Errorf("%s: %s, want %s; begun %v", c.name, got, c.want, r.s.Begun(e))
		}
		r.loader.answerAll()
		r.tick()
		if !r.s.Begun(e) {
			t.Errorf("%s: what waits for the end of the draft is waited for", c.name)
		}
		if r.view.Draft = c.lasts; c.lasts {
			r.view.Now += deferTime
		}
		r.settle()
		if got := loads(); got != c.then || !r.s.Idle() {
			t.Errorf("%s: after it %s, want %s; idle %v", c.name, got, c.then, r.s.Idle())
		}
	}
}

// What comes small comes as fine as a draft where its scale is known, and stays like that until
// the draft has ended, unless the camera comes too near for it.
func TestDraftIsNoFiner(t *testing.T) {
	uris := []string{"a.utex", "b.utex", "c.utex", "d.utex"}
	r := newStreamRig(t, overNetwork, func(o *StreamOptions, _ *rig) {
		o.FirstLoads, o.QuickLoads = 1, 24
		// 32 texels on 4 m are no larger than 7 pixels from 16.7 m on; a palette has no scale.
		o.Scales = Scales{uris[0]: 0.25, uris[1]: 0.25, uris[2]: 0.25, uris[3]: 0}
	})
	var es []Entity
	for i, d := range []float64{8.5, 16, 17, 8.5} {
		r.loader.files[uris[i]] = fakeFile{w: 1024, h: 1024, enc: texfile.BC7}
		es = append(es, r.add(at(d, uris[i])))
	}
	// Where 1/8 m is wrong, 32 texels on 4 m are enough, unless a better shape has them as well.
	for i, uri := range []string{"e.utex", "f.utex"} {
		r.loader.files[uri] = fakeFile{w: 1024, h: 1024, enc: texfile.BC7}
		r.s.textures.scales[uri] = 0.25
		for k := range i + 1 {
			p := at(7.5, uri)
			p.Error = 0.125 / float64(1+k)
			es = append(es, r.add(p))
		}
	}
	// One that comes quickly says that the others will.
	r.loader.files["first.utex"] = fakeFile{w: 16, h: 16, enc: texfile.BC7}
	r.add(at(1, "first.utex"))
	r.view.Draft, r.view.Visible = true, es
	r.tick()
	r.loader.answerAll()
	for range 3 { // a palette grows when everything has come
		r.tick()
		r.loader.answerAll()
	}
	r.tick()
	if got := fmt.Sprint(r.edges(slices.Concat(es[:3], es[4:6])...)); got != "[64 64 32 32 64]" {
		t.Errorf("%s", got)
	}
	var first []string
	for _, req := range r.loader.started[1:7] {
		first = append(first, fmt.Sprint(req.URI, " ", req.MaxSize))
	}
	if want := "e.utex 32, f.utex 64, a.utex 64, d.utex 32, b.utex 64, c.utex 32"; strings.Join(first, ", ") != want {
		t.Errorf("first %v, want %s", first, want)
	}
	r.view.Camera[0] = 9 // a is within a metre, b 7 m away, c 8
	for range 4 {
		r.tick()
		r.loader.answerAll()
	}
	r.tick()
	if got := fmt.Sprint(r.edges(es[:3]...)); got != "[1024 1024 1024]" {
		t.Errorf("nearer: %s", got)
	}
}

// What is coarse grows before what is nearer and only not yet sharp, and does not leave the
// network to geometry after a draft either.
func TestCoarseFirst(t *testing.T) {
	for _, network := range []bool{false, true} {
		r := newStreamRig(t, func(o *StreamOptions, r *rig) {
			o.Params.ConcurrentOps, o.NearestFirst = 1, true
			o.Scales = Scales{"near.utex": 0.25, "far.utex": 0.01} // 256 texels: 1.5 and 18 pixels
			if network {
				overNetwork(o, r)
				o.Scales["near.utex"] = 0.5 // 32 texels: 6 pixels
			}
		})
		for _, uri := range []string{"near.utex", "far.utex"} {
			r.loader.files[uri] = fakeFile{w: 1024, h: 1024, enc: texfile.BC7}
		}
		r.view.Visible = []Entity{r.add(at(10, "near.utex")), r.add(at(20, "far.utex"))}
		r.view.Busy = network
		for range 4 {
			r.tick()
			r.loader.answerAll()
		}
		var got []string
		for _, req := range r.loader.started[2:] {
			got = append(got, req.URI)
		}
		if len(got) == 0 || got[0] != "far.utex" {
			t.Errorf("network %t: %v", network, got)
		}
	}
}

// Without operations nothing hurries.
func TestNothingHurriesWithoutOperations(t *testing.T) {
	r := newStreamRig(t, func(o *StreamOptions, _ *rig) {
		o.Params.ConcurrentOps, o.Scales = 0, Scales{"a.utex": 0.01}
	})
	r.loader.files["a.utex"] = fakeFile{w: 1024, h: 1024, enc: texfile.BC7}
	r.view.Visible = []Entity{r.add(at(10, "a.utex"))}
	for range 3 {
		r.tick()
		r.loader.answerAll()
	}
	if r.s.Due(r.s.lastTick + time.Millisecond) {
		t.Error("due")
	}
}

// While something coarse waits for a slot the next tick does not wait for its time.
func TestCoarseHurries(t *testing.T) {
	for _, scale := range []float64{0.25, 0.01} { // 256 texels: 1.5 and 36 pixels
		r := newStreamRig(t, func(o *StreamOptions, _ *rig) {
			o.Params.ConcurrentOps = 2
			o.Scales = Scales{"0.utex": scale, "1.utex": scale, "2.utex": scale}
		})
		for i := range 3 {
			uri := fmt.Sprint(i, ".utex")
			r.loader.files[uri] = fakeFile{w: 1024, h: 1024, enc: texfile.BC7}
			r.view.Visible = append(r.view.Visible, r.add(at(10, uri)))
		}
		r.tick()
		r.loader.answerAll()
		r.tick()
		r.view.Now = r.s.lastTick + 10*time.Millisecond
		if r.s.Due(r.view.Now) {
			t.Errorf("scale %v: due while all slots are taken", scale)
		}
		r.loader.answerAll()
		r.s.Update(r.view)
		want := 5 // three loads, two changes
		if scale < 0.1 {
			want++
		}
		if got := len(r.loader.started); got != want {
			t.Errorf("scale %v: %d loads, want %d", scale, got, want)
		}
	}
}

// The largest texel that is seen decides: of colours and normals that could be finer.
func TestTexelPixels(t *testing.T) {
	r := newStreamRig(t, overNetwork, func(o *StreamOptions, _ *rig) {
		o.Scales = Scales{"wall.utex": 0.25, "bumps.utex": 0.25, "rough.utex": 4, "small.utex": 4, "palette.utex": 0}
	})
	r.loader.files["wall.utex"] = fakeFile{w: 1024, h: 1024, enc: texfile.BC7}
	for _, uri := range []string{"bumps.utex", "rough.utex", "palette.utex"} {
		r.loader.files[uri] = r.loader.files["wall.utex"]
	}
	r.loader.files["small.utex"] = fakeFile{w: 16, h: 16, enc: texfile.BC7}
	part := func(slots ...Slot) Entity {
		p := at(100, slots[0].URI)
		p.Slots = slots
		return r.add(p)
	}
	wall := part(Slot{URI: "wall.utex"}, Slot{URI: "bumps.utex", Use: texfile.Normal})
	others := []Entity{part(Slot{URI: "rough.utex", Use: texfile.Data}), part(Slot{URI: "small.utex"}), part(Slot{URI: "palette.utex"}), 0}
	all := func(_, _ [3]float64) bool { return true }
	r.view.Draft = true
	r.tick()
	if got := r.s.TexelPixels(wall, all); !math.IsInf(got, 1) {
		t.Errorf("%v before anything has come", got)
	}
	r.loader.answerAll()
	r.tick()
	if got, want := r.s.TexelPixels(wall, all), 4./32/100/PixelSize(0, 0); math.Abs(got-want) > 1e-9*want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := r.s.TexelPixels(wall, func(_, _ [3]float64) bool { return false }); got != 0 {
		t.Errorf("%v out of view", got)
	}
	for i, e := range others {
		if got := r.s.TexelPixels(e, all); got != 0 {
			t.Errorf("%d: %v", i, got)
		}
	}
}
