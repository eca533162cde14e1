package remote

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

// harmfulClock spoils a byte of a file whenever somebody asks for the time, which
// happens after bytes were written and before they are read back: a disk that
// returns other bytes than it was given.
type harmfulClock struct {
	*fakeClock
	file string
	at   int64
	good byte
}

func (c *harmfulClock) Now() time.Time {
	if f, err := os.OpenFile(c.file, os.O_RDWR, 0); err == nil && c.file != "" {
		var b [1]byte
		if _, err := f.ReadAt(b[:], c.at); err == nil && b[0] == c.good {
			f.WriteAt([]byte{^c.good}, c.at)
		}
		f.Close()
	}
	return c.fakeClock.Now()
}

// A disk that returns damaged blocks whenever it is asked ends a read with an
// error that says so, after a few requests.
func TestDiskThatDamagesParts(t *testing.T) {
	clock := &harmfulClock{fakeClock: newClock()}
	r, data := newPartsRig(t, func(o *Options) { o.Clock = clock })
	x := r.openParts(partsRequest(data))
	mustRead(t, x, data, 0, len(data)/2)
	clock.file = r.cache.Path(fileNameOf(t, partsURL) + ".part")
	clock.at = int64(len(data)) - 5000
	clock.good = data[clock.at]
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	most, answer := r.Metrics().Requests+8*rangeTries, r.origin.answer
	r.origin.answer = answerUpTo(r, most, cancel)
	for _, tt := range []struct {
		name string
		read func() error
	}{
		{"a part", func() error {
			_, err := (&rangeSource{ctx: ctx, file: x.(*rangeFile)}).ReadAt(make([]byte, 100), clock.at-50)
			return err
		}},
		{"complete", func() error { return x.Bring(ctx, []payload.Span{{From: 0, To: int64(len(data))}}) }},
		{"whole", func() error {
			_, err := r.Local(ctx, partsURL, Expected{int64(len(data)), remotetest.HashOf(data)})
			return err
		}},
	} {
		err := tt.read()
		if !errors.Is(err, ErrCache) {
			t.Fatalf("%s: %v", tt.name, err)
		}
		for _, part := range []string{clock.file, "disk", "--cache-dir"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v: does not say %q", tt.name, err, part)
			}
		}
	}
	// The disk is well again.
	clock.file = ""
	r.origin.answer = answer
	mustRead(t, r.openParts(partsRequest(data)), data, 0, len(data))
}

// answerUpTo answers as withRanges does, and ends a test that asks too often.
func answerUpTo(r *rig, most int64, cancel context.CancelCauseFunc) func(*http.Request) (*http.Response, error) {
	answer := withRanges(r.origin)
	return func(req *http.Request) (*http.Response, error) {
		if r.Metrics().Requests > most {
			cancel(errors.New("it asks again and again"))
		}
		return answer(req)
	}
}
