package preview

import (
	"slices"
	"time"

	"github.com/untoldkit/untold/runtime/payload"
)

// origin is what the clock says at frame 0, as in package simulate: not 0, so
// that "0 means unset" cannot hide.
const origin = 1000 * time.Second

// clock is the runtime's clock: that of the wall, or a virtual one that stands
// still between frames.
type clock struct {
	start   time.Time
	virtual bool
	now     time.Duration        // since frame 0, if it is virtual
	wall    func() time.Duration // stands for the wall's time since frame 0; of tests
}

// Now is the runtime.Clock.
func (c *clock) Now() time.Duration {
	if c.virtual {
		return origin + c.now
	}
	if c.wall != nil {
		return origin + c.wall()
	}
	return origin + time.Since(c.start)
}

// elapsed returns the time since frame 0.
func (c *clock) elapsed() time.Duration { return c.Now() - origin }

// gate is a Loader that holds requests back for a latency, at least.
type gate struct {
	inner   payload.Loader
	clock   *clock
	latency time.Duration

	waiting []held // by the order of the requests
}

// held is a request that is not passed on yet.
type held struct {
	req payload.Request
	due time.Duration
}

// Start is the Loader.
func (g *gate) Start(req payload.Request) {
	if g.latency == 0 {
		g.inner.Start(req)
		return
	}
	g.waiting = append(g.waiting, held{req, g.clock.Now() + g.latency})
}

// deliver passes on what is due.
func (g *gate) deliver() {
	now := g.clock.Now()
	g.waiting = slices.DeleteFunc(g.waiting, func(h held) bool {
		if h.due > now {
			return false
		}
		g.inner.Start(h.req)
		return true
	})
}
