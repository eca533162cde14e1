package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

const (
	wallURI = "Textures/wall.utex"
	wallURL = sceneBase + "tiles/" + wallURI
	leafURI = "Textures/leaf.png"
	leafURL = sceneBase + "tiles/" + leafURI
)

// cookedTexture is a texture of 512 x 512 texels whose texels all say which version it
// is.
func cookedTexture(t testing.TB, version byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := utex.NewWriter(&b, 512, 512, utex.BC7, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range w.Info().Levels {
		if err := w.WriteLevel(bytes.Repeat([]byte{version}, int(l.Size))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// largestFirst is the same file as other programs lay it out.
func largestFirst(t testing.TB, version byte) []byte {
	t.Helper()
	b := cookedTexture(t, version)
	info := utex.NewInfo(512, 512, utex.BC7, 0)
	at := uint32(0)
	for i, l := range info.Levels {
		entry := b[utex.HeaderSize+utex.EntrySize*i:]
		for k := range 4 {
			entry[k] = byte(at >> (8 * k))
		}
		at += uint32(l.Size)
	}
	return b
}

// onDemand are the options of these tests.
func onDemand(o *Options) { o.TexturesOnDemand = true }

// newTextureRig has answered for a tile with two textures; dir is their folder.
func newTextureRig(t testing.TB, opts ...rigOption) (r *rig, dir string) {
	t.Helper()
	r = newRig(t, append(opts, onDemand)...)
	r.origin.answer = withRanges(r.origin)
	r.origin.put(sceneBase+"tiles/a.untold", container(t, wallURI, leafURI, "Textures/none.utex", "../secret.utex"))
	r.origin.put(wallURL, cookedTexture(t, 1))
	r.origin.put(leafURL, remotetest.Body(5000))
	return r, r.answerTile()
}

// answerTile fetches the tile and returns the folder of its textures.
func (r *rig) answerTile() string {
	r.t.Helper()
	got, err := r.payload(payload.Request{Dir: sceneBase, Path: "tiles/a.untold", TileID: "a", Context: context.Background()})
	if err != nil {
		r.t.Fatal(err)
	}
	return got.Dir
}

// version opens a texture at a size and returns which version its levels are of; err is
// that of opening or reading.
func (r *rig) version(dir string, maxSize int) (version byte, err error) {
	r.t.Helper()
	f, known, err := r.OpenTexture(context.Background(), dir, wallURI, maxSize)
	if !known {
		r.t.Fatalf("%s is unknown", dir)
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	u, err := utex.NewReader(f, f.Size())
	if err != nil {
		return 0, err
	}
	levels, err := u.ReadLevels(u.StartLevel(maxSize))
	if err != nil {
		return 0, err
	}
	all := slices.Concat(levels...)
	if !bytes.Equal(all, bytes.Repeat(all[:1], len(all))) {
		r.t.Fatal("levels of two versions")
	}
	return all[0], nil
}

func (r *rig) mustVersion(dir string, maxSize int, want byte) {
	r.t.Helper()
	if got, err := r.version(dir, maxSize); err != nil || got != want {
		r.t.Fatalf("at %d texels: version %d, want %d: %v", maxSize, got, want, err)
	}
}

// fetched returns the bytes and the requests for textures since the last call.
func (r *rig) fetched(before *Metrics) (bytes, requests int64) {
	m := r.Metrics()
	bytes, requests = m.TextureBytes-before.TextureBytes, m.RangeRequests-before.RangeRequests
	*before = m
	return bytes, requests
}

// Of a cooked texture the levels that are wanted come, with one request each time, and
// what has come stays, also for the next program.
func TestTextureOnDemand(t *testing.T) {
	for _, order := range []struct {
		name string
		file func(testing.TB, byte) []byte
		more int64 // bytes beyond the levels
	}{{"smallest first", cookedTexture, 4096}, {"largest first", largestFirst, 3 * 32 << 10}} {
		t.Run(order.name, func(t *testing.T) {
			r, dir := newTextureRig(t)
			r.origin.put(wallURL, order.file(t, 1))
			info := utex.NewInfo(512, 512, utex.BC7, 0)
			last := r.Metrics()
			if last.TextureBytes != 0 || last.Textures != 0 {
				t.Fatalf("before anybody asks: %+v", last)
			}
			have := int64(0)
			for _, size := range []int{32, 32, 128, 64, 512, 128} {
				r.mustVersion(dir, size, 1)
				more := max(0, info.Bytes(info.StartLevel(size))-have)
				have += more
				got, requests := r.fetched(&last)
				if more == 0 && (got != 0 || requests != 0) {
					t.Errorf("%d texels again: %d bytes, %d requests", size, got, requests)
				}
				if got > more+order.more || order.name == "smallest first" && more > 0 && requests != 1 {
					t.Errorf("%d texels: %d bytes in %d requests, %d are missing", size, got, requests, more)
				}
				if size == 128 && more > 0 { // another program has what this one had
					r.restart()
					dir, last = r.answerTile(), Metrics{}
					r.mustVersion(dir, 128, 1)
					if got, requests := r.fetched(&last); got != 0 || requests != 0 {
						t.Errorf("after a restart: %d bytes, %d requests", got, requests)
					}
				}
			}
			if st := r.Cache().Stat(); st.Partial != 0 || st.Textures != 1 || st.TextureBytes != info.Prefix(0) {
				t.Errorf("all of it is there: %+v", st)
			}
		})
	}
}

// Other files, and those of servers without ranges, come whole.
func TestTextureOnDemandWhole(t *testing.T) {
	r, dir := newTextureRig(t)
	f, known, err := r.OpenTexture(t.Context(), dir, leafURI, 32)
	if err != nil || !known || f.Size() != 5000 {
		t.Fatal(known, err)
	}
	f.Close()
	if m := r.Metrics(); m.TextureBytes != 5000 || m.Textures != 1 {
		t.Errorf("%+v", m)
	}
	for name, answer := range map[string]func(*http.Request) (*http.Response, error){
		"no ranges": nil,
		"no validators": func(req *http.Request) (*http.Response, error) {
			r.origin.noETag = true
			return withRanges(r.origin)(req)
		},
	} {
		r, dir = newTextureRig(t)
		r.origin.answer = answer
		for range 2 {
			r.mustVersion(dir, 32, 1)
		}
		if m := r.Metrics(); m.TextureBytes < 349_000 || m.TextureBytes > 349_000+64<<10 || m.TexturesPresent == 0 {
			t.Errorf("%s: %+v", name, m)
		}
		r.origin.noETag = false
	}
	r, dir = newTextureRig(t, func(o *Options) { o.Ranges = RangesOff })
	r.mustVersion(dir, 32, 1)
	if m := r.Metrics(); m.RangeRequests != 0 || m.TextureBytes < 349_000 {
		t.Errorf("off: %+v", m)
	}
}

// A texture that the server does not have is told of once, and left alone for a minute;
// folders of others and names that lead outside are not asked for.
func TestTextureOnDemandFails(t *testing.T) {
	r, dir := newTextureRig(t, func(o *Options) { o.HTTP = oneAttempt })
	open := func(dir, uri string) (bool, error) {
		f, known, err := r.OpenTexture(t.Context(), dir, uri, 32)
		if f != nil {
			f.Close()
		}
		return known, err
	}
	for range 3 {
		if known, err := open(dir, "Textures/none.utex"); !known || !errors.Is(err, fs.ErrNotExist) {
			t.Error(known, err)
		}
	}
	if n := r.origin.count(sceneBase + "tiles/Textures/none.utex"); n != 1 || r.Metrics().TexturesFailed != 1 {
		t.Errorf("%d requests, %+v", n, r.Metrics())
	}
	r.clock.Advance(2 * failedFor)
	open(dir, "Textures/none.utex")
	if n := r.origin.count(sceneBase + "tiles/Textures/none.utex"); n != 2 {
		t.Errorf("%d requests after a while", n)
	}
	before := len(r.origin.requests())
	if known, err := open(dir, "../secret.utex"); !known || err == nil {
		t.Error(known, err)
	}
	if known, err := open(t.TempDir(), wallURI); known || err != nil {
		t.Error(known, err)
	}
	if n := len(r.origin.requests()); n != before {
		t.Errorf("%d requests", n-before)
	}
	// Bytes that are no texture are asked for again later.
	r.origin.put(wallURL, bytes.Repeat([]byte("no"), 1<<17))
	if _, err := r.version(dir, 32); err == nil {
		t.Error("no error")
	}
	r.origin.put(wallURL, cookedTexture(t, 2))
	r.clock.Advance(2 * failedFor)
	r.mustVersion(dir, 64, 2)
}

// When the manifest has changed, a byte tells whether a texture has too.
func TestTextureOnDemandOfAChangedScene(t *testing.T) {
	for _, size := range []int{64, 512} {
		for _, restart := range []bool{false, true} {
			r, dir := newTextureRig(t)
			r.mustVersion(dir, size, 1)
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			again := func() {
				must(r.cache.MarkOld(sceneBase, ""))
				if restart {
					r.restart()
				}
				dir = r.answerTile()
			}
			again()
			last := r.Metrics()
			r.mustVersion(dir, size, 1)
			if got, requests := r.fetched(&last); got > 1 || requests != 1 {
				t.Errorf("%d texels, restart %t: %d bytes, %d requests", size, restart, got, requests)
			}
			r.mustVersion(dir, size, 1)
			if got, requests := r.fetched(&last); got != 0 || requests != 0 {
				t.Errorf("%d texels, restart %t, once more: %d bytes, %d requests", size, restart, got, requests)
			}
			r.origin.put(wallURL, cookedTexture(t, 2))
			again()
			r.mustVersion(dir, size, 2)
			r.mustVersion(dir, 512, 2)
			// Without a server the old one serves.
			again()
			r.opts.HTTP = oneAttempt
			r.origin.answer = always(500)
			dir = r.onDemandDir()
			r.mustVersion(dir, 512, 2)
			if r.Metrics().StaleServed == 0 {
				t.Errorf("%+v", r.Metrics())
			}
		}
	}
}

// onDemandDir is the folder of textures of the tile that was answered for.
func (r *rig) onDemandDir() string {
	for dir := range r.onDemand.list {
		return dir
	}
	return ""
}

// What was given up comes when the end of a run waits for it.
func TestTextureOnDemandGivenUp(t *testing.T) {
	r, dir := newTextureRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, known, err := r.OpenTexture(ctx, dir, wallURI, 128); !known || !errors.Is(err, context.Canceled) {
		t.Fatal(known, err)
	}
	if err := r.WaitTextures(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := r.Metrics()
	if last.TextureBytes == 0 {
		t.Errorf("%+v", last)
	}
	r.mustVersion(dir, 128, 1)
	if got, requests := r.fetched(&last); got != 0 || requests != 0 {
		t.Errorf("%d bytes, %d requests", got, requests)
	}
}

// TestTextureVersionsNeverMix: whatever becomes of server, cache and network between two
// readings, the levels of one reading are of one version.
func TestTextureVersionsNeverMix(t *testing.T) {
	dir, run := t.TempDir(), 0
	versions := [][]byte{nil}
	for v := byte(1); v <= 3; v++ {
		versions = append(versions, cookedTexture(t, v))
	}
	tile := container(t, wallURI)
	rapid.Check(t, func(rt *rapid.T) {
		run++
		clock := newClock()
		o := newOrigin(clock)
		o.answer = withRanges(o)
		o.put(sceneBase+"tiles/a.untold", tile)
		o.put(wallURL, versions[1])
		opts := Options{
			CacheDir: filepath.Join(dir, fmt.Sprint(run)), Clock: clock, Transport: o, NoSync: true, HTTP: oneAttempt, TexturesOnDemand: true,
			CacheBudget: rapid.SampledFrom([]int64{1 << 30, 300_000}).Draw(rt, "budget"),
		}
		f, err := New(opts)
		if err != nil {
			rt.Fatal(err)
		}
		r := &rig{Fetcher: f, t: t, clock: clock, origin: o}
		defer func() { r.Fetcher.Close() }()
		folder := r.answerTile()
		current := byte(1)
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"read", "read", "read", "replace", "changed", "restart", "clear", "cut", "damage"}).Draw(rt, "step") {
			case "read":
				clock.Advance(2 * failedFor)
				size := rapid.SampledFrom([]int{1, 32, 64, 128, 256, 512}).Draw(rt, "size")
				if v, err := r.version(folder, size); err == nil && (v == 0 || v > 3) {
					rt.Fatalf("version %d", v)
				}
			case "replace":
				current = byte(rapid.IntRange(1, 3).Draw(rt, "version"))
				o.put(wallURL, versions[current])
			case "changed": // as a new manifest does
				if err := r.cache.MarkOld(sceneBase, ""); err != nil {
					rt.Fatal(err)
				}
				o.answer = withRanges(o)
				folder = r.answerTile()
				clock.Advance(2 * failedFor)
				if v, err := r.version(folder, 128); err != nil || v != current {
					rt.Fatalf("version %d after a change, the server has %d: %v", v, current, err)
				}
			case "restart":
				if err := r.Fetcher.Close(); err != nil {
					rt.Fatal(err)
				}
				if r.Fetcher, err = New(opts); err != nil {
					rt.Fatal(err)
				}
				folder = r.answerTile()
			case "clear":
				if _, err := r.Cache().Clear(); err != nil {
					rt.Fatal(err)
				}
			case "cut":
				cut := true
				o.answer = func(req *http.Request) (*http.Response, error) {
					resp, err := withRanges(o)(req)
					if resp != nil && cut && req.URL.String() == wallURL {
						cut = false
						return reply(req, 503, nil, nil), nil
					}
					return resp, err
				}
			case "damage":
				file := r.cache.Path(fileNameOf2(wallURL) + ".part")
				if b, err := os.ReadFile(file); err == nil && len(b) > 0 {
					b[rapid.IntRange(0, len(b)-1).Draw(rt, "at")] ^= 0x40
					os.WriteFile(file, b, 0o600)
				}
			}
		}
	})
}

// TestShapeHead: what a hostile record says never makes a request of nonsense.
func TestShapeHead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		edge := rapid.SampledFrom([]uint32{0, 1, 7, 512, 1024, 1 << 16, 1<<16 + 1, math.MaxUint32})
		s := shape{records.TextureFormat(rapid.Uint32Range(0, 12).Draw(t, "format")), edge.Draw(t, "w"), edge.Draw(t, "h"), rapid.Uint32Range(0, 20).Draw(t, "levels"), rapid.Bool().Draw(t, "ktx2")}
		if n := s.head(rapid.SampledFrom([]int{-1, 0, 1, 32, 256, 1 << 20}).Draw(t, "size")); n < 0 || n > 1<<33 {
			t.Fatalf("%+v: %d", s, n)
		}
	})
	bc7 := shape{records.TextureBC7, 1024, 1024, 11, false}
	for size, want := range map[int]int64{32: 4096, 256: 90112, 1024: 1398368} {
		if got := bc7.head(size); got != want {
			t.Errorf("%d texels: %d bytes, want %d", size, got, want)
		}
	}
	if got := (shape{records.TextureUnknown, 1024, 1024, 11, true}).head(32); got != 4096 {
		t.Errorf("32 texels of KTX2: %d bytes", got)
	}
	if got := (shape{records.TextureBC5, 64, 64, 7, false}).head(8); got != utex.HeaderSize+7*utex.EntrySize+5488 {
		t.Errorf("a small file: %d", got)
	}
}

// A Fetcher is the Source of a loader.
var _ texfile.Source = (*Fetcher)(nil)
