package simplify

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

// plate is a triangle whose other corners lie at most radius from the first.
type plate struct {
	a, e, f vec
	radius  float64
}

func platesOf(m *Mesh) []plate {
	v := func(i uint32) vec { p := m.Positions[i]; return vec{p[0], p[1], p[2]} }
	var out []plate
	for c := 0; c < len(m.Indices); c += 3 {
		a := v(m.Indices[c])
		e, f := v(m.Indices[c+1]).sub(a), v(m.Indices[c+2]).sub(a)
		out = append(out, plate{a, e, f, math.Sqrt(max(e.length2(), f.length2()))})
	}
	return out
}

// nearestPlate looks at every triangle that may be nearest to a point, and
// returns it, the vertex in it and the squared distance.
func nearestPlate(plates []plate, p vec) (at int, u, v, best float64) {
	best, reach := math.Inf(1), math.Inf(1)
	for i := range plates {
		f := plates[i]
		off := p.sub(f.a)
		if far := reach + f.radius; off.length2() > far*far*(1+1e-9) {
			continue
		}
		x, y := project(f.e, f.f, off)
		if d := off.sub(f.e.scale(x)).sub(f.f.scale(y)).length2(); d < best {
			at, u, v, best, reach = i, x, y, d, math.Sqrt(d)
		}
	}
	return at, u, v, best
}

// distance returns the greatest and the root mean square distance from points
// of one mesh to another: at vertices and at the middles of triangles.
func distance(from, to *Mesh) (worst, rms float64) {
	v := func(m *Mesh, i uint32) vec { p := m.Positions[i]; return vec{p[0], p[1], p[2]} }
	plates := platesOf(to)
	sum, weight := 0.0, 0.0
	for c := 0; c < len(from.Indices); c += 3 {
		a, b, d := v(from, from.Indices[c]), v(from, from.Indices[c+1]), v(from, from.Indices[c+2])
		w := math.Sqrt(b.sub(a).cross(d.sub(a)).length2())
		// Exact for squares of linear functions.
		for i, p := range []vec{a, b, d, a.add(b).add(d).scale(1.0 / 3)} {
			_, _, _, n := nearestPlate(plates, p)
			worst = max(worst, n)
			share := 1.0 / 12
			if i == 3 {
				share = 3.0 / 4
			}
			sum += w * share * n
		}
		weight += w
	}
	return math.Sqrt(worst), math.Sqrt(sum / weight)
}

// TestErrorIsHonest compares what Reduce reports with the distances between
// the meshes, measured both ways.
func TestErrorIsHonest(t *testing.T) {
	if testing.Short() {
		t.Skip("compares every triangle with every point")
	}
	for _, c := range []struct {
		name   string
		m      *Mesh
		o      Options
		target int
	}{
		{"hills to a half", grid(40, hills), Options{}, 1600},
		{"hills to a tenth", grid(40, hills), Options{}, 320},
		{"hills locked", grid(40, hills), Options{LockBorder: true}, 320},
		{"sphere", sphere(5), Options{}, 800},
		{"coarse sphere", sphere(5), Options{}, 80},
		{"boxes clustered", boxes(8), Options{Sloppy: true}, 100},
		{"boxes pruned", boxes(8), Options{PruneBelow: 100}, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, r := must(t, c.m, c.o, c.target, 0)
			w0, m0 := distance(c.m, out)
			w1, m1 := distance(out, c.m)
			worst, mean := max(w0, w1), math.Sqrt((m0*m0+m1*m1)/2)
			t.Logf("reported %.4g, measured %.4g; mean %.4g, %.4g", r.Error, worst, r.MeanError, mean)
			if r.Error < 0.4*worst || r.Error > 3*worst && !r.Sloppy {
				t.Errorf("reported %v, but the distance is %v", r.Error, worst)
			}
			// Components that are gone do not count in the mean.
			if r.Pruned == 0 && (r.MeanError < 0.6*mean || r.MeanError > 2.5*mean) {
				t.Errorf("reported a mean of %v, but it is %v", r.MeanError, mean)
			}
		})
	}
}

// TestErrorLimit: whatever the limit, the reported error keeps to it within the
// factor that the doc comment of Reduce states.
func TestErrorLimit(t *testing.T) {
	for _, limit := range []float64{1e-3, 3e-3, 3e-2} {
		for name, m := range map[string]*Mesh{"hills": grid(40, hills), "sphere": sphere(6)} {
			_, r := must(t, m, Options{}, 1, limit)
			t.Logf("%s: %v", name, r)
			if r.Stop != ErrorBound || r.Error > 1.5*limit || r.MeanError > limit/2 || r.Error < limit/10 {
				t.Errorf("%s with limit %v: %v", name, limit, r)
			}
		}
	}
}

// TestSharedModels keeps the quality on real models, in parts of the diagonal:
// the numbers are a third above what they were when this was written.
func TestSharedModels(t *testing.T) {
	for _, c := range []struct {
		file        string
		worst, mean float64
	}{
		{"FlightHelmet/FlightHelmet.gltf", 0.0075, 0.00105},
		{"Mountains/Mountains.gltf", 0.004, 0.0009},
		{"dutch_ship_medium_1k/dutch_ship_medium_1k.gltf", 0.08, 0.0037},
	} {
		t.Run(c.file, func(t *testing.T) {
			m := loadShared(t, c.file)
			box := geom.EmptyBox()
			for _, p := range m.Positions {
				box = box.Extend(p)
			}
			diagonal := box.Size().Len()
			_, r := must(t, m, Options{}, m.Triangles()/10, 0)
			t.Logf("%v; relative %.3g, mean %.3g", r, r.RelativeError, r.MeanError/diagonal)
			if r.Stop != Reached || r.RelativeError > c.worst || r.MeanError > c.mean*diagonal {
				t.Errorf("%v, relative %v, mean %v", r, r.RelativeError, r.MeanError/diagonal)
			}
		})
	}
}
