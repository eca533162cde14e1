package preview

import (
	"context"
	"slices"
	"time"

	"github.com/untoldkit/untold/runtime"
)

// origin is what the clock says at frame 0, as in package simulate: not 0, so
// that "0 means unset" cannot hide.
const origin = 1000 * time.Second

// clock is the runtime's clock: that of the wall, or a virtual one that stands
// still between frames.
type clock struct {
	start   time.Time
	virtual bool
	now     time.Duration // since frame 0
}

// Now is the runtime.Clock.
func (c *clock) Now() time.Duration {
	if c.virtual {
		return origin + c.now
	}
	return origin + time.Since(c.start)
}

// elapsed returns the time since frame 0.
func (c *clock) elapsed() time.Duration { return c.Now() - origin }

// gate is a Loader, and in front of a Fetcher a Fetcher, that holds requests
// back for a latency. With exact set the answer comes then and not later: deliver waits for
// it. So a run on a virtual clock sees the same answers at the same times
// however fast the disk is.
type gate struct {
	inner   runtime.Loader
	fetcher runtime.Fetcher // may be nil
	clock   *clock
	latency time.Duration
	exact   bool
	// ready is Streamer.Ready: it has a value when an answer came in.
	ready func() <-chan struct{}

	waiting  []held // by the order of the requests
	fetching []runtime.Request
}

// held is a request that is not passed on yet.
type held struct {
	req runtime.Request
	due time.Duration
}

// Start is the Loader.
func (g *gate) Start(req runtime.Request) {
	if g.latency == 0 && !g.exact {
		g.inner.Start(req)
		return
	}
	g.waiting = append(g.waiting, held{req, g.clock.Now() + g.latency})
}

// gatedFetcher lets deliver wait for downloads too.
type gatedFetcher struct{ *gate }

// Fetch is the Fetcher.
func (g gatedFetcher) Fetch(req runtime.Request) {
	if !g.exact {
		g.fetcher.Fetch(req)
		return
	}
	req.Split = nil // parts would be asked for past the gate
	g.fetching = append(g.fetching, req)
}

// deliver passes on what is due. With exact it returns when the answers are
// there, or with ctx.
func (g *gate) deliver(ctx context.Context) error {
	for _, req := range g.fetching {
		if err := g.await(ctx, func() { g.fetcher.Fetch(req) }); err != nil {
			return err
		}
	}
	g.fetching = g.fetching[:0]
	now := g.clock.Now()
	var err error
	g.waiting = slices.DeleteFunc(g.waiting, func(h held) bool {
		if h.due > now || err != nil {
			return false
		}
		err = g.await(ctx, func() { g.inner.Start(h.req) })
		return true
	})
	return err
}

// await starts a piece of work and, with exact, waits for its answer.
func (g *gate) await(ctx context.Context, start func()) error {
	if !g.exact {
		start()
		return nil
	}
	ready := g.ready()
	select { // of an earlier answer
	case <-ready:
	default:
	}
	start()
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// forget drops what waits, when the Streamer that asked for it is closed.
func (g *gate) forget() { g.waiting, g.fetching = nil, nil }

// device is what the runtime sees of the renderer. With sync set everything
// that was uploaded can be drawn at once, and nothing depends on how long that
// takes.
type device struct {
	renderer
	sync bool
}

// Drawable is the Visibility.
func (d *device) Drawable(key runtime.Key) bool {
	if !d.sync {
		return d.renderer.Drawable(key)
	}
	pumpAll(d.renderer)
	return true
}
