package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// withRanges makes an origin answer requests for ranges, as net/http does.
func withRanges(o *origin) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) {
		o.mu.Lock()
		data, ok := o.files[req.URL.String()]
		noETag := o.noETag
		o.mu.Unlock()
		if !ok {
			return nil, nil
		}
		w := httptest.NewRecorder()
		if !noETag {
			w.Header().Set("ETag", remotetest.ETagOf(data))
		}
		http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(data))
		resp := w.Result()
		resp.Request = req
		return resp, nil
	}
}

// newPartsRig makes a rig whose origin has one container with much geometry.
func newPartsRig(t testing.TB, opts ...rigOption) (*rig, []byte) {
	r := newRig(t, opts...)
	data := bigTile(t)
	r.origin.put(partsURL, data)
	r.origin.answer = withRanges(r.origin)
	return r, data
}

const partsURL = sceneBase + "tiles/a.untold"

// partsRequest asks for that container as a Streamer does.
func partsRequest(data []byte) payload.Request {
	return payload.Request{
		Dir: sceneBase, Path: "tiles/a.untold", TileID: "a", Attempt: 1, Size: int64(len(data)), SHA256: remotetest.HashOf(data),
		Split: &payload.Split{Always: true}, Context: context.Background(),
	}
}

func (r *rig) openParts(req payload.Request) payload.Ranges {
	r.t.Helper()
	got, err := r.payload(req)
	if err != nil {
		r.t.Fatal(err)
	}
	if got.Ranges == nil || got.File != "" {
		r.t.Fatalf("%+v instead of parts", got)
	}
	return got.Ranges
}

// mustRead brings a span and compares it.
func mustRead(t testing.TB, x payload.Ranges, data []byte, from, to int) {
	t.Helper()
	if err := x.Bring(context.Background(), []payload.Span{{From: int64(from), To: int64(to)}}); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, to-from)
	if _, err := x.ReadAt(got, int64(from)); err != nil || !bytes.Equal(got, data[from:to]) {
		t.Fatalf("bytes %d to %d: %v", from, to, err)
	}
}

// spansOf returns the ranges of a container's mesh.
func spansOf(t testing.TB, data []byte, mesh int) []payload.Span {
	t.Helper()
	r, err := format.NewBytesReader(data)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := r.Chunk(format.ChunkVertices)
	i, _ := r.Chunk(format.ChunkIndices)
	m := r.Meshes()[mesh]
	return []payload.Span{
		{From: int64(v.Offset + m.VertexOffset), To: int64(v.Offset + m.VertexOffset + m.VertexSize)},
		{From: int64(i.Offset + m.IndexOffset), To: int64(i.Offset + m.IndexOffset + m.IndexSize)},
	}
}

