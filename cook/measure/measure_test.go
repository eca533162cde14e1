package measure

import (
	"math"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
)

// grid returns n x n squares on the unit square at height z(x, y), with normals
// straight up.
func grid(n int, z func(x, y float64) float64) *Surface {
	s := &Surface{}
	for j := range n + 1 {
		for i := range n + 1 {
			x, y := float64(i)/float64(n), float64(j)/float64(n)
			s.Positions = append(s.Positions, geom.Vec3{x, y, z(x, y)})
			s.Normals = append(s.Normals, [3]float32{0, 0, 1})
		}
	}
	for j := range n {
		for i := range n {
			a := uint32(j*(n+1) + i)
			b, c, d := a+1, a+uint32(n)+1, a+uint32(n)+2
			s.Indices = append(s.Indices, a, b, d, a, d, c)
		}
	}
	return s
}

func flat(z float64) func(x, y float64) float64 { return func(_, _ float64) float64 { return z } }

// sphere returns the octahedron's faces split depth times, pushed to radius r.
func sphere(depth int, r float64) *Surface {
	s := &Surface{}
	var add func(a, b, c geom.Vec3, depth int)
	add = func(a, b, c geom.Vec3, depth int) {
		if depth > 0 {
			ab, bc, ca := mid(a, b), mid(b, c), mid(c, a)
			add(a, ab, ca, depth-1)
			add(ab, b, bc, depth-1)
			add(ca, bc, c, depth-1)
			add(ab, bc, ca, depth-1)
			return
		}
		for _, p := range []geom.Vec3{a, b, c} {
			s.Indices = append(s.Indices, uint32(len(s.Positions)))
			s.Positions = append(s.Positions, p.Scale(r))
			s.Normals = append(s.Normals, p.F32())
		}
	}
	for k := range 8 {
		x, y, z := geom.Vec3{1 - 2*float64(k&1)}, geom.Vec3{0, 1 - 2*float64(k>>1&1)}, geom.Vec3{0, 0, 1 - 2*float64(k>>2)}
		add(x, y, z, depth)
	}
	return s
}

func mid(a, b geom.Vec3) geom.Vec3 { return a.Add(b).Normalize(0, geom.Vec3{}) }

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.6g, want %.6g +- %.2g", what, got, want, tolerance)
	}
}

func TestTranslatedPlane(t *testing.T) {
	r := Compare(NewIndex(grid(7, flat(0))), NewIndex(grid(3, flat(0.25))), 1000)
	near(t, "RMS", r.RMS, 0.25, 1e-12)
	near(t, "maximum", r.Max, 0.25, 1e-12)
	near(t, "normal deviation", r.Normal, 0, 1e-12)
}

// TestHalfPlane compares the unit square with its left half: seen from the
// square the distance is max(0, x - 1/2), with a mean square of 1/24.
func TestHalfPlane(t *testing.T) {
	half := grid(4, flat(0))
	for i := range half.Positions {
		half.Positions[i][0] /= 2
	}
	r := Compare(NewIndex(grid(8, flat(0))), NewIndex(half), 20000)
	near(t, "RMS from the square", r.OneWay[0].RMS, math.Sqrt(1.0/24), 1e-4)
	near(t, "RMS from the half", r.OneWay[1].RMS, 0, 1e-12)
	near(t, "RMS", r.RMS, math.Sqrt(1.0/48), 1e-4)
	near(t, "maximum", r.Max, 0.5, 1e-12) // a vertex, which no sample hits
	if back := Compare(NewIndex(half), NewIndex(grid(8, flat(0))), 20000); back.RMS != r.RMS || back.Max != r.Max {
		t.Errorf("the other way round it is %+v, not %+v", back, r)
	}
}

// TestSpheres compares concentric spheres, and a coarse sphere with the fine
// one it stands for.
func TestSpheres(t *testing.T) {
	depth, turned := 6, 0.3
	if race.Enabled {
		depth, turned = 5, 0.6 // make test has finer ones without the detector
	}
	fine := NewIndex(sphere(depth, 1))
	r := Compare(fine, NewIndex(sphere(depth, 1.5)), 5000)
	near(t, "RMS of spheres", r.RMS, 0.5, 1e-3)
	near(t, "maximum of spheres", r.Max, 0.5, 1e-3)
	near(t, "normal deviation of spheres", r.Normal, 0, turned)

	coarse := sphere(2, 1)
	r = Compare(NewIndex(coarse), fine, 20000)
	// A face is deepest in its middle: one minus the distance of its plane.
	deepest := 0.0
	for i := 0; i < len(coarse.Positions); i += 3 {
		a, b, c := coarse.Positions[i], coarse.Positions[i+1], coarse.Positions[i+2]
		n := b.Sub(a).Cross(c.Sub(a)).Normalize(0, geom.Vec3{})
		deepest = max(deepest, 1-math.Abs(n.Dot(a)))
	}
	near(t, "maximum of a coarse sphere", r.Max, deepest, deepest/50)
	if r.RMS >= r.Max || r.RMS < r.Max/5 {
		t.Errorf("RMS %g does not suit the maximum %g", r.RMS, r.Max)
	}
}

