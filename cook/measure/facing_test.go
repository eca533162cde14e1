package measure

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

// drawSoup draws loose triangles.
func drawSoup(t *rapid.T) *Surface {
	s := &Surface{}
	num := rapid.Float64Range(-4, 4)
	for range rapid.IntRange(3, 30).Draw(t, "vertices") {
		s.Positions = append(s.Positions, geom.Vec3{num.Draw(t, "x"), num.Draw(t, "y"), num.Draw(t, "z")})
	}
	at := rapid.Uint32Range(0, uint32(len(s.Positions)-1))
	for range 3 * rapid.IntRange(1, 60).Draw(t, "triangles") {
		s.Indices = append(s.Indices, at.Draw(t, "i"))
	}
	return s
}

// TestFacing: queries find what looking at every triangle finds, whatever the hint.
func TestFacing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSoup(t)
		x := NewIndex(s)
		f := NewFacing(x, func(i int) bool { return i%3 == 0 })
		num := rapid.Float64Range(-5, 5)
		p := geom.Vec3{num.Draw(t, "px"), num.Draw(t, "py"), num.Draw(t, "pz")}
		dir := geom.Vec3{num.Draw(t, "dx"), num.Draw(t, "dy"), num.Draw(t, "dz")}.Normalize(1e-9, geom.Vec3{0, 1, 0})
		cosine := rapid.SampledFrom([]float64{-1, 0, 0.5}).Draw(t, "cosine")
		within := rapid.Float64Range(0, 9).Draw(t, "within")
		hint := Hint(rapid.IntRange(0, s.Triangles()).Draw(t, "hint"))
		behind := rapid.Float64Range(0, 9).Draw(t, "behind")
		nearest, first, blocked := math.Inf(1), math.Inf(-1), false
		for i := range x.tris {
			at, u, v, ok := x.tris[i].crosses(&p, &dir)
			if ok && min(u, v, 1-u-v) < 1e-9 { // at an edge it is rounding that decides
				return
			}
			blocked = blocked || ok && at > 0.5 && at < within
			if !(&filter{Facing: f, along: dir, cosine: cosine}).accepts(int32(i)) {
				continue
			}
			d2, _ := x.tris[i].nearest(&p)
			nearest = min(nearest, math.Sqrt(d2))
			if ok && at <= within {
				first = max(first, at)
			}
		}
		same := func(what string, n Near, ok bool, want float64) {
			if math.Abs(want-within) < 1e-9 { // rounding decides
				return
			}
			if ok != (want <= within) || ok && math.Abs(math.Sqrt(n.Distance2)-want) > 1e-9*(1+want) {
				t.Fatalf("%s: %+v %v, want %v within %v", what, n, ok, want, within)
			}
		}
		n, ok := f.Nearest(p, dir, cosine, within, hint)
		same("nearest", n, ok, nearest)
		n, ok = f.First(p, dir, cosine, within, behind, hint)
		if math.Abs(first+behind) > 1e-9 && math.Abs(first-within) > 1e-9 && // rounding decides
			(ok != (first >= -behind) || ok && math.Abs(math.Sqrt(n.Distance2)-math.Abs(first)) > 1e-9*(1+math.Abs(first))) {
			t.Fatalf("first: %+v %v, want %v within %v and %v", n, ok, first, within, behind)
		}
		if got := x.Blocked(p, dir, 0.5, within); got != blocked {
			t.Fatalf("blocked %v, want %v", got, blocked)
		}
	})
}

// TestWalk: a walk finds what the Facing finds, to the last bit, wherever it has been.
func TestWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := NewFacing(NewIndex(drawSoup(t)), func(i int) bool { return i%3 == 0 })
		w := f.Walk()
		num, step := rapid.Float64Range(-5, 5), rapid.Float64Range(-0.5, 0.5)
		p := geom.Vec3{num.Draw(t, "px"), num.Draw(t, "py"), num.Draw(t, "pz")}
		hint := Hint(0)
		for range rapid.IntRange(1, 3*walkFor).Draw(t, "queries") {
			p = p.Add(geom.Vec3{step.Draw(t, "dx"), step.Draw(t, "dy"), step.Draw(t, "dz")})
			along := geom.Vec3{num.Draw(t, "ax"), num.Draw(t, "ay"), num.Draw(t, "az")}.Normalize(1e-9, geom.Vec3{0, 1, 0})
			cosine := rapid.SampledFrom([]float64{-1, 0, 0.5}).Draw(t, "cosine")
			reach := rapid.Float64Range(0, 3).Draw(t, "reach")
			want, ok := f.First(p, along, cosine, reach, reach/2, hint)
			if got, found := w.First(p, along, cosine, reach, reach/2, hint); got != want || found != ok {
				t.Fatalf("first: %+v %v, want %+v %v", got, found, want, ok)
			}
			want, ok = f.Nearest(p, along, cosine, reach, hint)
			if got, found := w.Nearest(p, along, cosine, reach, hint); got != want || found != ok {
				t.Fatalf("nearest: %+v %v, want %+v %v", got, found, want, ok)
			}
			if _, touches := w.Touches(p, along, cosine, reach, hint); touches != ok {
				t.Fatalf("touches: %v, want %v", touches, ok)
			}
			if got, found := w.Nearer(p, along, AnyCosine, reach*reach, hint); found {
				if n, ok := f.Nearest(p, along, AnyCosine, reach, 0); !ok || math.Abs(n.Distance2-got.Distance2) > 1e-12*(1+n.Distance2) {
					t.Fatalf("nearer: %+v, want %+v", got, n)
				}
			} else if n, ok := f.Nearest(p, along, AnyCosine, reach, 0); ok && n.Distance2 < reach*reach {
				t.Fatalf("nearer: nothing, want %+v", n)
			}
			if got, want := w.Blocked(p, along, 0.01, reach), f.x.Blocked(p, along, 0.01, reach); got != want {
				t.Fatalf("blocked: %v, want %v", got, want)
			}
			hint = want.Hint
		}
	})
}
