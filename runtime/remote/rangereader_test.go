package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

// bigTile is a container with much geometry.
func bigTile(t testing.TB) []byte { return tileOfMeshes(t, 20, 3000) }

// tileOfMeshes returns a container with so many meshes of so many vertices.
func tileOfMeshes(t testing.TB, meshes, vertices int) []byte {
	t.Helper()
	return fake.Container(t, format.FileTile, format.ModeNone, meshes, vertices, func(mesh, k int) [3]float32 {
		return [3]float32{float32(mesh), float32(k), float32(k % 7)}
	})
}

// rangeServer serves one file with ranges. before may answer itself.
func rangeServer(t testing.TB, data []byte, etag string, before func(http.ResponseWriter, *http.Request) bool) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before != nil && before(w, r) {
			return
		}
		if etag != "" {
			w.Header().Set("ETag", etag)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}))
	return srv
}

func onServer(t testing.TB, srv *httptest.Server, opts ...rigOption) *Fetcher {
	t.Helper()
	o := Options{CacheDir: t.TempDir(), NoSync: true, HTTP: oneAttempt}
	if srv.EnableHTTP2 {
		o.Transport = srv.Client().Transport
	}
	for _, opt := range opts {
		opt(&o)
	}
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.Close()
		srv.Client().CloseIdleConnections()
		srv.Close()
	})
	return f
}

