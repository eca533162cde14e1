package simplify

import (
	"math"
	"math/bits"
)

// Nearly all vertices are regular: the triangles around have one wedge at each
// vertex, every edge of theirs has two that meet in opposite senses, and none fold
// back. At such a vertex constrain has nothing to do, and sums over triangles tell
// which vertices those are.
//
// Where all edges are paired like that, each wedge around the vertex is as often
// the next corner of a triangle as it is the last: the sum of a hash of the one
// less that of the other is zero. It is not at borders, seams, edges of three
// triangles and flipped neighbours, but for one in 2^40 of them. That no edge has
// two such pairs, or more, shows where powers of two, one for each vertex that the
// next corner is at, are summed without a carry. Folds show in the sum of normals.
//
// While triangles are counted a vertex has, of its triangles,
//
//	wedge  the sum of hashes, 32 bits of it
//	first  the sum of powers of two, for vertices with greater numbers
//	flags  the number of these, the number of triangles, and 15 bits of hashes

// The fields of flags. Places with so many triangles that a field runs over show in
// the sum of all numbers of triangles.
const (
	tallyTriangle = flagTriangle
	tallyHashes   = 1 << 17
	tallyMost     = tallyHashes/tallyTriangle - 1
)

// tallyAll counts the triangles, and the triangles and edges around each vertex,
// and opens each edge for collapses at its corners whose vertex has the lower
// number. It kills triangles with two corners at one vertex. It returns twice the
// area.
func (s *Simplifier) tallyAll() (area float64) {
	s.makeKeys(len(s.cornerWedge))
	cornerWedge, wedgeVertex, vertices, cost := s.cornerWedge, s.wedgeVertex, s.vertices, s.cost[:len(s.cornerWedge)]
	seams := s.seamsAnywhere()
	triangles := 0
	for c := 0; c < len(cornerWedge)-2; c += 3 {
		w0, w1, w2 := cornerWedge[c], cornerWedge[c+1], cornerWedge[c+2]
		p0, p1, p2 := wedgeVertex[w0], wedgeVertex[w1], wedgeVertex[w2]
		if p0 == p1 || p1 == p2 || p2 == p0 {
			s.drop(uint32(c))
			continue
		}
		triangles++
		n0, n1, n2 := &vertices[p0], &vertices[p1], &vertices[p2]
		area += math.Sqrt(edge(&n0.pos, &n1.pos).cross(edge(&n0.pos, &n2.pos)).double().length2()) // doubleArea, inlined
		if seams {                                                                                 // all vertices will be looked at, whatever the sums
			n0.flags += tallyTriangle
			n1.flags += tallyTriangle
			n2.flags += tallyTriangle
			cost[c], cost[c+1], cost[c+2] = openKey(less(p0, p1)), openKey(less(p1, p2)), openKey(less(p2, p0))
			continue
		}
		h0, h1, h2 := hashWedge(w0), hashWedge(w1), hashWedge(w2)
		cost[c] = n0.tally(p0, p1, h1-h2)
		cost[c+1] = n1.tally(p1, p2, h2-h0)
		cost[c+2] = n2.tally(p2, p0, h0-h1)
	}
	s.triangles = triangles
	return area
}

// less returns 1 if a < b, else 0. Branches would be mispredicted.
func less(a, b uint32) uint32 { return uint32((uint64(a) - uint64(b)) >> 63) }

// openKey returns the key of an edge, given 1 if it is to be open at this corner.
func openKey(open uint32) uint16 {
	return uint16(open) - 1 // unpriced is 0, never all ones
}

// seamsAnywhere reports whether nearly all vertices are on a seam, so that there is
// no point in looking for the others.
func (s *surface) seamsAnywhere() bool { return len(s.wedgeVertex) > 2*s.wedges.vertices }

// hashWedge hashes the number of a wedge into the upper 47 bits. It is not linear,
// as numbers of neighbours are at regular distances.
func hashWedge(w uint32) uint64 {
	h := uint64(w) * 0x9e3779b97f4a7c15
	h ^= h >> 32
	return h * h &^ (tallyHashes - 1)
}

