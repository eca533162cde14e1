package draco

// walk is the source of edgebreaker symbols and of the bits beside them.
type walk struct {
	inside bitDecoder   // whether the walk of a part began inside of it
	seams  []bitDecoder // per attribute with seams: whether an edge is one

	// Standard traversal: symbols of one or three bits.
	plain bitReader
	// Valence traversal: a list per context, which is the clamped valence of
	// the vertex at the gate. The lists are read from their ends.
	valences []int32
	lists    [6][]uint32
	context  int // -1 before the first symbol
	byValue  bool
}

// start reads the heads of all parts.
func (w *walk) start(r *reader, traversal uint8, cuts, vertices, faces int) {
	if traversal == 0 {
		w.plain.data = r.take(r.varint64())
	}
	w.inside = r.bitDecoder()
	for range cuts {
		w.seams = append(w.seams, r.bitDecoder())
		if r.err != nil {
			return
		}
	}
	if traversal == 0 {
		return
	}
	w.byValue, w.context = true, -1
	w.valences = alloc[int32](r, vertices)
	for i := range w.lists {
		w.lists[i] = r.symbols(r.count("symbols", faces), 1)
	}
}

// next returns the next symbol, -1 if there is none.
func (w *walk) next() int {
	if !w.byValue {
		v, ok := w.plain.get(1)
		if ok && v != 0 {
			var more uint32
			more, ok = w.plain.get(2)
			v |= more << 1
		}
		if !ok {
			return -1
		}
		return int(v)
	}
	if w.context < 0 {
		return symbolE
	}
	list := w.lists[w.context]
	n := len(list)
	if n == 0 || list[n-1] > 4 {
		return -1
	}
	w.lists[w.context] = list[:n-1]
	return [...]int{symbolC, symbolS, symbolL, symbolR, symbolE}[list[n-1]]
}

// reached counts the edges of the face of gate and sets the next context.
func (w *walk) reached(t *table, symbol int, gate int32) {
	if !w.byValue {
		return
	}
	var c, n, p int32
	switch symbol {
	case symbolC, symbolS:
		n, p = 1, 1
	case symbolR:
		c, n, p = 1, 1, 2
	case symbolL:
		c, n, p = 1, 2, 1
	case symbolE:
		c, n, p = 2, 2, 2
	}
	w.valences[t.vert[gate]] += c
	w.valences[t.vert[next(gate)]] += n
	w.valences[t.vert[prev(gate)]] += p
	w.context = int(min(max(w.valences[t.vert[next(gate)]], 2), 7)) - 2
}

// merge counts the edges of a merged vertex.
func (w *walk) merge(to, from int32) {
	if w.byValue {
		w.valences[to] += w.valences[from]
	}
}
