package simplify

import (
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/testfile"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestErrors(t *testing.T) {
	tri := func() *Mesh {
		return &Mesh{Positions: []geom.Vec3{{}, {1, 0, 0}, {0, 1, 0}}, Indices: []uint32{0, 1, 2}}
	}
	for _, c := range []struct {
		name   string
		break_ func(m *Mesh, o *Options)
		want   string
	}{
		{"index", func(m *Mesh, _ *Options) { m.Indices[1] = 3 }, "Indices[1] is 3"},
		{"last index", func(m *Mesh, _ *Options) { m.Indices[2] = math.MaxUint32 }, "Indices[2] is 4294967295"},
		{"triangles", func(m *Mesh, _ *Options) { m.Indices = m.Indices[:2] }, "whole triangles"},
		{"normals", func(m *Mesh, _ *Options) { m.Normals = make([][3]float32, 2) }, "Normals has length 2, not 3"},
		{"uv", func(m *Mesh, _ *Options) { m.UV[1] = make([][2]float32, 4) }, "UV[1] has length 4"},
		{"colors", func(m *Mesh, _ *Options) { m.Colors = make([][4]float32, 4) }, "Colors"},
		{"groups", func(m *Mesh, _ *Options) { m.Groups = make([]int32, 2) }, "Groups has length 2, not 1"},
		{"locked", func(_ *Mesh, o *Options) { o.Locked = make([]bool, 1) }, "Options.Locked"},
		{"nan", func(m *Mesh, _ *Options) { m.Positions[2][1] = math.NaN() }, "Positions[2]"},
		{"far", func(m *Mesh, _ *Options) { m.Positions[0][0] = -1e300 }, "Positions[0]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, o := tri(), Options{}
			c.break_(m, &o)
			_, _, err := Simplify(m, o, 1, 0)
			if !errors.Is(err, ErrMesh) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if m, r := must(t, tri(), Options{}, 0, 0); m.Triangles() != 1 || r.Stop != Components {
		t.Errorf("a single triangle: %v", r)
	}
	if m, _ := must(t, &Mesh{}, Options{}, 0, 0); m.Triangles() != 0 {
		t.Error("something came out of nothing")
	}
}

func TestPlane(t *testing.T) {
	m := grid(20, flat)
	out, r := must(t, m, Options{}, 2, 1e-6)
	if r.Triangles != 2 || r.Stop != Reached || r.Error > 1e-7 {
		t.Fatalf("a flat square: %v", r)
	}
	box := geom.EmptyBox()
	for v, p := range out.Positions {
		box = box.Extend(p)
		uv := out.UV[0][v]
		if d := max(math.Abs(float64(uv[0])-p[0]), math.Abs(float64(uv[1])-p[2])); d > 1e-5 {
			t.Errorf("texture slips by %v", d)
		}
	}
	if d := max(maxAbs(box.Min), maxAbs(box.Max.Sub(geom.Vec3{1, 0, 1}))); d > 1e-6 {
		t.Errorf("the square's box is %v", box)
	}
}

// TestTiltedPlanes: texture coordinates that are linear stay where they are but
// for what slopes are rounded by.
func TestTiltedPlanes(t *testing.T) {
	flatGrid := grid(20, flat)
	rapid.Check(t, func(rt *rapid.T) {
		number := rapid.Float64Range(-1, 1)
		a := vec{number.Draw(rt, "x"), number.Draw(rt, "y"), number.Draw(rt, "z")}
		b := vec{-a.z, a.x, a.y}.cross(a)
		u, v := number.Draw(rt, "u"), number.Draw(rt, "v")
		if a.length2() < 0.1 || b.length2() < 0.01 || float64(u*u)+float64(v*v) < 0.1 {
			rt.Skip("hardly a plane or a texture")
		}
		b = b.scale(math.Sqrt(a.length2() / b.length2()))
		texture := func(x, z float64) float64 { return float64(u*x) + float64(v*z) }
		m := &Mesh{Indices: flatGrid.Indices}
		for _, p := range flatGrid.Positions {
			at := a.scale(p[0]).add(b.scale(p[2]))
			m.Positions = append(m.Positions, geom.Vec3{at.x, at.y, at.z})
			m.UV[0] = append(m.UV[0], [2]float32{float32(texture(p[0], p[2])), float32(texture(p[2], -p[0]))})
		}
		out, _ := must(t, m, Options{}, 20, 0)
		for i, p := range out.Positions {
			at := vec{p[0], p[1], p[2]}.scale(1 / a.length2())
			// Texture coordinates never leave the source's range.
			want := min(max(texture(a.dot(at), b.dot(at)), min(0, u, v, u+v)), max(0, u, v, u+v))
			if d := math.Abs(float64(out.UV[0][i][0]) - want); d > 2e-4 {
				rt.Fatalf("texture slips by %v", d)
			}
		}
	})
}

func TestCubeStays(t *testing.T) {
	for _, seams := range []SeamMode{SeamsRelax, SeamsKeep, SeamsWeld} {
		_, r := must(t, boxes(1), Options{Seams: seams}, 1, 0.01)
		if r.Triangles != 12 || r.Stop != ErrorBound {
			t.Errorf("seams %d: %v", seams, r)
		}
	}
}

// TestBoxesCollapse: boxes whose faces own their vertices must not stop at
// 100 %.
func TestBoxesCollapse(t *testing.T) {
	m := boxes(20)
	for _, c := range []struct {
		name string
		o    Options
	}{
		{"prune", Options{PruneBelow: math.Inf(1)}},
		{"sloppy", Options{Sloppy: true}},
		{"weld", Options{Seams: SeamsWeld, PruneBelow: math.Inf(1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			target := m.Triangles() / 10
			out, r := must(t, m, c.o, target, 0)
			if r.Stop != Reached || out.Triangles() > target || out.Triangles() < target/2 {
				t.Errorf("%v", r)
			}
			if c.o.Sloppy != r.Sloppy && c.o.Sloppy {
				t.Errorf("not clustered: %v", r)
			}
		})
	}
	_, r := must(t, m, Options{PruneBelow: math.Inf(1)}, 10, 0.5)
	if r.Stop == Reached || r.Error > 0.5*1.5 {
		t.Errorf("the error limit: %v", r)
	}
	_, r = must(t, m, Options{PruneBelow: 3}, 10, 0)
	if r.Pruned == 0 || r.Stop != Components {
		t.Errorf("only small ones may go: %v", r)
	}
}

func TestSphere(t *testing.T) {
	m := sphere(5)
	last := 0.0
	for _, target := range []int{4000, 2000, 1000, 500, 100} {
		out, r := must(t, m, Options{}, target, 0)
		if n := openEdges(out); n != 0 {
			t.Errorf("%d triangles: %d open edges", target, n)
		}
		if r.Stop != Reached || r.Error <= last {
			t.Errorf("%v after an error of %v", r, last)
		}
		last = r.Error
	}
	if last > 0.15 {
		t.Errorf("100 triangles are off by %v", last)
	}
}

func TestLocked(t *testing.T) {
	m := grid(24, hills)
	m.Colors = make([][4]float32, len(m.Positions))
	var locked []bool
	count := 0
	for v, p := range m.Positions {
		m.Colors[v] = [4]float32{float32(p[0]), 0.5, float32(p[2]), 1}
		m.Normals[v][1] *= 1.5 // not of unit length: kept nevertheless
		l := p[0] == 0 || p[0] == 1 || p[2] == 0.5
		locked = append(locked, l)
		if l {
			count++
		}
	}
	s, err := New(m, Options{Locked: locked})
	if err != nil {
		t.Fatal(err)
	}
	r := s.Reduce(1, 0)
	out, sources := s.MeshAndSources()
	if r.Stop != LockedVertices {
		t.Errorf("%v", r)
	}
	for v, src := range sources {
		if src < 0 {
			continue
		}
		if !locked[src] {
			t.Fatalf("vertex %d claims to be %d, which is not locked", v, src)
		}
		if out.Positions[v] != m.Positions[src] || out.Normals[v] != m.Normals[src] ||
			out.UV[0][v] != m.UV[0][src] || out.Colors[v] != m.Colors[src] {
			t.Errorf("locked vertex %d changed", src)
		}
		count--
	}
	if count != 0 {
		t.Errorf("%d locked vertices are gone", count)
	}
}

// TestNeighboursFit simplifies two halves of a terrain to different levels: the
// vertices on their common border must be the same.
func TestNeighboursFit(t *testing.T) {
	border := func(m *Mesh) map[geom.Vec3]bool {
		at := map[geom.Vec3]bool{}
		for _, p := range m.Positions {
			if p[0] == 0.5 {
				at[p] = true
			}
		}
		return at
	}
	half := func(low, high float64, target int) map[geom.Vec3]bool {
		whole := grid(32, hills)
		m := &Mesh{Positions: whole.Positions, Normals: whole.Normals, UV: whole.UV}
		for c := 0; c < len(whole.Indices); c += 3 {
			i := whole.Indices[c : c+3]
			x := (whole.Positions[i[0]][0] + whole.Positions[i[1]][0] + whole.Positions[i[2]][0]) / 3
			if x > low && x < high {
				m.Indices = append(m.Indices, i...)
			}
		}
		out, r := must(t, m, Options{LockBorder: true}, target, 0)
		if r.Stop != Reached {
			t.Fatal(r)
		}
		return border(out)
	}
	a, b := half(0, 0.5, 700), half(0.5, 1, 300)
	if len(a) != 33 || len(b) != 33 {
		t.Errorf("%d and %d vertices on the border", len(a), len(b))
	}
	for p := range a {
		if !b[p] {
			t.Errorf("%v is on one side only", p)
		}
	}
}

func TestHeightFieldStaysUpright(t *testing.T) {
	for _, target := range []int{2000, 500, 100} {
		out, _ := must(t, grid(40, func(x, z float64) float64 { return hills(x, z) / 4 }), Options{}, target, 0)
		for c := 0; c < len(out.Indices); c += 3 {
			a, b, d := out.Positions[out.Indices[c]], out.Positions[out.Indices[c+1]], out.Positions[out.Indices[c+2]]
			if n := b.Sub(a).Cross(d.Sub(a)); n[1] <= 0 {
				t.Errorf("%d triangles: %d is turned over", target, c/3)
			}
		}
	}
}

// TestGroupsKeepTogether: where materials meet, both sides keep the same
// vertices.
func TestGroupsKeepTogether(t *testing.T) {
	m := sphere(4)
	m.UV[0] = make([][2]float32, len(m.Positions))
	for c := 0; c < len(m.Indices); c += 3 {
		g := int32(0)
		for _, v := range m.Indices[c : c+3] {
			if m.Positions[v][1] > 0.3 {
				g = 1
			}
		}
		m.Groups = append(m.Groups, g)
	}
	for _, target := range []int{1000, 300, 60} {
		out, r := must(t, m, Options{}, target, 0)
		if n := openEdges(out); n != 0 || r.Stop != Reached {
			t.Errorf("%v: %d open edges", r, n)
		}
		// No vertex serves two groups.
		of := make([]int32, len(out.Positions))
		for c, v := range out.Indices {
			if g := out.Groups[c/3] + 1; of[v] == 0 {
				of[v] = g
			} else if of[v] != g {
				t.Fatalf("vertex %d is in two groups", v)
			}
		}
	}
}

// TestUVSeamStays: a seam's two sides keep their own coordinates.
func TestUVSeamStays(t *testing.T) {
	a, b := grid(16, hills), grid(16, hills)
	for v := range b.Positions {
		b.Positions[v][0] += 1
		b.Positions[v][1] = a.Positions[v][1]
		b.UV[0][v][0] += 10
	}
	// Mirror one side, so that heights agree at the seam.
	for v := range b.Positions {
		b.Positions[v][1] = hills(2-b.Positions[v][0], b.Positions[v][2])
	}
	m := join(a, b)
	m.Groups = nil
	out, r := must(t, m, Options{}, 200, 0)
	if r.Stop != Reached {
		t.Fatal(r)
	}
	for c := 0; c < len(out.Indices); c += 3 {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, v := range out.Indices[c : c+3] {
			u := float64(out.UV[0][v][0])
			lo, hi = min(lo, u), max(hi, u)
		}
		if hi-lo > 2 {
			t.Errorf("triangle %d spans the seam: %v to %v", c/3, lo, hi)
		}
	}
}

// TestDoubleSided: a sheet with two sides neither shrinks nor splits.
func TestDoubleSided(t *testing.T) {
	a, b := grid(12, flat), grid(12, flat)
	for i := range b.Normals {
		b.Normals[i] = [3]float32{0, -1, 0}
	}
	for c := 0; c < len(b.Indices); c += 3 {
		b.Indices[c], b.Indices[c+1] = b.Indices[c+1], b.Indices[c]
	}
	m := join(a, b)
	m.Groups = nil
	out, r := must(t, m, Options{}, 4, 1e-4)
	box := geom.EmptyBox()
	for _, p := range out.Positions {
		box = box.Extend(p)
	}
	if r.Triangles != 4 || box.Size().Len() < 1.4142 {
		t.Errorf("%v, box %v", r, box)
	}
}

func TestProgressive(t *testing.T) {
	s, err := New(grid(40, hills), Options{})
	if err != nil {
		t.Fatal(err)
	}
	last := Result{}
	for _, target := range []int{1600, 1600, 640, 320, 5000} {
		r := s.Reduce(target, 0)
		m := s.Mesh()
		checkMesh(t, s.in, m, r, Options{})
		if r.Error < last.Error/2 || r.Triangles > target && target < 3200 {
			t.Errorf("%v after %v", r, last)
		}
		last = r
	}
	if last.Triangles > 320 {
		t.Errorf("a higher target brought triangles back: %v", last)
	}
}

func TestResultString(t *testing.T) {
	r := Result{Triangles: 5, Source: 50, Target: 4, Stop: ErrorBound, Pruned: 2, Relaxed: true, Sloppy: true}
	s := r.String()
	for _, want := range []string{"5 of 50", "target 4", "error limit", "2 components", "relaxed", "clustered"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q lacks %q", s, want)
		}
	}
	if StopReason(200).String() != "StopReason(200)" {
		t.Error("an unknown reason has no name")
	}
}

// coloured gives a mesh with texture coordinates a second set and colours.
func coloured(m *Mesh) *Mesh {
	for _, uv := range m.UV[0] {
		u, v := uv[0], uv[1]
		m.UV[1] = append(m.UV[1], [2]float32{v * v, u / (1 + v)})
		m.Colors = append(m.Colors, [4]float32{u, u * v, 1 - v, 1})
	}
	return m
}

// TestGolden pins the bits: every architecture must give these.
func TestGolden(t *testing.T) {
	var got strings.Builder
	for _, c := range []struct {
		name   string
		m      *Mesh
		o      Options
		target int
	}{
		{"hills", grid(48, hills), Options{}, 700},
		{"hills locked", grid(32, hills), Options{LockBorder: true}, 400},
		{"sphere", sphere(4), Options{}, 300},
		{"boxes pruned", boxes(8), Options{PruneBelow: 10}, 100},
		{"boxes clustered", boxes(8), Options{Sloppy: true}, 100},
		{"groups", join(grid(16, hills), boxes(3)), Options{}, 200},
		{"welded", boxes(6), Options{Seams: SeamsWeld}, 300},
		{"hills in parts", grid(100, hills), Options{}, 2000},
		{"coloured, not fitted", coloured(grid(32, hills)), Options{NoRefine: true}, 400},
	} {
		out, r := must(t, c.m, c.o, c.target, 0)
		again, _ := must(t, c.m, c.o, c.target, 0)
		if hash(out) != hash(again) {
			t.Errorf("%s: two runs differ", c.name)
		}
		got.WriteString(c.name + ": " + r.String() + "\n" + hash(out) + "\n")
	}
	path := filepath.Join("testdata", "golden.txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		testfile.Write(t, path, got.String())
	}
	want := testfile.Read(t, path)
	if got.String() != string(want) {
		t.Errorf("on %s:\n%s\nwant\n%s", runtime.GOARCH, got.String(), want)
	}
}
