package serve

import (
	"context"
	"math"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestBucket: whatever is asked for, no more passes in any time than the
// bandwidth allows, a burst aside, and a busy line does not idle.
func TestBucket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(100, 1e9).Draw(t, "rate")
		clock := newClock()
		b := newBucket(rate, clock)
		start, sent := clock.Now(), 0.0
		for range rapid.IntRange(1, 50).Draw(t, "pieces") {
			n := rapid.IntRange(1, b.piece()).Draw(t, "bytes")
			wait := b.reserve(n)
			sent += float64(n)
			due := clock.Now().Add(wait).Sub(start).Seconds()
			if sent > rate*(due+burstTime.Seconds())*1.000001+1 {
				t.Fatalf("%v bytes have passed after %v s", sent, due)
			}
			if rapid.Bool().Draw(t, "wait") {
				clock.Advance(max(wait, 0))
			}
		}
		// From then on there is no gap.
		clock.Advance(time.Second)
		b.reserve(1)
		first := clock.Now().Add(b.reserve(1))
		n := b.piece()
		for range 10 {
			b.reserve(n)
		}
		took := clock.Now().Add(b.reserve(1)).Sub(first).Seconds()
		if want := float64(10*n+1) / rate; math.Abs(took-want) > 1e-6*want+1e-7 {
			t.Errorf("%d bytes take %v s, want %v", 10*n, took, want)
		}
	})
}

// TestBandwidth: a body takes the time of its bytes.
func TestBandwidth(t *testing.T) {
	text := strings.Repeat(digits, 50_000)
	dir := folder(t, map[string]string{"a.untold": text})
	for _, rate := range []float64{2000, 1e6, 10e6} {
		clock := newClock()
		clock.auto = true
		h := handler(t, dir, Options{Bandwidth: rate, Clock: clock})
		begin := clock.Now()
		if r := ask(t, h, "GET", "/a.untold"); r.body != text {
			t.Errorf("%d bytes", len(r.body))
		}
		took, want := clock.Now().Sub(begin).Seconds(), float64(len(text))/rate
		if took > want+1e-6 || took < want-burstTime.Seconds()-1e-6 {
			t.Errorf("at %v B/s: %v s, want %v", rate, took, want)
		}
	}
}

// TestShares: bodies under way get equal shares, whenever they begin.
func TestShares(t *testing.T) {
	const rate = 1e6
	clock := newClock()
	b := newBucket(rate, clock)
	begin := clock.Now()
	type body struct {
		left int
		due  time.Time // of its next piece
	}
	// Three of 300 kB from the start; one of 100 kB after half a second.
	bodies := []*body{{300_000, begin}, {300_000, begin}, {300_000, begin}, {100_000, begin.Add(500 * time.Millisecond)}}
	var ends [4]time.Duration
	for range 1000 {
		next := -1
		for i, x := range bodies {
			if x.left > 0 && (next < 0 || x.due.Before(bodies[next].due)) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		x := bodies[next]
		if x.due.After(clock.Now()) {
			clock.Advance(x.due.Sub(clock.Now()))
		}
		n := min(x.left, b.piece())
		x.left -= n
		x.due = clock.Now().Add(max(0, b.reserve(n)))
		ends[next] = x.due.Sub(begin)
	}
	// The late one shares among four until it has its 100 kB, at 0.9 s; what is
	// left of the others ends at 1 s.
	for i, want := range []float64{1, 1, 1, 0.9} {
		if got := ends[i].Seconds(); math.Abs(got-want) > 0.06 {
			t.Errorf("body %d ends after %v s, want %v", i, got, want)
		}
	}
}

// TestLatency: nothing comes before it has passed; a client that goes away is
// not waited for.
func TestLatency(t *testing.T) {
	clock := newClock()
	h := handler(t, folder(t, map[string]string{"a.untold": digits}), Options{Latency: 40 * time.Millisecond, Clock: clock})
	got := make(chan answer, 1)
	go func() { got <- ask(t, h, "GET", "/a.untold") }()
	clock.await(t, 1)
	clock.Advance(39 * time.Millisecond)
	select {
	case <-got:
		t.Fatal("too early")
	default:
	}
	clock.Advance(time.Millisecond)
	if r := <-got; r.body != digits {
		t.Errorf("%q", r.body)
	}
	// Who goes away is not waited for, here and in the middle of a body.
	for _, o := range []Options{{Latency: time.Hour}, {Bandwidth: 1}} {
		o.Clock = clock
		var log Entry
		o.Log = func(e *Entry) { log = *e }
		h := handler(t, folder(t, map[string]string{"a.untold": digits}), o)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/a.untold", nil))
		}()
		clock.await(t, 1)
		cancel()
		<-ended
		if !log.CutShort || log.Bytes != 0 || h.Stats().CutShort != 1 {
			t.Errorf("%+v", log)
		}
	}
}
