package draco

import (
	"math"
	"math/bits"
)

// octahedron maps unit vectors to a square: the octahedron |x|+|y|+|z| = 1 is
// unfolded around its corner +x, so that the four faces of -x are triangles at
// the square's corners. See Z. Cigolle et al., "A survey of efficient
// representations for independent unit vectors" (2014).
type octahedron struct {
	side   int32 // 2^bits - 1, the number of values along a side
	most   int32 // side - 1, the largest value
	centre int32
}

// set sets the size from the largest quantized value of the stream.
func (o *octahedron) set(side int32) bool {
	n := bits.Len32(uint32(side))
	if side <= 0 || side%2 == 0 || n < 2 || n > 30 {
		return false
	}
	o.side = 1<<n - 1
	o.most = o.side - 1
	o.centre = o.most / 2
	return true
}

func abs(v int32) int32 { return max(v, -v) }

// flip exchanges the inside of the diamond, relative to the centre, with the
// outside.
func (o *octahedron) flip(s, t int32) (int32, int32) {
	signS, signT := int32(-1), int32(-1)
	switch {
	case s >= 0 && t >= 0:
		signS, signT = 1, 1
	case s <= 0 && t <= 0:
	default:
		if s > 0 {
			signS = 1
		}
		if t > 0 {
			signT = 1
		}
	}
	cs, ct := signS*o.centre, signT*o.centre
	s, t = 2*s-cs, 2*t-ct
	if signS == signT {
		s, t = -t, -s
	} else {
		s, t = t, s
	}
	return (s + cs) / 2, (t + ct) / 2
}

// turns returns by how many quarters a point is turned into the lower left.
func turns(s, t int32) int {
	switch {
	case s == 0 && t == 0:
		return 0
	case s == 0 && t > 0, s < 0 && t > 0:
		return 3
	case s > 0 && t >= 0:
		return 2
	case s > 0, s == 0:
		return 1
	}
	return 0
}

// rotate turns a point by quarters.
func rotate(s, t int32, quarters int) (int32, int32) {
	switch quarters & 3 {
	case 1:
		return t, -s
	case 2:
		return -s, -t
	case 3:
		return -t, s
	}
	return s, t
}

// wrap brings a coordinate back into the square.
func (o *octahedron) wrap(x int32) int32 {
	if x > o.centre {
		return x - o.side
	}
	if x < -o.centre {
		return x + o.side
	}
	return x
}

// apply corrects the prediction (s, t) by (ds, dt), which are coded as if the
// prediction were in the lower left of the diamond.
func (o *octahedron) apply(s, t, ds, dt int32) (int32, int32) {
	s, t = s-o.centre, t-o.centre
	outside := abs(s)+abs(t) > o.centre
	if outside {
		s, t = o.flip(s, t)
	}
	// Points of the lower left are not turned: turns returns 0 for them.
	quarters := turns(s, t)
	s, t = rotate(s, t, quarters)
	s, t = o.wrap(s+ds), o.wrap(t+dt)
	s, t = rotate(s, t, -quarters)
	if outside {
		s, t = o.flip(s, t)
	}
	return s + o.centre, t + o.centre
}

// project returns the coordinates of a vector of the octahedron whose size is
// the centre.
func (o *octahedron) project(v [3]int32) (s, t int32) {
	if v[0] >= 0 {
		s, t = v[1]+o.centre, v[2]+o.centre
	} else {
		s, t = abs(v[2]), abs(v[1])
		if v[1] >= 0 {
			s = o.most - s
		}
		if v[2] >= 0 {
			t = o.most - t
		}
	}
	// Points of the border occur twice: one of them is taken.
	c, m := o.centre, o.most
	switch {
	case s == 0 && t == 0, s == 0 && t == m, s == m && t == 0:
		return m, m
	case s == 0 && t > c, s == m && t < c:
		return s, 2*c - t
	case t == m && s < c, t == 0 && s > c:
		return 2*c - s, t
	}
	return s, t
}

// shrink returns a vector of any length as one of the octahedron.
func (o *octahedron) shrink(v vec3) (out [3]int32) {
	sum := size(v[0]) + size(v[1]) + size(v[2])
	if sum == 0 {
		return [3]int32{o.centre, 0, 0}
	}
	c := int64(o.centre)
	out[0], out[1] = int32(v[0]*c/sum), int32(v[1]*c/sum)
	out[2] = o.centre - abs(out[0]) - abs(out[1])
	if v[2] < 0 {
		out[2] = -out[2]
	}
	return out
}

// normal predicts normal i by the faces around its vertex, weighted by area.
func (p *predictor) normal(i int, pred []int32) {
	start := p.a.dec.order.corner[i]
	centre := p.pos(p.valueAt(start))
	var sum vec3
	p.a.dec.t.fan(start, func(c int32) bool {
		a := p.pos(p.valueAt(next(c))).minus(centre)
		b := p.pos(p.valueAt(prev(c))).minus(centre)
		sum[0] += a[1]*b[2] - a[2]*b[1]
		sum[1] += a[2]*b[0] - a[0]*b[2]
		sum[2] += a[0]*b[1] - a[1]*b[0]
		return true
	})
	const most = 1 << 29
	total := int64(0)
	for _, v := range sum {
		if v = size(v); v < 0 || total > math.MaxInt64-v {
			total = math.MaxInt64
			break
		}
		total += v
	}
	if total > most {
		q := total / most
		sum = vec3{sum[0] / q, sum[1] / q, sum[2] / q}
	}
	for k := range sum {
		sum[k] = int64(int32(sum[k]))
	}
	v := p.oct.shrink(sum)
	if p.flips.next() {
		v = [3]int32{-v[0], -v[1], -v[2]}
	}
	pred[0], pred[1] = p.oct.project(v)
}

// unitVector returns the vector of a point of the square with 2^bits - 1
// values along a side.
func unitVector(s, t int32, width int) [3]float32 {
	scale := 2 / float32(int32(1)<<width-2)
	y := float32(float32(s)*scale) - 1
	z := float32(float32(t)*scale) - 1
	x := 1 - float32(math.Abs(float64(y))) - float32(math.Abs(float64(z)))
	fold := max(-x, 0)
	if y < 0 {
		y += fold
	} else {
		y -= fold
	}
	if z < 0 {
		z += fold
	} else {
		z -= fold
	}
	square := float32(float32(x*x)+float32(y*y)) + float32(z*z)
	if float64(square) < 1e-6 {
		return [3]float32{}
	}
	d := 1 / float32(math.Sqrt(float64(square)))
	return [3]float32{x * d, y * d, z * d}
}