// tally counts a triangle at a vertex p, where q is the vertex of the next corner and
// d the hash of that one's wedge less that of the last one's. It returns the key of
// the edge to q.
func (n *vertex) tally(p, q uint32, d uint64) (key uint16) {
	open := less(p, q)
	n.first += open << (q * q * 0x9e3779b1 >> 27)
	n.wedge += uint32(d >> 32)
	n.flags += uint32(d) + tallyTriangle + open
	return openKey(open)
}

// suspect replaces what was counted by flags of the vertices that are not regular,
// as far as is known, and by the number of triangles of the others. It reports
// whether some vertex has so many triangles that copies of parts at one vertex are
// likely.
func (s *surface) suspect() (anyHighValence bool) {
	most, sum := uint32(0), 0
	all := uint32(0)
	if s.seamsAnywhere() {
		all = flagSuspect
	}
	for i := range s.vertices {
		n := &s.vertices[i]
		triangles := n.flags / tallyTriangle & tallyMost
		most = max(most, triangles)
		sum += int(triangles)
		flags := triangles*flagTriangle | all
		// What the lower halves carry is missing in the sum of the upper ones.
		if -n.wedge > triangles || n.flags >= tallyHashes {
			flags |= flagSuspect
		} else if n.flags%tallyTriangle != uint32(bits.OnesCount32(n.first)) {
			flags |= flagDoubt
		}
		n.wedge, n.first, n.flags = none, none, flags
	}
	if all == 0 && len(s.wedgeVertex) != s.wedges.vertices {
		s.suspectSeams()
	}
	if most > tallyMost/2 || sum != 3*s.triangles { // more than can be counted
		s.suspectAll()
		return true
	}
	return most > copiesValence
}

// suspectSeams marks the vertices with several wedges.
func (s *surface) suspectSeams() {
	for _, p := range s.wedgeVertex {
		flags := &s.vertices[p].flags
		*flags |= flagSeen | *flags&flagSeen*(flagSuspect/flagSeen)
	}
}

// suspectAll marks all vertices.
func (s *surface) suspectAll() {
	for i := range s.vertices {
		s.vertices[i].flags |= flagSuspect
	}
}

// suspectHighValence marks vertices of high valence and those next to one.
func (s *surface) suspectHighValence() {
	for c := 0; c+2 < len(s.cornerWedge); c += 3 {
		if s.cornerWedge[c] == none {
			continue
		}
		n0, n1, n2 := &s.vertices[s.at(uint32(c))], &s.vertices[s.at(uint32(c+1))], &s.vertices[s.at(uint32(c+2))]
		if max(n0.flags, n1.flags, n2.flags)/flagTriangle > highValenceCorners {
			n0.flags |= flagSuspect
			n1.flags |= flagSuspect
			n2.flags |= flagSuspect
		}
	}
}

// suspectFold marks a vertex if a triangle there may be folded back on another:
// that takes foldLoss from the length of the sum of the triangles' normals, a
// sixth of which is in the linear part of the vertex's quadric, and is taken from
// there. It forgets what was counted.
func (n *vertex) suspectFold(g *quadric32) {
	least := (float32(n.flags/flagTriangle) - foldLoss) / 6
	n.flags &= flagSuspect | flagDoubt
	if !(float32(g.bx*g.bx)+float32(g.by*g.by)+float32(g.bz*g.bz) > float32(least*least)) {
		n.flags |= flagSuspect
	}
	g.bx, g.by, g.bz = 0, 0, 0
}

// foldLoss: two unit vectors, the normals of triangles whose angle has foldCosine,
// have a sum of length (2 - 2 foldCosine)^(1/2) = 0.7746. Rounding takes less than
// a thousandth.
const foldLoss = 1.22

// distinct reports whether it is sure that no two triangles around a vertex have
// the same one with a greater number at their next corner.
func (s *surface) distinct(u uint32) bool {
	cornerWedge, wedgeVertex, next := s.cornerWedge, s.wedgeVertex, s.next
	head, seen, twice := s.vertices[u].first, uint64(0), uint64(0)
	for c := head; ; {
		c = next[c]
		n, _ := corners(c)
		q := wedgeVertex[cornerWedge[n]]
		bit := uint64(less(u, q)) << (hashWedge(q) >> 58)
		twice |= seen & bit
		seen |= bit
		if c == head {
			return twice == 0
		}
	}
}
