package render

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

// TestCascadeCovers: a map of a camera at rest, and one that is used for as long
// as its drawing took while the camera moves on, holds every point of the
// slice.
func TestCascadeCovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCamera(t)
		l := newLens(&c, rapid.Float64Range(0.5, 2).Draw(t, "aspect"))
		near := rapid.Float64Range(0.1, 50).Draw(t, "near")
		far := near * rapid.Float64Range(1.1, 20).Draw(t, "ratio")
		light := lightSpaceOf(drawVec(t, "sun", 1))
		s := sliceOf(&l, near, far)
		m := motion{step: drawVec(t, "step", 0.01*s.radius), frames: rapid.Float64Range(0, 10).Draw(t, "frames")}
		if m.step.Scale(1.5*m.frames).Len() > cascadeReach*s.radius {
			return // too fast to be followed
		}
		var k cascade
		k.place(m.wanted(s), &light, 1024)
		l.eye = l.eye.Add(m.step.Scale(m.frames * rapid.Float64Range(1, 2).Draw(t, "when")))
		if s = sliceOf(&l, near, far); !k.fit.covers(s) {
			t.Fatalf("the map does not hold its slice; motion %v", m)
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
		var rest motion
		a.place(rest.wanted(sliceOf(&l, 1, 30)), &light, size)
		l.eye = l.eye.Add(drawVec(t, "step", 50))
		b.place(rest.wanted(sliceOf(&l, 1, 30)), &light, size)
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

func TestStaleMaps(t *testing.T) {
	l := lens{forward: geom.Vec3{0, 0, -1}, right: geom.Vec3{1, 0, 0}, up: geom.Vec3{0, 1, 0}, tanX: 0.6, tanY: 0.5}
	light := lightSpaceOf(geom.Vec3{1, 1, 1})
	s := sliceOf(&l, 1, 20)
	var rest motion
	k := cascade{content: 7}
	k.place(rest.wanted(s), &light, 1024)
	margin := k.fit.radius - s.radius
	moved := func(d float64) slice { return slice{s.center.Add(light.x.Scale(d)), s.radius} }
	slow := motion{light.x.Scale(margin / 100), 1}
	for _, c := range []struct {
		name    string
		s       slice
		m       motion
		content uint64
		want    bool
	}{
		{"unchanged", s, rest, 7, false},
		{"not where it lies at rest", moved(0.5 * margin), rest, 7, true},
		{"within the margin", moved(0.9 * margin), slow, 7, false},
		{"beyond the margin", moved(1.1 * margin), slow, 7, true},
		{"soon beyond the margin", s, motion{light.x.Scale(margin / 4), 5}, 7, true},
		{"long within the margin", s, motion{light.x.Scale(margin / 4), 2}, 7, false},
		{"other casters", s, rest, 8, true},
		{"other casters on the way", s, slow, 8, true},
		{"a smaller slice", slice{s.center, s.radius / 1.5}, slow, 7, true},
		{"a little smaller slice", slice{s.center, s.radius / 1.1}, slow, 7, false},
	} {
		if got := k.isStale(c.s, &c.m, 1024, c.content); got != c.want {
			t.Errorf("%s: stale is %v", c.name, got)
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
	for _, c := range []struct{ nearest, farthest, near, far, end float64 }{
		{0, 5000, 0, 240, 5793},           // in the middle of a city
		{0, 2, 0, 2, 2},                   // a small thing
		{1, 3, 1, 4, 4},                   // a small thing, framed
		{1000, 3000, 724.077, 2896, 4096}, // a city from far away
		{0, 230, 0, 240, 256},             // near the limit the last cascade is just there
	} {
		got := shadowRange(240, c.nearest, c.farthest)
		if math.Abs(got.near-c.near) > 0.01 || math.Abs(got.far-c.far) > 1 || math.Abs(got.end-c.end) > 1 || got.end < c.farthest {
			t.Errorf("from %v to %v: shadows from %v to %v and %v, want %v to %v and %v", c.nearest, c.farthest, got.near, got.far, got.end, c.near, c.far, c.end)
		}
	}
	if r := shadowRange(240, math.Inf(1), 0); r.end != r.far || r.far < 240 {
		t.Errorf("nothing to see: %+v", r)
	}
}

// TestLastCascade: it rests while everything is near, is drawn bit by bit when
// that changes, and lies around the scene where that is smaller than the view.
func TestLastCascade(t *testing.T) {
	l := lens{forward: geom.Vec3{0, 0, -1}, right: geom.Vec3{1, 0, 0}, up: geom.Vec3{0, 1, 0}, tanX: 0.6, tanY: 0.5}
	light := lightSpaceOf(defaultSun)
	s := schedule{count: 4}
	draw := func(r *shadowReach) (jump bool) {
		jump = s.follow(&l, &light, r)
		for i := range s.active {
			if !s.cascades[i].valid {
				s.begin(i, &light, 64)
				s.end(i, 0)
			}
		}
		return jump
	}
	if s.shown() != 0 {
		t.Errorf("%d cascades before the first frame", s.shown())
	}
	near := shadowReach{near: 1, far: 100, end: 100}
	if jump := draw(&near); !jump || s.active != 3 || s.shown() != 3 || s.reach(&near) != 100 {
		t.Errorf("near: jump %v, %d of %d cascades, to %v", jump, s.shown(), s.active, s.reach(&near))
	}
	wide := shadowReach{near: 1, far: 100, end: 1000, scene: slice{geom.Vec3{7, 8, 9}, 300}}
	if jump := s.follow(&l, &light, &wide); jump || s.active != 4 || s.shown() != 3 || s.reach(&wide) != 100 {
		t.Errorf("at first: jump %v, %d of %d cascades, to %v", jump, s.shown(), s.active, s.reach(&wide))
	}
	if jump := draw(&wide); jump || s.shown() != 4 || s.reach(&wide) < 1000 || s.slices[3] != wide.scene {
		t.Errorf("far: jump %v, %d of %d cascades, to %v, %+v", jump, s.shown(), s.active, s.reach(&wide), s.slices[3])
	}
	wide.scene.radius = 1e6
	if s.follow(&l, &light, &wide); s.slices[3] != sliceOf(&l, 100, 1000) {
		t.Errorf("a scene that is larger than the view: %+v", s.slices[3])
	}
	if jump := draw(&near); jump || s.shown() != 3 || s.cascades[3].valid {
		t.Errorf("near again: jump %v, %d cascades", jump, s.shown())
	}
	one := schedule{count: 1}
	if one.follow(&l, &light, &wide); one.active != 1 || one.ends[0] != 100 {
		t.Errorf("a single cascade: %+v", one)
	}
}

func TestSceneSlice(t *testing.T) {
	b := geom.Box{Min: geom.Vec3{-1, -2, -2}, Max: geom.Vec3{1, 2, 2}}
	if s := sceneSlice(&b); s != (slice{radius: 3}) {
		t.Errorf("%+v", s)
	}
	empty, huge := geom.EmptyBox(), geom.Box{Max: geom.Vec3{math.Inf(1), 1, 1}}
	for _, b := range []*geom.Box{nil, &empty, &huge} {
		if s := sceneSlice(b); s.radius != 0 {
			t.Errorf("%v: %+v", b, s)
		}
	}
}

// TestClipDepth: the map's matrix and the one that draws it agree.
func TestClipDepth(t *testing.T) {
	var k cascade
	light := lightSpaceOf(defaultSun)
	k.place(slice{geom.Vec3{3, 4, 5}, 10}, &light, 256)
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
