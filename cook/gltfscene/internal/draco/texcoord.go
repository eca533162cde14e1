package draco

import "math"

// texCoord predicts texture coordinate i from the two others of its face:
// the triangle in the texture is similar to that in space.
func (p *predictor) texCoord(i int, pred []int32) {
	c := p.a.dec.order.corner[i]
	n, q := p.valueAt(next(c)), p.valueAt(prev(c))
	v := p.a.values
	if int(n) < i && int(q) < i {
		if v[2*n] == v[2*q] && v[2*n+1] == v[2*q+1] {
			pred[0], pred[1] = v[2*n], v[2*n+1]
			return
		}
		if p.similar(int32(i), n, q, pred) {
			return
		}
	}
	switch {
	case int(n) < i:
		pred[0], pred[1] = v[2*n], v[2*n+1]
	case i > 0:
		pred[0], pred[1] = v[2*i-2], v[2*i-1]
	default:
		clear(pred)
	}
}

// similar predicts value i from values n and q, ok is false if their
// positions are equal. Beyond 64 bits the stream is refused.
func (p *predictor) similar(i, n, q int32, pred []int32) (ok bool) {
	v := p.a.values
	tip, from, to := p.pos(i), p.pos(n), p.pos(q)
	edge := to.minus(from)
	length := edge.dot(edge) // squared
	if length == 0 {
		return false
	}
	uv := [2]int64{int64(v[2*n]), int64(v[2*n+1])}
	duv := [2]int64{int64(v[2*q]) - uv[0], int64(v[2*q+1]) - uv[1]}
	along := edge.dot(tip.minus(from))
	if !fitsProduct(max(size(uv[0]), size(uv[1])), length) || !fitsProduct(max(size(duv[0]), size(duv[1])), along) ||
		!fitsProduct(max(size(edge[0]), size(edge[1]), size(edge[2])), along) {
		p.fail("texture coordinates exceed 64 bits")
		return true
	}
	// The foot of the tip on the edge, and the distance from it.
	var foot vec3
	for k := range foot {
		foot[k] = from[k] + along*edge[k]/length
	}
	off := tip.minus(foot)
	height := int64(rootOf(uint64(off.dot(off)) * uint64(length)))
	if len(p.turns) == 0 {
		p.fail("orientations end early")
		return true
	}
	side := p.turns[len(p.turns)-1]
	p.turns = p.turns[:len(p.turns)-1]
	if !side {
		height = -height
	}
	x := uv[0]*length + along*duv[0] + duv[1]*height
	y := uv[1]*length + along*duv[1] - duv[0]*height
	pred[0], pred[1] = int32(x/length), int32(y/length)
	return true
}

func size(v int64) int64 { return max(v, -v) }

// fitsProduct reports whether a*|b| does not overflow.
func fitsProduct(a, b int64) bool {
	if b = size(b); b < 0 || a < 0 {
		return false
	}
	return b == 0 || a <= math.MaxInt64/b
}

// rootOf returns the square root of v, rounded down, by Newton's method.
func rootOf(v uint64) uint64 {
	if v == 0 {
		return 0
	}
	root := uint64(1)
	for rest := v; rest >= 2; rest /= 4 {
		root *= 2
	}
	for {
		root = (root + v/root) / 2
		if hi := root; hi <= v/hi {
			return root
		}
	}
}
