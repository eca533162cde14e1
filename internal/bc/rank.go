package bc

import "math"

// moments are sums over texels and over products of their channels, several in a word: each is
// below 2^21.
type moments [5]uint64

const (
	momentBits = 21
	momentMask = 1<<momentBits - 1
)

// momentsOf returns those of a texel.
func momentsOf(x *[4]int32) (m moments) {
	r, g, b, a := uint64(x[0]), uint64(x[1]), uint64(x[2]), uint64(x[3])
	m[0] = r | g<<16 | b<<32 | a<<48
	m[1] = r*r | r*g<<momentBits | r*b<<(2*momentBits)
	m[2] = g*g | g*b<<momentBits | b*b<<(2*momentBits)
	m[3] = r*a | g*a<<momentBits | b*a<<(2*momentBits)
	m[4] = a * a
	return m
}

// ranking estimates what patterns leave of a block.
type ranking struct {
	rows  [4][16]moments // by row of the block and which of its texels are meant
	total moments
	words int // of moments that are in use: 3 without alpha
}

// prepare adds up the rows.
func (r *ranking) prepare(px *[16][4]int32, channels int) {
	if r.words = 3; channels > 3 {
		r.words = 5
	}
	r.total = moments{}
	for y := range r.rows {
		row := &r.rows[y]
		for k := range 4 {
			one := momentsOf(&px[4*y+k])
			for m := range 1 << k {
				to, from := &row[(m|1<<k)&15], &row[m]
				for i := range r.words {
					to[i] = from[i] + one[i]
				}
			}
		}
		for i := range r.words {
			r.total[i] += row[15][i]
		}
	}
}

// sum returns the moments of the texels of a mask.
func (r *ranking) sum(mask uint16) (m moments) {
	a, b, c, d := &r.rows[0][mask&15], &r.rows[1][mask>>4&15], &r.rows[2][mask>>8&15], &r.rows[3][mask>>12]
	m[0] = a[0] + b[0] + c[0] + d[0]
	m[1] = a[1] + b[1] + c[1] + d[1]
	m[2] = a[2] + b[2] + c[2] + d[2]
	if r.words > 3 {
		m[3] = a[3] + b[3] + c[3] + d[3]
		m[4] = a[4] + b[4] + c[4] + d[4]
	}
	return m
}

func (m *moments) minus(o *moments) (d moments) {
	for i := range m {
		d[i] = m[i] - o[i]
	}
	return d
}

// spread returns how far n texels are from their mean, as a sum of squares: along a line
// through them, and, as if they lay in a plane, aside from it.
func (m *moments) spread(n int, alpha bool) (along, aside float64) {
	if !alpha {
		return spread3(m[0], m[1], m[2], n)
	}
	k := int64(n)
	r, g, b, a := int64(m[0]&0xffff), int64(m[0]>>16&0xffff), int64(m[0]>>32&0xffff), int64(m[0]>>48)
	rr := k*int64(m[1]&momentMask) - r*r
	rg := k*int64(m[1]>>momentBits&momentMask) - r*g
	rb := k*int64(m[1]>>(2*momentBits)) - r*b
	gg := k*int64(m[2]&momentMask) - g*g
	gb := k*int64(m[2]>>momentBits&momentMask) - g*b
	bb := k*int64(m[2]>>(2*momentBits)) - b*b
	ra := k*int64(m[3]&momentMask) - r*a
	ga := k*int64(m[3]>>momentBits&momentMask) - g*a
	ba := k*int64(m[3]>>(2*momentBits)) - b*a
	aa := k*int64(m[4]) - a*a
	squares := rr*rr + gg*gg + bb*bb + aa*aa + 2*(rg*rg+rb*rb+gb*gb+ra*ra+ga*ga+ba*ba)
	return eigenvalues(rr+gg+bb+aa, squares, n)
}

// ranked is a pattern and what it leaves, as estimated for weights of three bits and of two.
type ranked struct {
	pattern uint8
	miss    [2]float64
}

