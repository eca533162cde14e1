package render

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

// TestCascadeCovers: as long as a map is not wrong, every point of the slice
// has its place in it.
func TestCascadeCovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCamera(t)
		l := newLens(&c, rapid.Float64Range(0.5, 2).Draw(t, "aspect"))
		near := rapid.Float64Range(0.1, 50).Draw(t, "near")
		far := near * rapid.Float64Range(1.1, 20).Draw(t, "ratio")
		light := lightSpaceOf(drawVec(t, "sun", 1))
		var k cascade
		if k.judge(sliceOf(&l, near, far), &light, 1) != wrong {
			t.Fatal("an empty map is not wrong")
		}
		k.place(sliceOf(&l, near, far), &light, 1024, 1)
		// The camera moves on.
		l.eye = l.eye.Add(drawVec(t, "step", far*0.1))
		s := sliceOf(&l, near, far)
		if k.judge(s, &light, 1) == wrong {
			return
		}
		d := rapid.Float64Range(near, far).Draw(t, "distance")
		x, y := rapid.Float64Range(-1, 1).Draw(t, "x"), rapid.Float64Range(-1, 1).Draw(t, "y")
		p := l.eye.Add(l.forward.Scale(d)).Add(l.right.Scale(x * d * l.tanX)).Add(l.up.Scale(y * d * l.tanY))
		uvz := k.matrix.Point(p)
		for i, v := range uvz {
			if v < -1e-9 || v > 1+1e-9 {
				t.Fatalf("coordinate %d of %v is outside the map: %v", i, p, uvz)
			}
		}
		rel := relative(&k.matrix, l.eye)
		if q := rel.Point(p.Sub(l.eye)); q.Sub(uvz).Len() > 1e-6 {
			t.Fatalf("relative to the eye %v, want %v", q, uvz)
		}
	})
}

// TestCascadeIsStable: after a step a map placed anew differs by whole texels,
// so that the edges of shadows stay where they are.
func TestCascadeIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCamera(t)
		l := newLens(&c, 1.5)
		light := lightSpaceOf(defaultSun)
		const size = 512
		var a, b cascade
		a.place(sliceOf(&l, 1, 30), &light, size, 1)
		l.eye = l.eye.Add(drawVec(t, "step", 50))
		b.place(sliceOf(&l, 1, 30), &light, size, 1)
		if a.fit.radius != b.fit.radius {
			t.Fatalf("the radius changes from %v to %v", a.fit.radius, b.fit.radius)
		}
		texel := 2 * a.fit.radius / size
		d := b.fit.center.Sub(a.fit.center)
		for i := range d {
			if n := d[i] / texel; math.Abs(n-math.Round(n)) > 1e-6 {
				t.Fatalf("axis %d moves by %v texels", i, n)
			}
		}
	})
}

func TestCascadeStates(t *testing.T) {
	l := lens{forward: geom.Vec3{0, 0, -1}, right: geom.Vec3{1, 0, 0}, up: geom.Vec3{0, 1, 0}, tanX: 0.6, tanY: 0.5}
	light := lightSpaceOf(geom.Vec3{1, 1, 1})
	s := sliceOf(&l, 1, 20)
	var k cascade
	k.place(s, &light, 1024, 7)
	margin := k.fit.radius - s.radius
	moved := func(d float64) slice { return slice{s.center.Add(light.x.Scale(d)), s.radius} }
	other := lightSpaceOf(geom.Vec3{0, 1, 0})
	for _, c := range []struct {
		name    string
		s       slice
		light   lightSpace
		content uint64
		want    state
	}{
		{"unchanged", s, light, 7, fresh},
		{"a small step", moved(0.2 * margin), light, 7, fresh},
		{"half the margin", moved(0.8 * margin), light, 7, stale},
		{"beyond the margin", moved(1.5 * margin), light, 7, wrong},
		{"other casters", s, light, 8, stale},
		{"another sun", s, other, 7, wrong},
		{"a much smaller slice", slice{s.center, s.radius / 3}, light, 7, wrong},
	} {
		if got := k.judge(c.s, &c.light, c.content); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestCascadeSplits(t *testing.T) {
	for n := 1; n <= maxCascades; n++ {
		var d [maxCascades]float64
		cascadeSplits(&d, n, 0.1, 200)
		last := 0.1
		for i := range n {
			if d[i] <= last {
				t.Errorf("%d cascades: %v", n, d)
			}
			last = d[i]
		}
		if d[n-1] != 200 {
			t.Errorf("%d cascades end at %v", n, d[n-1])
		}
	}
}

func TestShadowRange(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ nearest, farthest, near, far float64 }{
		{0, 5000, 0, 240},           // in the middle of a city
		{0, 2, 0, 2},                // a small thing
		{1, 3, 1, 4},                // a small thing, framed
		{1000, 3000, 724.077, 2896}, // a city from far away
		{inf, 0, 0, 0},              // nothing
	} {
		near, far := shadowRange(240, c.nearest, c.farthest)
		if c.farthest == 0 {
			continue
		}
		if math.Abs(near-c.near) > 0.01 || math.Abs(far-c.far) > 1 {
			t.Errorf("from %v to %v: shadows from %v to %v, want %v to %v", c.nearest, c.farthest, near, far, c.near, c.far)
		}
	}
}

// TestClipDepth: the map's matrix and the one that draws it agree.
func TestClipDepth(t *testing.T) {
	var k cascade
	light := lightSpaceOf(defaultSun)
	k.place(slice{geom.Vec3{3, 4, 5}, 10}, &light, 256, 1)
	p := geom.Vec3{1, 2, 3}
	uvz := k.matrix.Point(p)
	for _, zeroToOne := range []bool{false, true} {
		m := toClip(&k.matrix, zeroToOne)
		clip := m.Point(p)
		want := uvz.Scale(2).Sub(geom.Vec3{1, 1, 1})
		if zeroToOne {
			want[2] = uvz[2]
		}
		if clip.Sub(want).Len() > 1e-12 {
			t.Errorf("clip %v, want %v", clip, want)
		}
	}
}