// Header, table and records come first, geometry on demand, over HTTP/1.1 and
// HTTP/2; what was not read was not fetched.
func TestRangesOfATile(t *testing.T) {
	data := bigTile(t)
	for _, http2 := range []bool{false, true} {
		var protos sync.Map
		srv := rangeServer(t, data, `"v1"`, func(_ http.ResponseWriter, r *http.Request) bool {
			protos.Store(r.ProtoMajor, r.Header.Get("Range"))
			return false
		})
		if http2 {
			srv.EnableHTTP2 = true
			srv.StartTLS()
		} else {
			srv.Start()
		}
		f := onServer(t, srv)
		rr, err := f.OpenRange(context.Background(), srv.URL+"/t.untold", Expected{Size: int64(len(data))})
		if err != nil {
			t.Fatal(err)
		}
		r, err := format.NewReader(rr, rr.Size())
		if err != nil {
			t.Fatal(err)
		}
		if s := rr.Stats(); s.Fetched > 2*rangeBlock || s.Requests > 2 || s.Whole || s.Size != int64(len(data)) {
			t.Errorf("after the records: %+v of %d", s, len(data))
		}
		if _, ok := protos.Load(map[bool]int{false: 1, true: 2}[http2]); !ok {
			t.Error("another protocol")
		}
		local, err := format.NewBytesReader(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{7, 7, 3} {
			got, err := r.MeshVertices(i, nil)
			if err != nil {
				t.Fatal(err)
			}
			if want, _ := local.MeshVertices(i, nil); !bytes.Equal(got, want) {
				t.Errorf("mesh %d: other bytes", i)
			}
		}
		s := rr.Stats()
		if s.Requests > 4 || s.Fetched > 6*rangeBlock+2*3000*32 {
			t.Errorf("after two meshes: %+v", s)
		}
		if err := errors.Join(r.Close(), rr.Close(), rr.Close()); err != nil {
			t.Error(err)
		}
		if m := f.Metrics(); m.BytesSaved != int64(len(data))-s.Fetched || m.RangeRequests != s.Requests {
			t.Errorf("%+v, %+v", m, s)
		}
		if _, err := rr.ReadAt(make([]byte, 1), rr.Size()-1); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
}

// A server without ranges answers with the whole file, which goes to the cache.
func TestNoRanges(t *testing.T) {
	r := newRig(t)
	data := bigTile(t)
	r.origin.put(tileURL, data)
	for i := range 2 {
		rr, err := r.OpenRange(context.Background(), tileURL, Expected{int64(len(data)), remotetest.HashOf(data)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(io.NewSectionReader(rr, 0, rr.Size()))
		if s := rr.Stats(); err != nil || !bytes.Equal(got, data) || !s.Whole || i == 1 && s.Fetched != 0 {
			t.Errorf("%v, %+v", err, s)
		}
		rr.Close()
	}
	r.mustGet(tileURL, Expected{}, data)
	if m := r.Metrics(); m.Requests != 1 || m.BytesSaved != 0 {
		t.Errorf("%+v", m)
	}
}

func TestRangeFailures(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 8192) // 4 blocks
	for name, c := range map[string]struct {
		first, later func(http.ResponseWriter, *http.Request) bool
		etag         string
		err          error
	}{
		"replaced, If-Range": {later: other(data, `"v2"`), etag: `"v1"`, err: ErrChanged},
		"replaced, weak":     {later: other(data, `W/"v2"`), etag: `W/"v1"`, err: ErrChanged},
		"grown, no ETag":     {later: other(append(bytes.Clone(data), 1), ""), err: ErrChanged},
		"gone":               {later: code(404), etag: `"v1"`, err: ErrStatus},
		"shorter now":        {later: code(416), etag: `"v1"`, err: ErrChanged},
		"other part":         {later: part("bytes 0-9/131072", 10), err: ErrMismatch},
		"no Content-Range":   {later: part("", 10), err: ErrMismatch},
		"cut off":            {later: cut, err: io.ErrUnexpectedEOF},
		"first: wrong":       {first: part("bytes 5-9/131072", 5), err: ErrMismatch},
		"first: nonsense":    {first: part("bytes 0-x/9", 5), err: ErrMismatch},
		"first: hostile":     {first: part("bytes 0-9223372036854775806/9223372036854775807", 5), err: ErrMismatch},
		"first: 404":         {first: code(404), err: ErrStatus},
		"first: 416":         {first: code(416), err: ErrStatus},
	} {
		var n atomic.Int64
		srv := rangeServer(t, data, c.etag, func(w http.ResponseWriter, r *http.Request) bool {
			if n.Add(1) == 1 {
				return c.first != nil && c.first(w, r)
			}
			return c.later != nil && c.later(w, r)
		})
		srv.Start()
		f := onServer(t, srv)
		rr, err := f.OpenRange(context.Background(), srv.URL+"/t", Expected{})
		if c.first != nil {
			if !errors.Is(err, c.err) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(name, err)
		}
		if n, err := rr.ReadAt(make([]byte, 100), 3*rangeBlock); !errors.Is(err, c.err) || n != 0 {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
		// Blocks that came before stay readable.
		if got := make([]byte, 16); true {
			if _, err := rr.ReadAt(got, 16); err != nil || string(got) != "0123456789abcdef" {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
		rr.Close()
	}
}

func other(data []byte, etag string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if etag != "" {
			w.Header().Set("ETag", etag)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
		return true
	}
}

func code(n int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(n); return true }
}

func part(contentRange string, n int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		if contentRange != "" {
			w.Header().Set("Content-Range", contentRange)
		}
		w.WriteHeader(206)
		w.Write(make([]byte, n))
		return true
	}
}

func cut(w http.ResponseWriter, r *http.Request) bool {
	var from, to int64
	fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
	w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/131072", from, to))
	w.Header().Set("Content-Length", fmt.Sprint(to-from+1))
	w.WriteHeader(206)
	w.Write(make([]byte, 9))
	return true
}

func TestEmptyRemoteFile(t *testing.T) {
	srv := rangeServer(t, nil, "", func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Range", "bytes */0")
		w.WriteHeader(416)
		return true
	})
	srv.Start()
	f := onServer(t, srv)
	rr, err := f.OpenRange(context.Background(), srv.URL+"/t", Expected{})
	if err != nil {
		t.Fatal(err)
	}
	defer rr.Close()
	if n, err := rr.ReadAt(make([]byte, 1), 0); n != 0 || !errors.Is(err, io.EOF) || rr.Size() != 0 {
		t.Error(n, err)
	}
}

// Any reads, by many at a time, give the file's bytes, and no block is fetched
// twice.
func TestRangeProperties(t *testing.T) {
	data := make([]byte, 9*rangeBlock+123)
	for i := range data {
		data[i] = byte(i>>8) ^ byte(i)
	}
	srv := rangeServer(t, data, `"v1"`, nil)
	srv.Start()
	f := onServer(t, srv)
	rapid.Check(t, func(t *rapid.T) {
		rr, err := f.OpenRange(context.Background(), srv.URL+"/t", Expected{})
		if err != nil {
			t.Fatal(err)
		}
		defer rr.Close()
		var group sync.WaitGroup
		fail := make(chan error, 8)
		for range rapid.IntRange(1, 8).Draw(t, "readers") {
			off := rapid.Int64Range(0, int64(len(data))+10).Draw(t, "off")
			n := rapid.IntRange(0, 3*rangeBlock).Draw(t, "n")
			group.Go(func() {
				p := make([]byte, n)
				got, err := rr.ReadAt(p, off)
				want := data[min(off, int64(len(data))):min(off+int64(n), int64(len(data)))]
				if !bytes.Equal(p[:got], want) || (got < n) != errors.Is(err, io.EOF) {
					fail <- fmt.Errorf("%d bytes at %d: got %d, %w", n, off, got, err)
				}
			})
		}
		group.Wait()
		select {
		case err := <-fail:
			t.Fatal(err)
		default:
		}
		if s := rr.Stats(); s.Fetched > int64(len(data)) {
			t.Fatalf("%+v: some blocks came twice", s)
		}
	})
}

// A range that breaks off goes on after the last whole block that has come.
func TestBrokenRangeGoesOn(t *testing.T) {
	r := newRig(t)
	data := remotetest.Body(9 * rangeBlock)
	r.origin.put(tileURL, data)
	r.origin.answer = withRanges(r.origin)
	rr, err := r.OpenRange(t.Context(), tileURL, Expected{})
	if err != nil {
		t.Fatal(err)
	}
	defer rr.Close()
	r.origin.answer = breakAt(r.origin, 2*rangeBlock+100)
	got := make([]byte, 6*rangeBlock)
	done := async(func() error { _, err := rr.ReadAt(got, rangeBlock+5); return err })
	r.clock.pass(time.Second)
	if err := <-done; err != nil || !bytes.Equal(got, data[rangeBlock+5:][:len(got)]) {
		t.Errorf("other bytes, %v", err)
	}
	log := r.origin.requests()
	if len(log) != 3 || log[2].header.Get("Range") != fmt.Sprintf("bytes=%d-%d", 3*rangeBlock, 8*rangeBlock-1) {
		t.Errorf("%+v", log)
	}
	if s := rr.Stats(); s.Requests != 3 || s.Fetched != 8*rangeBlock {
		t.Errorf("%+v", s)
	}
}

// Blocks that are forgotten are missing, and may come again.
func TestMemoryBlocks(t *testing.T) {
	data := remotetest.Body(3*rangeBlock + 7)
	m := newMemoryBlocks(int64(len(data)))
	fill := func(from, end int64) {
		t.Helper()
		n, keep, err := m.Write(from, end, bytes.NewReader(data[from*rangeBlock:]), nil)
		if err != nil || n != end-from {
			t.Fatal(n, err)
		}
		if m.Has(from) {
			t.Error("it counts before it is kept")
		}
		if err := keep(); err != nil {
			t.Fatal(err)
		}
	}
	fill(0, 4)
	m.Forget(rangeBlock+1, rangeBlock+2)
	if _, err := m.ReadAt(make([]byte, 9), rangeBlock-1); m.Has(1) || !m.Has(2) || !errors.Is(err, diskcache.ErrNotHere) {
		t.Error(err)
	}
	fill(1, 2)
	got := make([]byte, len(data))
	if n, err := m.ReadAt(got, 0); err != nil || n != len(data) || !bytes.Equal(got, data) || len(m.order) != 4 {
		t.Error(n, err, m.order)
	}
}

func TestRangeReaderEndsWithItsContext(t *testing.T) {
	blocked := make(chan struct{})
	var n atomic.Int64
	srv := rangeServer(t, make([]byte, 5*rangeBlock), `"v1"`, func(_ http.ResponseWriter, r *http.Request) bool {
		if n.Add(1) == 1 {
			return false
		}
		close(blocked)
		<-r.Context().Done()
		return true
	})
	srv.Start()
	f := onServer(t, srv)
	ctx, cancel := context.WithCancel(context.Background())
	rr, err := f.OpenRange(ctx, srv.URL+"/t", Expected{})
	if err != nil {
		t.Fatal(err)
	}
	defer rr.Close()
	done := async(func() error { _, err := rr.ReadAt(make([]byte, 9), 3*rangeBlock); return err })
	<-blocked
	waiting := async(func() error { _, err := rr.ReadAt(make([]byte, 9), 3*rangeBlock); return err })
	cancel()
	for _, c := range []<-chan error{done, waiting} {
		if err := <-c; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if _, err := rr.ReadAt(make([]byte, 1), -1); err == nil || !strings.Contains(err.Error(), "negative") {
		t.Error(err)
	}
}

func TestContentRange(t *testing.T) {
	for v, want := range map[string][4]int64{
		"bytes 0-9/10": {0, 10, 10, 1}, "bytes 5-5/10": {5, 6, 10, 1}, "bytes */10": {0, 0, 10, 1}, " bytes 0-0/1 ": {0, 1, 1, 1},
		"bytes 0-10/10": {}, "bytes 5-4/10": {}, "bytes -5/10": {}, "bytes 0-9/*": {}, "bits 0-9/10": {}, "": {}, "bytes 0-9": {},
		"bytes 0-99999999999999999999/10": {}, "bytes 0-9223372036854775807/9223372036854775807": {}, "bytes +0-9/10": {0, 10, 10, 1},
	} {
		from, to, size, ok := contentRange(v)
		got := [4]int64{from, to, size, 0}
		if ok {
			got[3] = 1
		} else {
			got = [4]int64{}
		}
		if got != want {
			t.Errorf("%q: %v, want %v", v, got, want)
		}
	}
}
