package draco

// Corner 3*f+k is that of vertex k of face f; -1 stands for none. The edge of
// a corner is the one opposite to it.

// table is the corner table of J. Rossignac: which corners share a vertex or
// face each other across an edge.
type table struct {
	opp  []int32 // per corner: the corner across its edge
	vert []int32 // per corner: its vertex
	left []int32 // per vertex: its first corner, leftmost at a border
	// An attribute's table is cut along its seams.
	base   *table
	onSeam []bool // per vertex of base; border vertices count
}

func next(c int32) int32 {
	if c < 0 {
		return c
	}
	if c%3 == 2 {
		return c - 2
	}
	return c + 1
}

func prev(c int32) int32 {
	if c < 0 {
		return c
	}
	if c%3 == 0 {
		return c + 2
	}
	return c - 1
}

func (t *table) opposite(c int32) int32 {
	if c < 0 {
		return -1
	}
	return t.opp[c]
}

func (t *table) swingLeft(c int32) int32  { return next(t.opposite(next(c))) }
func (t *table) swingRight(c int32) int32 { return prev(t.opposite(prev(c))) }

func (t *table) join(a, b int32) { t.opp[a], t.opp[b] = b, a }

// onBorder reports whether a vertex is at a border or, in an attribute's
// table, at a seam.
func (t *table) onBorder(v int32) bool {
	c := t.left[v]
	if c < 0 {
		return true
	}
	if t.base != nil {
		return t.onSeam[t.base.vert[c]]
	}
	return t.swingLeft(c) < 0
}

// cutTable returns a table like base, still without seams.
func cutTable(r *reader, base *table) *table {
	t := &table{base: base}
	t.opp, t.vert = alloc[int32](r, len(base.opp)), alloc[int32](r, len(base.vert))
	t.onSeam = alloc[bool](r, len(base.left))
	if r.err == nil {
		copy(t.opp, base.opp)
		for i := range t.vert {
			t.vert[i] = -1
		}
	}
	return t
}

// cut makes the edge of c a seam.
func (t *table) cut(c int32) {
	for _, c := range [2]int32{c, t.base.opp[c]} {
		if c >= 0 {
			t.opp[c] = -1
			t.onSeam[t.base.vert[next(c)]] = true
			t.onSeam[t.base.vert[prev(c)]] = true
		}
	}
}

// split numbers the vertices, of which each side of a seam has its own.
func (t *table) split(r *reader) {
	t.left = alloc[int32](r, len(t.base.opp))[:0]
	for v, c := range t.base.left {
		if c < 0 {
			continue
		}
		first := c
		if t.onSeam[v] {
			for l := t.swingLeft(c); l >= 0; l = t.swingLeft(l) {
				if l == c {
					r.fail("a seam has no end")
					return
				}
				first = l
			}
		}
		t.add(first)
		for c := t.base.swingRight(first); c >= 0 && c != first; c = t.base.swingRight(c) {
			if t.opp[next(c)] < 0 {
				t.add(c)
			} else {
				t.vert[c] = int32(len(t.left)) - 1
			}
		}
	}
}

func (t *table) add(c int32) {
	t.vert[c] = int32(len(t.left))
	t.left = append(t.left, c)
}

// fan calls f for every corner of the vertex of start: from start to the
// left and, if that ends at a border, from start to the right.
func (t *table) fan(start int32, f func(c int32) bool) {
	for c, left := start, true; c >= 0; {
		if !f(c) {
			return
		}
		switch {
		case !left:
			c = t.swingRight(c)
		default:
			if c = t.swingLeft(c); c < 0 {
				c, left = t.swingRight(start), false
			} else if c == start {
				return
			}
		}
	}
}