// A container comes in parts over HTTP/1.1 and HTTP/2, is read again from the
// disk without a request, and becomes a whole file when all of it has come.
func TestPartsOfATile(t *testing.T) {
	data := bigTile(t)
	for _, http2 := range []bool{false, true} {
		var mu sync.Mutex
		var log []string
		srv := rangeServer(t, data, `"v1"`, func(_ http.ResponseWriter, r *http.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			log = append(log, fmt.Sprint(r.ProtoMajor, " ", r.Header.Get("Range"), " ", r.Header.Get("If-Range")))
			return false
		})
		if srv.EnableHTTP2 = http2; http2 {
			srv.StartTLS()
		} else {
			srv.Start()
		}
		f := onServer(t, srv)
		req := partsRequest(data)
		req.Dir = srv.URL + "/"
		got, err := f.payload(req)
		if err != nil || got.Ranges == nil {
			t.Fatalf("%+v, %v", got, err)
		}
		if m := f.Metrics(); m.Requests != 1 || m.RangeRequests != 1 || m.PartialFiles != 1 || m.BytesSaved != int64(len(data))-headBytes {
			t.Errorf("after the tables: %+v", m)
		}
		spans := append(spansOf(t, data, 3), spansOf(t, data, 4)...)
		if err := got.Ranges.Bring(t.Context(), spans); err != nil {
			t.Fatal(err)
		}
		if m := f.Metrics(); m.Requests != 3 { // vertices and indices, neighbours together
			t.Errorf("%d requests: %v", m.Requests, log)
		}
		for _, s := range spans {
			mustRead(t, got.Ranges, data, int(s.From), int(s.To))
		}
		mu.Lock()
		for i, l := range log {
			want := map[bool]string{false: "1 ", true: "2 "}[http2]
			if !strings.HasPrefix(l, want+"bytes=") || i > 0 && !strings.HasSuffix(l, ` "v1"`) {
				t.Errorf("request %d: %s", i, l)
			}
		}
		mu.Unlock()

		// Another session, and another process beside it.
		saved := f.Metrics().BytesSaved
		again, err := New(Options{CacheDir: f.Cache().Dir(), NoSync: true, Transport: failingTransport{}, HTTP: oneAttempt})
		if err != nil {
			t.Fatal(err)
		}
		if got, err = again.payload(req); err != nil || got.Ranges == nil {
			t.Fatalf("%+v, %v", got, err)
		}
		for _, s := range spans {
			mustRead(t, got.Ranges, data, int(s.From), int(s.To))
		}
		if m := again.Metrics(); m.Requests != 0 || m.PartsCached != 1 || m.BytesSaved != saved {
			t.Errorf("again: %+v", m)
		}
		st := again.Cache().Stat()
		if st.Partial != 1 || st.PartialBytes != int64(len(data))-saved || st.Bytes != st.PartialBytes || st.PartialWhole != int64(len(data)) {
			t.Errorf("%+v", st)
		}
		if bad, err := again.Cache().Verify(t.Context(), true); len(bad) != 0 || err != nil {
			t.Errorf("%v, %v", bad, err)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}

		// The rest comes, and the file is whole.
		if got, err = f.payload(req); err != nil {
			t.Fatal(err)
		}
		mustRead(t, got.Ranges, data, 0, len(data))
		mustRead(t, got.Ranges, data, 100, len(data)-100)
		if e, ok := f.cache.Lookup(fileNameOf(t, srv.URL+"/tiles/a.untold")); !ok || e.SHA256 != remotetest.HashOf(data) || e.Size != int64(len(data)) {
			t.Errorf("%+v, %v", e, ok)
		}
		if st := f.Cache().Stat(); st.Partial != 0 || st.Files != 1 {
			t.Errorf("%+v", st)
		}
		if list := remotetest.Files(t, f.Cache().Dir()); len(list) != 2 { // and its ETag
			t.Errorf("%q", list)
		}
		if got, err = f.payload(req); err != nil || got.Ranges != nil || got.File == "" {
			t.Errorf("%+v, %v", got, err)
		}
		if m := f.Metrics(); m.BytesFetched > int64(len(data))+8*gapBytes {
			t.Errorf("%d bytes were fetched of %d", m.BytesFetched, len(data))
		}
	}
}

func fileNameOf(t testing.TB, rawURL string) string {
	t.Helper()
	u, err := weburl.Parse(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	return diskcache.Name(u)
}

// failingTransport lets nothing through.
type failingTransport struct{}

func (failingTransport) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no network here")
}

