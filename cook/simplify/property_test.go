package simplify

import (
	"math"
	"slices"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"pgregory.net/rapid"
)

// soup draws triangles over few vertices on a coarse lattice, so that
// duplicates, degenerate triangles and edges of many triangles are common.
func soup(t *rapid.T) (*Mesh, Options) {
	n := rapid.IntRange(1, 40).Draw(t, "vertices")
	m := &Mesh{}
	lattice := rapid.IntRange(1, 4).Draw(t, "lattice")
	scale := rapid.SampledFrom([]float64{1, 1e-3, 1e6, 1e-9, 1e-14, 2.4e8}).Draw(t, "scale")
	number := rapid.SampledFrom([]float32{0, 1, -1, 0.5, float32(math.NaN()), float32(math.Inf(1)), 3e38, 1e-30})
	kinds := rapid.IntRange(0, 15).Draw(t, "attributes")
	var o Options
	for range n {
		var p geom.Vec3
		for k := range p {
			p[k] = scale * float64(rapid.IntRange(0, lattice).Draw(t, "x"))
		}
		m.Positions = append(m.Positions, p)
		if kinds&1 != 0 {
			m.Normals = append(m.Normals, [3]float32{number.Draw(t, "n"), number.Draw(t, "n"), number.Draw(t, "n")})
		}
		for i := range m.UV {
			if kinds&(2<<i) != 0 {
				m.UV[i] = append(m.UV[i], [2]float32{number.Draw(t, "u"), number.Draw(t, "v")})
			}
		}
		if kinds&8 != 0 {
			m.Colors = append(m.Colors, [4]float32{number.Draw(t, "r"), 0, 0, number.Draw(t, "a")})
		}
	}
	triangles := rapid.IntRange(0, 120).Draw(t, "triangles")
	for range 3 * triangles {
		m.Indices = append(m.Indices, uint32(rapid.IntRange(0, n-1).Draw(t, "index")))
	}
	if rapid.Bool().Draw(t, "groups") {
		for range triangles {
			m.Groups = append(m.Groups, int32(rapid.IntRange(0, 2).Draw(t, "group")))
		}
	}
	if rapid.Bool().Draw(t, "lock") {
		o.Locked = make([]bool, n)
		for i := range o.Locked {
			o.Locked[i] = rapid.IntRange(0, 4).Draw(t, "locked") == 0
		}
	}
	o.LockBorder = rapid.Bool().Draw(t, "border")
	o.Seams = SeamMode(rapid.IntRange(0, 2).Draw(t, "seams"))
	o.PruneBelow = rapid.SampledFrom([]float64{0, scale, math.Inf(1)}).Draw(t, "prune")
	o.Sloppy = rapid.Bool().Draw(t, "sloppy")
	o.NoRefine = rapid.Bool().Draw(t, "raw")
	return m, o
}

func TestSoups(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m, o := soup(rt)
		targets := rapid.SliceOfN(rapid.IntRange(-1, 120), 1, 3).Draw(rt, "targets")
		limit := rapid.SampledFrom([]float64{0, 0.3, math.Inf(1)}).Draw(rt, "limit")
		var hashes [2]string
		for i := range hashes {
			s, err := New(m, o)
			if err != nil {
				rt.Fatal(err)
			}
			for _, target := range targets {
				r := s.Reduce(target, limit)
				out, sources := s.MeshAndSources()
				checkMesh(t, m, out, r, o)
				checkPlaces(rt, out)
				checkSources(rt, m, out, sources, o)
				if r.Stop == Reached && r.Triangles > max(target, 0) && target < m.Triangles() {
					rt.Fatalf("%v", r)
				}
				hashes[i] += hash(out)
			}
		}
		if hashes[0] != hashes[1] {
			rt.Fatal("two runs differ")
		}
	})
}

// TestLargeAttributes: sums of squares of attributes may exceed single
// precision.
func TestLargeAttributes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m, o := soup(rt)
		m.Normals, m.Colors = make([][3]float32, len(m.Positions)), make([][4]float32, len(m.Positions))
		number := rapid.SampledFrom([]float32{0, 1, 9e14, -9e14})
		for v := range m.Positions {
			m.Normals[v], m.Colors[v] = [3]float32{number.Draw(rt, "n"), 0, 1}, [4]float32{number.Draw(rt, "r"), 1, 0, 1}
		}
		s, err := New(m, o)
		if err != nil {
			rt.Fatal(err)
		}
		for _, target := range []int{60, 20, 0} {
			r := s.Reduce(target, 0)
			out, sources := s.MeshAndSources()
			checkMesh(t, m, out, r, o)
			checkSources(rt, m, out, sources, o)
		}
	})
}

