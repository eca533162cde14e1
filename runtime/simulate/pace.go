package simulate

import (
	"context"
	"time"

	"github.com/untoldkit/untold/internal/clock"
	"github.com/untoldkit/untold/runtime"
)

// maxLag is how far the simulated time may fall behind the wall clock, through
// slow updates, and still catch up.
const maxLag = 100 * time.Millisecond

// pacer keeps the simulated time from running ahead of loads that take real
// time: while there are some, a frame takes as long as it says. Otherwise frames
// follow each other as fast as they can.
type pacer struct {
	wall clock.Clock
	next time.Time // when the next frame is due; zero: there was none under way
}

// frame ends a frame: busy is whether real loads are under way.
func (p *pacer) frame(ctx context.Context, busy bool, dt time.Duration) error {
	if !busy {
		p.next = time.Time{}
		return ctx.Err()
	}
	now := p.wall.Now()
	if p.next.IsZero() || now.Sub(p.next) > maxLag {
		p.next = now
	}
	p.next = p.next.Add(dt)
	return p.wall.Sleep(ctx, p.next.Sub(now))
}

// note takes from the counters what real loads cannot tell by themselves.
func (r *run) note(stats *runtime.Stats) {
	r.loading = stats.ActiveLoadsAtUpdateEnd > 0 || r.w.textures != nil && r.w.textures.opening.running > 0
	if r.o.real() {
		r.w.requested, r.w.loaded = stats.BytesRequested, stats.BytesLoaded
	}
}

// settleTime is how long what is under way at the end may take.
const settleTime = 10 * time.Second

// settle goes on, unmeasured, until no real loads are under way.
func (r *run) settle(ctx context.Context) error {
	if !r.o.real() {
		return nil
	}
	camera := r.s.Path.At(r.w.now)
	for left := settleTime; r.loading && left > 0; left -= r.s.DT {
		r.w.now, r.w.frame = r.w.now+r.s.DT, r.w.frame+1
		if err := r.w.deliver(); err != nil {
			return err
		}
		r.streamer.Update(camera, r.s.DT)
		stats := r.streamer.Stats()
		r.note(&stats)
		if err := r.pacer.frame(ctx, r.loading, r.s.DT); err != nil {
			return err
		}
	}
	return ctx.Err()
}
