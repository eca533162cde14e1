package remote

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/untoldkit/untold/runtime/payload"
)

// behindOneAddress makes an origin answer as hosts behind a load balancer do
// that give one content different ETags: each request gets the next host's.
func behindOneAddress(o *origin, hosts int) func(*http.Request) (*http.Response, error) {
	var n atomic.Int64
	return func(req *http.Request) (*http.Response, error) {
		tag := fmt.Sprintf(`"host-%d"`, n.Add(1)%int64(hosts))
		if r := req.Header.Get("If-Range"); r != "" && r != tag {
			req.Header.Del("Range") // net/http would compare with the tag of the content
		}
		req.Header.Del("If-Range")
		resp, err := withRanges(o)(req)
		if resp != nil {
			resp.Header.Set("ETag", tag)
		}
		return resp, err
	}
}

// readMixed asks for the current content as a Streamer does, which opens a file
// anew when it was replaced, and returns how often it was until it could be read.
func (r *rig) readMixed(data []byte, most int) (got payload.Fetched, replaced int) {
	r.t.Helper()
	for {
		got, err := r.payload(partsRequest(data))
		if err != nil {
			r.t.Fatal(err)
		}
		if got.Ranges == nil {
			if file, err := os.ReadFile(got.File); err != nil || !bytes.Equal(file, data) {
				r.t.Fatalf("another file: %v", err)
			}
			return got, replaced
		}
		spans := slices.Concat(spansOf(r.t, data, 3), spansOf(r.t, data, 12), spansOf(r.t, data, 19))
		if err := got.Ranges.Bring(r.t.Context(), spans); err == nil {
			return got, replaced
		}
		if replaced++; replaced > most {
			r.t.Fatalf("replaced %d times", replaced)
		}
	}
}

// Hosts behind one address that disagree about the ETag of a file do not make it
// begin anew for ever: it comes whole.
func TestPartsFromHostsThatDisagree(t *testing.T) {
	r, data := newPartsRig(t)
	r.origin.answer = behindOneAddress(r.origin, 2)
	got, n := r.readMixed(data, 2*maxReplaced)
	if got.Ranges != nil || n != maxReplaced {
		t.Errorf("%+v after %d replacements, want a whole file after %d", got, n, maxReplaced)
	}
	if m := r.Metrics(); m.BytesFetched > int64(len(data))*(maxReplaced+2) {
		t.Errorf("%+v", m)
	}
	// That is forgotten with the whole file: what comes next comes in parts.
	if _, err := r.Cache().Clear(); err != nil {
		t.Fatal(err)
	}
	r.origin.answer = withRanges(r.origin)
	if got, n = r.readMixed(data, 0); got.Ranges == nil || n != 0 {
		t.Errorf("%+v after %d", got, n)
	}
}

// A file that is cooked again while it is read counts against itself only, and
// each version of it once, however many read it.
func TestReplacementsAreCountedPerFile(t *testing.T) {
	r, data := newPartsRig(t)
	other := partsRequest(data)
	other.Path = "tiles/b.untold"
	r.origin.put(sceneBase+other.Path, data)
	for i := range maxReplaced {
		x := r.openParts(partsRequest(data))
		next := bytes.Clone(data)
		next[len(next)-1] ^= byte(i + 1)
		r.origin.put(partsURL, next)
		for range 5 {
			if err := x.Bring(t.Context(), spansOf(t, data, 12)); err == nil {
				t.Fatal("it was not noticed")
			}
		}
		data = next
	}
	r.openParts(other)
	if got, err := r.payload(partsRequest(data)); err != nil || got.Ranges != nil {
		t.Errorf("%+v, %v: want the whole file", got, err)
	}
}