// Files that cannot or need not come in parts come whole, in as few requests.
func TestPartsFallBack(t *testing.T) {
	for _, tt := range []struct {
		name     string
		data     []byte
		opts     []rigOption
		req      func(*payload.Request)
		answer   func(o *origin) func(*http.Request) (*http.Response, error)
		requests int
	}{
		{name: "switched off", opts: []rigOption{func(o *Options) { o.Ranges = RangesOff }}, requests: 1},
		{name: "not asked for", req: func(r *payload.Request) { r.Split = nil }, requests: 1},
		{name: "not out-of-core", req: func(r *payload.Request) { r.Split = &payload.Split{Nodes: 1000} }, requests: 2},
		{name: "small", data: container(t), requests: 1},
		{name: "no ranges", answer: func(*origin) func(*http.Request) (*http.Response, error) { return nil }, requests: 1},
		{name: "416", answer: func(o *origin) func(*http.Request) (*http.Response, error) {
			return func(req *http.Request) (*http.Response, error) {
				if req.Header.Get("Range") != "" {
					return reply(req, 416, nil, nil), nil
				}
				return nil, nil
			}
		}, requests: 2},
		{name: "no validators", answer: func(o *origin) func(*http.Request) (*http.Response, error) {
			o.noETag = true
			return withRanges(o)
		}, requests: 2},
		{name: "a strange Content-Range", answer: func(o *origin) func(*http.Request) (*http.Response, error) {
			return func(req *http.Request) (*http.Response, error) {
				resp, err := withRanges(o)(req)
				if resp.StatusCode == 206 {
					resp.Header.Set("Content-Range", "bytes 7-65542/960000")
				}
				return resp, err
			}
		}, requests: 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, data := newPartsRig(t, tt.opts...)
			if tt.data != nil {
				data = tt.data
				r.origin.put(partsURL, data)
			}
			if tt.answer != nil {
				r.origin.answer = tt.answer(r.origin)
			}
			req := partsRequest(data)
			if tt.req != nil {
				tt.req(&req)
			}
			got, err := r.payload(req)
			if err != nil || got.Ranges != nil {
				t.Fatalf("%+v, %v", got, err)
			}
			if file, err := os.ReadFile(got.File); err != nil || !bytes.Equal(file, data) {
				t.Errorf("%d bytes, %v", len(file), err)
			}
			if m := r.Metrics(); int(m.Requests) != tt.requests || m.PartialFiles != 0 || m.BytesSaved != 0 || m.BytesFetched > int64(len(data))+headBytes {
				t.Errorf("%+v", m)
			}
			if st := r.Cache().Stat(); st.Partial != 0 || st.Files != 1 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// A scene whose first files are compressed is not asked for parts again.
func TestPartsProbes(t *testing.T) {
	r := newRig(t)
	r.origin.answer = withRanges(r.origin)
	data := compressedTile(t)
	for i := range 2 * enoughProbes {
		req := partsRequest(data)
		req.Path = fmt.Sprintf("tiles/%d.untold", i)
		r.origin.put(sceneBase+req.Path, data)
		before := r.Metrics().Requests
		if got, err := r.payload(req); err != nil || got.File == "" {
			t.Fatalf("%+v, %v", got, err)
		}
		want := int64(2)
		if i >= enoughProbes {
			want = 1
		}
		if n := r.Metrics().Requests - before; n != want {
			t.Errorf("file %d took %d requests, want %d", i, n, want)
		}
	}
	if m := r.Metrics(); m.BytesFetched != int64(2*enoughProbes*len(data)) {
		t.Errorf("%d bytes fetched of %d", m.BytesFetched, 2*enoughProbes*len(data))
	}
}

// compressedTile is a container of more than minRangeFile that is compressed.
func compressedTile(t testing.TB) []byte {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	data := fake.Container(t, format.FileTile, format.ModeLZ4, 1, 30_000, func(_, _ int) [3]float32 {
		return [3]float32{rng.Float32(), rng.Float32(), 0}
	})
	if len(data) < minRangeFile {
		t.Fatalf("%d bytes only", len(data))
	}
	return data
}

// A file that is replaced while it is read in parts is noticed, whatever tells,
// and never mixed with the new one.
func TestPartsOfAReplacedFile(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(o *origin, req *http.Request) *http.Response
	}{
		{"If-Range", func(o *origin, req *http.Request) *http.Response { return nil }},
		{"a server that ignores If-Range", func(o *origin, req *http.Request) *http.Response {
			req.Header.Del("If-Range")
			return nil
		}},
		{"another size", func(o *origin, req *http.Request) *http.Response {
			req.Header.Del("If-Range")
			o.put(partsURL, o.files[partsURL][:len(o.files[partsURL])-1])
			return nil
		}},
		{"412", func(o *origin, req *http.Request) *http.Response { return reply(req, 412, nil, nil) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, data := newPartsRig(t)
			x := r.openParts(partsRequest(data))
			spans := spansOf(t, data, 5)
			if err := x.Bring(t.Context(), spans[:1]); err != nil {
				t.Fatal(err)
			}
			other := bytes.Clone(data)
			for i := len(other) / 2; i < len(other); i++ {
				other[i] ^= 1
			}
			r.origin.put(partsURL, other)
			var once sync.Once
			r.origin.answer = func(req *http.Request) (*http.Response, error) {
				var resp *http.Response
				if once.Do(func() { resp = tt.change(r.origin, req) }); resp != nil {
					return resp, nil
				}
				return withRanges(r.origin)(req)
			}
			before := r.Metrics().Requests
			err := x.Bring(t.Context(), spansOf(t, data, 15))
			if !errors.Is(err, ErrChanged) || !errors.Is(err, payload.ErrReplaced) {
				t.Fatalf("%v", err)
			}
			if n := r.Metrics().Requests - before; n > 2 {
				t.Errorf("%d requests", n)
			}
			if err := x.Bring(t.Context(), spansOf(t, data, 17)); !errors.Is(err, ErrChanged) {
				t.Errorf("afterwards: %v", err)
			}
			if st := r.Cache().Stat(); st.Partial != 0 {
				t.Errorf("%+v", st)
			}
			// The new version, in parts of its own.
			other = r.origin.files[partsURL]
			got, err := r.payload(partsRequest(other))
			if err != nil {
				t.Fatal(err)
			}
			if got.Ranges != nil {
				mustRead(t, got.Ranges, other, len(other)-1000, len(other))
			} else if file, err := os.ReadFile(got.File); err != nil || !bytes.Equal(file, other) {
				t.Error("another file", err)
			}
		})
	}
}

// Hostile answers cost an error and nothing else.
func TestPartsFromAHostileServer(t *testing.T) {
	edit := func(o *origin, f func(*http.Response)) func(*http.Request) (*http.Response, error) {
		return func(req *http.Request) (*http.Response, error) {
			resp, err := withRanges(o)(req)
			if req.Header.Get("If-Range") != "" {
				f(resp)
			}
			return resp, err
		}
	}
	for _, tt := range []struct {
		name string
		edit func(*http.Response)
		want error
	}{
		{"another range", func(r *http.Response) { r.Header.Set("Content-Range", "bytes 0-4095/"+total(r)) }, ErrMismatch},
		{"no range", func(r *http.Response) { r.Header.Del("Content-Range") }, ErrMismatch},
		{"a range that overflows", func(r *http.Response) {
			r.Header.Set("Content-Range", "bytes 9223372036854775807-9223372036854775807/9223372036854775807")
		}, ErrMismatch},
		{"another size", func(r *http.Response) { r.Header.Set("Content-Range", "bytes 1-2/3") }, ErrChanged},
		{"another ETag", func(r *http.Response) { r.Header.Set("ETag", `"x"`) }, ErrChanged},
		{"a new Last-Modified", func(r *http.Response) { r.Header.Set("Last-Modified", "Thu, 01 Jan 1970 00:00:00 GMT") }, ErrChanged},
		{"encoded", func(r *http.Response) { r.Header.Set("Content-Encoding", "gzip") }, ErrMismatch},
		{"a short body", func(r *http.Response) { r.Body = io.NopCloser(io.LimitReader(r.Body, 10)) }, io.ErrUnexpectedEOF},
		{"no body", func(r *http.Response) { r.Body = http.NoBody }, io.EOF},
		{"a failing body", func(r *http.Response) { r.Body = io.NopCloser(failing{errFakeBody}) }, errFakeBody},
		{"no content", func(r *http.Response) { r.StatusCode = 204 }, ErrStatus},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, data := newPartsRig(t, func(o *Options) { o.HTTP = oneAttempt })
			x := r.openParts(partsRequest(data))
			r.origin.answer = edit(r.origin, tt.edit)
			if err := x.Bring(t.Context(), spansOf(t, data, 12)); !errors.Is(err, tt.want) {
				t.Fatalf("%v, want %v", err, tt.want)
			}
			if list := remotetest.Temporary(remotetest.Files(t, r.Cache().Dir())); len(list) != 0 {
				t.Errorf("%q", list)
			}
			// A body that goes on for ever is read to the end of the range only.
			r.origin.answer = edit(r.origin, func(resp *http.Response) { resp.Body = io.NopCloser(io.MultiReader(resp.Body, zeros{})) })
			if x := r.openParts(partsRequest(data)); !errors.Is(tt.want, ErrChanged) {
				s := spansOf(t, data, 12)[0]
				mustRead(t, x, data, int(s.From), int(s.To))
			}
		})
	}
}

