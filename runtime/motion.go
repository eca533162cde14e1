package runtime

import (
	"math"
	"time"

	"github.com/untoldkit/untold/internal/geom"
)

// minJump is the shortest movement between two samples that counts as a jump,
// in metres.
const minJump = 50

// motion estimates the camera's velocity in world space. Unlike the reference
// engine it works on time, not on ticks: neither frame rate nor tick rate
// changes the estimate.
type motion struct {
	last     geom.Vec3
	at       time.Duration
	velocity geom.Vec3 // metres per second
	started  bool
}

// sample takes the position at a time. smoothing is the weight of the old
// velocity over 0.1 s; a movement beyond jump is no velocity.
func (m *motion) sample(p geom.Vec3, now time.Duration, smoothing, jump float64) {
	if !m.started {
		*m = motion{last: p, at: now, started: true}
		return
	}
	dt := (now - m.at).Seconds()
	if !(dt > 0) {
		return
	}
	move := p.Sub(m.last)
	m.last, m.at = p, now
	if !(move.Len() <= max(minJump, jump)) {
		m.velocity = geom.Vec3{}
		return
	}
	old := math.Pow(smoothing, dt/0.1)
	m.velocity = m.velocity.Scale(old).Add(move.Scale((1 - old) / dt))
}

// predict returns the position after lookAhead seconds, no farther away than
// limit, or p itself when the camera is slower than minSpeed.
func (m *motion) predict(p geom.Vec3, lookAhead, minSpeed, limit float64) geom.Vec3 {
	speed := m.velocity.Len()
	if !(speed >= minSpeed) || !(lookAhead > 0) {
		return p
	}
	return p.Add(m.velocity.Scale(min(lookAhead, limit/speed)))
}
