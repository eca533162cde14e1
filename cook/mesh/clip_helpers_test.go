package mesh

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/partition"
)

// must is what tests and property tests have in common.
type must interface {
	Helper()
	Fatalf(format string, args ...any)
}

// soup is a mesh of triangles whose corners are not shared.
func soup(points ...geom.Vec3) *Mesh {
	m := &Mesh{Positions: points}
	for i := range points {
		m.Indices = append(m.Indices, uint32(i))
	}
	return m
}

// measures are sums over triangles.
type measures struct {
	area, volume, perimeter float64
}

// measure takes volumes relative to a center, as far from the origin nothing
// would be left of them.
func measure(center geom.Vec3, meshes ...*Mesh) (s measures) {
	for _, m := range meshes {
		for i := 0; i+2 < len(m.Indices); i += 3 {
			a := m.Positions[m.Indices[i]].Sub(center)
			b := m.Positions[m.Indices[i+1]].Sub(center)
			c := m.Positions[m.Indices[i+2]].Sub(center)
			v := a.Dot(b.Cross(c)) / 6
			s.area += b.Sub(a).Cross(c.Sub(a)).Len() / 2
			s.volume += v
			s.perimeter += b.Sub(a).Len() + c.Sub(b).Len() + a.Sub(c).Len()
		}
	}
	return s
}

// edgeBalance counts the directed edges between places, those in the other
// direction negative, and leaves out those in balance. It is empty for a
// closed surface without cracks and T-junctions.
func edgeBalance(stored bool, meshes ...*Mesh) map[[2]geom.Vec3]int {
	balance := map[[2]geom.Vec3]int{}
	for _, m := range meshes {
		for i := range m.Indices {
			k := i + 1
			if k%3 == 0 {
				k -= 3
			}
			a, b := m.Positions[m.Indices[i]], m.Positions[m.Indices[k]]
			if stored {
				a, b = geom.FromF32(a.F32()), geom.FromF32(b.F32())
			}
			if a == b {
				continue
			}
			key, n := [2]geom.Vec3{a, b}, 1
			if b[0] < a[0] || b[0] == a[0] && (b[1] < a[1] || b[1] == a[1] && b[2] < a[2]) {
				key, n = [2]geom.Vec3{b, a}, -1
			}
			if balance[key] += n; balance[key] == 0 {
				delete(balance, key)
			}
		}
	}
	return balance
}

func length(balance map[[2]geom.Vec3]int) (l float64) {
	for e, n := range balance {
		l += e[1].Sub(e[0]).Len() * math.Abs(float64(n))
	}
	return l
}

// largest returns the largest absolute coordinate.
func largest(m *Mesh) (x float64) {
	for _, p := range m.Positions {
		x = max(x, math.Abs(p[0]), math.Abs(p[1]), math.Abs(p[2]))
	}
	return x
}

func meshesOf(pieces []Piece) []*Mesh {
	out := make([]*Mesh, len(pieces))
	for i := range pieces {
		out[i] = pieces[i].Mesh
	}
	return out
}

// checkPieces holds the pieces of a mesh against all that Split promises for
// any mesh: order, indices, vertices, cells, area, volume and edges.
func checkPieces(t must, m *Mesh, g ClipGrid, pieces []Piece) {
	t.Helper()
	for i := range pieces {
		p := &pieces[i]
		if p.Mesh != m {
			checkMesh(t, m, p.Mesh)
		}
		checkCell(t, p, g)
		if i > 0 && !cellLess(pieces[i-1].Cell, p.Cell) {
			t.Fatalf("cell %v comes after %v", p.Cell, pieces[i-1].Cell)
		}
	}
	center := m.Bounds().Center()
	want, got := measure(center, m), measure(center, meshesOf(pieces)...)
	// What remains beside the share is the rounding of the vertices.
	const share = 1e-6
	ulp, size := 4*0x1p-52*largest(m), m.Bounds().Size().Len()
	if d := math.Abs(got.area - want.area); d > share*want.area+ulp*got.perimeter {
		t.Fatalf("area %v, want %v", got.area, want.area)
	}
	if len(edgeBalance(false, m)) == 0 {
		if d := math.Abs(got.volume - want.volume); d > share*math.Abs(want.volume)+ulp*got.area+1e-14*size*size*got.perimeter {
			t.Fatalf("volume %v, want %v", got.volume, want.volume)
		}
		for _, stored := range []bool{false, true} {
			if open := edgeBalance(stored, meshesOf(pieces)...); len(open) != 0 {
				t.Fatalf("%d edges of a closed mesh are open; stored: %v, length %v: %v", len(open), stored, length(open), open)
			}
		}
	}
	open, was := length(edgeBalance(false, meshesOf(pieces)...)), length(edgeBalance(false, m))
	if open > was*(1+share)+1000*ulp {
		t.Fatalf("open edges of length %v, were %v", open, was)
	}
	triangles := 0
	for i := range pieces {
		triangles += pieces[i].Mesh.Triangles()
	}
	if n := m.CountSplit(g, math.MaxInt64); int64(triangles) > 7*n.Polygons || n.Inner > n.Polygons { // polygons have up to nine corners
		t.Fatalf("%d triangles, the polygons are %+v", triangles, n)
	}
}

