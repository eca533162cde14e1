package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

// visit is one run of a program over a cache. Files that come are compared with those
// of the server; errors must say that the cache is at fault.
type visit struct {
	*rig
	what   string
	failed []error
}

// fail notes an error, which has to be of the cache and to say what helps.
func (v *visit) fail(err error) {
	v.t.Helper()
	v.failed = append(v.failed, err)
	if !errors.Is(err, ErrCache) || errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "--cache-dir") {
		v.t.Errorf("%s: %v", v.what, err)
	}
}

func (v *visit) same(url string, got []byte) {
	v.t.Helper()
	if !bytes.Equal(got, v.origin.files[url]) {
		v.t.Errorf("%s: %s: %d other bytes were handed out: %q", v.what, url, len(got), clip(got))
	}
}

// whole brings a file.
func (v *visit) whole(rel string, declared bool) {
	v.t.Helper()
	data, want := v.origin.files[sceneBase+rel], Expected{}
	if declared {
		want = Expected{int64(len(data)), remotetest.HashOf(data)}
	}
	v.clock.Advance(diskcache.PinFor)
	got, err := v.get(sceneBase+rel, want)
	if err != nil {
		v.fail(err)
		return
	}
	v.same(sceneBase+rel, got)
}

// parts brings and reads pieces of a container, and then all of it.
func (v *visit) parts() {
	v.t.Helper()
	data := v.origin.files[partsURL]
	for range 2 {
		got, err := v.payload(partsRequest(data))
		if err != nil {
			v.fail(err)
			continue
		}
		if got.File != "" {
			file, err := os.ReadFile(got.File)
			if err != nil {
				v.t.Errorf("%s: %v", v.what, err)
			}
			v.same(partsURL, file)
			continue
		}
		for _, s := range []payload.Span{{From: 100_000, To: 101_000}, {From: 200_000, To: 270_000}, {From: 0, To: int64(len(data))}} {
			if err := got.Ranges.Bring(context.Background(), []payload.Span{s}); err != nil {
				v.fail(err)
				break
			}
			piece := make([]byte, s.To-s.From)
			if _, err := got.Ranges.ReadAt(piece, s.From); err != nil {
				// Readers begin anew then, as the bytes are not there any more.
				if !errors.Is(err, diskcache.ErrNotHere) {
					v.fail(err)
				}
			} else if !bytes.Equal(piece, data[s.From:s.To]) {
				v.t.Errorf("%s: other bytes from %d to %d", v.what, s.From, s.To)
			}
		}
	}
}

// textures brings a container and the textures that it names.
func (v *visit) textures(rel string, names ...string) {
	v.t.Helper()
	got, err := v.payload(payload.Request{Dir: sceneBase, Path: rel, Context: context.Background()})
	if err != nil {
		v.fail(err)
		return
	}
	if err := v.WaitTextures(context.Background()); err != nil {
		v.t.Errorf("%s: %v", v.what, err)
	}
	file, err := os.ReadFile(got.File)
	if err != nil {
		v.t.Errorf("%s: %v", v.what, err)
	}
	v.same(sceneBase+rel, file)
	for _, n := range names {
		data, err := os.ReadFile(filepath.Join(got.Dir, n))
		if err == nil {
			v.same(sceneBase+"tiles/"+n, data)
		} else if v.what == healthy {
			v.t.Errorf("%s: %s: %v", v.what, n, err)
		}
	}
}

// manifest brings the manifest.
func (v *visit) manifest() {
	v.t.Helper()
	m, err := v.OpenManifest(context.Background(), sceneURL)
	if err != nil {
		v.fail(err)
		return
	}
	data, err := os.ReadFile(m.File)
	if err != nil {
		v.t.Errorf("%s: %v", v.what, err)
	}
	if !m.Stale {
		v.same(sceneURL, data)
		v.whole("a.bin", false)
	}
}

// healthy is the visit after the one whose disk fails.
const healthy = "the next run"

// session is what a program does with a cache, before the disk fails and while it
// does.
type session struct {
	name   string
	budget int64
	before func(v *visit) // with a disk that is well
	change func(v *visit) // at the server
	run    func(v *visit) // with a disk that fails, and then with one that is well
}

