package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	gort "runtime"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/runtime/internal/hostqueue"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// fetch brings a payload of the scene and waits for its textures.
func (r *rig) fetch(path string) payload.Fetched {
	r.t.Helper()
	got, err := r.payload(payload.Request{Dir: sceneBase, Path: path})
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.WaitTextures(context.Background()); err != nil {
		r.t.Fatal(err)
	}
	return got
}

// The texture URIs of a payload resolve in the folder that the answer names, as
// they do beside the payload at the server.
func TestTexturesResolveInDir(t *testing.T) {
	r := newRig(t)
	r.origin.put(sceneBase+"tiles/a.untold", container(t, "Textures/wall.png", "near.png", "Textures/./floor.png"))
	r.origin.put(sceneBase+"hlods/far/b.untold", container(t, "Textures/wall.png"))
	for _, u := range []string{"tiles/Textures/wall.png", "tiles/near.png", "tiles/Textures/floor.png", "hlods/far/Textures/wall.png"} {
		r.origin.put(sceneBase+u, []byte(u))
	}
	a, b := r.fetch("tiles/a.untold"), r.fetch("hlods/far/b.untold")
	for file, want := range map[string]string{
		a.Dir + "/Textures/wall.png": "tiles/Textures/wall.png", a.Dir + "/near.png": "tiles/near.png",
		a.Dir + "/Textures/./floor.png": "tiles/Textures/floor.png", b.Dir + "/Textures/wall.png": "hlods/far/Textures/wall.png",
	} {
		if got := remotetest.Text(t, filepath.FromSlash(file)); got != want {
			t.Errorf("%s: %q", file, got)
		}
	}
	// The way the viewer opens them.
	f, err := payloadpath.Open(a.Dir, "Textures/wall.png")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if m := r.Metrics(); m.Textures != 4 || m.TexturesFailed != 0 {
		t.Errorf("%+v", m)
	}
}

// Hostile names are refused, nothing outside is written or read, and the
// tile loads.
func TestHostileTextureNames(t *testing.T) {
	var names []string
	for _, uri := range remotetest.HostileURIs {
		if !strings.Contains(uri, "\x00") { // a container's strings end there
			names = append(names, uri)
		}
	}
	r := newRig(t)
	r.origin.answer = func(req *http.Request) (*http.Response, error) {
		if strings.HasSuffix(req.URL.Path, ".untold") {
			return nil, nil
		}
		return reply(req, 200, nil, []byte("evil")), nil
	}
	r.origin.put(sceneBase+"tiles/a.untold", container(t, append(names, "a/./b.png")...))
	got := r.fetch("tiles/a.untold")
	if remotetest.Text(t, filepath.Join(got.Dir, "a", "b.png")) != "evil" {
		t.Error("a/./b.png is missing")
	}
	log := r.origin.requests()
	if len(log) != 2 || log[1].url != sceneBase+"tiles/a/b.png" {
		t.Errorf("%v", log)
	}
	if m := r.Metrics(); m.Textures != 1 || m.TexturesFailed != int64(len(names)) {
		t.Errorf("%+v", m)
	}
	outer := filepath.Dir(r.Cache().Dir())
	for _, f := range remotetest.Files(t, outer) {
		if !strings.HasPrefix(f, "cache/textures/") && len(strings.TrimSuffix(filepath.Base(f), filepath.Ext(f))) != 64 {
			t.Errorf("wrote %s", f)
		}
	}
	// The loader takes it.
	if _, err := os.Stat(got.File); err != nil {
		t.Error(err)
	}
	// The second time they are not counted again.
	r.fetch("tiles/a.untold")
	if m := r.Metrics(); m.TexturesFailed != int64(len(names)) {
		t.Errorf("%+v", m)
	}
}

