package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

const resumeURL = sceneBase + "tiles/whole.untold"

// breakAt ends the bodies of the first answers after so many bytes with an
// error.
func breakAt(o *origin, at ...int) func(*http.Request) (*http.Response, error) {
	n := 0
	return func(req *http.Request) (*http.Response, error) {
		resp, err := withRanges(o)(req)
		if n < len(at) && err == nil {
			resp.Body = io.NopCloser(io.MultiReader(io.LimitReader(resp.Body, int64(at[n])), failing{errFakeBody}))
			n++
		}
		return resp, err
	}
}

// A download that breaks at any position goes on from there, and every byte is
// right.
func TestBrokenDownloadGoesOn(t *testing.T) {
	data := remotetest.Body(9000)
	for at := 0; at <= len(data); at += 50 {
		r := newRig(t)
		r.origin.put(resumeURL, data)
		r.origin.answer = breakAt(r.origin, at, (len(data)-at)/2)
		done := async(func() error {
			got, err := r.get(resumeURL, Expected{int64(len(data)), remotetest.HashOf(data)})
			if err == nil && !bytes.Equal(got, data) {
				err = errors.New("other bytes")
			}
			return err
		})
		r.clock.pass(time.Second)
		r.clock.pass(2 * time.Second)
		if err := <-done; err != nil {
			t.Fatalf("broken at %d: %v", at, err)
		}
		m := r.Metrics()
		if fetched := m.BytesFetched; at > 0 && at < len(data) && (fetched != int64(len(data)) || m.Resumed != 2) {
			t.Fatalf("broken at %d: %+v", at, m)
		}
		log := r.origin.requests()
		if at > 0 && at < len(data) && (log[1].header.Get("Range") != fmt.Sprintf("bytes=%d-%d", at, len(data)-1) || log[1].header.Get("If-Range") != remotetest.ETagOf(data)) {
			t.Fatalf("broken at %d: %v", at, log[1].header)
		}
	}
}

// Answers other than the rest of the file.
func TestBrokenDownloadFallsBack(t *testing.T) {
	data := remotetest.Body(50_000)
	for _, tt := range []struct {
		name    string
		second  func(o *origin, req *http.Request) *http.Response
		resumed int64
	}{
		{"200", func(o *origin, req *http.Request) *http.Response {
			req.Header.Del("Range")
			return nil
		}, 0},
		{"416", func(o *origin, req *http.Request) *http.Response { return reply(req, 416, nil, nil) }, 0},
		{"another range", func(o *origin, req *http.Request) *http.Response {
			resp, _ := withRanges(o)(req)
			resp.Header.Set("Content-Range", "bytes 1-2/50000")
			return resp
		}, 0},
		{"another version", func(o *origin, req *http.Request) *http.Response {
			resp, _ := withRanges(o)(req)
			resp.Header.Set("ETag", `"x"`)
			return resp
		}, 0},
		{"other bytes", func(o *origin, req *http.Request) *http.Response {
			resp, _ := withRanges(o)(req)
			resp.Body = io.NopCloser(io.LimitReader(zeros{}, 30_000))
			return resp
		}, 1},
		{"too many bytes", func(o *origin, req *http.Request) *http.Response {
			resp, _ := withRanges(o)(req)
			resp.Body = io.NopCloser(io.MultiReader(resp.Body, zeros{}))
			return resp
		}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			r.origin.put(resumeURL, data)
			broken := breakAt(r.origin, 20_000)
			n := 0
			r.origin.answer = func(req *http.Request) (*http.Response, error) {
				if n++; n == 2 {
					if resp := tt.second(r.origin, req); resp != nil {
						return resp, nil
					}
				}
				return broken(req)
			}
			done := async(func() error {
				got, err := r.get(resumeURL, Expected{int64(len(data)), remotetest.HashOf(data)})
				if err == nil && !bytes.Equal(got, data) {
					err = errors.New("other bytes")
				}
				return err
			})
			r.clock.pass(time.Second)
			if tt.name != "200" {
				r.clock.pass(2 * time.Second)
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if m := r.Metrics(); m.Resumed != tt.resumed {
				t.Errorf("%+v", m)
			}
			if list := remotetest.Temporary(remotetest.Files(t, r.Cache().Dir())); len(list) != 0 {
				t.Errorf("%q", list)
			}
		})
	}
}

// A download that has failed for good, or was given up, goes on when the file is
// wanted again, also in another session; a version that has changed does not.
func TestBrokenDownloadGoesOnLater(t *testing.T) {
	data := remotetest.Body(50_000)
	for _, changed := range []bool{false, true} {
		r := newRig(t, func(o *Options) { o.HTTP = oneAttempt })
		r.origin.put(resumeURL, data)
		r.origin.answer = breakAt(r.origin, 20_000)
		want := Expected{Size: int64(len(data))}
		if _, err := r.get(resumeURL, want); !errors.Is(err, errFakeBody) {
			t.Fatal(err)
		}
		if st := r.Cache().Stat(); st.Partial != 1 || st.PartialBytes != 4*diskcache.BlockSize {
			t.Errorf("%+v", st)
		}
		r.restart()
		now := data
		if changed {
			now = bytes.Clone(data)
			now[0]++
			r.origin.put(resumeURL, now)
		}
		r.mustGet(resumeURL, want, now)
		m := r.Metrics()
		if fetched := int64(len(data) - 4*diskcache.BlockSize); !changed && (m.BytesFetched != fetched || m.Resumed != 1 || m.Requests != 1) {
			t.Errorf("%+v", m)
		}
		if st := r.Cache().Stat(); st.Partial != 0 || st.Files != 1 {
			t.Errorf("%+v", st)
		}
	}
}

// Without anything to tell versions apart by, nothing goes on.
func TestBrokenDownloadWithoutVersion(t *testing.T) {
	data := remotetest.Body(50_000)
	r := newRig(t)
	r.origin.noETag = true
	r.origin.put(resumeURL, data)
	r.origin.answer = breakAt(r.origin, 20_000)
	done := async(func() error { _, err := r.get(resumeURL, Expected{}); return err })
	r.clock.pass(time.Second)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if m := r.Metrics(); m.Resumed != 0 || m.RangeRequests != 0 {
		t.Errorf("%+v", m)
	}
}