var errFakeBody = errors.New("the body ends here")

func total(r *http.Response) string {
	_, v, _ := strings.Cut(r.Header.Get("Content-Range"), "/")
	return v
}

// Files whose header promises absurd tables are not read in parts; who reads
// them whole says what is wrong.
func TestPartsOfHostileContainers(t *testing.T) {
	good := bigTile(t)
	for _, tt := range []struct {
		name string
		at   int
		b    []byte
	}{
		{"a million chunks", 24, []byte{0, 0, 16, 0}},
		{"the magic", 0, []byte("NOTATILE")},
		{"a string table of the whole file", records.HeaderSize + 16, []byte{0xff, 0xff, 0xff, 0x7f}},
		{"an entity table too long", records.HeaderSize + records.ChunkSize + 24, []byte{0xff, 0xff, 0xff, 0x7f}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := newPartsRig(t)
			data := bytes.Clone(good)
			copy(data[tt.at:], tt.b)
			r.origin.put(partsURL, data)
			got, err := r.payload(partsRequest(data))
			if err != nil || got.Ranges != nil {
				t.Fatalf("%+v, %v", got, err)
			}
			if m := r.Metrics(); m.BytesFetched != int64(len(data)) {
				t.Errorf("%+v", m)
			}
		})
	}
}

