package mesh

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

// unusable are directions that tell nothing.
func unusable() [][3]float32 {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	return [][3]float32{{}, {nan, 0, 0}, {0, nan, nan}, {inf, 0, 0}, {0, -inf, 0}}
}

// TestRepairNormals: a vertex without a normal gets its face's, whichever way
// that looks; the others keep theirs to the bit.
func TestRepairNormals(t *testing.T) {
	for _, bad := range unusable() {
		m := cube()
		want := copyOf(m)
		given := m.Normals
		for i := range m.Normals {
			if i%3 == 0 {
				m.Normals[i] = bad
			}
		}
		if n := m.RepairNormals(); n != 8 {
			t.Errorf("%v: %d normals repaired, want 8", bad, n)
		}
		if diff := cmp.Diff(want.Normals, m.Normals); diff != "" {
			t.Errorf("%v: %s", bad, diff)
		}
		if given[0] == m.Normals[0] {
			t.Error("the slice that was given is written into")
		}
	}
}

// TestRepairNormalsSplits: corners of one vertex on faces that look different
// ways get each its own.
func TestRepairNormalsSplits(t *testing.T) {
	m := &Mesh{
		Positions: []geom.Vec3{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {5, 5, 5}},
		Normals:   make([][3]float32, 5),
		UV:        [2][][2]float32{{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 0}}},
		Indices:   []uint32{0, 1, 2, 0, 3, 1, 4, 4, 4},
	}
	given := append([]uint32(nil), m.Indices...)
	shared := m.Indices
	if n := m.RepairNormals(); n != 4 {
		t.Errorf("%d normals repaired, want 4: nothing is seen of the fifth", n)
	}
	for i := 0; i < 6; i += 3 {
		want := faceNormal(m, i).F32()
		for _, v := range m.Indices[i : i+3] {
			if m.Normals[v] != want {
				t.Errorf("triangle %d: normal %v, want %v", i/3, m.Normals[v], want)
			}
		}
	}
	if m.Normals[4] != [3]float32{0, 0, 1} || len(m.UV[0]) != len(m.Positions) || len(m.Positions) != 7 {
		t.Errorf("%+v", m)
	}
	if diff := cmp.Diff(given, shared); diff != "" {
		t.Errorf("the indices that were given are written into: %s", diff)
	}
}

// TestRepairShortNormals: a direction counts however short the vector is.
func TestRepairShortNormals(t *testing.T) {
	for _, l := range []float32{1e-45, 1e-30, 1e-9, 3e38} {
		m := cube()
		want := copyOf(m)
		for i := range m.Normals {
			for a := range 3 {
				m.Normals[i][a] *= l
				m.Tangents[i][a] *= l
			}
		}
		if n, k := m.RepairNormals(), m.RepairTangents(); n+k != 0 {
			t.Errorf("length %g: %d normals and %d tangents count as repaired", l, n, k)
		}
		p, err := m.Pack(PackOptions{})
		w, _ := want.Pack(PackOptions{})
		if err != nil || !cmp.Equal(p, w) {
			t.Errorf("length %g: packed otherwise than with unit normals (%v)", l, err)
		}
	}
}

// TestRepairTangents: what is generated takes the place of what is missing,
// and of nothing else.
func TestRepairTangents(t *testing.T) {
	for _, bad := range unusable() {
		for _, uv := range []bool{true, false} {
			m := cube()
			if !uv {
				m.UV[0] = nil
			}
			want := copyOf(m)
			for i := range m.Tangents {
				if i%3 == 0 {
					m.Tangents[i] = [4]float32{bad[0], bad[1], bad[2], -1}
				}
			}
			if n := m.RepairTangents(); n != 8 {
				t.Errorf("%d tangents repaired, want 8", n)
			}
			for i, got := range m.Tangents {
				n := m.Normals[i]
				dot := float64(got[0]*n[0]) + float64(got[1]*n[1]) + float64(got[2]*n[2])
				switch {
				case i%3 != 0 && got != want.Tangents[i]:
					t.Errorf("tangent %d: %v, was %v", i, got, want.Tangents[i])
				case math.Abs(dot) > 1e-6 || got[3] != 1:
					t.Errorf("tangent %d: %v at the normal %v", i, got, n)
				case uv && !cmp.Equal(got, want.Tangents[i], cmp.Comparer(func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-6 })):
					t.Errorf("tangent %d: %v, u grows along %v", i, got, want.Tangents[i])
				}
			}
		}
	}
}

// TestRepairProperties: whatever the normals and tangents are, afterwards each
// has a direction, every triangle lies where it lay, and a second repair finds
// nothing.
func TestRepairProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "vertices")
		value := rapid.SampledFrom([]float32{0, 0, 1, -1, 0.5, 1e-45, 3e38, float32(math.NaN()), float32(math.Inf(-1))})
		m := &Mesh{Indices: rapid.SliceOfN(rapid.Uint32Range(0, uint32(n-1)), 0, 30).Draw(t, "indices")}
		m.Indices = m.Indices[:len(m.Indices)/3*3]
		for range n {
			v := func() float32 { return value.Draw(t, "v") }
			c := rapid.IntRange(-2, 2)
			m.Positions = append(m.Positions, geom.Vec3{float64(c.Draw(t, "x")), float64(c.Draw(t, "y")), float64(c.Draw(t, "z"))})
			m.Normals = append(m.Normals, [3]float32{v(), v(), v()})
			m.Tangents = append(m.Tangents, [4]float32{v(), v(), v(), 1})
			m.UV[0] = append(m.UV[0], [2]float32{float32(c.Draw(t, "u")), float32(c.Draw(t, "v"))})
		}
		before := copyOf(m)
		m.RepairNormals()
		m.RepairTangents()
		for i, v := range m.Indices {
			if m.Positions[v] != before.Positions[before.Indices[i]] {
				t.Fatalf("corner %d has moved", i)
			}
		}
		if len(m.Indices) != len(before.Indices) || len(m.Normals) != len(m.Positions) || len(m.Tangents) != len(m.Positions) || len(m.UV[0]) != len(m.Positions) {
			t.Fatalf("lists of different length: %+v", m)
		}
		for i, d := range m.Normals {
			if l := math.Hypot(math.Hypot(float64(d[0]), float64(d[1])), float64(d[2])); !(l > leastLength && l < math.MaxFloat32) {
				t.Fatalf("normal %d is %v", i, d)
			}
		}
		for i, d := range m.Tangents {
			if l := math.Hypot(math.Hypot(float64(d[0]), float64(d[1])), float64(d[2])); !(l > leastLength && l < math.MaxFloat32) {
				t.Fatalf("tangent %d is %v", i, d)
			}
		}
	})
}