// checkPlaces: no triangle has two corners at one vertex, no attribute is not
// finite but those of locked vertices.
func checkPlaces(t *rapid.T, m *Mesh) {
	for c := 0; c < len(m.Indices); c += 3 {
		a, b, d := m.Positions[m.Indices[c]], m.Positions[m.Indices[c+1]], m.Positions[m.Indices[c+2]]
		if a == b || b == d || d == a {
			t.Fatalf("triangle %d has two corners at %v", c/3, b)
		}
	}
}

func checkSources(t *rapid.T, in, out *Mesh, sources []int32, o Options) {
	locked := map[geom.Vec3]bool{}
	for v, l := range o.Locked {
		if l {
			locked[in.Positions[v]] = true
		}
	}
	for v, src := range sources {
		x := numbers(out, uint32(v))
		if src < 0 {
			for _, f := range x {
				if f-f != 0 {
					t.Fatalf("vertex %d has attribute %v", v, f)
				}
			}
			continue
		}
		same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
		if out.Positions[v] != in.Positions[src] || !slices.EqualFunc(x, numbers(in, uint32(src)), same) {
			t.Fatalf("locked vertex %d is not %d", v, src)
		}
		if !o.LockBorder && !locked[in.Positions[src]] {
			t.Fatalf("vertex %d is a copy of %d, which is not locked", v, src)
		}
	}
}

// numbers returns the attributes of a vertex.
func numbers(m *Mesh, v uint32) (x []float32) {
	if m.Normals != nil {
		x = append(x, m.Normals[v][:]...)
	}
	for _, uv := range m.UV {
		if uv != nil {
			x = append(x, uv[v][:]...)
		}
	}
	if m.Colors != nil {
		x = append(x, m.Colors[v][:]...)
	}
	return x
}

// FuzzSimplify turns bytes into a mesh and options.
func FuzzSimplify(f *testing.F) {
	f.Add([]byte{3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 2}, uint8(0), int16(1))
	f.Add([]byte{4, 0, 0, 0, 9, 0, 0, 0, 9, 0, 9, 9, 0, 0, 1, 2, 2, 1, 3, 0, 2, 1, 1, 2, 3}, uint8(0xff), int16(2))
	f.Add([]byte{5, 0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 0, 9, 4, 4, 4, 0, 1, 2, 0, 1, 3, 0, 1, 4, 1, 0, 2, 0, 2, 3}, uint8(0x35), int16(1))
	f.Fuzz(func(t *testing.T, data []byte, flags uint8, target int16) {
		if len(data) == 0 || len(data) > 4000 {
			return
		}
		n := int(data[0])
		data = data[1:]
		if n == 0 || len(data) < 3*n {
			return
		}
		m := &Mesh{}
		var o Options
		for i := range n {
			p := data[3*i : 3*i+3]
			m.Positions = append(m.Positions, geom.Vec3{float64(p[0]), float64(p[1]), float64(p[2])})
			if flags&1 != 0 {
				m.Normals = append(m.Normals, [3]float32{float32(p[1]) - 100, float32(p[2]), float32(i)})
				m.UV[0] = append(m.UV[0], [2]float32{float32(i), float32(p[0])})
			}
			if flags&2 != 0 {
				o.Locked = append(o.Locked, p[2]&15 == 1)
			}
		}
		data = data[3*n:]
		for i := 0; i+3 <= len(data); i += 3 {
			for _, v := range data[i : i+3] {
				m.Indices = append(m.Indices, uint32(int(v)%n))
			}
			if flags&4 != 0 {
				m.Groups = append(m.Groups, int32(data[i]&1))
			}
		}
		o.LockBorder = flags&8 != 0
		o.Seams = SeamMode(flags >> 4 & 3 % 3)
		o.Sloppy = flags&64 != 0
		if flags&128 != 0 {
			o.PruneBelow = math.Inf(1)
		}
		out, r, err := Simplify(m, o, int(target), 0)
		if err != nil {
			t.Fatal(err)
		}
		checkMesh(t, m, out, r, o)
	})
}