// Cancelling ends the requests, and what has come stays.
func TestPartsCancelled(t *testing.T) {
	r, data := newPartsRig(t)
	x := r.openParts(partsRequest(data))
	ctx, cancel := context.WithCancel(t.Context())
	r.origin.answer = func(req *http.Request) (*http.Response, error) {
		resp, err := withRanges(r.origin)(req)
		all, _ := io.ReadAll(resp.Body)
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(all[:3*diskcache.BlockSize]), blocking{req.Context()}))
		return resp, err
	}
	s := spansOf(t, data, 9)[0]
	done := async(func() error { return x.Bring(ctx, []payload.Span{s}) })
	for r.Metrics().BytesFetched < headBytes+3*diskcache.BlockSize {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if n := r.origin.busy(); n != 0 {
		t.Errorf("%d requests are open", n)
	}
	r.origin.answer = withRanges(r.origin)
	before := r.Metrics().BytesFetched
	mustRead(t, x, data, int(s.From), int(s.To))
	if n := r.Metrics().BytesFetched - before; n > s.To-s.From-3*diskcache.BlockSize+2*lineBytes {
		t.Errorf("%d bytes again of %d", n, s.To-s.From)
	}
}

// A caller that waits for blocks of another fetches them itself when that gives up.
func TestPartsAreShared(t *testing.T) {
	r, data := newPartsRig(t)
	x := r.openParts(partsRequest(data))
	first, cancel := context.WithCancel(t.Context())
	asked := make(chan struct{}, 16)
	r.origin.answer = func(req *http.Request) (*http.Response, error) {
		asked <- struct{}{}
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	s := spansOf(t, data, 9)[:1]
	a := async(func() error { return x.Bring(first, s) })
	<-asked
	b := async(func() error { return x.Bring(t.Context(), s) })
	r.origin.mu.Lock()
	r.origin.answer = withRanges(r.origin)
	r.origin.mu.Unlock()
	cancel()
	if err := <-a; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := <-b; err != nil {
		t.Error(err)
	}
	mustRead(t, x, data, int(s[0].From), int(s[0].To))
}

// Many who want parts of one file open it once.
func TestPartsAreOpenedOnce(t *testing.T) {
	r, data := newPartsRig(t)
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			if got, err := r.payload(partsRequest(data)); err != nil || got.Ranges == nil {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	group.Wait()
	if n := len(r.origin.requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// A part that the disk has damaged is fetched again before a file is complete.
func TestDamagedPartOfACompleteFile(t *testing.T) {
	r, data := newPartsRig(t)
	x := r.openParts(partsRequest(data))
	mustRead(t, x, data, 0, len(data)/2)
	file := r.cache.Path(fileNameOf(t, partsURL) + ".part")
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{data[5000] ^ 1}, 5000); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	mustRead(t, x, data, len(data)/2, len(data))
	mustRead(t, x, data, 0, len(data))
	if e, ok := r.cache.Lookup(fileNameOf(t, partsURL)); !ok || e.SHA256 != remotetest.HashOf(data) {
		t.Errorf("%+v, %v", e, ok)
	}
}

// Many read at random at the same time, while the cache evicts: every byte is
// right, or the read fails.
func TestPartsConcurrently(t *testing.T) {
	r, data := newPartsRig(t, func(o *Options) { o.CacheBudget, o.HTTP = 700_000, oneAttempt })
	x := r.openParts(partsRequest(data))
	var group sync.WaitGroup
	for w := range 6 {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 1))
			for range 30 {
				from := rng.IntN(len(data))
				got := make([]byte, min(len(data)-from, 1+rng.IntN(100_000)))
				if rng.IntN(20) == 0 {
					r.Cache().Clear()
				}
				err := x.Bring(t.Context(), []payload.Span{{From: int64(from), To: int64(from + len(got))}})
				if err == nil {
					_, err = x.ReadAt(got, int64(from))
				}
				if err == nil && !bytes.Equal(got, data[from:from+len(got)]) {
					t.Errorf("bytes from %d on are wrong", from)
				} else if err != nil && !errors.Is(err, diskcache.ErrNotHere) && !errors.Is(err, diskcache.ErrGone) {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// A version that the manifest does not declare any more is fetched anew.
func TestPartsOfAnotherManifest(t *testing.T) {
	r, data := newPartsRig(t)
	r.openParts(partsRequest(data))
	other := bytes.Clone(data)
	other[len(other)-1] ^= 1
	r.origin.put(partsURL, other)
	mustRead(t, r.openParts(partsRequest(other)), other, len(other)-10, len(other))
	r.restart()
	mustRead(t, r.openParts(partsRequest(other)), other, len(other)-10, len(other))
	if n := len(r.origin.requests()); n != 3 {
		t.Errorf("%d requests", n)
	}
	// Without declared hashes a changed manifest makes parts old.
	req := partsRequest(other)
	req.SHA256 = ""
	r.openParts(req)
	if n := len(r.origin.requests()); n != 4 {
		t.Errorf("%d requests", n)
	}
	if err := r.cache.MarkOld(sceneBase, ""); err != nil {
		t.Fatal(err)
	}
	r.restart()
	r.openParts(req)
	if n := len(r.origin.requests()); n != 5 {
		t.Errorf("%d requests", n)
	}
}

// All parts that have come do not make the file that the manifest declares.
func TestPartsThatDoNotFit(t *testing.T) {
	r, data := newPartsRig(t)
	req := partsRequest(data)
	req.SHA256 = remotetest.HashOf([]byte("something else"))
	x := r.openParts(req)
	err := x.Bring(t.Context(), []payload.Span{{From: 0, To: int64(len(data))}})
	if !errors.Is(err, ErrMismatch) || !errors.Is(err, payload.ErrReplaced) {
		t.Errorf("%v", err)
	}
	if st := r.Cache().Stat(); st.Files != 0 {
		t.Errorf("%+v", st)
	}
}

// A whole file that is wanted of one that came in parts costs its rest.
func TestRestOfAFile(t *testing.T) {
	r, data := newPartsRig(t)
	x := r.openParts(partsRequest(data))
	mustRead(t, x, data, len(data)/2, len(data)/2+100_000)
	r.mustGet(partsURL, Expected{int64(len(data)), remotetest.HashOf(data)}, data)
	if m := r.Metrics(); m.BytesFetched != int64(len(data)) || m.Resumed != 1 || m.BytesSaved != 0 {
		t.Errorf("%+v of %d", m, len(data))
	}
	mustRead(t, x, data, 0, len(data)) // who has it open goes on
	// And when it has been evicted, too.
	if _, err := r.Cache().Clear(); err != nil {
		t.Fatal(err)
	}
	if _, err := x.ReadAt(make([]byte, 10), 0); !errors.Is(err, diskcache.ErrNotHere) {
		t.Errorf("%v", err)
	}
	mustRead(t, x, data, 1000, 100_000)
}

// Any sequence of reads, with faults of the network and of the disk, evictions
// and restarts between them, gives the bytes of the file or an error.
func TestPartsProperty(t *testing.T) {
	race.Checks(t, 25) // make test does all of them without the detector
	data := bigTile(t)
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		clock := newClock()
		o := newOrigin(clock)
		o.put(partsURL, data)
		var faults []string
		o.answer = func(req *http.Request) (*http.Response, error) {
			resp, err := withRanges(o)(req)
			fault := ""
			if len(faults) > 0 {
				fault, faults = faults[0], faults[1:]
			}
			switch fault {
			case "status":
				return reply(req, 503, nil, nil), nil
			case "cut":
				resp.Body = io.NopCloser(io.LimitReader(resp.Body, 5*diskcache.BlockSize/2))
			case "shifted":
				resp.Header.Set("Content-Range", "bytes 1-1/"+total(resp))
			case "refused":
				return nil, errFakeBody
			}
			return resp, err
		}
		opts := Options{
			CacheDir: filepath.Join(dir, fmt.Sprint(run)), Clock: clock, Transport: o, NoSync: true, HTTP: oneAttempt, HostRequests: 1,
			CacheBudget: rapid.SampledFrom([]int64{1 << 30, 500_000}).Draw(t, "budget"),
		}
		f, err := New(opts)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { f.Close() }()
		var x payload.Ranges
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"read", "read", "read", "fault", "restart", "damage", "evict", "cut list"}).Draw(t, "step") {
			case "read":
				if x == nil {
					got, err := f.payload(partsRequest(data))
					if err != nil {
						continue
					}
					if x = got.Ranges; x == nil {
						if file, err := os.ReadFile(got.File); err != nil || !bytes.Equal(file, data) {
							t.Fatalf("another file: %v", err)
						}
						continue
					}
				}
				var spans []payload.Span
				for range rapid.IntRange(1, 3).Draw(t, "spans") {
					from := rapid.IntRange(0, len(data)-1).Draw(t, "from")
					to := min(len(data), from+rapid.IntRange(0, 200_000).Draw(t, "length"))
					spans = append(spans, payload.Span{From: int64(from), To: int64(to)})
				}
				if err := x.Bring(context.Background(), spans); err != nil {
					if errors.Is(err, ErrChanged) {
						t.Fatalf("nothing has changed: %v", err)
					}
					continue
				}
				for _, s := range spans {
					got := make([]byte, s.To-s.From)
					if _, err := x.ReadAt(got, s.From); err == nil && !bytes.Equal(got, data[s.From:s.To]) {
						t.Fatalf("bytes %d to %d are wrong", s.From, s.To)
					} else if err != nil && !errors.Is(err, diskcache.ErrNotHere) {
						t.Fatal(err)
					}
				}
			case "fault":
				faults = append(faults, rapid.SampledFrom([]string{"", "status", "cut", "shifted", "refused"}).Draw(t, "fault"))
			case "restart":
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
				if f, err = New(opts); err != nil {
					t.Fatal(err)
				}
				x = nil
			case "damage":
				for _, n := range []string{"", ".part"} {
					file := filepath.Join(opts.CacheDir, fileNameOf2(partsURL)+n)
					if b, err := os.ReadFile(file); err == nil && n != "" && len(b) > 0 {
						b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= 0x40
						os.WriteFile(file, b, 0o600)
					}
				}
			case "evict":
				if _, err := f.Cache().Clear(); err != nil {
					t.Fatal(err)
				}
			case "cut list":
				file := filepath.Join(opts.CacheDir, fileNameOf2(partsURL)+".have")
				if b, err := os.ReadFile(file); err == nil {
					os.WriteFile(file, b[:rapid.IntRange(0, len(b)).Draw(t, "left")], 0o600)
				}
			}
		}
	})
}

func fileNameOf2(rawURL string) string {
	u, err := weburl.Parse(rawURL)
	if err != nil {
		panic(err)
	}
	return diskcache.Name(u)
}
