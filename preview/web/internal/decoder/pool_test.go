package decoder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// wires is a Port to servers in the same program, or to nothing that answers.
type wires struct {
	t       *testing.T
	count   int
	refuse  error
	silent  bool                // workers are ready, and answer nothing
	killers func(m []byte) bool // is shown each message; a worker dies of those that it says

	mu      sync.Mutex
	lives   []*life
	started int
	stopped int
	sent    [][]byte
}

// life is one life of a worker.
type life struct {
	server *Server
	got    func(int, func([]byte))
	ended  func(string)
}

func (p *wires) Workers() int { return p.count }

func (p *wires) Start(worker int, got func(int, func([]byte)), ended func(string)) error {
	if p.refuse != nil {
		return p.refuse
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lives = append(p.lives, make([]*life, max(0, worker+1-len(p.lives)))...)
	l := &life{got: got, ended: ended}
	p.lives[worker] = l
	p.started++
	say := func(parts [][]byte) {
		m := bytes.Join(parts, nil)
		got(len(m), func(dst []byte) { copy(dst, m) })
	}
	if !p.silent {
		l.server = NewServer(func([][]byte) {}, nil, nil) // says that it is ready below
		l.server.send = say
	}
	go say(newWriter(kindReady, 0).message())
	return nil
}

func (p *wires) Send(worker int, parts [][]byte) {
	m := bytes.Join(parts, nil)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, m)
	l := p.lives[worker]
	if p.killers != nil && p.killers(m) {
		go l.ended("out of memory")
		return
	}
	if l.server != nil {
		go func() {
			if err := l.server.Handle(m); err != nil {
				p.t.Error(err)
			}
		}()
	}
}

func (p *wires) Stop(int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped++
}

// scene is a folder with a tile and a texture.
func scene(t *testing.T) string {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "tiles", "a.untold"), testfile.Read(t, "../../../../testdata/vectors/triangle_lz4.untold"))
	img := image.NewNRGBA(image.Rect(0, 0, 40, 20))
	for i := range img.Pix {
		img.Pix[i] = byte(i)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(dir, "tiles", "wall.png"), b.Bytes())
	testfile.Write(t, filepath.Join(dir, "tiles", "bad.png"), b.Bytes()[:60])
	return dir
}

// load asks for a tile and waits for the answer.
func load(ctx context.Context, p payload.Loader, dir, path string, kept *payload.Asset) payload.Result {
	got := make(chan payload.Result, 1)
	p.Start(payload.Request{
		Token: 1, TileID: "t", Key: payload.Key{Rep: payload.RepFull}, Dir: dir, Path: path, Kept: kept, Context: ctx,
		Done: payload.Intercept(func(_ uint64, x payload.Result) { got <- x }, nil),
	})
	return <-got
}