// A link in the cache leads nowhere.
func TestLinkInTheCache(t *testing.T) {
	if gort.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	for _, absolute := range []bool{true, false} {
		r := newRig(t)
		outside := filepath.Join(filepath.Dir(r.Cache().Dir()), "outside")
		base, _ := weburl.ParseFolder(sceneBase + "tiles")
		mirror := r.cache.Path(diskcache.TextureFolder(base))
		if err := os.MkdirAll(mirror, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(outside, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(outside, "there.png"), []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		target := outside
		if !absolute {
			target, _ = filepath.Rel(mirror, outside)
		}
		if err := os.Symlink(target, filepath.Join(mirror, "link")); err != nil {
			t.Skip(err)
		}
		if err := os.Symlink(filepath.Join(target, "there.png"), filepath.Join(mirror, "direct.png")); err != nil {
			t.Skip(err)
		}
		r.origin.put(sceneBase+"tiles/a.untold", container(t, "link/there.png", "link/new.png", "direct.png"))
		for _, u := range []string{"link/there.png", "link/new.png", "direct.png"} {
			r.origin.put(sceneBase+"tiles/"+u, []byte("evil"))
		}
		got := r.fetch("tiles/a.untold")
		if remotetest.Text(t, filepath.Join(outside, "there.png")) != "secret" || len(remotetest.Files(t, outside)) != 1 {
			t.Errorf("wrote outside: %v", remotetest.Files(t, outside))
		}
		// A link as the last element is replaced, not followed.
		if remotetest.Text(t, filepath.Join(got.Dir, "direct.png")) != "evil" {
			t.Error("direct.png was not replaced")
		}
		if m := r.Metrics(); m.Textures != 1 || m.TexturesFailed != 2 {
			t.Errorf("%+v", m)
		}
	}
}

// A hit whose textures have gone brings them again.
func TestEvictedTexturesComeBack(t *testing.T) {
	r := newRig(t)
	r.origin.put(sceneBase+"tiles/a.untold", container(t, "a.png", "b.png"))
	r.origin.put(sceneBase+"tiles/a.png", []byte("a"))
	r.origin.put(sceneBase+"tiles/b.png", []byte("b"))
	got := r.fetch("tiles/a.untold")
	if err := os.Remove(filepath.Join(got.Dir, "a.png")); err != nil {
		t.Fatal(err)
	}
	r.restart()
	got = r.fetch("tiles/a.untold")
	if remotetest.Text(t, filepath.Join(got.Dir, "a.png")) != "a" {
		t.Error("a.png is missing")
	}
	if m := r.Metrics(); m.Requests != 1 || m.Textures != 1 || m.TexturesPresent != 1 {
		t.Errorf("%+v", m)
	}
}

// A texture that fails is left alone for a while, then tried again.
func TestFailedTextureRests(t *testing.T) {
	r := newRig(t, func(o *Options) { o.HTTP.Attempts = 1 })
	r.origin.put(sceneBase+"tiles/a.untold", container(t, "a.png"))
	r.fetch("tiles/a.untold")
	r.fetch("tiles/a.untold")
	if n := r.origin.count(sceneBase + "tiles/a.png"); n != 1 {
		t.Errorf("%d requests", n)
	}
	r.clock.Advance(failedFor)
	r.origin.put(sceneBase+"tiles/a.png", []byte("a"))
	r.fetch("tiles/a.untold")
	if m := r.Metrics(); m.Textures != 1 || m.TexturesFailed != 1 {
		t.Errorf("%+v", m)
	}
}

// A new manifest has textures asked for again, with their ETags; the old ones
// serve when the server gives none.
func TestTexturesAreRevalidatedAfterAChange(t *testing.T) {
	r := newRig(t, func(o *Options) { o.HTTP.Attempts = 1 })
	r.origin.put(sceneURL, []byte(`{"v":1}`))
	r.origin.put(sceneBase+"tiles/a.untold", container(t, "a.png", "b.png", "c.png"))
	for _, n := range []string{"a", "b", "c"} {
		r.origin.put(sceneBase+"tiles/"+n+".png", []byte(n))
	}
	open(t, r)
	r.fetch("tiles/a.untold")
	r.origin.put(sceneURL, []byte(`{"v":2}`))
	r.origin.put(sceneBase+"tiles/b.png", []byte("new"))
	r.origin.mu.Lock()
	delete(r.origin.files, sceneBase+"tiles/c.png")
	r.origin.mu.Unlock()
	open(t, r)
	got := r.fetch("tiles/a.untold")
	for file, want := range map[string]string{"a.png": "a", "b.png": "new", "c.png": "c"} {
		if s := remotetest.Text(t, filepath.Join(got.Dir, file)); s != want {
			t.Errorf("%s: %q", file, s)
		}
	}
	if m := r.Metrics(); m.StaleServed != 1 || m.TexturesFailed != 0 {
		t.Errorf("%+v", m)
	}
	before := len(r.origin.requests())
	r.fetch("tiles/a.untold")
	var again []string
	for _, q := range r.origin.requests()[before:] {
		again = append(again, q.url)
	}
	if !slices.Equal(again, []string{sceneBase + "tiles/c.png"}) {
		t.Errorf("%v", again)
	}
}

// Closing does not wait for textures, and none is left half done.
func TestCloseEndsPrefetch(t *testing.T) {
	r := newRig(t)
	r.origin.put(sceneBase+"tiles/a.untold", container(t, "1.png", "2.png", "3.png", "4.png", "5.png", "6.png"))
	sent := make(chan struct{}, 6)
	r.origin.answer = func(req *http.Request) (*http.Response, error) {
		if strings.HasSuffix(req.URL.Path, ".untold") {
			return nil, nil
		}
		sent <- struct{}{}
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	if _, err := r.payload(payload.Request{Dir: sceneBase, Path: "tiles/a.untold"}); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		<-sent
	}
	waited := async(func() error { return r.WaitTextures(context.Background()) })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.WaitTextures(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err != nil && !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if m := r.Metrics(); m.TexturesPending != 0 || m.TexturesFailed != 0 || m.Active != 0 {
		t.Errorf("%+v", m)
	}
	if list := remotetest.Temporary(remotetest.Files(t, r.Cache().Dir())); len(list) != 0 {
		t.Errorf("%v", list)
	}
}

// Payloads go before textures, which never take all places of a host.
func TestHostLimiterOrder(t *testing.T) {
	var m counters
	g := newHostLimiter(hostqueue.NewLimits(3, 9, 1), &m)
	ctx := context.Background()
	var leave []func()
	for range 2 {
		l, err := g.enter(ctx, "h", hostqueue.Texture)
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, l)
	}
	third := make(chan func(), 1)
	go func() { l, _ := g.enter(ctx, "h", hostqueue.Texture); third <- l }()
	l, err := g.enter(ctx, "h", hostqueue.Payload) // the third place is not for textures
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-third:
		t.Error("a texture took the last place")
	default:
	}
	short, cancel := context.WithTimeout(ctx, 0)
	defer cancel()
	if _, err := g.enter(short, "h", hostqueue.Payload); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	waiting, cancel := context.WithCancel(ctx)
	gone := async(func() error { _, err := g.enter(waiting, "h", hostqueue.Payload); return err })
	for {
		g.mu.Lock()
		n := g.hosts["h"].Waiting()
		g.mu.Unlock()
		if n == 2 { // beside the third texture
			break
		}
		gort.Gosched()
	}
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if other, err := g.enter(ctx, "other", hostqueue.Payload); err != nil {
		t.Error(err)
	} else {
		other()
	}
	leave[0]()
	(<-third)()
	leave[1]()
	l()
	if len(g.hosts) != 0 || m.active.Load() != 0 || m.maxActive.Load() != 3 {
		t.Errorf("%v, %d active, %d at most", g.hosts, m.active.Load(), m.maxActive.Load())
	}
}

// Files that a disk has damaged or lost are fetched again, also when size and
// time of the file are as they were, and counted: textures, manifests, payloads.
func TestDamagedFilesOfTheCacheComeBack(t *testing.T) {
	for _, how := range []string{"flipped", "gone"} {
		r := newRig(t)
		r.origin.put(sceneURL, []byte(`{"v":1}`))
		var uris []string
		for i := range 25 {
			uris = append(uris, fmt.Sprintf("Textures/%d.png", i))
			r.origin.put(sceneBase+"tiles/"+uris[i], remotetest.Body(1000+i))
		}
		r.origin.put(sceneBase+"tiles/a.untold", container(t, uris...))
		open(t, r)
		r.fetch("tiles/a.untold")
		r.restart()
		list := r.Cache().Entries()
		damaged := 0
		for _, e := range list {
			if strings.HasSuffix(e.URL, ".untold") {
				continue // the loader finds that out: its hash is within
			}
			damaged++
			path := r.cache.Path(e.Name)
			if how == "gone" {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				continue
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			damage(t, path)
			if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}
		before := len(r.origin.requests())
		m := open(t, r)
		if got := remotetest.Text(t, m.File); got != `{"v":1}` {
			t.Errorf("%s: the manifest is %q", how, got)
		}
		got := r.fetch("tiles/a.untold")
		for i, uri := range uris {
			if remotetest.Text(t, filepath.Join(got.Dir, filepath.FromSlash(uri))) != string(remotetest.Body(1000+i)) {
				t.Errorf("%s: %s is damaged", how, uri)
			}
		}
		want := damaged
		if how == "gone" {
			want++ // without its manifest the payload is asked about, once
		}
		if n := len(r.origin.requests()) - before; n != want || damaged != 26 {
			t.Errorf("%s: %d requests for %d files", how, n, damaged)
		}
		if m := r.Metrics(); m.CacheDamaged != int64(damaged) || m.Textures != 25 {
			t.Errorf("%s: %+v", how, m)
		}
		r.fetch("tiles/a.untold") // once
		if m := r.Metrics(); m.Textures != 25 {
			t.Errorf("%s: %+v", how, m)
		}
	}
}

// A texture is sound when its payload is answered for: nobody reads the damaged one.
func TestDamagedTexturesAreNotRead(t *testing.T) {
	r := newRig(t)
	r.origin.put(sceneBase+"tiles/a.untold", container(t, "a.png"))
	r.origin.put(sceneBase+"tiles/a.png", []byte("a"))
	got := r.fetch("tiles/a.untold")
	path := filepath.Join(got.Dir, "a.png")
	info, _ := os.Stat(path)
	damage(t, path)
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	r.restart()
	r.origin.answer = func(*http.Request) (*http.Response, error) { return nil, errors.New("no network") }
	if _, err := r.payload(payload.Request{Dir: sceneBase, Path: "tiles/a.untold"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// What a request is for is that of its file, and its bytes are those that are asked for.
func TestRequestKind(t *testing.T) {
	at := &url.URL{Scheme: "https", Host: "h", Path: "/a"}
	for _, c := range []struct {
		got, want hostqueue.Request
	}{
		{(&source{}).kind(0), hostqueue.Request{}},
		{(&source{texture: true}).kind(7), hostqueue.Request{Texture: true, Size: 7}},
		{rangeRequest(source{url: at, texture: true, expected: Expected{Size: 1 << 20}}, 100, 300, version{}).kind, hostqueue.Request{Texture: true, Size: 200}},
		{rangeRequest(source{url: at}, 0, 1, version{}).kind, hostqueue.Request{Size: 1}},
	} {
		if c.got != c.want {
			t.Errorf("%+v instead of %+v", c.got, c.want)
		}
	}
}
