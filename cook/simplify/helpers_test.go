package simplify

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/geom"
)

// grid makes a height field of n x n quads on the unit square, with normals by
// central differences and texture coordinates.
func grid(n int, height func(x, z float64) float64) *Mesh {
	m := &Mesh{}
	step := 1 / float64(n)
	for j := range n + 1 {
		for i := range n + 1 {
			x, z := float64(float64(i)*step), float64(float64(j)*step)
			m.Positions = append(m.Positions, geom.Vec3{x, height(x, z), z})
			const e = 1e-4
			dx := (height(x+e, z) - height(x-e, z)) / (2 * e)
			dz := (height(x, z+e) - height(x, z-e)) / (2 * e)
			m.Normals = append(m.Normals, geom.Vec3{-dx, 1, -dz}.Normalize(0, geom.Vec3{}).F32())
			m.UV[0] = append(m.UV[0], [2]float32{float32(x), float32(z)})
		}
	}
	w := uint32(n + 1)
	for j := range uint32(n) {
		for i := range uint32(n) {
			a := j*w + i
			m.Indices = append(m.Indices, a, a+w, a+1, a+1, a+w, a+w+1)
		}
	}
	return m
}

// hills has no polynomial's luck: exact on every architecture, as only sums,
// products and quotients are used.
func hills(x, z float64) float64 {
	bump := func(cx, cz, r float64) float64 {
		dx, dz := (x-cx)/r, (z-cz)/r
		q := 1 + float64(dx*dx) + float64(dz*dz)
		return 0.1 / float64(q*q)
	}
	return bump(0.3, 0.3, 0.1) + bump(0.7, 0.6, 0.2) - bump(0.4, 0.8, 0.15) + bump(0.85, 0.15, 0.05)
}

func flat(float64, float64) float64 { return 0 }

// sphere makes a closed sphere of radius 1 with shared vertices: an octahedron
// whose faces are split n times.
func sphere(n int) *Mesh {
	m := &Mesh{Indices: []uint32{
		0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4,
		2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5,
	}}
	m.Positions = []geom.Vec3{{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}}
	for range n {
		middles := map[[2]uint32]uint32{}
		middle := func(a, b uint32) uint32 {
			k := [2]uint32{min(a, b), max(a, b)}
			if v, ok := middles[k]; ok {
				return v
			}
			v := uint32(len(m.Positions))
			p := m.Positions[a].Add(m.Positions[b]).Normalize(0, geom.Vec3{})
			m.Positions = append(m.Positions, p)
			middles[k] = v
			return v
		}
		var next []uint32
		for c := 0; c < len(m.Indices); c += 3 {
			a, b, d := m.Indices[c], m.Indices[c+1], m.Indices[c+2]
			ab, bd, da := middle(a, b), middle(b, d), middle(d, a)
			next = append(next, a, ab, da, ab, b, bd, da, bd, d, ab, bd, da)
		}
		m.Indices = next
	}
	for _, p := range m.Positions {
		m.Normals = append(m.Normals, p.F32())
	}
	return m
}

// boxes makes n x n boxes side by side with gaps, each face with its own
// vertices, as exporters of flat-shaded models do.
func boxes(n int) *Mesh {
	m := &Mesh{}
	for j := range n {
		for i := range n {
			o := geom.Vec3{float64(2 * i), 0, float64(2 * j)}
			size := geom.Vec3{1, 1 + float64((i*7+j*13)%5), 1}
			addBox(m, o, size)
		}
	}
	return m
}

func addBox(m *Mesh, o, size geom.Vec3) {
	for axis := range 3 {
		for side := range 2 {
			b := uint32(len(m.Positions))
			u, v := (axis+1)%3, (axis+2)%3
			for k := range 4 {
				p := o
				p[axis] += float64(side) * size[axis]
				p[u] += float64(k%2) * size[u]
				p[v] += float64(k/2) * size[v]
				m.Positions = append(m.Positions, p)
				var n [3]float32
				n[axis] = float32(2*side - 1)
				m.Normals = append(m.Normals, n)
				m.UV[0] = append(m.UV[0], [2]float32{float32(k % 2), float32(k / 2)})
			}
			if side == 1 {
				m.Indices = append(m.Indices, b, b+1, b+2, b+2, b+1, b+3)
			} else {
				m.Indices = append(m.Indices, b, b+2, b+1, b+1, b+2, b+3)
			}
		}
	}
}

// join appends meshes with the same kinds of attributes, each a group.
func join(parts ...*Mesh) *Mesh {
	m := &Mesh{}
	for g, p := range parts {
		b := uint32(len(m.Positions))
		m.Positions = append(m.Positions, p.Positions...)
		m.Normals = append(m.Normals, p.Normals...)
		m.UV[0] = append(m.UV[0], p.UV[0]...)
		for _, i := range p.Indices {
			m.Indices = append(m.Indices, b+i)
		}
		for range p.Triangles() {
			m.Groups = append(m.Groups, int32(g))
		}
	}
	return m
}

