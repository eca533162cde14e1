package draco

// Edgebreaker codes a mesh as the symbols of a walk from face to face, see
// J. Rossignac, "Edgebreaker: connectivity compression for triangle meshes"
// (1999). The decoder walks backwards.

// The symbols of the walk: how a face joins what is there.
const (
	symbolC = 0 // closes the fan of a vertex
	symbolS = 1 // joins two parts
	symbolL = 3 // a new vertex on the one side
	symbolR = 5 // a new vertex on the other side
	symbolE = 7 // begins a part
)

// splitEvent says where a part waits for an S.
type splitEvent struct {
	source, split int
	right         bool
}

// edgebreaker decodes connectivity.
type edgebreaker struct {
	*decoder
	base   table
	hole   []bool // per vertex: not known to be inside
	cuts   []*table
	splits []splitEvent
	walk   walk
	faces  int32 // so far

	active  []int32         // the gates of the open parts, the current one last
	waiting map[int32]int32 // by symbol: the gate that its S needs
	removed []int32         // vertices merged into others

	vertices int // after the removal
}

// decode reads connectivity and seams and numbers the points.
func (e *edgebreaker) decode() {
	traversal := e.u8()
	vertices, faces := e.varint(), e.varint()
	cuts := int(e.u8())
	if e.err != nil {
		return
	}
	switch {
	case traversal != 0 && traversal != 2:
		e.unsupported("edgebreaker traversal %d", traversal)
		return
	case uint64(faces) > uint64(e.limits.Faces):
		e.tooLarge("%d faces, the limit is %d", faces, e.limits.Faces)
		return
	case uint64(vertices) > 3*uint64(faces):
		e.fail("%d vertices of %d faces", vertices, faces)
		return
	}
	symbols := e.count("symbols", int(faces))
	if int(faces) > symbols+symbols/3 {
		e.fail("%d faces of %d symbols", faces, symbols)
	}
	total := int(vertices) + e.count("splits", symbols)
	e.base.opp, e.base.vert = alloc[int32](e.reader, 3*int(faces)), alloc[int32](e.reader, 3*int(faces))
	e.base.left = alloc[int32](e.reader, total)[:0]
	e.hole = alloc[bool](e.reader, total)
	e.readSplits(int(faces))
	e.walk.start(e.reader, traversal, cuts, total, int(faces))
	if e.err != nil {
		return
	}
	for i := range e.base.opp {
		e.base.opp[i], e.base.vert[i] = -1, -1
	}
	for i := range e.hole {
		e.hole[i] = true
	}
	e.connect(symbols)
	e.cutSeams(cuts)
	e.number()
}

// readSplits reads where parts wait.
func (e *edgebreaker) readSplits(faces int) {
	n := e.count("split events", min(faces, len(e.data)/2))
	if e.err != nil {
		return
	}
	e.splits = make([]splitEvent, n)
	last := uint64(0)
	for i := range e.splits {
		last += uint64(e.varint())
		back := uint64(e.varint())
		if e.err != nil {
			return
		}
		if last > uint64(faces) || back > last {
			e.fail("split event %d is out of range", i)
			return
		}
		e.splits[i].source, e.splits[i].split = int(last), int(last-back)
	}
	b := bitReader{data: e.data}
	for i := range e.splits {
		v, ok := b.get(1)
		if !ok {
			e.fail("is cut off within split events")
		}
		e.splits[i].right = v == 1
	}
	e.take(b.bytes())
}

// newVertex returns a new vertex with its first corner, -1 if there are too
// many.
func (e *edgebreaker) newVertex(c int32) int32 {
	if len(e.base.left) == cap(e.base.left) || len(e.base.left) == len(e.hole) {
		e.fail("has more vertices than announced")
		return -1
	}
	e.base.left = append(e.base.left, c)
	return int32(len(e.base.left) - 1)
}

// connect performs the symbols and closes the parts.
func (e *edgebreaker) connect(symbols int) {
	e.waiting = make(map[int32]int32)
	for i := range int32(symbols) {
		symbol := e.walk.next()
		ok := false
		switch symbol {
		case symbolC:
			ok = e.closeFan()
		case symbolS:
			ok = e.joinParts(i)
		case symbolL, symbolR:
			ok = e.extend(symbol)
		case symbolE:
			ok = e.begin()
		}
		if !ok {
			e.fail("symbol %d is not possible", i)
			return
		}
		e.faces++
		gate := e.active[len(e.active)-1]
		e.walk.reached(&e.base, symbol, gate)
		if symbol == symbolC || symbol == symbolS {
			continue
		}
		if !e.wait(symbols, i, gate) {
			return
		}
	}
	for len(e.active) > 0 {
		c := e.active[len(e.active)-1]
		e.active = e.active[:len(e.active)-1]
		if e.walk.inside.next() && !e.closeHole(c) {
			e.fail("a part cannot be closed")
			return
		}
	}
	if int(e.faces) != len(e.base.opp)/3 {
		e.fail("has %d faces, %d are announced", e.faces, len(e.base.opp)/3)
		return
	}
	e.removeMerged()
}

