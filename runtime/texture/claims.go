package texture

import "math"

// giveWay is how much farther away something must be to give its memory up.
const giveWay = 1.1

// refusal is a wish for which there was no room.
type refusal struct {
	distance float64
	bytes    int64
	less     int64 // what would do for now; as bytes where nothing less does
	first    bool  // of something that has nothing: all that is above the minimum gives way to it
}

// claims owns who may take the room that is left. The wishes for which there was
// none are kept by distance, the nearest of a tick; the one for which room is made
// has a claim in the next tick, against which nothing farther away takes any. It
// moves no bytes.
type claims struct {
	nearest, next float64 // claims of this tick and the one to come; +Inf: none
	refused       [8]refusal
	n             int
}

func newClaims() claims { return claims{nearest: math.Inf(1), next: math.Inf(1)} }

// turn begins a tick.
func (c *claims) turn() { c.nearest, c.next, c.n = c.next, math.Inf(1), 0 }

// claimed reports whether the room that is left is kept for something nearer.
func (c *claims) claimed(distance float64) bool { return distance > giveWay*c.nearest }

// keep gives a distance a claim in the next tick.
func (c *claims) keep(distance float64) { c.next = min(c.next, distance) }

// refuse notes a wish for which there was no room. Of many the first are kept.
func (c *claims) refuse(x refusal) {
	at := c.n
	for at > 0 && x.before(c.refused[at-1]) {
		at--
	}
	if at == len(c.refused) {
		return
	}
	c.n = min(c.n+1, len(c.refused))
	copy(c.refused[at+1:c.n], c.refused[at:c.n-1])
	c.refused[at] = x
}

// before orders wishes: of what has nothing first, then the nearest.
func (x refusal) before(o refusal) bool {
	if x.first != o.first {
		return x.first
	}
	return x.distance < o.distance
}

// refusals returns the wishes that this tick refused, in their order.
func (c *claims) refusals() []refusal { return c.refused[:c.n] }
