package meshopt

import (
	"encoding/binary"
	"slices"
)

// maxFifoEdge and maxFifoVertex are how many of the latest edges, and vertices of a
// triangle without one, a code can name.
const (
	maxFifoEdge   = 15
	maxFifoVertex = 14
)

// noFifo stands for what is not among the latest.
const noFifo = -1

// triangleWriter holds the state of encoding mode 1, that of triangleReader.
type triangleWriter struct {
	codes, data []byte // data holds codes of table triangles too, behind a mark in codes
	next, last  uint32
	latest
	fifoCodes int // by version, how the third corner is coded
	v1        bool
	again     bool // the triangle starts over
	// Triangles without a recent edge that begin with a fresh vertex and name nothing
	// explicitly: the common pairs of codes have a place in a table.
	table map[byte]byte
	seen  [256]int
}

// appendTriangles encodes twice: the first time tells which pairs of codes are common.
func appendTriangles(dst, data []byte, stride, version int) []byte {
	list := make([]uint32, len(data)/stride)
	for i := range list {
		if stride == 2 {
			list[i] = uint32(binary.LittleEndian.Uint16(data[2*i:]))
		} else {
			list[i] = binary.LittleEndian.Uint32(data[4*i:])
		}
	}
	first := newTriangleWriter(version, nil)
	first.encode(list)
	order := make([]byte, 0, 256)
	for code := range 256 {
		if code > 0 && first.seen[code] > 0 {
			order = append(order, byte(code))
		}
	}
	slices.SortStableFunc(order, func(a, b byte) int { return first.seen[b] - first.seen[a] })
	// Three fresh vertices are always in the table: outside, their code starts over.
	order = slices.Insert(order, 0, 0)
	order = order[:min(len(order), triangleTail-2)]
	table := map[byte]byte{}
	for i, code := range order {
		table[code] = byte(i)
	}
	w := newTriangleWriter(version, table)
	w.encode(list)
	dst = append(append(append(dst, 0xE0|byte(version)), w.codes...), w.data...)
	return append(append(dst, order...), make([]byte, triangleTail-len(order))...)
}

func newTriangleWriter(version int, table map[byte]byte) *triangleWriter {
	w := &triangleWriter{table: table, fifoCodes: 15, v1: version == 1}
	if w.v1 {
		w.fifoCodes = 13
	}
	return w
}

func (w *triangleWriter) encode(list []uint32) {
	for i := 0; i+2 < len(list); i += 3 {
		t := [3]uint32(list[i:])
		if at, turn := w.findEdge(t); at != noFifo {
			w.atEdge(at, t[(turn+2)%3], [2]uint32{t[turn], t[(turn+1)%3]})
			continue
		}
		turn := max(0, slices.Index(t[:], w.next))
		if zero := slices.Index(t[:], 0); zero >= 0 && t[(zero+1)%3] == 1 && t[(zero+2)%3] == 2 && w.next > 2 {
			// The first triangle of another mesh: its code starts over.
			turn, w.next = zero, 0
			w.again = true
		}
		w.alone(t[turn], t[(turn+1)%3], t[(turn+2)%3])
	}
}

// findEdge finds an edge of a triangle among the latest, and with which corner it begins.
func (w *triangleWriter) findEdge(t [3]uint32) (back, turn int) {
	for back := range min(w.edgeCount, maxFifoEdge) {
		e := w.edge(back)
		for turn := range t {
			if e[0] == t[turn] && e[1] == t[(turn+1)%3] {
				return int(back), turn
			}
		}
	}
	return noFifo, 0
}

// findVertex finds a vertex among the latest.
func (w *triangleWriter) findVertex(v uint32) int {
	for back := range min(w.vertexCount, fifoSize) {
		if w.vertex(back) == v {
			return int(back)
		}
	}
	return noFifo
}

// explicit writes an index as the difference to the last one.
func (w *triangleWriter) explicit(v uint32) {
	d := int32(v - w.last)
	w.data = binary.AppendUvarint(w.data, uint64(uint32(d<<1^d>>31)))
	w.last = v
}

// atEdge writes a triangle at a recent edge, whose third corner is c.
func (w *triangleWriter) atEdge(back int, c uint32, edge [2]uint32) {
	known := false
	at := w.findVertex(c)
	third := 15
	switch {
	case c == w.next:
		third = 0
		w.next++
	case at > 0 && at < w.fifoCodes:
		third, known = at, true
	case w.v1 && c == w.last-1:
		third = 13
		w.last--
	case w.v1 && c == w.last+1:
		third = 14
		w.last++
	default:
		w.explicit(c)
	}
	w.codes = append(w.codes, byte(back<<4|third))
	w.pushEdge(c, edge[1])
	w.pushEdge(edge[0], c)
	if !known {
		w.pushVertex(c)
	}
}

// alone writes a triangle without a recent edge. Either its first corner is fresh or
// none is.
func (w *triangleWriter) alone(a, b, c uint32) {
	fresh := a == w.next
	if fresh {
		w.next++
	}
	second := w.code(b)
	third := w.code(c)
	pair := byte(second<<4 | third)
	short := fresh && second != 15 && third != 15 && !w.again
	w.again = false
	if short {
		w.seen[pair]++
	}
	place, tabled := w.table[pair]
	switch {
	case short && tabled:
		w.codes = append(w.codes, 0xF0|place)
	default:
		mark := byte(0xFF)
		if fresh {
			mark = 0xFE
		}
		w.codes, w.data = append(w.codes, mark), append(w.data, pair)
		if !fresh {
			w.explicit(a)
		}
		if second == 15 {
			w.explicit(b)
		}
		if third == 15 {
			w.explicit(c)
		}
	}
	w.pushEdge(b, a)
	w.pushEdge(c, b)
	w.pushEdge(a, c)
	w.pushVertex(a)
	if second == 0 || second == 15 {
		w.pushVertex(b)
	}
	if third == 0 || third == 15 {
		w.pushVertex(c)
	}
}

// code is how a corner is named: 0 fresh, 15 explicitly, else which of the latest.
func (w *triangleWriter) code(v uint32) int {
	if v == w.next {
		w.next++
		return 0
	}
	if at := w.findVertex(v); at != noFifo && at < maxFifoVertex {
		return at + 1
	}
	return 15
}
