package simplify

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

// Empty attributes are none, whether nil or not.
func TestEmptyAttributes(t *testing.T) {
	for name, empty := range map[string]func(m *Mesh, o *Options){
		"normals": func(m *Mesh, _ *Options) { m.Normals = m.Normals[:0] },
		"uv":      func(m *Mesh, _ *Options) { m.UV[0], m.UV[1] = m.UV[0][:0], m.UV[0][:0] },
		"colors":  func(m *Mesh, _ *Options) { m.Colors = [][4]float32{} },
		"groups":  func(m *Mesh, _ *Options) { m.Groups = []int32{} },
		"locked":  func(_ *Mesh, o *Options) { o.Locked = []bool{} },
	} {
		for _, seams := range []SeamMode{SeamsRelax, SeamsWeld} {
			t.Run(name, func(t *testing.T) {
				m, o := grid(4, hills), Options{Seams: seams}
				empty(m, &o)
				must(t, m, o, 5, 0)
			})
		}
	}
}

// Vertices that no triangle uses change nothing.
func TestUnusedVertices(t *testing.T) {
	m := grid(16, hills)
	want, _ := must(t, m, Options{}, 100, 0)
	for range 100 {
		m.Positions = append(m.Positions, m.Positions[20:28]...)
		m.Positions[len(m.Positions)-1][1] = float64(len(m.Positions)) * 1e-5
		m.Normals = append(m.Normals, m.Normals[20:28]...)
		m.UV[0] = append(m.UV[0], m.UV[0][20:28]...)
	}
	got, _ := must(t, m, Options{}, 100, 0)
	if hash(got) != hash(want) {
		t.Error("the result differs")
	}
	for range m.Triangles() {
		m.Groups = append(m.Groups, 0)
	}
	if got, _ = must(t, m, Options{}, 100, 0); hash(&Mesh{Positions: got.Positions, Normals: got.Normals, UV: got.UV, Indices: got.Indices}) != hash(want) {
		t.Error("the result differs with groups")
	}
}

func TestNumbersThatAreNone(t *testing.T) {
	nan := math.NaN()
	m := grid(10, hills)
	want, _ := must(t, m, Options{Creases: -1, Weights: Weights{-1, -1, -1}}, 60, 0)
	got, r := must(t, m, Options{Creases: nan, PruneBelow: nan, Weights: Weights{nan, nan, nan}}, 60, nan)
	if hash(got) != hash(want) || r.Creases != 0 {
		t.Errorf("not like options that are off: %v", r)
	}
	must(t, m, Options{Creases: math.Inf(1), Weights: Weights{1e300, 1e300, 1e300}}, 60, 0)
}

// Nothing is lost with triangles that have no area.
func TestNoArea(t *testing.T) {
	m := &Mesh{}
	for i := range uint32(30) {
		m.Positions = append(m.Positions, geom.Vec3{float64(i), 0, 0})
		m.Normals = append(m.Normals, [3]float32{0, 1, 0})
		if i > 1 {
			m.Indices = append(m.Indices, i-2, i-1, i)
		}
	}
	for _, raw := range []bool{false, true} {
		if _, r := must(t, m, Options{NoRefine: raw}, 5, 0); r.Stop != Reached {
			t.Error(r)
		}
	}
}

// TestRecallLeavesClosed: costs beyond single precision have the highest key
// below that of +Inf. What is refused there must not bring back edges that are
// gone.
func TestRecallLeavesClosed(t *testing.T) {
	s, err := New(grid(4, hills), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for limit := key(math.MaxFloat32) - 2*refusedFactor; limit < barred; limit++ {
		s.cost[3], s.cost[4], s.cost[5] = never, barred, infinite
		s.recall(limit)
		if s.cost[3] != never || s.cost[4] != barred || s.cost[5] != infinite {
			t.Fatalf("recall(%#x) left keys %#x", limit, s.cost[3:6])
		}
	}
	s.cost[3], s.cost[4] = 0x4101, 0x4200
	if s.recall(0x4100); s.cost[3] != 0x4100 || s.cost[4] != 0x4100 {
		t.Errorf("keys are %#x", s.cost[3:5])
	}
}

// TestHashesDiffer: no coordinate makes others not count.
func TestHashesDiffer(t *testing.T) {
	for axis, c := range []uint64{0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9} {
		seen := map[uint64]bool{}
		for i := range 1000 {
			var p geom.Vec3
			p[axis], p[1-axis] = math.Float64frombits(c), float64(i)
			seen[hashPosition(&p)] = true
		}
		if len(seen) < 990 {
			t.Errorf("1000 places with %g have %d hashes", math.Float64frombits(c), len(seen))
		}
	}
}
