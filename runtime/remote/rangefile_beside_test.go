package remote

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

// beside opens another Fetcher on the folder of a rig, as another process would.
func (r *rig) beside(opts ...rigOption) *Fetcher {
	r.t.Helper()
	o := r.opts
	for _, opt := range opts {
		opt(&o)
	}
	f, err := New(o)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := f.Close(); err != nil {
			r.t.Error(err)
		}
	})
	return f
}

// A file of which two processes read parts is complete for both when one of them
// has completed it.
func TestPartsThatAnotherProcessCompletes(t *testing.T) {
	for _, declared := range []bool{true, false} {
		r, data := newPartsRig(t, func(o *Options) { o.HTTP = oneAttempt })
		req := partsRequest(data)
		if !declared {
			req.SHA256 = ""
		}
		x := r.openParts(req)
		mustRead(t, x, data, 0, len(data)/4)
		other, err := r.beside().payload(req)
		if err != nil || other.Ranges == nil {
			t.Fatalf("%+v, %v", other, err)
		}
		mustRead(t, other.Ranges, data, 0, len(data))
		n := len(r.origin.requests())
		mustRead(t, x, data, 100, len(data)/5)
		mustRead(t, x, data, 0, len(data))
		if got := len(r.origin.requests()); got != n {
			t.Errorf("declared %v: %d more requests for what is there", declared, got-n)
		}
		if st := r.Cache().Stat(); st.Partial != 0 || st.Files != 1 || st.Bytes != int64(len(data)) {
			t.Errorf("%+v", st)
		}
	}
}

// The complete file must be of the version whose parts are read, and be what was
// stored.
func TestPartsBesideAnotherWholeFile(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, file string)
		edit  func(data []byte)
	}{
		{name: "another version", edit: func(data []byte) { data[len(data)-1] ^= 1 }},
		{name: "damaged", spoil: func(t *testing.T, file string) {
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)/2] ^= 1
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, data := newPartsRig(t, func(o *Options) { o.HTTP = oneAttempt })
			req := partsRequest(data)
			req.SHA256 = ""
			x := r.openParts(req)
			mustRead(t, x, data, 0, len(data)/4)
			now := bytes.Clone(data)
			if tt.edit != nil {
				tt.edit(now)
				r.origin.put(partsURL, now)
			}
			f := r.beside(func(o *Options) { o.Ranges = RangesOff })
			if _, err := f.Cache().Clear(); err != nil {
				t.Fatal(err)
			}
			file, err := f.Local(t.Context(), partsURL, Expected{})
			if err != nil {
				t.Fatal(err)
			}
			if tt.spoil != nil {
				tt.spoil(t, file)
			}
			got := make([]byte, len(data))
			err = x.Bring(t.Context(), []payload.Span{{From: 0, To: int64(len(data))}})
			if err == nil {
				_, err = x.ReadAt(got, 0)
			}
			if err == nil && !bytes.Equal(got, data) {
				t.Error("bytes of another file")
			} else if err != nil && tt.edit == nil {
				t.Error(err)
			}
		})
	}
}

// A file that another process completes while parts of it are on their way: what
// comes is no failure, and leaves nothing behind.
func TestPartsOnTheirWayAreCompletedElsewhere(t *testing.T) {
	for _, late := range []bool{false, true} {
		r, data := newPartsRig(t, func(o *Options) { o.HTTP = oneAttempt })
		req := partsRequest(data)
		x := r.openParts(req)
		asked, goOn := make(chan struct{}), make(chan struct{})
		answer := r.origin.answer
		r.origin.answer = func(q *http.Request) (*http.Response, error) {
			resp, err := answer(q)
			body, _ := io.ReadAll(resp.Body)
			hold := reader(func([]byte) (int, error) { close(asked); <-goOn; return 0, io.EOF })
			at := 0
			if late {
				at = len(body) - 1
			}
			resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:at]), hold, bytes.NewReader(body[at:])))
			return resp, err
		}
		done := async(func() error { return x.Bring(t.Context(), spansOf(t, data, 12)[:1]) })
		<-asked
		completeBeside(t, r, data)
		n := len(r.origin.requests())
		close(goOn)
		if err := <-done; err != nil {
			t.Errorf("late %v: %v", late, err)
		}
		mustRead(t, x, data, 0, len(data))
		if got := len(r.origin.requests()); got != n {
			t.Errorf("late %v: %d more requests", late, got-n)
		}
		if m := r.Metrics(); m.FailedAttempts != 0 {
			t.Errorf("late %v: %+v", late, m)
		}
		if list := remotetest.Files(t, r.Cache().Dir()); len(list) != 2 { // the file and its ETag
			t.Errorf("late %v: %q", late, list)
		}
	}
}

