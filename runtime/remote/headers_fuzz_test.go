package remote

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/fuzzbound"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

// FuzzHeaders answers every request with the same made-up headers, whatever was
// asked for: a whole file, a range, parts. Only the declared bytes are ever
// delivered, waits are bounded, and as soon as the server is honest again the
// file comes.
func FuzzHeaders(f *testing.F) {
	f.Add("bytes 0-65535/131072", "", `"v1"`, "", uint16(206), uint8(64))
	f.Add("bytes 0-9/10", "1", `W/"v1"`, "Thu, 01 Jan 1970 00:00:00 GMT", uint16(206), uint8(0))
	f.Add("bytes */0", "18446744073709551615", "", "", uint16(416), uint8(0))
	f.Add("", "Fri, 31 Dec 9999 23:59:59 GMT", "\"", "x", uint16(503), uint8(1))
	f.Add("bytes 0-9223372036854775806/9223372036854775807", "-1", `"`+strings.Repeat("e", 5000)+`"`, "", uint16(206), uint8(1))
	f.Add("bytes +0-+9/+10", " 5 ", "no quotes", "\xff", uint16(304), uint8(9))
	f.Add("bytes 0-131071/131072", "1e9", `"a", "b"`, "", uint16(200), uint8(128))
	f.Add("", "0", "", "", uint16(429), uint8(3))
	data := make([]byte, 2*rangeBlock)
	for i := range data {
		data[i] = byte(i>>8) ^ byte(i)
	}
	const url = "https://cdn.example.com/scene/t.untold"
	f.Fuzz(func(t *testing.T, ranges, after, etag, modified string, status uint16, kib uint8) {
		clock := newClock()
		if d := retryAfter(after, clock.Now()); d < 0 || d > longestBlock {
			t.Fatalf("Retry-After %q is %v", after, d)
		}
		r := newRig(t, func(o *Options) { o.HTTP = config.HTTP{Attempts: 1} })
		r.origin.put(url, data)
		answers := 0
		r.origin.answer = func(req *http.Request) (*http.Response, error) {
			for name, list := range req.Header {
				for _, v := range list {
					if len(v) > 1<<14 || strings.ContainsAny(v, "\r\n\x00") {
						t.Errorf("the request has %s: %.40q", name, v)
					}
				}
			}
			if answers++; answers > 100 {
				t.Error("no end of requests")
			}
			h := http.Header{}
			for name, v := range map[string]string{"Content-Range": ranges, "Retry-After": after, "ETag": etag, "Last-Modified": modified} {
				if v != "" {
					h.Set(name, v)
				}
			}
			return reply(req, 200+int(status)%400, h, data[:min(int(kib)<<10, len(data))]), nil
		}
		fuzzbound.Run(t, 0, fuzzbound.Limits{Alloc: 32 << 20}, func() {
			for _, want := range []Expected{{}, {Size: int64(len(data)), SHA256: remotetest.HashOf(data)}} {
				hostileReads(t, r, url, want, data)
			}
		})
		r.origin.answer = nil
		r.clock.Advance(2 * longestBlock)
		r.mustGet(url, Expected{Size: int64(len(data)), SHA256: remotetest.HashOf(data)}, data)
	})
}

// hostileReads reads a file in all ways. Reads may fail; bytes that come are those that
// the manifest declares.
func hostileReads(t *testing.T, r *rig, url string, want Expected, data []byte) {
	t.Helper()
	if file, err := r.Local(t.Context(), url, want); err == nil {
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if want.SHA256 != "" && !bytes.Equal(got, data) {
			t.Fatalf("%d bytes pass for what the manifest declares", len(got))
		}
	}
	rr, err := r.OpenRange(t.Context(), url, want)
	if err != nil {
		return
	}
	defer rr.Close()
	if want.Size > 0 && rr.Size() != want.Size {
		t.Fatalf("a file of %d bytes for one of %d", rr.Size(), want.Size)
	}
	for _, off := range []int64{0, rangeBlock - 1, rr.Size() - 1, rr.Size(), 1 << 62} {
		buf := make([]byte, 1000)
		n, err := rr.ReadAt(buf, off)
		if n < len(buf) == (err == nil) || n > 0 && off >= rr.Size() || off >= rr.Size() && off >= 0 && !errors.Is(err, io.EOF) {
			t.Fatalf("ReadAt(%d) of %d bytes: %d, %v", off, rr.Size(), n, err)
		}
	}
}