func closePool(t *testing.T, p *Pool, w *wires) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.lives {
		if l != nil && l.server != nil {
			if err := l.server.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestPoolAnswersAsTheProgram: what comes from a worker is what the program reads by
// itself, errors included.
func TestPoolAnswersAsTheProgram(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir, ctx := scene(t), t.Context()
	files := payload.NewFileLoader(0)
	defer files.Close()
	for name, w := range map[string]*wires{"two": {t: t, count: 2}, "none": {t: t, count: 0}, "refused": {t: t, count: 3, refuse: errors.New("the policy says no")}} {
		p := NewPool(w, PoolOptions{})
		want, got := load(ctx, files, dir, "tiles/a.untold", nil), load(ctx, p, dir, "tiles/a.untold", nil)
		if want.Err != nil || got.Err != nil {
			t.Fatalf("%s: %v, %v", name, want.Err, got.Err)
		}
		if got.GeometryBytes != want.GeometryBytes || got.Nodes != want.Nodes || !bytes.Equal(got.Asset.Geometry.Vertices, want.Asset.Geometry.Vertices) ||
			!bytes.Equal(got.Asset.Geometry.Indices, want.Asset.Geometry.Indices) || got.Asset.Dir != want.Asset.Dir || got.Asset.Version != want.Asset.Version {
			t.Errorf("%s: another tile", name)
		}
		// Workers pack vertices, too.
		made, _ := got.Asset.Ready.(*render.Packed)
		if here := name != "two"; here != (made == nil) {
			t.Errorf("%s: packed is %v", name, made)
		}
		if made != nil {
			made.Release = nil
			if diff := cmp.Diff(render.Pack(want.Asset), made, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		if diff := cmp.Diff(want.Asset.Layout().Stubs, got.Asset.Layout().Stubs); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		again := load(ctx, p, dir, "tiles/a.untold", got.Asset)
		if again.Err != nil || !again.Asset.Shares(got.Asset) || again.Nodes != got.Nodes || again.GeometryBytes != got.GeometryBytes {
			t.Errorf("%s: the file has not changed, and was decoded again: %+v", name, again)
		}
		for _, a := range []*payload.Asset{want.Asset, got.Asset, again.Asset} {
			a.Release()
		}
		wantGone, gone := load(ctx, files, dir, "tiles/b.untold", nil), load(ctx, p, dir, "tiles/b.untold", nil)
		if !errors.Is(gone.Err, fs.ErrNotExist) || gone.Err.Error() != wantGone.Err.Error() {
			t.Errorf("%s: %v, want %v", name, gone.Err, wantGone.Err)
		}
		for uri, o := range map[string]texfile.Options{"wall.png": {MaxSize: 16, Use: texfile.Normal}, "bad.png": {}, "gone.png": {}, "../x.png": {}} {
			in := filepath.Join(dir, "tiles")
			want, wantErr := texfile.ReadFile(ctx, in, uri, o)
			got, err := p.ReadTexture(ctx, in, uri, o)
			if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Errorf("%s, %s: %v, want %v", name, uri, err, wantErr)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s: %s", name, uri, diff)
			}
			for _, kind := range kinds {
				if errors.Is(err, kind) != errors.Is(wantErr, kind) {
					t.Errorf("%s, %s: is it %v?", name, uri, kind)
				}
			}
		}
		closePool(t, p, w)
		if x := load(ctx, p, dir, "tiles/a.untold", nil); !errors.Is(x.Err, payload.ErrClosed) {
			t.Errorf("%s, closed: %v", name, x.Err)
		}
	}
}

// TestPoolCancels: a request that is given up is answered at once, and its worker told.
func TestPoolCancels(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancel(t.Context())
	w := &wires{t: t, count: 1, silent: true, killers: func([]byte) bool {
		cancel() // as soon as the worker has it
		return false
	}}
	var patience []func()
	var mu sync.Mutex
	p := NewPool(w, PoolOptions{after: func(_ time.Duration, f func()) {
		mu.Lock()
		defer mu.Unlock()
		patience = append(patience, f)
	}})
	if _, err := p.ReadTexture(ctx, "d", "a.png", texfile.Options{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	w.mu.Lock()
	if n := len(w.sent); n != 2 || w.sent[1][1] != kindCancel {
		t.Errorf("%d messages: %x", n, w.sent)
	}
	w.mu.Unlock()
	mu.Lock()
	hang := patience[len(patience)-1]
	mu.Unlock()
	hang() // it has given no sign since
	if _, err := p.ReadTexture(t.Context(), "d", "a.png", texfile.Options{}); !errors.Is(err, ErrDied) {
		t.Errorf("what a worker hung at is tried again: %v", err)
	}
	if w.started != 2 || w.stopped != 1 {
		t.Errorf("%d started, %d stopped", w.started, w.stopped)
	}
	if _, err := p.ReadTexture(ctx, "d", "b.png", texfile.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("given up before it began: %v", err)
	}
	closePool(t, p, w)
}

// TestPoolSurvivesDeaths: a file that kills its worker is an error after the second
// time; what was under way beside it is answered all the same.
func TestPoolSurvivesDeaths(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := filepath.Join(scene(t), "tiles")
	w := &wires{t: t, count: 2, killers: func(m []byte) bool { return bytes.Contains(m, []byte("killer.png")) }}
	var said []string
	p := NewPool(w, PoolOptions{Said: func(text string) { said = append(said, text) }})
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			uri := "wall.png"
			if i%6 == 0 {
				uri = "killer.png"
			}
			img, err := p.ReadTexture(t.Context(), dir, uri, texfile.Options{MaxSize: 1 + i})
			switch {
			case uri == "wall.png" && (err != nil || img == nil):
				t.Errorf("request %d: %v", i, err)
			case uri != "wall.png" && !errors.Is(err, ErrDied):
				t.Errorf("the killer: %v", err)
			}
		})
	}
	all.Wait()
	if _, err := p.ReadTexture(t.Context(), dir, "killer.png", texfile.Options{}); !errors.Is(err, ErrDied) {
		t.Error(err)
	}
	p.mu.Lock()
	if len(said) < 2 || !strings.Contains(said[0], "out of memory") {
		t.Errorf("%q", said)
	}
	p.mu.Unlock()
	closePool(t, p, w)
}

// TestPoolBlamesNobodyBeside: of what a worker died is known where it was at one thing alone;
// a file that is tried once more beside another is tried again.
func TestPoolBlamesNobodyBeside(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := filepath.Join(scene(t), "tiles")
	sent := make(chan string, 20)
	w := &wires{t: t, count: 1, silent: true, killers: func(m []byte) bool {
		for _, uri := range []string{"a.png", "b.png", "c.png"} {
			if bytes.Contains(m, []byte(uri)) {
				sent <- uri
			}
		}
		return false
	}}
	p := NewPool(w, PoolOptions{Said: func(string) {}})
	failed := make(chan string, 3)
	ask := func(uri string) {
		go func() {
			if _, err := p.ReadTexture(t.Context(), dir, uri, texfile.Options{MaxSize: 8}); errors.Is(err, ErrDied) {
				failed <- uri
			} else {
				failed <- uri + ": " + fmt.Sprint(err)
			}
		}()
		expect(t, sent, uri)
	}
	dies := func() {
		w.mu.Lock()
		l := w.lives[0]
		w.mu.Unlock()
		l.ended("out of memory")
	}
	ask("a.png")
	ask("b.png")
	dies()
	expect(t, sent, "a.png") // alone, but for what comes then
	ask("c.png")
	dies()
	for _, uri := range []string{"a.png", "b.png", "c.png"} {
		expect(t, sent, uri)
		dies()
		expect(t, failed, uri)
	}
	closePool(t, p, w)
}

func expect(t *testing.T, from <-chan string, want string) {
	t.Helper()
	if got := <-from; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
}

// TestPoolWithoutSense: a worker that says what makes no sense is begun anew, and one
// that is never ready is done without.
func TestPoolWithoutSense(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := filepath.Join(scene(t), "tiles")
	w := &wires{t: t, count: 1, silent: true}
	var patience []func()
	p := NewPool(w, PoolOptions{after: func(_ time.Duration, f func()) { patience = append(patience, f) }})
	talk := func(m []byte) {
		w.mu.Lock()
		l := w.lives[0]
		w.mu.Unlock()
		l.got(len(m), func(dst []byte) { copy(dst, m) })
	}
	talk(joined(newWriter(kindReady, 0)))
	for range 3 {
		talk([]byte("no message"))
		w.mu.Lock()
		n := w.started
		w.mu.Unlock()
		if n > 1 {
			talk(joined(newWriter(kindReady, 0)))
		}
	}
	// It has died three times of nothing: the program does without.
	if img, err := p.ReadTexture(t.Context(), dir, "wall.png", texfile.Options{}); err != nil || img == nil {
		t.Error(err)
	}
	for _, f := range patience {
		f() // with workers that are ready, or gone: nothing
	}
	if w.started != 3 {
		t.Errorf("started %d times", w.started)
	}
	closePool(t, p, w)
}

// TestPoolTellsOfDamage: so does the program where it decodes by itself.
func TestPoolTellsOfDamage(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := filepath.ToSlash(scene(t))
	doubts := make(chan string, 4)
	w := &wires{t: t}
	p := NewPool(w, PoolOptions{Distrust: func(file string) { doubts <- filepath.ToSlash(file) }})
	testfile.Write(t, filepath.Join(dir, "bad.untold"), "no container")
	if x := load(t.Context(), p, dir, "bad.untold", nil); x.Err == nil || <-doubts != dir+"/bad.untold" {
		t.Error(x.Err)
	}
	if _, err := p.ReadTexture(t.Context(), dir+"/tiles", "bad.png", texfile.Options{}); err == nil || <-doubts != dir+"/tiles/bad.png" {
		t.Error(err)
	}
	if x := load(t.Context(), p, dir, "gone.untold", nil); x.Err == nil || len(doubts) != 0 {
		t.Errorf("%v, and %d doubts", x.Err, len(doubts))
	}
	closePool(t, p, w)
}

// TestServerTellsOfDamage: what may be damaged where it is kept is named.
func TestServerTellsOfDamage(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := filepath.ToSlash(scene(t))
	var mu sync.Mutex
	var doubts []string
	expected := map[string]int64{}
	answers := make(chan byte, 8)
	s := NewServer(func(parts [][]byte) { answers <- parts[0][1] }, func(file string) {
		mu.Lock()
		defer mu.Unlock()
		doubts = append(doubts, filepath.ToSlash(file))
	}, func(file string, size int64) { expected[filepath.ToSlash(file)] = size })
	<-answers
	ask := func(w *writer) byte {
		if err := s.Handle(joined(w)); err != nil {
			t.Fatal(err)
		}
		return <-answers
	}
	req := payload.Request{Token: 1, TileID: "t", Dir: dir, Path: "tiles/a.untold", Size: 7}
	if k := ask(writeLoad(&req)); k != kindFailure || expected[dir+"/tiles/a.untold"] != 7 {
		t.Errorf("another size: kind %d, expected %v", k, expected)
	}
	req.Size = math.MaxInt64
	if k := ask(writeLoad(&req)); k != kindFailure {
		t.Errorf("a size of no file: kind %d", k)
	}
	req.Token, req.Path, req.Size = 2, "tiles/b.untold", 0
	if k := ask(writeLoad(&req)); k != kindFailure {
		t.Errorf("not there: kind %d", k)
	}
	if k := ask(writeTexture(3, &textureRequest{dir: dir + "/tiles", uri: "bad.png"})); k != kindFailure {
		t.Errorf("a damaged image: kind %d", k)
	}
	if want := []string{dir + "/tiles/a.untold", dir + "/tiles/a.untold", dir + "/tiles/bad.png"}; !slices.Equal(doubts, want) {
		t.Errorf("%q, want %q", doubts, want)
	}
	if err := s.Handle([]byte{form, 77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}); !errors.Is(err, ErrWire) {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestPoolHoldsTiles: until the first tile has come two are asked for at a time, then all that
// wait; what was given up or dies does not keep them.
func TestPoolHoldsTiles(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := scene(t)
	w := &wires{t: t, count: 2, silent: true}
	p := NewPool(w, PoolOptions{})
	defer closePool(t, p, w)
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan payload.Result, 5)
	for i := range 5 {
		c := t.Context()
		if i == 0 {
			c = ctx
		}
		p.Start(payload.Request{
			Token: uint64(i), TileID: "t", Key: payload.Key{Rep: payload.RepFull}, Dir: dir, Path: "tiles/a.untold", Context: c,
			Done: payload.Intercept(func(_ uint64, x payload.Result) { got <- x }, nil),
		})
	}
	count := func() (given, held int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, w := range p.workers {
			given += len(w.jobs)
		}
		return given, len(p.held)
	}
	if given, held := count(); given != earlyTiles || held != 5-earlyTiles {
		t.Errorf("%d given, %d held", given, held)
	}
	cancel()
	if x := <-got; !errors.Is(x.Err, context.Canceled) {
		t.Errorf("%v", x.Err)
	}
	if given, held := count(); given < 4 || held != 0 {
		t.Errorf("after one was given up: %d given, %d held", given, held)
	}
}
