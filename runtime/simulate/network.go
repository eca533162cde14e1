package simulate

import (
	"math"
	"slices"
	"time"

	"github.com/untoldkit/untold/runtime/internal/hostqueue"
)

// network models one host. As many downloads run at a time as runtime/remote would have
// requests to it, the others wait for a place in the order that it would admit them in. One
// that has a place waits for the latency, as every request does, and then shares the
// bandwidth evenly with all that flow (processor sharing). All times are simulated, and the
// result depends on nothing but the calls.
type network struct {
	bandwidth float64 // bytes per second; 0: unlimited
	latency   time.Duration
	now       time.Duration
	limits    hostqueue.Limits
	queue     *hostqueue.Queue[uint64] // of the flows' ids
	flows     []flow                   // in the order of start
}

// flow is one download.
type flow struct {
	id    uint64
	class hostqueue.Class
	begin time.Duration // when its bytes start to flow; never while it waits for a place
	left  float64       // bytes
}

func newNetwork(bandwidth float64, latency time.Duration, l hostqueue.Limits) *network {
	return &network{bandwidth: bandwidth, latency: latency, limits: l, queue: hostqueue.New[uint64](l)}
}

// start begins a download of so many bytes now, or has it wait for a place. The request says
// what it is for, and may not know its size.
func (n *network) start(id uint64, bytes int64, r hostqueue.Request) {
	c := n.limits.ClassOf(r)
	n.flows = append(n.flows, flow{id: id, class: c, begin: never, left: float64(bytes)})
	n.queue.Arrive(c, id)
	n.admit()
}

// cancel ends a download, also one that waits; its place goes to the next, its share to the
// others.
func (n *network) cancel(id uint64) {
	at := slices.IndexFunc(n.flows, func(f flow) bool { return f.id == id })
	if at < 0 {
		return
	}
	if c := n.flows[at].class; !n.queue.Withdraw(c, id) {
		n.queue.Leave(c)
	}
	n.flows = slices.Delete(n.flows, at, at+1)
	n.admit()
}

// admit lets as many requests go as there are places.
func (n *network) admit() {
	for {
		id, ok := n.queue.Admit()
		if !ok {
			return
		}
		at := slices.IndexFunc(n.flows, func(f flow) bool { return f.id == id })
		n.flows[at].begin = n.now + n.latency
	}
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
			n.queue.Leave(f.class)
			done = append(done, f.id)
			return true
		})
		n.admit()
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
