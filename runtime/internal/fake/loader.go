package fake

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/payload"
)

// Clock stands still until a test moves it.
type Clock struct{ Time time.Duration }

// Now returns the time.
func (c *Clock) Now() time.Duration { return c.Time }

// Epoch is when tests begin, so that "0 means unset" cannot hide.
const Epoch = 1000 * time.Second

// ErrFake is the error of loads that shall fail.
var ErrFake = errors.New("no such thing")

// LoaderFunc is a Loader of one function.
type LoaderFunc func(payload.Request)

// Start calls the function.
func (f LoaderFunc) Start(req payload.Request) { f(req) }

// Loader answers after a latency on the clock. Cancelled requests are answered
// when they would have been done anyway.
type Loader struct {
	Clock   *Clock
	Latency func(payload.Request) time.Duration
	Bytes   func(payload.Request) int64          // nil: 0
	Fault   func(payload.Request) string         // "", fail or hang; nil: none
	Asset   func(payload.Request) *payload.Asset // what full tiles give; nil: no assets
	Started []payload.Request
	queue   []pending
}

type pending struct {
	req payload.Request
	due time.Duration
}

// Start queues a request.
func (l *Loader) Start(req payload.Request) {
	l.Started = append(l.Started, req)
	l.queue = append(l.queue, pending{req, l.Clock.Time + l.Latency(req)})
}

// Deliver answers what is due.
func (l *Loader) Deliver() {
	l.queue = slices.DeleteFunc(l.queue, func(p pending) bool {
		if p.due > l.Clock.Time {
			return false
		}
		fault := ""
		if l.Fault != nil {
			fault = l.Fault(p.req)
		}
		switch fault {
		case "hang":
			return false
		case "fail":
			p.req.Done.Loaded(p.req.Token, payload.Result{Err: ErrFake})
		default:
			r := payload.Result{}
			if l.Bytes != nil {
				r.GeometryBytes = l.Bytes(p.req)
			}
			if l.Asset != nil && p.req.Key.Rep == payload.RepFull {
				r.Asset = l.Asset(p.req)
			}
			p.req.Done.Loaded(p.req.Token, r)
		}
		return true
	})
}

// Ask loads one request and returns the answer.
func Ask(t testing.TB, l payload.Loader, req payload.Request) payload.Result {
	t.Helper()
	done := payload.NewCompletions()
	req.Done, req.Token = done, 1
	if req.Context == nil {
		req.Context = t.Context()
	}
	l.Start(req)
	<-done.Ready()
	return done.Take(nil)[0].Result
}
