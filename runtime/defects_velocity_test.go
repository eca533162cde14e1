package runtime

import (
	"math"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/internal/fake"
)

// The tests of the files defects_*.go show that defects of the reference engine
// are not in this one.

func TestVelocityDoesNotDependOnRates(t *testing.T) {
	for _, fps := range []int{10, 30, 60, 144} {
		for _, tick := range []float64{0.016, 0.1} {
			m := motion{}
			dt := time.Second / time.Duration(fps)
			last := -time.Hour
			for f := range 3 * fps {
				now := fake.Epoch + time.Duration(f)*dt
				if now-last < seconds(tick) {
					continue
				}
				last = now
				m.sample(geom.Vec3{10 * (now - fake.Epoch).Seconds()}, now, 0.85, 80)
			}
			// After 3 s the smoothing has 0.85^30 = 0.8 % to go.
			if v := m.velocity[0]; math.Abs(v-10) > 0.12 {
				t.Errorf("%d fps, tick %v s: %.3f m/s, want 10", fps, tick, v)
			}
		}
	}
}

func TestVelocityVectors(t *testing.T) {
	// Constant 10 m/s from rest, a sample every 0.1 s.
	want := []float64{0, 1.5, 2.775, 3.859, 4.780, 5.563, 6.229, 6.794, 7.275}
	m := motion{}
	for i, v := range want {
		m.sample(geom.Vec3{float64(i)}, fake.Epoch+time.Duration(i)*100*time.Millisecond, 0.85, 80)
		if math.Abs(m.velocity[0]-v) > 6e-4 {
			t.Errorf("sample %d: %.4f m/s, want %.3f", i, m.velocity[0], v)
		}
	}
	slow := motion{}
	for i := range 11 {
		slow.sample(geom.Vec3{0.2 * float64(i)}, fake.Epoch+time.Duration(i)*100*time.Millisecond, 0.85, 80)
		p := slow.predict(geom.Vec3{}, 0.5, 1.5, 80)
		if moving := p != (geom.Vec3{}); moving != (i >= 9) {
			t.Errorf("2 m/s, sample %d: predicted %v at %.3f m/s", i, moving, slow.velocity[0])
		}
	}
}

func TestJumpIsNoVelocity(t *testing.T) {
	m := motion{}
	m.sample(geom.Vec3{}, fake.Epoch, 0.85, 50)
	m.sample(geom.Vec3{300}, fake.Epoch+100*time.Millisecond, 0.85, 50)
	if m.velocity != (geom.Vec3{}) || m.predict(geom.Vec3{300}, 0.5, 1.5, 50) != (geom.Vec3{300}) {
		t.Errorf("after a jump: %v", m.velocity)
	}
	// A fast but steady flight is a velocity; its look-ahead is bounded by the
	// largest radius.
	for i := range 100 {
		m.sample(geom.Vec3{300 + 40*float64(i)}, fake.Epoch+time.Duration(i+2)*100*time.Millisecond, 0.85, 50)
	}
	if p := m.predict(geom.Vec3{}, 0.5, 1.5, 50); math.Abs(p[0]-50) > 1e-9 {
		t.Errorf("400 m/s are predicted %.1f m ahead, want 50", p[0])
	}
	// Not even a jump without a number is a velocity.
	m.sample(geom.Vec3{math.NaN()}, fake.Epoch+time.Minute, 0.85, 50)
	if !m.velocity.IsFinite() {
		t.Errorf("velocity %v", m.velocity)
	}
}