var sessions = []session{
	{name: "whole files", run: func(v *visit) {
		v.whole("a.bin", true)
		v.whole("b.bin", false)
		v.whole("a.bin", true)
	}},
	{name: "files that are there", before: func(v *visit) {
		v.whole("a.bin", true)
		v.whole("b.bin", false)
	}, run: func(v *visit) {
		v.whole("a.bin", true)
		v.whole("b.bin", false)
	}},
	{name: "other files of the names", before: func(v *visit) {
		v.whole("a.bin", true)
	}, change: func(v *visit) {
		v.origin.put(sceneBase+"a.bin", remotetest.Body(30_001))
	}, run: func(v *visit) { v.whole("a.bin", true) }},
	{name: "parts", run: func(v *visit) { v.parts() }},
	{name: "parts of an earlier run", before: func(v *visit) {
		mustRead(v.t, v.openParts(partsRequest(v.origin.files[partsURL])), v.origin.files[partsURL], 100_000, 101_000)
	}, run: func(v *visit) { v.parts() }},
	{name: "a manifest", before: func(v *visit) { v.manifest() }, change: func(v *visit) {
		v.origin.put(sceneURL, []byte(`{"v":2}`))
		v.origin.put(sceneBase+"a.bin", remotetest.Body(30_001))
	}, run: func(v *visit) { v.manifest() }},
	{name: "textures", before: func(v *visit) {
		v.textures("tiles/t.untold", "Textures/x.png", "Textures/y.png")
	}, change: func(v *visit) {
		v.origin.put(sceneBase+"tiles/u.untold", container(v.t, "Textures/y.png", "Textures/z.png"))
		v.origin.put(sceneBase+"tiles/Textures/z.png", remotetest.Body(700))
	}, run: func(v *visit) {
		v.textures("tiles/t.untold", "Textures/x.png", "Textures/y.png")
		v.textures("tiles/u.untold", "Textures/y.png", "Textures/z.png")
	}},
	{name: "evicting", budget: 100_000, before: func(v *visit) {
		v.whole("a.bin", true)
		v.whole("b.bin", false)
		v.textures("tiles/t.untold", "Textures/x.png", "Textures/y.png")
	}, run: func(v *visit) {
		v.whole("c.bin", true)
		v.whole("d.bin", true)
		v.whole("a.bin", true)
	}},
	{name: "clear", before: func(v *visit) {
		v.whole("a.bin", true)
		v.textures("tiles/t.untold", "Textures/x.png", "Textures/y.png")
	}, run: func(v *visit) {
		if _, err := v.Cache().Clear(); err != nil {
			v.fail(err)
		}
		v.whole("a.bin", true)
	}},
}

// foreignFiles lie in the folder and are not the cache's, whatever their names.
var foreignFiles = map[string]string{
	"notes.txt": "mine", "notes.tmp": "mine", remotetest.HashOf([]byte("x")) + ".untold": "mine",
	"textures/" + remotetest.HashOf([]byte("x"))[:32] + "/mine.png": "mine", "textures/mine.png": "mine",
}