// wait remembers the gates that later symbols S need.
func (e *edgebreaker) wait(symbols int, i, gate int32) bool {
	id := symbols - int(i) - 1
	for n := len(e.splits); n > 0 && e.splits[n-1].source >= id; n = len(e.splits) {
		s := e.splits[n-1]
		e.splits = e.splits[:n-1]
		if s.source > id {
			e.fail("split events are out of order")
			return false
		}
		to := prev(gate)
		if s.right {
			to = next(gate)
		}
		e.waiting[int32(symbols-s.split-1)] = to
	}
	return true
}

// gate returns the current gate if it is free.
func (e *edgebreaker) gate() (c int32, ok bool) {
	if len(e.active) == 0 {
		return -1, false
	}
	c = e.active[len(e.active)-1]
	return c, e.base.opp[c] < 0
}

func (e *edgebreaker) place(c, x, y, z int32) {
	e.base.vert[c], e.base.vert[c+1], e.base.vert[c+2] = x, y, z
}

// closeFan performs a C.
func (e *edgebreaker) closeFan() bool {
	t := &e.base
	a, ok := e.gate()
	if !ok {
		return false
	}
	x := t.vert[next(a)]
	b := next(t.left[x])
	if b < 0 || a == b || t.opp[b] >= 0 {
		return false
	}
	p, n := t.vert[prev(a)], t.vert[next(b)]
	if x == p || x == n {
		return false
	}
	c := 3 * e.faces
	t.join(a, c+1)
	t.join(b, c+2)
	e.place(c, x, n, p)
	t.left[p] = c + 2
	e.hole[x] = false
	e.active[len(e.active)-1] = c
	return true
}

// extend performs an L or an R.
func (e *edgebreaker) extend(symbol int) bool {
	t := &e.base
	a, ok := e.gate()
	if !ok {
		return false
	}
	c := 3 * e.faces
	tip, l, r := c+2, c+1, c
	if symbol == symbolL {
		tip, l, r = c+1, c, c+2
	}
	v := e.newVertex(tip)
	if v < 0 {
		return false
	}
	t.join(tip, a)
	t.vert[tip], t.vert[r], t.vert[l] = v, t.vert[prev(a)], t.vert[next(a)]
	t.left[t.vert[r]] = r
	e.active[len(e.active)-1] = c
	return true
}

// joinParts performs symbol i, an S.
func (e *edgebreaker) joinParts(i int32) bool {
	t := &e.base
	b, ok := e.gate()
	if !ok {
		return false
	}
	e.active = e.active[:len(e.active)-1]
	if c, ok := e.waiting[i]; ok {
		e.active = append(e.active, c)
	}
	a, ok := e.gate()
	if !ok || a == b {
		return false
	}
	c := 3 * e.faces
	t.join(a, c+2)
	t.join(b, c+1)
	p := t.vert[prev(a)]
	e.place(c, p, t.vert[next(a)], t.vert[prev(b)])
	t.left[t.vert[prev(b)]] = c + 2
	first := next(b)
	n := t.vert[first]
	e.walk.merge(p, n)
	t.left[p] = t.left[n]
	for k := first; k >= 0; {
		t.vert[k] = p
		if k = t.swingLeft(k); k == first {
			return false
		}
	}
	t.left[n] = -1
	e.removed = append(e.removed, n)
	e.active[len(e.active)-1] = c
	return true
}

// begin performs an E.
func (e *edgebreaker) begin() bool {
	c := 3 * e.faces
	for k := c; k < c+3; k++ {
		v := e.newVertex(k)
		if v < 0 {
			return false
		}
		e.base.vert[k] = v
	}
	e.active = append(e.active, c)
	return true
}

// closeHole adds the face at which the walk of a closed part began.
func (e *edgebreaker) closeHole(a int32) bool {
	t := &e.base
	if int(e.faces) >= len(t.opp)/3 {
		return false
	}
	n := t.vert[next(a)]
	b := next(t.left[n])
	if b < 0 {
		return false
	}
	x := t.vert[next(b)]
	c := next(t.left[x])
	// The three edges must meet: fans of vertices never share a corner.
	if c < 0 || t.vert[next(c)] != t.vert[prev(a)] || a == b || a == c || b == c || t.opp[a] >= 0 || t.opp[b] >= 0 || t.opp[c] >= 0 {
		return false
	}
	f := 3 * e.faces
	e.faces++
	e.place(f, x, t.vert[next(c)], n)
	t.join(f, a)
	t.join(f+1, b)
	t.join(f+2, c)
	for k := f; k < f+3; k++ {
		e.hole[t.vert[k]] = false
	}
	return true
}

// removeMerged gives the numbers of merged vertices to the last ones. With
// seams the numbers of points are independent of those of vertices.
func (e *edgebreaker) removeMerged() {
	t := &e.base
	e.vertices = len(t.left)
	if len(e.walk.seams) > 0 {
		return
	}
	for _, v := range e.removed {
		src := int32(e.vertices - 1)
		for src >= 0 && t.left[src] < 0 {
			e.vertices--
			src = int32(e.vertices - 1)
		}
		if src < v {
			continue
		}
		t.fan(t.left[src], func(c int32) bool {
			if t.vert[c] != src {
				e.fail("a vertex has a corner of another one")
				return false
			}
			t.vert[c] = v
			return true
		})
		t.left[v], t.left[src] = t.left[src], -1
		e.hole[v], e.hole[src] = e.hole[src], false
		e.vertices--
	}
}