// checkMesh fails the test if a result breaks what every result promises.
func checkMesh(t testing.TB, in, out *Mesh, r Result, o Options) {
	t.Helper()
	n := len(out.Positions)
	if out.Triangles() != r.Triangles || len(out.Indices)%3 != 0 {
		t.Fatalf("%d indices for %d triangles", len(out.Indices), r.Triangles)
	}
	if out.Triangles() > in.Triangles() {
		t.Fatalf("%d triangles of %d", out.Triangles(), in.Triangles())
	}
	for name, l := range map[string][2]int{
		"normals": {len(in.Normals), len(out.Normals)},
		"uv0":     {len(in.UV[0]), len(out.UV[0])},
		"uv1":     {len(in.UV[1]), len(out.UV[1])},
		"colors":  {len(in.Colors), len(out.Colors)},
	} {
		if l[0] == 0 && l[1] != 0 || l[0] != 0 && l[1] != n {
			t.Fatalf("%s: %d for %d vertices", name, l[1], n)
		}
	}
	if len(in.Groups) != 0 && len(out.Groups) != out.Triangles() {
		t.Fatalf("%d groups for %d triangles", len(out.Groups), out.Triangles())
	}
	used := make([]bool, n)
	for c := 0; c < len(out.Indices); c += 3 {
		for i := range 3 {
			v := out.Indices[c+i]
			if int(v) >= n {
				t.Fatalf("index %d of %d vertices", v, n)
			}
			used[v] = true
		}
		a, b, d := out.Indices[c], out.Indices[c+1], out.Indices[c+2]
		if a == b || b == d || d == a {
			t.Fatalf("triangle %d is degenerate: %d %d %d", c/3, a, b, d)
		}
	}
	for v, u := range used {
		if !u {
			t.Fatalf("vertex %d is unused", v)
		}
		if !out.Positions[v].IsFinite() {
			t.Fatalf("vertex %d at %v", v, out.Positions[v])
		}
	}
	for v, nn := range out.Normals {
		if o.Locked != nil || o.LockBorder {
			break // theirs are as they were
		}
		l := geom.FromF32(nn).Len()
		if math.Abs(l-1) > 1e-5 {
			t.Fatalf("normal %d has length %v", v, l)
		}
	}
	if !(r.Error >= 0) || !(r.MeanError >= 0) || math.IsInf(r.Error, 0) {
		t.Fatalf("errors %v, %v", r.Error, r.MeanError)
	}
}

// openEdges counts edges that do not have exactly two triangles, by position.
func openEdges(m *Mesh) int {
	type edge [2]geom.Vec3
	count := map[edge]int{}
	for c := 0; c < len(m.Indices); c += 3 {
		for i := range 3 {
			a, b := m.Positions[m.Indices[c+i]], m.Positions[m.Indices[c+(i+1)%3]]
			count[edge{a, b}]++
			count[edge{b, a}]--
		}
	}
	open := 0
	for _, n := range count {
		if n > 0 {
			open += n
		}
	}
	return open
}

// hash returns the SHA-256 of a mesh's bits.
func hash(m *Mesh) string {
	h := sha256.New()
	for _, x := range []any{m.Positions, m.Normals, m.UV[0], m.UV[1], m.Colors, m.Indices, m.Groups} {
		if err := binary.Write(h, binary.LittleEndian, x); err != nil {
			panic(fmt.Sprint(err))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// must simplifies or fails the test.
func must(t testing.TB, m *Mesh, o Options, target int, maxError float64) (*Mesh, Result) {
	t.Helper()
	out, r, err := Simplify(m, o, target, maxError)
	if err != nil {
		t.Fatal(err)
	}
	checkMesh(t, m, out, r, o)
	return out, r
}

// loadShared returns the largest primitive of a model of the shared assets, or
// skips the test.
func loadShared(t testing.TB, name string) *Mesh {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "assets", "models", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skip("the shared assets are absent: ", err)
	}
	s, err := gltfscene.Load(context.Background(), path, gltfscene.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	var best *gltfscene.Primitive
	for i := range s.Meshes {
		for k := range s.Meshes[i].Primitives {
			if p := &s.Meshes[i].Primitives[k]; best == nil || len(p.Indices) > len(best.Indices) {
				best = p
			}
		}
	}
	m := &Mesh{Normals: best.Normals, UV: best.UV, Colors: best.Colors, Indices: best.Indices}
	for _, p := range best.Positions {
		m.Positions = append(m.Positions, geom.FromF32(p))
	}
	return m
}

func maxAbs(p geom.Vec3) float64 {
	return max(math.Abs(p[0]), math.Abs(p[1]), math.Abs(p[2]))
}
