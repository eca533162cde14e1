package pyramid

import (
	"math"

	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// Crowns of leaves, wire fences and round bushes are many small pieces or small round
// ones: simplified they vanish, and a forest would be its ground. They are loose: cards
// stand for them.

const (
	// looseMost is the diagonal of the largest loose piece, in parts of the longer side of
	// a source's box.
	looseMost = 1.0 / 6
	// crownLeast is the diagonal of the smallest crown that is one piece.
	crownLeast = 1.0 / 400
	// A crown has so many sides, none with more than a part of its area, and shows a part
	// of it to the top and to the four sides.
	crownSides  = 12
	crownSide   = 0.15
	crownSeen   = 0.1
	crownCosine = 0.95 // between normals of one side
	crownMost   = 2000 // triangles: what has more is no crown but a statue
	// crownKept is how many triangles a model must have for each crown that is one piece: where
	// it has as many, crowns stay what they are.
	crownKept = 12
)

// thing is a connected part of a source.
type thing struct {
	triangles []int32
	group     int32
	area      float64
	box       geom.Box
	centre    geom.Vec3 // by area
	loose     bool
	thin      bool // opaque, and loose as it vanishes
}

// findThings returns the connected parts of a source that have an area, and which of them
// are loose, for a model of so many triangles.
func (s *Source) findThings(triangles int) (things []thing) {
	f := &s.Surface
	m := &simplify.Mesh{Positions: f.Positions, Indices: f.Indices, Groups: make([]int32, len(s.Groups))}
	for t, g := range s.Groups {
		if m.Groups[t] = 2 * g; s.leafy(int32(t)) {
			m.Groups[t]++ // leaves hang together with leaves alone
		}
	}
	side := s.side()
	var crowns []int
	most := float64(looseMost * side)
	for _, p := range piecesOf(m) {
		if !(p.area > 0) || p.area > math.MaxFloat64 {
			continue
		}
		t := s.thing(p.triangles, p.group/2)
		leaves, diagonal := p.group%2 == 1, t.box.Size().Len()
		switch {
		case s.cards != nil && s.cards[p.triangles[0]]:
			t.loose = true
		case leaves && diagonal > most:
			// A hedge or a fence that hangs together goes in parts.
			parts := s.parts(&t, most)
			things = append(things, parts...)
			continue
		case leaves:
			t.loose = true
		case diagonal <= most && diagonal >= float64(crownLeast*side) && s.crown(&t):
			crowns = append(crowns, len(things))
		}
		things = append(things, t)
	}
	if len(crowns)*crownKept > triangles {
		for _, i := range crowns {
			things[i].loose = true
		}
	}
	return things
}

// thing describes triangles of a source.
func (s *Source) thing(triangles []int32, group int32) thing {
	t := thing{triangles: triangles, group: group, box: geom.EmptyBox()}
	f := &s.Surface
	for _, k := range triangles {
		i := f.Indices[3*k : 3*k+3]
		a, b, c := f.Positions[i[0]], f.Positions[i[1]], f.Positions[i[2]]
		t.box = t.box.Extend(a).Extend(b).Extend(c)
		area := float64(b.Sub(a).Cross(c.Sub(a)).Len() / 2)
		t.area += area
		t.centre = t.centre.Add(a.Add(b).Add(c).Scale(area / 3))
	}
	if t.area > 0 {
		t.centre = t.centre.Scale(1 / t.area)
	}
	return t
}

// parts divides leaves that hang together into loose things in cubes of half a size; nil if
// some triangle is larger than that size.
func (s *Source) parts(t *thing, size float64) []thing {
	var order [][3]int
	in := map[[3]int][]int32{}
	for _, k := range t.triangles {
		one := s.thing([]int32{k}, t.group)
		if one.box.Size().Len() > size {
			return nil
		}
		var at [3]int
		for axis := range at {
			at[axis] = int(math.Floor((one.box.Min[axis] - t.box.Min[axis]) / (size / 2)))
		}
		if in[at] == nil {
			order = append(order, at)
		}
		in[at] = append(in[at], k)
	}
	var out []thing
	for _, at := range order {
		if part := s.thing(in[at], t.group); part.area > 0 {
			part.loose = true
			out = append(out, part)
		}
	}
	return out
}

// leafy reports whether a triangle is cut out of its texture.
func (s *Source) leafy(t int32) bool {
	l := &s.Surface.Looks[s.Surface.Materials[t]]
	return s.fresh != nil && s.fresh[t] && l.Masked && l.Color.Image != nil
}

// crown reports whether an opaque thing is round from all sides, as crowns, bushes and
// boulders are, and boxes and pipes are not.
func (s *Source) crown(t *thing) bool {
	if len(t.triangles) < crownSides || len(t.triangles) > crownMost || s.fresh == nil {
		return false
	}
	type side struct {
		normal geom.Vec3
		area   float64
	}
	var sides []side
	var seen [5]float64
	f := &s.Surface
	for _, k := range t.triangles {
		if !s.fresh[k] {
			return false
		}
		i := f.Indices[3*k : 3*k+3]
		a := f.Positions[i[0]]
		n := f.Positions[i[1]].Sub(a).Cross(f.Positions[i[2]].Sub(a))
		area := float64(n.Len() / 2)
		n = n.Normalize(1e-30, geom.Vec3{0, 1, 0})
		for d, x := range [5]float64{n[0], -n[0], n[1], n[2], -n[2]} {
			seen[d] += float64(area * max(0, x))
		}
		at := -1
		for j := range sides {
			if sides[j].normal.Dot(n) > crownCosine {
				at = j
				break
			}
		}
		if at < 0 {
			at, sides = len(sides), append(sides, side{normal: n})
		}
		sides[at].area += area
	}
	for _, a := range seen {
		if a < float64(crownSeen*t.area) {
			return false
		}
	}
	for _, d := range sides {
		if d.area > float64(crownSide*t.area) {
			return false
		}
	}
	return len(sides) >= crownSides
}