func cellLess(a, b [3]int) bool {
	for axis := 2; axis >= 0; axis-- {
		if a[axis] != b[axis] {
			return a[axis] < b[axis]
		}
	}
	return false
}

// checkMesh checks indices and the lengths of the attributes.
func checkMesh(t must, src, m *Mesh) {
	t.Helper()
	n := len(m.Positions)
	lengths := func(m *Mesh) [6]int {
		return [6]int{len(m.Normals), len(m.Tangents), len(m.UV[0]), len(m.UV[1]), len(m.Colors), len(m.Positions)}
	}
	for i, l := range lengths(m) {
		if was := lengths(src)[i]; was != 0 && l != n || was == 0 && l != 0 {
			t.Fatalf("attribute %d has length %d of %d", i, l, n)
		}
	}
	used := make([]bool, n)
	next := uint32(0)
	for _, v := range m.Indices {
		if int(v) >= n {
			t.Fatalf("index %d of %d vertices", v, n)
		}
		if used[v] = true; v > next {
			t.Fatalf("vertex %d is used before vertex %d", v, next)
		}
		next = max(next, v+1)
	}
	if int(next) != n || len(m.Indices) == 0 || len(m.Indices)%3 != 0 {
		t.Fatalf("%d indices use %d of %d vertices", len(m.Indices), next, n)
	}
}

// checkCell checks that a piece lies in its cell: exactly before storage, and
// within 4 ulp of the largest coordinate in single precision.
func checkCell(t must, p *Piece, g ClipGrid) {
	t.Helper()
	for axis, planes := range g.Planes {
		lo, hi := math.Inf(-1), math.Inf(1)
		c := p.Cell[axis]
		if c < 0 || c > len(planes) {
			t.Fatalf("cell %v of %d planes", p.Cell, len(planes))
		}
		if c > 0 {
			lo = planes[c-1]
		}
		if c < len(planes) {
			hi = planes[c]
		}
		for _, v := range p.Mesh.Indices {
			q := p.Mesh.Positions[v]
			if x := along(&q, axis); x < lo || x > hi {
				t.Fatalf("cell %v, axis %d: %v is outside of %v to %v", p.Cell, axis, x, lo, hi)
			}
			s := geom.FromF32(q.F32())
			top := float32(max(math.Abs(s[0]), math.Abs(s[1]), math.Abs(s[2])))
			ulp := float64(math.Nextafter32(top, math.MaxFloat32)) - float64(top)
			if x := along(&s, axis); x < lo-4*ulp || x > hi+4*ulp {
				t.Fatalf("cell %v, axis %d: stored %v is outside of %v to %v", p.Cell, axis, x, lo, hi)
			}
		}
	}
}

// gridOf makes a grid of n cells of a size along every axis, from an origin.
func gridOf(origin, size geom.Vec3, n ...int32) ClipGrid {
	p := &partition.Plan{Origin: origin, TileSize: size}
	return NewClipGrid(p, partition.CellRange{Max: [3]int32{n[0] - 1, n[1] - 1, n[2] - 1}})
}

// split splits and checks.
func split(t must, m *Mesh, g ClipGrid) []Piece {
	t.Helper()
	pieces := m.Split(g)
	checkPieces(t, m, g, pieces)
	return pieces
}

var _ must = (*testing.T)(nil)
