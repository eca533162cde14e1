package pyramid

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/cook/measure"
	"github.com/untoldkit/untold/internal/geom"
)

// Palms, fences of boards, masts and railings are opaque, and whether they vanish is known
// when a model has been simplified. Those that do are thin: cards stand for them as well.

const (
	// thinLeft is the part of its area of which less is left of what vanishes.
	thinLeft = 1.0 / 3
	// thinThick is how thick a thin thing may be, in parts of Options.Flush: of a mast its
	// radius counts, of a board its thickness.
	thinThick = 0.5
	// thinFree is the part of its area that stands off all that is not thin. What does not
	// is shown by the texture of what is behind.
	thinFree = 0.5
	// thinSamples bounds at how many triangles of a thing that is asked.
	thinSamples = 32
	// thinLeast is the part of a source's area that thin things must have together: what is
	// less is hardly seen, and would take triangles from what is.
	thinLeast = 1.0 / 100
)

// findThin finds the things that are thin, and reports whether there are any.
func (d *division) findThin() bool {
	if d.o.Flush <= 0 || d.s.fresh == nil || len(d.in.Indices) == 0 {
		return false
	}
	of := d.thingOf()
	there, left := make([]bool, len(d.things)), make([]float64, len(d.things))
	at := func(t int32) int32 { return of[d.in.Indices[3*t]] }
	for t := range int32(d.in.Triangles()) {
		if i := at(t); i >= 0 {
			there[i] = true
		}
	}
	for t, from := range d.left {
		if i := at(from); i >= 0 {
			left[i] += triangleArea(d.coarse.Positions, d.coarse.Indices[3*t:3*t+3])
		}
	}
	if !d.s.doubleSided(d.loose) { // the backs of sheets do not show
		for i := range d.things {
			if t := &d.things[i]; d.s.Surface.Looks[d.s.Surface.Materials[t.triangles[0]]].DoubleSided {
				left[i] /= 2
			}
		}
	}
	most := float64(looseMost * d.s.side())
	lost := make([]bool, len(d.things))
	slight := make([]bool, len(d.things)) // neither it nor its surroundings show it
	all, gone := 0.0, 0.0
	for i := range d.things {
		t := &d.things[i]
		all += t.area
		lost[i] = !t.loose && there[i] && d.s.fresh[t.triangles[0]] && left[i] < float64(thinLeft*t.area)
		small := t.box.Size().Len() <= most
		if slight[i] = t.loose || (small || lost[i]) && d.slight(t) && (small || d.s.divisible(t, most)); lost[i] && slight[i] {
			gone += t.area
		}
	}
	if gone < float64(thinLeast*all) || gone == 0 {
		return false
	}
	gone = 0
	solid := d.index().Part(func(k int) bool { i := of[d.s.Surface.Indices[3*k]]; return i < 0 || !slight[i] })
	for i := range d.things {
		if lost[i] = lost[i] && slight[i] && d.free(&d.things[i], solid); lost[i] {
			gone += d.things[i].area
		}
	}
	if gone < float64(thinLeast*all) {
		return false
	}
	var more []thing // parts of those that are long
	for i := range lost {
		t := &d.things[i]
		switch {
		case !lost[i]:
		case t.box.Size().Len() <= most:
			t.loose, t.thin = true, true
		default:
			for _, p := range d.s.parts(t, most) {
				p.thin = true
				more = append(more, p)
			}
			t.triangles = nil
		}
	}
	d.things = append(slices.DeleteFunc(d.things, func(t thing) bool { return t.triangles == nil }), more...)
	return true
}

// thingOf returns the number of the thing that each vertex of the source is of, -1 for none.
func (d *division) thingOf() []int32 {
	of := make([]int32, len(d.s.Surface.Positions))
	for i := range of {
		of[i] = -1
	}
	for i := range d.things {
		for _, t := range d.things[i].triangles {
			for _, v := range d.s.Surface.Indices[3*t : 3*t+3] {
				of[v] = int32(i)
			}
		}
	}
	return of
}

// slight reports whether a thing is thin for a model: its volume over half of its area is
// its thickness.
func (d *division) slight(t *thing) bool {
	volume := 0.0
	f := &d.s.Surface
	for _, k := range t.triangles {
		i := f.Indices[3*k : 3*k+3]
		a, b, c := f.Positions[i[0]].Sub(t.centre), f.Positions[i[1]].Sub(t.centre), f.Positions[i[2]].Sub(t.centre)
		volume += float64(a.Dot(b.Cross(c)) / 6)
	}
	return 2*math.Abs(volume) <= float64(float64(thinThick*d.o.Flush)*t.area)
}

// free reports whether most of a thing stands off all that is solid.
func (d *division) free(t *thing, solid *measure.Part) bool {
	f, hint := &d.s.Surface, measure.Hint(0)
	step := (len(t.triangles) + thinSamples - 1) / thinSamples
	all, off := 0.0, 0.0
	for k := 0; k < len(t.triangles); k += step {
		i := f.Indices[3*t.triangles[k] : 3*t.triangles[k]+3]
		area := triangleArea(f.Positions, i)
		for corner := range 3 { // between the middle and each corner: triangles may be long
			a, b, c := f.Positions[i[corner]], f.Positions[i[(corner+1)%3]], f.Positions[i[(corner+2)%3]]
			p := a.Scale(2.0 / 3).Add(b.Scale(1.0 / 6)).Add(c.Scale(1.0 / 6))
			all += area
			if near, ok := solid.Touches(p, d.o.Flush, hint); ok {
				hint = near
			} else {
				off += area
			}
		}
	}
	return off > float64(thinFree*all)
}

// divisible reports whether parts divides a thing: no triangle is larger than a size.
func (s *Source) divisible(t *thing, size float64) bool {
	return !slices.ContainsFunc(t.triangles, func(k int32) bool { one := s.thing([]int32{k}, t.group); return one.box.Size().Len() > size })
}

// side returns the longer side of a source along the ground, metres.
func (s *Source) side() float64 {
	box := geom.EmptyBox()
	for _, v := range s.Surface.Indices {
		box = box.Extend(s.Surface.Positions[v])
	}
	size := box.Size()
	return max(size[0], size[2])
}

func triangleArea(p []geom.Vec3, i []uint32) float64 {
	return float64(p[i[1]].Sub(p[i[0]]).Cross(p[i[2]].Sub(p[i[0]])).Len() / 2)
}