// A file that another process completes while a request for parts of it fails: the
// next attempt finds the whole file, and begins nothing anew.
func TestPartsThatFailAreCompletedElsewhere(t *testing.T) {
	for _, known := range []bool{false, true} {
		r, data := newPartsRig(t)
		x := r.openParts(partsRequest(data))
		asked, goOn := make(chan struct{}), make(chan struct{})
		var first atomic.Bool
		answer := r.origin.answer
		r.origin.answer = func(q *http.Request) (*http.Response, error) {
			if first.Swap(true) {
				return answer(q)
			}
			close(asked)
			<-goOn
			return nil, io.ErrUnexpectedEOF
		}
		done := async(func() error { return x.Bring(t.Context(), spansOf(t, data, 12)[:1]) })
		<-asked
		completeBeside(t, r, data)
		if known {
			mustRead(t, x, data, len(data)/4, len(data)/3)
		}
		n := len(r.origin.requests())
		close(goOn)
		r.clock.pass(time.Second)
		if err := <-done; err != nil {
			t.Errorf("known %v: %v", known, err)
		}
		mustRead(t, x, data, 0, len(data))
		if got := len(r.origin.requests()); got != n {
			t.Errorf("known %v: %d more requests", known, got-n)
		}
		if list := remotetest.Files(t, r.Cache().Dir()); len(list) != 2 { // the file and its ETag
			t.Errorf("known %v: %q", known, list)
		}
	}
}

// completeBeside lets another process, with an origin of its own, fetch the whole
// file into the same cache.
func completeBeside(t *testing.T, r *rig, data []byte) {
	t.Helper()
	other := r.beside(func(o *Options) {
		t := newOrigin(r.clock)
		t.put(partsURL, data)
		t.answer = withRanges(t)
		o.Transport = t
	})
	if _, err := other.Local(t.Context(), partsURL, Expected{int64(len(data)), remotetest.HashOf(data)}); err != nil {
		t.Fatal(err)
	}
}

// Reading parts counts as a use of the file, also when that is complete.
func TestPartsAreUsed(t *testing.T) {
	r, data := newPartsRig(t)
	x := r.openParts(partsRequest(data))
	for _, end := range []int{len(data) / 2, len(data), 100} {
		r.clock.Advance(time.Minute)
		mustRead(t, x, data, 0, end)
		list := r.Cache().Entries()
		if now := r.clock.Now(); len(list) != 1 || !list[0].LastAccess.Equal(now) {
			t.Errorf("up to %d: %+v at %v", end, list, now)
		}
	}
}

// reader is an io.Reader.
type reader func([]byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

// A process that asks for the head of a file at the same time as another one adds to
// the parts of the other, and does not begin anew.
func TestPartsThatTwoProcessesBegin(t *testing.T) {
	r, data := newPartsRig(t, func(o *Options) { o.HTTP = oneAttempt })
	req := partsRequest(data)
	asked, goOn := make(chan struct{}, 9), make(chan struct{})
	answer := r.origin.answer
	r.origin.answer = func(q *http.Request) (*http.Response, error) {
		asked <- struct{}{}
		<-goOn
		return answer(q)
	}
	var x payload.Ranges
	done := async(func() error {
		got, err := r.payload(req)
		x = got.Ranges
		return err
	})
	<-asked
	other := r.beside(func(o *Options) {
		t := newOrigin(r.clock)
		t.put(partsURL, data)
		t.answer = withRanges(t)
		o.Transport = t
	})
	theirs, err := other.payload(req)
	if err != nil {
		t.Fatal(err)
	}
	spans := spansOf(t, data, 12)
	mustRead(t, theirs.Ranges, data, int(spans[0].From), int(spans[0].To))
	close(goOn)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	n := len(r.origin.requests())
	mustRead(t, x, data, int(spans[0].From), int(spans[0].To))
	if got := len(r.origin.requests()); got != n {
		t.Errorf("%d requests for what the other one has brought", got-n)
	}
	mustRead(t, theirs.Ranges, data, int(spans[1].From), int(spans[1].To))
	if m := other.Metrics(); m.FailedAttempts != 0 {
		t.Errorf("%+v", m)
	}
}