func TestTiltedNormals(t *testing.T) {
	a, b := grid(5, flat(0)), grid(9, flat(0))
	tilt := 10 * math.Pi / 180
	for i := range b.Normals {
		b.Normals[i] = [3]float32{0, float32(3 * math.Sin(tilt)), float32(3 * math.Cos(tilt))} // length 3
	}
	near(t, "normal deviation", Compare(NewIndex(a), NewIndex(b), 1000).Normal, 10, 1e-4)
	b.Normals = nil
	if r := Compare(NewIndex(a), NewIndex(b), 1000); !math.IsNaN(r.Normal) {
		t.Errorf("without normals the deviation is %g", r.Normal)
	}
}

// TestNearest compares the tree with a look at every triangle.
func TestNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		coord := rapid.Float64Range(-2, 2)
		vec := rapid.Custom(func(t *rapid.T) geom.Vec3 {
			return geom.Vec3{coord.Draw(t, "x"), coord.Draw(t, "y"), coord.Draw(t, "z")}
		})
		s := &Surface{Positions: rapid.SliceOfN(vec, 3, 60).Draw(t, "positions")}
		s.Indices = rapid.SliceOfN(rapid.Uint32Range(0, uint32(len(s.Positions)-1)), 3, 300).Draw(t, "indices")
		s.Indices = s.Indices[:len(s.Indices)/3*3]
		x := NewIndex(s)
		p := vec.Draw(t, "p")
		want := math.Inf(1)
		for i := range x.tris {
			d2, w := x.tris[i].nearest(&p)
			q := x.tris[i][0].Scale(w[0]).Add(x.tris[i][1].Scale(w[1])).Add(x.tris[i][2].Scale(w[2]))
			if l := q.Sub(p).Len(); math.Abs(l-math.Sqrt(d2)) > 1e-7 {
				t.Fatalf("the point at %v lies %g away, not %g", w, l, math.Sqrt(d2))
			}
			for k := range w {
				if w[k] < -1e-9 || w[k] > 1+1e-9 {
					t.Fatalf("barycentric coordinates %v", w)
				}
			}
			want = min(want, d2)
		}
		for hint := int32(-1); hint < int32(len(x.tris)); hint += 7 {
			if got := x.nearest(p, hint, 0).d2; got != want {
				t.Fatalf("hint %d: distance %g, want %g", hint, math.Sqrt(got), math.Sqrt(want))
			}
		}
	})
}

// TestNearestOfTriangle compares with a dense net of points of the triangle.
func TestNearestOfTriangle(t *testing.T) {
	tri := corners{{0, 0, 0}, {2, 0, 0}, {0.5, 1, 0}}
	for _, p := range []geom.Vec3{{-1, -1, 1}, {3, 0, 0}, {0.5, 2, 1}, {1, -1, 0}, {2, 1, 1}, {-1, 1, 0}, {0.7, 0.3, 2}, {0.7, 0.3, 0}} {
		want := math.Inf(1)
		const n = 400
		for i := range n + 1 {
			for j := range n + 1 - i {
				u, v := float64(i)/n, float64(j)/n
				q := tri[0].Scale(1 - u - v).Add(tri[1].Scale(u)).Add(tri[2].Scale(v))
				want = min(want, q.Sub(p).Len())
			}
		}
		d2, _ := tri.nearest(&p)
		near(t, "distance", math.Sqrt(d2), want, 1e-3)
	}
}

func TestSamplesAreStratified(t *testing.T) {
	s := grid(1, flat(0))
	s.Positions[0] = geom.Vec3{-2, -2, 0} // one large and one small triangle share the diagonal
	x := NewIndex(s)
	const n = 1000
	var seen [2]int
	for _, p := range x.samples(n) {
		seen[p.tri]++
	}
	for tri, got := range seen {
		area := x.sums()[tri]
		if tri > 0 {
			area -= x.sums()[tri-1]
		}
		near(t, "samples of a triangle", float64(got), n*area/x.Area(), 1)
	}
}

