package remote

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

// gzipped compresses text.
func gzipped(t testing.TB, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// packs has the origin answer with these bytes as gzip.
func (r *rig) packs(data []byte) {
	r.origin.answer = func(req *http.Request) (*http.Response, error) {
		if req.Header.Get("Accept-Encoding") != "gzip" {
			return nil, errors.New("gzip was not asked for")
		}
		tag := remotetest.ETagOf(data)
		if req.Header.Get("If-None-Match") == tag {
			return reply(req, 304, http.Header{"Etag": {tag}}, nil), nil
		}
		return reply(req, 200, http.Header{"Etag": {tag}, "Content-Encoding": {"gzip"}}, data), nil
	}
}

// A manifest comes as gzip from a server that can, and is the same file afterwards.
func TestManifestPacked(t *testing.T) {
	r := newRig(t)
	text := `{"tiles":[` + strings.Repeat(`"the same ",`, 1000) + `0]}`
	packed := gzipped(t, text)
	r.packs(packed)
	if m := open(t, r); !m.Changed || m.Stale || remotetest.Text(t, m.File) != text {
		t.Errorf("%+v", m)
	}
	if x := r.Metrics(); x.BytesFetched != int64(len(packed)) {
		t.Errorf("%d bytes came, of %d", x.BytesFetched, len(packed))
	}
	r.restart()
	if m := open(t, r); m.Changed || remotetest.Text(t, m.File) != text {
		t.Errorf("%+v", m)
	}
	if x := r.Metrics(); x.NotModified != 1 || x.BytesFetched != 0 {
		t.Errorf("%+v", x)
	}
}

// What is cut short or damaged is asked for again, never taken for a manifest; what unpacks to
// more than is allowed is an error at once.
func TestManifestBadlyPacked(t *testing.T) {
	long := gzipped(t, `{"a":"`+strings.Repeat("x", 1<<20)+`"}`)
	whole := gzipped(t, `{"v":1,"tiles":[1,2,3]}`)
	damaged := bytes.Clone(whole)
	damaged[len(damaged)-5] ^= 1                                       // of the checksum
	garbled := append(bytes.Clone(whole[:10]), 0xff, 0xff, 0xff, 0xff) // no such block
	for _, c := range []struct {
		name  string
		data  []byte
		want  error
		final bool
	}{
		{"cut", whole[:len(whole)-9], nil, false},
		{"damaged", damaged, ErrMismatch, false},
		{"garbled", garbled, ErrMismatch, false},
		{"plain", []byte(`{"version":1,"tiles":[]}`), ErrMismatch, false},
		{"too long", long, ErrTooLarge, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(o *Options) { o.MaxManifest = 1 << 16 })
			r.packs(c.data)
			failed := async(func() error { _, err := r.OpenManifest(context.Background(), sceneURL); return err })
			if !c.final {
				r.clock.pass(time.Second)
				r.clock.pass(2 * time.Second)
			}
			err := <-failed
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Error(err)
			}
			if n := r.origin.count(sceneURL); c.final != (n == 1) {
				t.Errorf("%d requests", n)
			}
		})
	}
}
