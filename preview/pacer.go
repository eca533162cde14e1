package preview

import (
	"context"
	goruntime "runtime"
	"time"

	wallclock "github.com/untoldkit/untold/internal/clock"
)

// pacer hands over the frames of a headless run at a fixed rate, as a display
// would, and measures the time from one to the next.
//
// Frames are due on a fixed grid, so that errors do not add up. One that is
// late is handed over at once, and those after it are due on the grid again:
// what was missed is not made up for, which would make a burst of short frames
// of one long one.
type pacer struct {
	wall waiter
	step time.Duration // from one frame to the next; 0: as they come

	due    time.Time     // of the next frame
	handed time.Time     // when the last frame was handed over
	over   time.Duration // what sleeping takes too long, as far as is known
}

// waiter is the clock of a pacer.
type waiter interface {
	wallclock.Clock
	// Yield lets others run for a moment.
	Yield()
}

// wallWaiter is the waiter of the machine.
type wallWaiter struct{ wallclock.System }

func (wallWaiter) Yield() { goruntime.Gosched() }

// Sleeping takes longer than asked for by what the system needs to wake a
// thread. So the pacer sleeps less than is left, by as much as it has seen that
// to be, and yields until the time has come.
const (
	leastSlack = 50 * time.Microsecond
	mostSlack  = 2 * time.Millisecond // beyond it yielding would cost more than waking late
	slackDecay = 32                   // by which part of it a known delay is forgotten per sleep
)

// start begins the grid: the first frame is due a step from now.
func (p *pacer) start() {
	p.handed = time.Time{}
	p.due = p.wall.Now().Add(p.step)
}

// hand waits until a frame that is done is due, hands it over and returns the
// time since the last one was, 0 for the first. It ends early with ctx.
func (p *pacer) hand(ctx context.Context) (interval time.Duration) {
	now := p.wall.Now()
	if p.step > 0 {
		now = p.await(ctx, now)
		p.advance(now)
	}
	if !p.handed.IsZero() {
		interval = now.Sub(p.handed)
	}
	p.handed = now
	return interval
}

// await returns the time at which the wait for the frame's place on the grid
// ended; at once when that has passed.
func (p *pacer) await(ctx context.Context, now time.Time) time.Time {
	slack := min(leastSlack+p.over, mostSlack)
	if d := p.due.Sub(now) - slack; d > 0 {
		if p.wall.Sleep(ctx, d) != nil {
			return p.wall.Now()
		}
		woke := p.wall.Now()
		p.over = max(woke.Sub(now)-d, p.over-p.over/slackDecay)
		now = woke
	}
	for now.Before(p.due) && ctx.Err() == nil {
		p.wall.Yield()
		now = p.wall.Now()
	}
	return now
}

// advance finds when the next frame is due: at the first place on the grid that
// is at least half a step away.
func (p *pacer) advance(now time.Time) {
	p.due = p.due.Add(p.step)
	if late := now.Add(p.step / 2).Sub(p.due); late > 0 {
		steps := (late + p.step - 1) / p.step
		p.due = p.due.Add(steps * p.step)
	}
}