// TestWorkers asserts that the number of processors changes nothing.
func TestWorkers(t *testing.T) {
	wave := func(x, y float64) float64 { return math.Sin(9*x) * math.Cos(7*y) / 8 }
	a, b := grid(150, wave), grid(20, wave)
	run := func(procs int) Report {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		return Compare(NewIndex(a), NewIndex(b), 9000)
	}
	if one, four := run(1), run(4); one != four {
		t.Errorf("one processor: %+v, four: %+v", one, four)
	}
}

func TestDegenerate(t *testing.T) {
	plane, none := NewIndex(grid(2, flat(0))), NewIndex(&Surface{})
	if r := Compare(plane, none, 10); !math.IsInf(r.RMS, 1) || !math.IsInf(r.Max, 1) {
		t.Errorf("nothing lies at a finite distance: %+v", r)
	}
	if r := Compare(none, none, 10); r != (Report{}) {
		t.Errorf("nothing differs from nothing: %+v", r)
	}
	needle := grid(2, flat(0))
	needle.Indices = append(needle.Indices, 0, 0, 0, 1, 1, 2)
	if r := Compare(plane, NewIndex(needle), 100); r.RMS > 1e-12 || r.Max > 1e-12 {
		t.Errorf("triangles without area count: %+v", r)
	}
	if d := plane.Surface().Diagonal(); math.Abs(d-math.Sqrt2) > 1e-12 || none.Surface().Diagonal() != 0 {
		t.Errorf("diagonals %g and %g", d, none.Surface().Diagonal())
	}
}

func BenchmarkCompare(b *testing.B) {
	wave := func(x, y float64) float64 { return math.Sin(9*x) * math.Cos(7*y) / 8 }
	x, y := NewIndex(grid(1000, wave)), NewIndex(grid(300, wave))
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			NewIndex(x.s)
		}
		b.ReportMetric(float64(x.s.Triangles())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtri/s")
	})
	b.Run("distance", func(b *testing.B) {
		for b.Loop() {
			Compare(x, y, 200_000)
		}
	})
}

// TestFarthest: the largest distance of a vertex, whichever surface has it.
func TestFarthest(t *testing.T) {
	a := NewIndex(grid(8, flat(0)))
	bump := grid(8, flat(0))
	bump.Positions[40][2] += 3
	b := NewIndex(bump)
	near(t, "bump", Farthest(a, b), 3, 1e-12)
	near(t, "bump, turned", Farthest(b, a), 3, 1e-12)
	near(t, "itself", Farthest(b, b), 0, 1e-12)
	none := NewIndex(&Surface{})
	if d := Farthest(a, none); !math.IsInf(d, 1) {
		t.Errorf("to nothing: %v", d)
	}
	if d := Farthest(none, none); d != 0 {
		t.Errorf("nothing to nothing: %v", d)
	}
}

// TestSpread: it is the square of what Compare calls RMS, whatever the surfaces, and of a part
// of a surface what it is of that part alone.
func TestSpread(t *testing.T) {
	all := func(int) bool { return true }
	odd := func(k int) bool { return k%2 == 1 }
	for _, c := range []struct {
		name string
		a, b *Surface
	}{
		{"a plane moved by 0.5", grid(4, flat(0)), grid(3, flat(0.5))},
		{"spheres", sphere(3, 1), sphere(2, 1.2)},
		{"a part of a plane", grid(4, flat(0)), &Surface{Positions: []geom.Vec3{{0, 0, 0}, {0.3, 0, 0}, {0, 0.3, 0}}, Indices: []uint32{0, 1, 2}}},
	} {
		a, b := NewIndex(c.a), NewIndex(c.b)
		r := Compare(a, b, 5000)
		if got := Spread(a.Part(all), b, 5000); !(math.Abs(got-r.RMS*r.RMS) <= 1e-9) {
			t.Errorf("%s: %v, want %v", c.name, got, r.RMS*r.RMS)
		}
		some := &Surface{Positions: c.a.Positions}
		for k := range c.a.Triangles() {
			if odd(k) {
				some.Indices = append(some.Indices, c.a.Indices[3*k:3*k+3]...)
			}
		}
		if got, want := Spread(a.Part(odd), b, 500), Spread(NewIndex(some).Part(all), b, 500); got != want {
			t.Errorf("every other triangle of %s: %v, want %v", c.name, got, want)
		}
	}
	none := NewIndex(&Surface{}).Part(all)
	if got := Spread(none, NewIndex(&Surface{}), 10); got != 0 {
		t.Errorf("nothing beside nothing: %v", got)
	}
	if got := Spread(none, NewIndex(grid(1, flat(0))), 10); !math.IsInf(got, 1) {
		t.Errorf("nothing beside something: %v", got)
	}
}