// share is how much of the squared distances along a line weights of two, three and four bits
// leave: one over the square of the number of steps, as of values spread evenly.
var share = [5]float64{2: 1. / 9, 3: 1. / 49, 4: 1. / 225}

// two estimates the first so many patterns of two sets.
func (r *ranking) two(of []ranked, alpha bool) {
	if !alpha {
		r.twoOpaque(of)
		return
	}
	for p := range of {
		b := r.sum(patterns[p&63])
		a := r.total.minus(&b)
		n := sizes[p&63]
		l0, o0 := a.spread(16-n, true)
		l1, o1 := b.spread(n, true)
		of[p] = newRanked(p, l0+l1, o0+o1)
	}
}

// twoOpaque is two for blocks without alpha, in less time.
func (r *ranking) twoOpaque(of []ranked) {
	t0, t1, t2 := r.total[0], r.total[1], r.total[2]
	for p := range of {
		mask := patterns[p&63]
		a, b, c, d := &r.rows[0][mask&15], &r.rows[1][mask>>4&15], &r.rows[2][mask>>8&15], &r.rows[3][mask>>12]
		m0, m1, m2 := a[0]+b[0]+c[0]+d[0], a[1]+b[1]+c[1]+d[1], a[2]+b[2]+c[2]+d[2]
		n := sizes[p&63]
		l0, o0 := spread3(t0-m0, t1-m1, t2-m2, 16-n)
		l1, o1 := spread3(m0, m1, m2, n)
		of[p] = newRanked(p, l0+l1, o0+o1)
	}
}

func newRanked(p int, along, aside float64) ranked {
	return ranked{uint8(p), [2]float64{aside + float64(along*share[3]), aside + float64(along*share[2])}}
}

// spread3 is moments.spread without alpha.
func spread3(m0, m1, m2 uint64, n int) (along, aside float64) {
	k := int64(n)
	r, g, b := int64(m0&0xffff), int64(m0>>16&0xffff), int64(m0>>32&0xffff)
	rr := k*int64(m1&momentMask) - r*r
	rg := k*int64(m1>>momentBits&momentMask) - r*g
	rb := k*int64(m1>>(2*momentBits)) - r*b
	gg := k*int64(m2&momentMask) - g*g
	gb := k*int64(m2>>momentBits&momentMask) - g*b
	bb := k*int64(m2>>(2*momentBits)) - b*b
	trace := rr + gg + bb
	squares := rr*rr + gg*gg + bb*bb + 2*(rg*rg+rb*rb+gb*gb)
	return eigenvalues(trace, squares, n)
}

// eigenvalues returns those of a matrix that has two, by their sum and the sum of their
// squares, over n.
func eigenvalues(trace, squares int64, n int) (more, less float64) {
	root := int64(math.Sqrt(float64(max(2*squares-trace*trace, 0))))
	return float64(trace+root) * halves[n&15], float64(trace-root) * halves[n&15]
}

// halves are a half over n; 16 is at 0.
var halves = func() (t [16]float64) {
	for n := 1; n <= 16; n++ {
		t[n&15] = 0.5 / float64(n)
	}
	return t
}()

// three estimates all patterns of three sets.
func (r *ranking) three(of *[64]ranked) {
	for p := range of {
		b, c := r.sum(patterns3[p][0]), r.sum(patterns3[p][1])
		a := r.total.minus(&b)
		a = a.minus(&c)
		n := sizes3[p]
		l0, o0 := a.spread(16-n[0]-n[1], false)
		l1, o1 := b.spread(n[0], false)
		l2, o2 := c.spread(n[1], false)
		of[p] = newRanked(p, l0+l1+l2, o0+o1+o2)
	}
}

// best moves the k patterns that leave least, by one of the estimates, to the front, in order.
func best(of []ranked, k, by int) []ranked {
	k = min(k, len(of))
	for i := range k {
		at := i
		for j := i + 1; j < len(of); j++ {
			if of[j].miss[by] < of[at].miss[by] {
				at = j
			}
		}
		of[i], of[at] = of[at], of[i]
	}
	return of[:k]
}
