// Package triangulate cuts polygons into triangles.
package triangulate

import "math"

// mostClipped is how many corners a polygon may have to be cut by its ears, and
// testsPerCorner how many tests each of them may take: hostile polygons would take the
// cube of their corners.
const (
	mostClipped    = 4096
	testsPerCorner = 16384
)

// Cutter cuts polygons. It is used for one after the other; its zero value is ready.
type Cutter struct {
	flat [][2]float64
	left []int
	room int // tests of corners that may still be made
	out  [][3]int
}

// Cut returns triangles of the corners, 3 or more, of a polygon with these positions, which
// is seldom quite plane and may be concave. The order of the corners is kept. The result is
// valid until the next call.
func (e *Cutter) Cut(p [][3]float32) [][3]int {
	e.out = e.out[:0]
	n := len(p)
	if n == 3 {
		return append(e.out, [3]int{0, 1, 2})
	}
	e.project(p)
	if n > mostClipped || e.convex() {
		if n == 4 && e.shorter(p) {
			return append(e.out, [3]int{0, 1, 3}, [3]int{1, 2, 3})
		}
		for i := 1; i+1 < n; i++ {
			e.out = append(e.out, [3]int{0, i, i + 1})
		}
		return e.out
	}
	e.clip()
	return e.out
}

// project drops the axis on which the polygon is thinnest, by its normal (Newell's).
func (e *Cutter) project(p [][3]float32) {
	var n [3]float64
	for i := range p {
		a, b := p[i], p[(i+1)%len(p)]
		for k := range n {
			u, v := (k+1)%3, (k+2)%3
			n[k] += float64((float64(a[u]) - float64(b[u])) * (float64(a[v]) + float64(b[v])))
		}
	}
	drop := 2
	if math.Abs(n[0]) > math.Abs(n[1]) && math.Abs(n[0]) > math.Abs(n[2]) {
		drop = 0
	} else if math.Abs(n[1]) > math.Abs(n[2]) {
		drop = 1
	}
	u, v := (drop+1)%3, (drop+2)%3
	if n[drop] < 0 { // so that it turns left
		u, v = v, u
	}
	e.flat = e.flat[:0]
	for _, q := range p {
		e.flat = append(e.flat, [2]float64{float64(q[u]), float64(q[v])})
	}
}

// turn is above 0 where the way over three points turns left.
func turn(a, b, c [2]float64) float64 {
	return float64((b[0]-a[0])*(c[1]-b[1])) - float64((b[1]-a[1])*(c[0]-b[0]))
}

func (e *Cutter) convex() bool {
	n := len(e.flat)
	for i := range e.flat {
		if turn(e.flat[i], e.flat[(i+1)%n], e.flat[(i+2)%n]) < 0 {
			return false
		}
	}
	return true
}

// shorter reports whether the diagonal of corners 1 and 3 is shorter than that of 0 and 2.
func (e *Cutter) shorter(p [][3]float32) bool {
	return apart(p[1], p[3]) < apart(p[0], p[2])
}

func apart(a, b [3]float32) float64 {
	sum := 0.0
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		sum += float64(d * d)
	}
	return sum
}

// clip cuts ears off: corners that turn left and whose triangle holds no other corner. A
// polygon that crosses itself may have none; then corners go in order.
func (e *Cutter) clip() {
	e.left = e.left[:0]
	for i := range e.flat {
		e.left = append(e.left, i)
	}
	e.room = testsPerCorner * len(e.left)
	for at, missed := 0, 0; len(e.left) > 3; {
		n := len(e.left)
		at %= n
		a, b, c := e.left[(at+n-1)%n], e.left[at], e.left[(at+1)%n]
		if missed < n && e.room > 0 && !e.isEar(a, b, c) {
			at, missed = at+1, missed+1
			continue
		}
		missed = 0
		e.out = append(e.out, [3]int{a, b, c})
		e.left = append(e.left[:at], e.left[at+1:]...)
		at++ // not all of them at one corner
	}
	e.out = append(e.out, [3]int{e.left[0], e.left[1], e.left[2]})
}

func (e *Cutter) isEar(a, b, c int) bool {
	p, q, r := e.flat[a], e.flat[b], e.flat[c]
	if turn(p, q, r) <= 0 {
		return false
	}
	e.room -= len(e.left)
	for _, i := range e.left {
		x := e.flat[i]
		if i == a || i == b || i == c || x == p || x == q || x == r {
			continue
		}
		if turn(p, q, x) >= 0 && turn(q, r, x) >= 0 && turn(r, p, x) >= 0 {
			return false
		}
	}
	return true
}
