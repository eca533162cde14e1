// Package stable holds random numbers and angles that are the same bits on
// every platform and in every Go version, for what promises the same file for the
// same seed.
package stable

import "math"

// RNG is splitmix64: small, fast and fixed for ever, which math/rand does not
// promise for all its helpers.
type RNG struct{ state uint64 }

// NewRNG returns a generator whose stream depends on the seed and every tag,
// so that each block and building draws its own numbers whatever the others
// draw.
func NewRNG(seed uint64, tags ...int) *RNG {
	r := &RNG{seed}
	for _, t := range tags {
		r.state ^= r.Next() + uint64(int64(t))*0x9e3779b97f4a7c15
	}
	return r
}

// Next returns 64 random bits.
func (r *RNG) Next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	return Mix(r.state)
}

// Mix is the finalizer of splitmix64: a hash of 64 bits to 64 bits.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Float returns a number in [0,1).
func (r *RNG) Float() float64 { return float64(r.Next()>>11) / (1 << 53) }

// Span returns a number in [a,b).
func (r *RNG) Span(a, b float64) float64 {
	return float64(a) + float64(float64(r.Float())*(float64(b)-float64(a)))
}

// Intn returns a number in [0,n); n must be positive.
func (r *RNG) Intn(n int) int { return int(r.Next() % uint64(n)) }

// Chance reports true with probability p.
func (r *RNG) Chance(p float64) bool { return r.Float() < p }

// Pick returns one element of a list that must not be empty.
func Pick[T any](r *RNG, list ...T) T { return list[r.Intn(len(list))] }

// Sin returns the sine of t turns to about 1e-11. It exists because math.Sin
// may differ in the last bit between architectures that fuse multiply and add.
// The conversions here and in callers forbid just that; those of arguments
// guard against a product that the caller computed when calls are inlined.
func Sin(t float64) float64 {
	t -= math.Floor(t + 0.5) // [-0.5, 0.5)
	if t > 0.25 {
		t = 0.5 - t
	} else if t < -0.25 {
		t = -0.5 - t
	}
	x := t * 2 * math.Pi
	x2 := float64(x * x)
	// Taylor's series; the next term is below 1e-11 for |x| <= pi/2.
	sum, term := x, x
	for k := 3.0; k <= 15; k += 2 {
		term = -float64(float64(term*x2) / (k * (k - 1)))
		sum += term
	}
	return sum
}

// Cos returns the cosine of t turns.
func Cos(t float64) float64 { return Sin(float64(t) + 0.25) }

// Angle returns the angle in turns, in [-0.25, 0.75), whose sine and cosine
// are in the ratio s : c. It bisects, because math.Atan2 may differ in the
// last bit between architectures.
func Angle(s, c float64) float64 {
	lo, hi := -0.25, 0.25
	flip := c < 0
	if flip {
		s, c = -s, -c
	}
	for range 50 {
		m := (lo + hi) / 2
		if float64(Sin(m)*c) < float64(Cos(m)*s) {
			lo = m
		} else {
			hi = m
		}
	}
	if flip {
		return lo + 0.5
	}
	return lo
}