// stage makes a folder in which the time before the failure has passed, and a
// server.
func (s *session) stage(t *testing.T) (dir string, o *origin, clock *fakeClock) {
	t.Helper()
	dir, clock = filepath.Join(t.TempDir(), "cache"), newClock()
	o = newOrigin(clock)
	o.answer = withRanges(o)
	for i, n := range []string{"a.bin", "b.bin", "c.bin", "d.bin", "e.bin"} {
		o.put(sceneBase+n, remotetest.Body(30_000+1000*i))
	}
	o.put(sceneURL, []byte(`{"v":1}`))
	o.put(partsURL, tileOfMeshes(t, 3, 3000))
	o.put(sceneBase+"tiles/t.untold", container(t, "Textures/x.png", "Textures/y.png"))
	o.put(sceneBase+"tiles/Textures/x.png", remotetest.Body(500))
	o.put(sceneBase+"tiles/Textures/y.png", remotetest.Body(600))
	if s.before != nil {
		v := s.visit(t, healthy, dir, o, clock, nil)
		s.before(v)
		v.leave()
	} else if c, err := diskcache.Open(dir, diskcache.Options{Now: clock.Now}); err != nil {
		t.Fatal(err)
	} else if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range foreignFiles {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if s.change != nil {
		s.change(&visit{rig: &rig{t: t, origin: o}})
	}
	clock.Advance(time.Hour)
	return dir, o, clock
}

// visit opens the cache; the answer has no Fetcher when that fails.
func (s *session) visit(t *testing.T, what, dir string, o *origin, clock *fakeClock, wrap func(diskcache.Disk) diskcache.Disk) *visit {
	t.Helper()
	v := &visit{rig: &rig{t: t, clock: clock, origin: o}, what: what}
	budget := s.budget
	if budget == 0 {
		budget = 10 << 20
	}
	f, err := New(Options{
		CacheDir: dir, Clock: clock, Transport: o, HTTP: oneAttempt, CacheBudget: budget, TextureRequests: 1, NoSync: wrap == nil, disk: wrap,
	})
	if err != nil {
		v.fail(err)
		return v
	}
	v.Fetcher = f
	return v
}

// leave ends a visit.
func (v *visit) leave() {
	v.t.Helper()
	if err := v.Close(); err != nil {
		v.fail(err)
	}
}

// fails runs a session on a disk that fails and looks at what that has left.
func (s *session) fails(t *testing.T, f faults, l loss) (calls int) {
	t.Helper()
	dir, o, clock := s.stage(t)
	what := fmt.Sprintf("%s, %+v, %s", s.name, f, l.name)
	var d *faultDisk
	v := s.visit(t, what, dir, o, clock, func(x diskcache.Disk) diskcache.Disk { d = newFaultDisk(t, x, dir, f); return d })
	if v.Fetcher != nil {
		s.run(v)
		v.leave()
	}
	calls = d.calls
	if f.stop > 0 {
		d.lost(t, l)
	}
	clock.Advance(time.Hour)
	next := s.visit(t, healthy, dir, o, clock, nil)
	if next.Fetcher != nil {
		s.run(next)
		s.judge(next, f.stop > 0 && l.name != "kill")
		next.leave()
	}
	if len(next.failed) > 0 {
		t.Errorf("%s: a disk that is well again: %v", what, next.failed)
	}
	for name, text := range foreignFiles {
		if got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || string(got) != text {
			t.Errorf("%s: %s, which is not the cache's: %q, %v", what, name, got, err)
		}
	}
	if t.Failed() {
		at := f.at + f.stop
		t.Fatalf("%s: the calls around it: %q", what, d.trace[max(0, min(at-6, len(d.trace))):min(len(d.trace), at+2)])
	}
	return calls
}

// judge compares index and folder. A power failure may have taken what proved that
// a file is the cache's: then it is like a foreign one, and stays.
func (s *session) judge(v *visit, power bool) {
	v.t.Helper()
	c := v.Cache()
	if bad, err := c.Verify(context.Background(), !power); err != nil || len(bad) > 0 && !power {
		v.t.Errorf("%v, %v", bad, err)
	}
	if bad, err := c.Verify(context.Background(), true); err != nil || len(bad) > 0 {
		v.t.Errorf("%v, %v", bad, err)
	}
	// The budget holds whenever something is stored.
	v.whole("e.bin", true)
	known, sum := map[string]bool{}, int64(0)
	for _, e := range c.Entries() {
		known[e.Name], known[besideOf(e)] = true, true
		sum += e.Size
	}
	if st := c.Stat(); sum != st.Bytes || sum > st.Budget {
		v.t.Errorf("%d bytes, %d are counted, the budget is %d", sum, st.Bytes, st.Budget)
	}
	for _, n := range remotetest.Files(v.t, c.Dir()) {
		if _, foreign := foreignFiles[n]; !foreign && !known[n] && !power {
			v.t.Errorf("%s is left for ever", n)
		}
	}
	if list := announced(v.t, c.Dir()); len(list) > 0 {
		v.t.Errorf("%v", list)
	}
}

// besideOf is the name of the file beside a file of the cache, if there is one.
func besideOf(e Entry) string {
	if e.Whole > 0 {
		return strings.TrimSuffix(e.Name, ".part") + ".have"
	}
	stem, _, _ := strings.Cut(e.Name, ".")
	return stem + ".meta"
}

// announced lists the names that the index of a cache has announced and that have no
// entry.
func announced(t testing.TB, dir string) map[string]bool {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(dir, "index.log"))
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]bool{}
	for line := range bytes.SplitSeq(log, []byte("\n")) {
		var c struct {
			Op, Name string
			Entry    Entry
		}
		if _, text, ok := bytes.Cut(line, []byte(" ")); !ok || json.Unmarshal(text, &c) != nil {
			continue
		}
		switch c.Op {
		case "begin":
			clear(list)
		case "make":
			list[c.Name] = true
		case "put":
			delete(list, c.Entry.Name)
		case "drop":
			delete(list, c.Name)
		}
	}
	return list
}

// every returns the numbers of calls to spoil: about so many of them, evenly.
func every(calls, most int) (list []int) {
	step := max(1, (calls+most-1)/most)
	for n := 1; n <= calls; n += step {
		list = append(list, n)
	}
	return list
}

// A disk that fails at any call costs the cache at most: nothing else than what the
// server has is handed out, nothing foreign goes, errors say what helps, and when
// the disk is well again all works and nothing is left over.
func TestFailingDisk(t *testing.T) {
	most, often := mostCalls, []int{2, 3, 5, 7, 11, 23}
	if race.Enabled {
		most, often = 2, []int{2, 11} // make test has all of them fail without the detector
	}
	for _, s := range sessions {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			calls := s.fails(t, faults{}, loss{})
			for i, f := range []faults{{err: syscall.EIO}, {err: syscall.ENOSPC}, {err: syscall.EACCES}, {err: syscall.EIO, late: true}} {
				for _, n := range every(calls, most) {
					f.at = min(n+i, calls)
					s.fails(t, f, loss{})
				}
				f.at = 0
				for _, f.every = range often {
					s.fails(t, f, loss{})
				}
			}
			for _, kind := range []string{"open", "read", "write", "sync", "rename", "remove", "stat", "close", "mkdir", "readdir"} {
				s.fails(t, faults{err: syscall.EIO, every: 1, kind: kind}, loss{})
			}
		})
	}
}

// A program that ends at any call, by a kill or with a power failure that takes
// what was not flushed, leaves a cache that works.
func TestStoppedCache(t *testing.T) {
	most := mostCalls
	if race.Enabled {
		most = 2 // make test stops at all of them without the detector
	}
	for _, s := range sessions {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			calls := s.fails(t, faults{}, loss{})
			for i, l := range losses(1) {
				for _, n := range every(calls, most) {
					s.fails(t, faults{stop: min(n+i, calls)}, l)
				}
			}
		})
	}
}

// mostCalls is about how many calls of a session fail, one after the other, in one
// way. With a million all do, which takes some minutes.
const mostCalls = 10
