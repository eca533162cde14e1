package draco

// The prediction methods.
const (
	methodNone          int8 = -2
	methodDifference    int8 = 0
	methodParallelogram int8 = 1
	methodConstrained   int8 = 4
	methodTexCoords     int8 = 5
	methodNormals       int8 = 6
)

// The ways to apply a correction to a prediction.
const (
	transformNone int8 = -1
	transformWrap int8 = 1
	transformOct  int8 = 3
)

// predictor turns corrections into values, in place.
type predictor struct {
	*decoder
	a      *attribute
	method int8
	kind   int8

	lo, hi, span int32 // transformWrap
	oct          octahedron

	creases [4][]bool  // methodConstrained: edges not used, by parallelograms
	turns   []bool     // methodTexCoords: sides, the last one first
	flips   bitDecoder // methodNormals
}

// predictor returns the predictor of a, nil for none.
func (d *decoder) predictor(a *attribute, method, kind int8) *predictor {
	if d.err != nil || method == methodNone {
		return nil
	}
	p := &predictor{decoder: d, a: a, method: method, kind: kind}
	want := transformWrap
	if a.coded == codedNormal {
		want = transformOct
	}
	if kind != want {
		d.unsupported("prediction transform %d", kind)
		return nil
	}
	switch method {
	case methodDifference:
	case methodParallelogram, methodConstrained, methodTexCoords, methodNormals:
		// Where a method does not apply, the difference is taken.
		if a.dec.t == nil || (method == methodNormals) != (kind == transformOct) {
			p.method = methodDifference
		}
	default:
		d.unsupported("prediction method %d", method)
		return nil
	}
	if p.method == methodTexCoords || p.method == methodNormals {
		p.findPositions()
		if p.method == methodTexCoords && a.width != 2 {
			d.fail("texture coordinates have %d components", a.width)
		}
	}
	return p
}

// findPositions finds the attribute that predictions refer to.
func (p *predictor) findPositions() {
	for _, a := range p.atts {
		if a.Kind == Position {
			if a == p.a || a.width != 3 || len(a.values) != 3*a.dec.count {
				break
			}
			p.a.position = a
			return
		}
	}
	p.fail("positions to predict from are missing")
}

// read reads what the method and the transform need.
func (p *predictor) read() {
	switch p.method {
	case methodConstrained:
		for i := range p.creases {
			n := p.count("edges", len(p.index))
			if n == 0 || p.err != nil {
				continue
			}
			b := p.bitDecoder()
			p.creases[i] = alloc[bool](p.reader, n)
			for j := range p.creases[i] {
				p.creases[i][j] = b.next()
			}
		}
	case methodTexCoords:
		n := p.u32()
		if uint64(n) > uint64(p.a.dec.count) {
			p.fail("%d orientations of %d values", n, p.a.dec.count)
			return
		}
		b := p.bitDecoder()
		p.turns = alloc[bool](p.reader, int(n))
		last := true
		for i := range p.turns {
			last = last == b.next()
			p.turns[i] = last
		}
	}
	if p.kind == transformOct {
		most := p.i32()
		p.i32() // the centre, which follows from most
		if p.err == nil && !p.oct.set(most) {
			p.fail("normals up to %d", most)
		}
	} else {
		p.lo, p.hi = p.i32(), p.i32()
		if diff := int64(p.hi) - int64(p.lo); diff < 0 || diff >= 1<<31-1 {
			p.fail("values from %d to %d", p.lo, p.hi)
		}
		p.span = p.hi - p.lo + 1
	}
	if p.method == methodNormals {
		p.flips = p.bitDecoder()
	}
}

// apply corrects value i, given its prediction.
func (p *predictor) apply(pred []int32, i int) {
	out := p.a.values[i*p.a.width:][:p.a.width]
	if p.kind == transformOct {
		out[0], out[1] = p.oct.apply(pred[0], pred[1], out[0], out[1])
		return
	}
	for k, c := range out {
		v := min(max(pred[k], p.lo), p.hi) + c
		if v > p.hi {
			v -= p.span
		} else if v < p.lo {
			v += p.span
		}
		out[k] = v
	}
}

// before returns the value before i, zeros for the first one.
func (p *predictor) before(i int, zeros []int32) []int32 {
	if i == 0 {
		return zeros
	}
	return p.a.values[(i-1)*p.a.width:][:p.a.width]
}

// run computes all values.
func (p *predictor) run() {
	zeros, pred := make([]int32, p.a.width), make([]int32, p.a.width)
	for i := 0; i < p.a.dec.count && p.err == nil; i++ {
		switch p.method {
		case methodTexCoords:
			p.texCoord(i, pred)
			p.apply(pred, i)
			continue
		case methodNormals:
			p.normal(i, pred)
			p.apply(pred, i)
			continue
		case methodParallelogram:
			if i > 0 && p.parallelogram(i, p.a.dec.order.corner[i], pred) {
				p.apply(pred, i)
				continue
			}
		case methodConstrained:
			if i > 0 && p.constrained(i, pred) {
				p.apply(pred, i)
				continue
			}
		}
		p.apply(p.before(i, zeros), i)
	}
}

// parallelogram predicts value i at corner c from the face across its edge;
// ok is false unless the values there are known.
func (p *predictor) parallelogram(i int, c int32, pred []int32) (ok bool) {
	t, value := p.a.dec.t, p.a.dec.order.value
	o := t.opposite(c)
	if o < 0 {
		return false
	}
	a, b, far := int(value[t.vert[next(o)]]), int(value[t.vert[prev(o)]]), int(value[t.vert[o]])
	if a >= i || b >= i || far >= i {
		return false
	}
	v, w := p.a.values, p.a.width
	for k := range pred {
		pred[k] = v[a*w+k] + v[b*w+k] - v[far*w+k]
	}
	return true
}

// constrained predicts value i by the mean of up to four parallelograms, but
// for those across creases.
func (p *predictor) constrained(i int, pred []int32) (ok bool) {
	var list [4][]int32
	n := 0
	p.a.dec.t.fan(p.a.dec.order.corner[i], func(c int32) bool {
		if list[n] == nil {
			list[n] = make([]int32, p.a.width)
		}
		if p.parallelogram(i, c, list[n]) {
			n++
		}
		return n < len(list)
	})
	clear(pred)
	used := int32(0)
	for k := range n {
		flags := p.creases[n-1]
		if len(flags) == 0 {
			p.fail("crease flags end early")
			return false
		}
		p.creases[n-1] = flags[1:]
		if flags[0] {
			continue
		}
		used++
		for j := range pred {
			pred[j] += list[k][j]
		}
	}
	if used == 0 {
		return false
	}
	for j := range pred {
		pred[j] /= used
	}
	return true
}

// vec3 is a vector of integers.
type vec3 [3]int64

func (a vec3) minus(b vec3) vec3 { return vec3{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }
func (a vec3) dot(b vec3) int64  { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// pos returns the position at the corner with which value i is coded.
func (p *predictor) pos(i int32) vec3 {
	a := p.a.position
	point := p.index[p.a.dec.order.corner[i]]
	v := a.values[3*a.dec.ofPoint[point]:]
	return vec3{int64(v[0]), int64(v[1]), int64(v[2])}
}

// valueAt returns the value of a corner.
func (p *predictor) valueAt(c int32) int32 {
	return p.a.dec.order.value[p.a.dec.t.vert[c]]
}
