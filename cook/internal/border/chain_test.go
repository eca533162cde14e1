package border

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// fan is flat ground whose border is a line with one place on it, at z, beside the origin
// of a long triangle.
func fan(z float64) (*simplify.Mesh, *Level) {
	m := &simplify.Mesh{
		Positions: []geom.Vec3{{0, 0, 0}, {0, 0, z}, {0, 0, 10}, {6, 0, 9.5}, {6, 0, 0}},
		Indices:   []uint32{0, 1, 4, 1, 3, 4, 1, 2, 3},
		Groups:    make([]int32, 3),
	}
	cell := geom.Box{Min: geom.Vec3{0, -1, 0}, Max: geom.Vec3{6, 1, 10}}
	p, q, r := m.Positions[0], m.Positions[1], m.Positions[2]
	return m, &Level{
		cell: cell, walls: &[sides]map[geom.Vec3]bool{}, kept: map[geom.Vec3]bool{p: true, r: true},
		moved: map[geom.Vec3]geom.Vec3{q: p}, chains: []chain{{ends: [2]geom.Vec3{p, r}, places: []geom.Vec3{q}}},
	}
}

func up(m *simplify.Mesh, t int) float64 {
	i := m.Indices[3*t : 3*t+3]
	a := m.Positions[i[0]]
	return m.Positions[i[1]].Sub(a).Cross(m.Positions[i[2]].Sub(a))[1]
}

// TestChainsAreDividedWhereNothingTurns: a place goes to the end at which no triangle
// turns over, and to the nearer one where both would do; the border is the same.
func TestChainsAreDividedWhereNothingTurns(t *testing.T) {
	turning := 0
	for z := 0.25; z < 10; z += 0.25 {
		m, l := fan(z)
		sign := up(m, 0)
		s := l.Settle(m)
		if s.Triangles() != 2 {
			t.Fatalf("%v: %d triangles", z, s.Triangles())
		}
		for k := range s.Triangles() {
			if up(s, k)*sign <= 0 {
				t.Errorf("%v: triangle %d turns over", z, k)
			}
		}
		if e := edges(s.Positions, s.Indices); len(e) != 1 || !e[[2]geom.Vec3{{0, 0, 0}, {0, 0, 10}}] {
			t.Errorf("%v: the border is %v", z, e)
		}
		if s.Positions[1][2] == 10 {
			turning++
		}
	}
	if turning == 0 {
		t.Error("no place went to the second end")
	}
}

// TestChainsThatTurn: the plan's end would turn a triangle over, however near it is.
func TestChainsThatTurn(t *testing.T) {
	m, l := fan(1)
	m.Positions[3], m.Positions[4] = geom.Vec3{6, 0, 9.9}, geom.Vec3{0.1, 0, 0.9}
	// The triangle 1, 3, 4 faces up while its first corner lies above the line 3-4.
	m.Indices = []uint32{1, 3, 4, 1, 2, 3}
	sign := up(m, 0)
	s := l.Settle(m)
	for k := range s.Triangles() {
		if up(s, k)*sign <= 0 {
			t.Errorf("triangle %d turns over", k)
		}
	}
}

// TestWallsStay: a wall that lies in the side keeps its corners where what was cut beside
// it loses a place, and shares no vertex with that.
func TestWallsStay(t *testing.T) {
	m, l := fan(4)
	q := m.Positions[1]
	m.Positions = append(m.Positions, geom.Vec3{0, 1, 4}, geom.Vec3{0, 1, 6}, geom.Vec3{0, 0, 6})
	m.Indices = append(m.Indices, 1, 6, 5, 1, 7, 6)
	m.Groups = append(m.Groups, 0, 0)
	l.walls[0] = map[geom.Vec3]bool{}
	for _, v := range []int{1, 5, 6, 7} {
		l.walls[0][m.Positions[v]] = true
	}
	s := l.Settle(m)
	corners := 0
	for t2 := range s.Triangles() {
		i := s.Indices[3*t2 : 3*t2+3]
		wall := true
		for _, v := range i {
			wall = wall && s.Positions[v][0] == 0
		}
		for _, v := range i {
			if s.Positions[v] == q {
				if corners++; !wall {
					t.Errorf("triangle %d was cut and keeps %v", t2, q)
				}
			}
		}
	}
	if corners != 2 || len(m.Positions) != 8 {
		t.Errorf("%d corners of the wall stay; the source has %d vertices", corners, len(m.Positions))
	}
}

// TestTexturesGoOn: a vertex that goes beyond its surface takes the texture coordinates
// that this would have there.
func TestTexturesGoOn(t *testing.T) {
	m, l := fan(4)
	// Each triangle has vertices of its own, as of other surfaces.
	own := &simplify.Mesh{Groups: []int32{0, 1, 2}}
	at := func(p geom.Vec3, t int) [2]float32 { return [2]float32{float32(p[0]) + float32(9*t), float32(p[2])} }
	for k, v := range m.Indices {
		own.Indices = append(own.Indices, uint32(k))
		own.Positions = append(own.Positions, m.Positions[v])
		own.UV[0] = append(own.UV[0], at(m.Positions[v], k/3))
	}
	s := l.Settle(own)
	for k, v := range s.Indices {
		want := at(s.Positions[v], int(s.Groups[k/3]))
		if is := s.UV[0][v]; math.Abs(float64(is[0]-want[0])) > 1e-5 || math.Abs(float64(is[1]-want[1])) > 1e-5 {
			t.Errorf("at %v the texture of group %d has %v, not %v", s.Positions[v], s.Groups[k/3], s.UV[0][v], want)
		}
	}
}
