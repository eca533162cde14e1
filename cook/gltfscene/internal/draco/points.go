package draco

// cutSeams reads which edges are seams of which attributes.
func (e *edgebreaker) cutSeams(cuts int) {
	if e.err != nil || cuts == 0 {
		return
	}
	t := &e.base
	for range cuts {
		e.cuts = append(e.cuts, cutTable(e.reader, t))
	}
	if e.err != nil {
		return
	}
	for f := int32(0); f < e.faces; f++ {
		for _, c := range [3]int32{3 * f, 3*f + 1, 3*f + 2} {
			opp := t.opp[c]
			if opp >= 0 && opp/3 < f {
				continue // was read with the other face
			}
			for i, cut := range e.cuts {
				if opp < 0 || e.walk.seams[i].next() {
					cut.cut(c)
				}
			}
		}
	}
	for _, cut := range e.cuts {
		cut.split(e.reader)
		if e.err != nil {
			return
		}
	}
}

// number assigns points to corners: vertices without seams are one point,
// others one for each combination of attribute vertices.
func (e *edgebreaker) number() {
	e.index = alloc[int32](e.reader, len(e.base.vert))
	if e.err != nil {
		return
	}
	if len(e.cuts) == 0 {
		copy(e.index, e.base.vert)
		e.points = e.vertices
		return
	}
	t := &e.base
	for v, c := range t.left {
		if c < 0 {
			continue
		}
		first := e.firstAtSeam(int32(v), c)
		if e.err != nil {
			return
		}
		e.index[first] = int32(e.points)
		e.points++
		before := first
		for c := t.swingRight(first); c >= 0 && c != first; c = t.swingRight(c) {
			e.index[c] = e.index[before]
			for _, cut := range e.cuts {
				if cut.vert[c] != cut.vert[before] {
					e.index[c] = int32(e.points)
					e.points++
					break
				}
			}
			before = c
		}
	}
}

// firstAtSeam returns the corner of v to begin with: c at a border, else the
// first one behind a seam.
func (e *edgebreaker) firstAtSeam(v, c int32) int32 {
	if e.hole[v] {
		return c
	}
	for _, cut := range e.cuts {
		if !cut.onSeam[v] {
			continue
		}
		for k := e.base.swingRight(c); k != c; k = e.base.swingRight(k) {
			if k < 0 {
				e.fail("a vertex inside the mesh is at a border")
				return c
			}
			if cut.vert[k] != cut.vert[c] {
				return k
			}
		}
	}
	return c
}

// order is the order in which the values of an attribute are coded: that in
// which a traversal meets their vertices.
type order struct {
	corner []int32 // per value
	value  []int32 // per vertex of the table, -1 for none
}

// traversal is the state of one traversal.
type traversal struct {
	*reader
	t     *table
	order order
	faces []bool
}

// traverse returns the order of a table's vertices, depth first or by the
// degree of prediction.
func (e *edgebreaker) traverse(t *table, byDegree bool) order {
	v := &traversal{reader: e.reader, t: t, faces: alloc[bool](e.reader, int(e.faces))}
	v.order.corner = alloc[int32](e.reader, len(t.left))[:0]
	v.order.value = alloc[int32](e.reader, len(t.left))
	for i := range v.order.value {
		v.order.value[i] = -1
	}
	for _, x := range t.vert {
		if x < 0 {
			e.fail("a corner has no vertex")
			break
		}
	}
	if e.err != nil {
		return order{}
	}
	if byDegree {
		d := degrees{traversal: v, degree: alloc[int32](e.reader, len(t.left))}
		for f := int32(0); f < e.faces && e.err == nil; f++ {
			d.from(3 * f)
		}
		return v.order
	}
	var stack []int32
	for f := int32(0); f < e.faces && e.err == nil; f++ {
		if !v.faces[f] {
			stack = v.from(3*f, stack)
		}
	}
	return v.order
}

// seen reports whether there is no face at c or it was visited.
func (v *traversal) seen(c int32) bool { return c < 0 || v.faces[c/3] }

// visit gives the vertex of c a value unless it has one.
func (v *traversal) visit(c int32) (isNew bool) {
	x := v.t.vert[c]
	if v.order.value[x] >= 0 {
		return false
	}
	v.order.value[x] = int32(len(v.order.corner))
	v.order.corner = append(v.order.corner, c)
	return true
}

// from traverses the part of the mesh that holds c, depth first.
func (v *traversal) from(c int32, stack []int32) []int32 {
	stack = append(stack[:0], c)
	v.visit(next(c))
	v.visit(prev(c))
	for len(stack) > 0 {
		c := stack[len(stack)-1]
		if v.seen(c) {
			stack = stack[:len(stack)-1]
			continue
		}
		for {
			v.faces[c/3] = true
			right, left := v.t.opposite(next(c)), v.t.opposite(prev(c))
			if v.visit(c) && !v.t.onBorder(v.t.vert[c]) {
				if right < 0 {
					v.fail("a vertex inside the mesh is at a border")
					return stack
				}
				c = right
				continue
			}
			switch {
			case v.seen(right) && v.seen(left):
				stack = stack[:len(stack)-1]
			case v.seen(right):
				c = left
				continue
			case v.seen(left):
				c = right
				continue
			default:
				stack[len(stack)-1] = left
				stack = append(stack, right)
			}
			break
		}
	}
	return stack
}

// degrees traverses so that vertices with many known neighbours come first.
type degrees struct {
	*traversal
	stacks [3][]int32 // by priority
	best   int
	degree []int32
}

func (d *degrees) push(c int32, priority int) {
	d.stacks[priority] = append(d.stacks[priority], c)
	d.best = min(d.best, priority)
}

func (d *degrees) pop() int32 {
	for i := d.best; i < len(d.stacks); i++ {
		if n := len(d.stacks[i]); n > 0 {
			c := d.stacks[i][n-1]
			d.stacks[i] = d.stacks[i][:n-1]
			d.best = i
			return c
		}
	}
	return -1
}

func (d *degrees) priority(c int32) int {
	x := d.t.vert[c]
	if d.order.value[x] >= 0 {
		return 0
	}
	if d.degree[x]++; d.degree[x] > 1 {
		return 1
	}
	return 2
}

// from traverses the part of the mesh that holds c.
func (d *degrees) from(c int32) {
	d.best = 0
	d.push(c, 0)
	d.visit(next(c))
	d.visit(prev(c))
	d.visit(c)
	for c := d.pop(); c >= 0; c = d.pop() {
		for !d.seen(c) {
			d.faces[c/3] = true
			d.visit(c)
			c = d.step(c)
		}
	}
}

// step returns the corner to go on with, -1 for the best of the stacks.
func (d *degrees) step(c int32) int32 {
	right, left := d.t.opposite(next(c)), d.t.opposite(prev(c))
	rightSeen := d.seen(right)
	if !d.seen(left) {
		p := d.priority(left)
		if rightSeen && p <= d.best {
			return left
		}
		d.push(left, p)
	}
	if !rightSeen {
		p := d.priority(right)
		if p <= d.best {
			return right
		}
		d.push(right, p)
	}
	return -1
}
