package render

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
)

func drawVec(t *rapid.T, name string, limit float64) geom.Vec3 {
	g := rapid.Float64Range(-limit, limit)
	return geom.Vec3{g.Draw(t, name+"x"), g.Draw(t, name+"y"), g.Draw(t, name+"z")}
}

func drawCamera(t *rapid.T) runtime.Camera {
	return runtime.Camera{
		Position: [3]float64(drawVec(t, "eye", 1000)), Forward: [3]float64(drawVec(t, "forward", 1)), Up: [3]float64{0, 1, 0},
		FovYDegrees: rapid.Float64Range(10, 120).Draw(t, "fov"), Near: rapid.Float64Range(0.01, 1).Draw(t, "near"), Far: 5000,
	}
}

// TestFrustumAgrees: a point is in the frustum when the matrix says that it is
// on the picture.
func TestFrustumAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCamera(t)
		l := newLens(&c, rapid.Float64Range(0.3, 3).Draw(t, "aspect"))
		root := geom.TRS(drawVec(t, "move", 100), [4]float64{0.1, 0.7, 0.2, 0.5}, geom.Vec3{1, 2, -0.5})
		p := drawVec(t, "p", 1500)
		world := root.Point(p)
		rel := world.Sub(l.eye)
		m := l.viewProj(true)
		clip := [4]float64{}
		for i := range 4 {
			clip[i] = m[i]*rel[0] + m[4+i]*rel[1] + m[8+i]*rel[2] + m[12+i]
		}
		w := clip[3]
		margin := min(w-math.Abs(clip[0]), w-math.Abs(clip[1]), w-l.near)
		if math.Abs(margin) < 1e-6*(1+math.Abs(w)) {
			t.Skip("on the edge")
		}
		world0 := frustumOf(&l)
		f := world0.in(&root)
		if got, want := f.sees((*[3]float64)(&p), &[3]float64{}), margin > 0; got != want {
			t.Fatalf("seen %v, the matrix says %v (clip %v)", got, want, clip)
		}
	})
}

// TestDepth: reversed depth is 1 at the near plane and falls to 0, plain depth
// goes from -1 to 1.
func TestDepth(t *testing.T) {
	c := runtime.Camera{Forward: [3]float64{0, 0, -1}, FovYDegrees: 60, Near: 0.5, Far: 100}
	l := newLens(&c, 1)
	depth := func(m geom.Mat4, d float64) float64 { return (m[10]*-d + m[14]) / d }
	r, p := l.viewProj(true), l.viewProj(false)
	for _, c := range []struct{ d, reverse, plain float64 }{{0.5, 1, -1}, {100, 0.005, 1}, {1e9, 5e-10, 1.01005}} {
		if got := depth(r, c.d); math.Abs(got-c.reverse) > 1e-9 {
			t.Errorf("reversed depth at %v is %v, want %v", c.d, got, c.reverse)
		}
		if got := depth(p, c.d); math.Abs(got-c.plain) > 1e-4 {
			t.Errorf("plain depth at %v is %v, want %v", c.d, got, c.plain)
		}
	}
}

// TestLensAcceptsAnything: there is a picture whatever the camera says.
func TestLensAcceptsAnything(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []runtime.Camera{
		{},
		{Position: [3]float64{nan, 0, 0}, Forward: [3]float64{nan, nan, nan}, FovYDegrees: nan, Near: nan, Far: nan},
		{Forward: [3]float64{0, 1, 0}, FovYDegrees: 200, Near: -1, Far: inf, Aspect: inf},
		{Forward: [3]float64{0, 0, 1e-30}, Up: [3]float64{0, 0, 1}, FovYDegrees: 60, Near: inf},
		{Forward: [3]float64{0, -1, 0}, Up: [3]float64{0, 1, 0}, Near: 5, Far: 1},
	} {
		l := newLens(&c, 1.5)
		for _, reverse := range []bool{false, true} {
			m := l.viewProj(reverse)
			if !m.IsFinite() || l.near <= 0 || math.Abs(l.right.Dot(l.forward)) > 1e-9 || math.Abs(l.up.Len()-1) > 1e-9 {
				t.Errorf("%+v: lens %+v", c, l)
			}
		}
	}
}

// TestObjectsAreExactNearby: at coordinates of a million metres a vertex lands
// where double precision says, to a tenth of a millimetre relative to the eye.
func TestObjectsAreExactNearby(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root := geom.TRS(drawVec(t, "move", 1e6), [4]float64{0, 0.3, 0, 0.9}, geom.Vec3{1, 1, 1})
		if rapid.Bool().Draw(t, "identity") {
			root = geom.Identity()
		}
		vertex := geom.FromF32(drawVec(t, "vertex", 1e6).F32())
		eye := root.Point(vertex).Add(drawVec(t, "step", 10))
		o := appendObject(nil, &root, eye, &compact.Packing{})
		want := root.Point(vertex).Sub(eye)
		for i := range 3 {
			row := o[4*i:]
			var got float32 = row[3]
			for k := range 3 {
				got += float32(row[k] * (float32(vertex[k]) - o[12+k]))
			}
			if math.Abs(float64(got)-want[i]) > 1e-4 {
				t.Fatalf("axis %d: %v, want %v", i, got, want[i])
			}
		}
	})
}

func TestObjectOfAFlatTransform(t *testing.T) {
	flat := geom.TRS(geom.Vec3{5, 0, 0}, [4]float64{}, geom.Vec3{1, 0, 1})
	for _, v := range appendObject(nil, &flat, geom.Vec3{1, 2, 3}, &compact.Packing{}) {
		if v != v {
			t.Fatal("NaN")
		}
	}
}
