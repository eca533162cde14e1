package simulate

import (
	"math"
	"slices"
	"time"
)

// network shares a bandwidth evenly among concurrent downloads (processor
// sharing). Each one waits for the latency first. All times are simulated, and
// the result depends on nothing but the calls.
type network struct {
	bandwidth float64 // bytes per second; 0: unlimited
	latency   time.Duration
	now       time.Duration
	flows     []flow // in the order of start
}

// flow is one download.
type flow struct {
	id    uint64
	begin time.Duration // when its bytes start to flow
	left  float64       // bytes
}

// start begins a download now.
func (n *network) start(id uint64, size int64) {
	n.flows = append(n.flows, flow{id: id, begin: n.now + n.latency, left: float64(size)})
}

// cancel ends a download; its share goes to the others.
func (n *network) cancel(id uint64) {
	n.flows = slices.DeleteFunc(n.flows, func(f flow) bool { return f.id == id })
}

// advance moves on to a time and returns the downloads that are complete by
// then, in the order of completion.
func (n *network) advance(to time.Duration) (done []uint64) {
	for {
		step, sharing := n.next(to)
		n.transfer(step, sharing)
		n.now += step
		before := len(n.flows)
		n.flows = slices.DeleteFunc(n.flows, func(f flow) bool {
			if f.begin > n.now || f.left > 0 {
				return false
			}
			done = append(done, f.id)
			return true
		})
		if step == 0 && len(n.flows) == before {
			return done
		}
	}
}

// next returns the time until something changes, at most until to: a download
// begins to flow, or the smallest one is complete. sharing is how many flow.
func (n *network) next(to time.Duration) (step time.Duration, sharing int) {
	step = to - n.now
	least := math.Inf(1)
	for i := range n.flows {
		f := &n.flows[i]
		if f.begin > n.now {
			step = min(step, f.begin-n.now)
			continue
		}
		sharing++
		least = min(least, f.left)
	}
	if sharing == 0 {
		return step, 0
	}
	if n.bandwidth <= 0 {
		return 0, sharing
	}
	// Rounded up, so that a step of the least is enough for it.
	need := math.Ceil(least * float64(sharing) / n.bandwidth * 1e9)
	if need < float64(step) {
		step = time.Duration(need)
	}
	return step, sharing
}

// transfer moves the bytes of a step.
func (n *network) transfer(step time.Duration, sharing int) {
	if sharing == 0 {
		return
	}
	share := step.Seconds() * n.bandwidth / float64(sharing)
	for i := range n.flows {
		f := &n.flows[i]
		if f.begin > n.now {
			continue
		}
		f.left -= share
		// What a nanosecond would bring is nothing left.
		if n.bandwidth <= 0 || f.left < n.bandwidth*1e-9 {
			f.left = 0
		}
	}
}
