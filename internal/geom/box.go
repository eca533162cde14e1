package geom

import "math"

// Box is an axis-aligned box in metres. A box with Min > Max on any axis is
// empty; EmptyBox is the neutral element of Union.
type Box struct{ Min, Max Vec3 }

// EmptyBox returns the box that contains nothing.
func EmptyBox() Box {
	inf := math.Inf(1)
	return Box{Vec3{inf, inf, inf}, Vec3{-inf, -inf, -inf}}
}

// IsEmpty reports whether the box contains no point.
func (b Box) IsEmpty() bool {
	return !(b.Min[0] <= b.Max[0] && b.Min[1] <= b.Max[1] && b.Min[2] <= b.Max[2])
}

// Extend returns the smallest box that contains b and p.
func (b Box) Extend(p Vec3) Box {
	for i := range p {
		b.Min[i] = min(b.Min[i], p[i])
		b.Max[i] = max(b.Max[i], p[i])
	}
	return b
}

// Union returns the smallest box that contains both.
func (b Box) Union(o Box) Box {
	if o.IsEmpty() {
		return b
	}
	return b.Extend(o.Min).Extend(o.Max)
}

// Center returns the middle of the box; zero for an empty box.
func (b Box) Center() Vec3 {
	if b.IsEmpty() {
		return Vec3{}
	}
	return b.Min.Add(b.Max).Scale(0.5)
}

// Size returns the edge lengths; zero for an empty box.
func (b Box) Size() Vec3 {
	if b.IsEmpty() {
		return Vec3{}
	}
	return b.Max.Sub(b.Min)
}

// Intersect returns what both boxes have in common; an empty box for none.
func (b Box) Intersect(o Box) Box {
	for i := range 3 {
		b.Min[i], b.Max[i] = max(b.Min[i], o.Min[i]), min(b.Max[i], o.Max[i])
	}
	return b
}

// Contains reports whether o lies inside b, each side widened by eps.
func (b Box) Contains(o Box, eps float64) bool {
	for i := range 3 {
		if o.Min[i] < b.Min[i]-eps || o.Max[i] > b.Max[i]+eps {
			return false
		}
	}
	return true
}

// Distance returns the distance from p to the nearest point of b, 0 inside.
func (b Box) Distance(p Vec3) float64 {
	var sum float64
	for i := range 3 {
		d := max(b.Min[i]-p[i], 0, p[i]-b.Max[i])
		sum += float64(d * d)
	}
	return math.Sqrt(sum)
}

// Corners returns the eight corners.
func (b Box) Corners() [8]Vec3 {
	var c [8]Vec3
	for i := range c {
		for a := range 3 {
			if i>>a&1 == 0 {
				c[i][a] = b.Min[a]
			} else {
				c[i][a] = b.Max[a]
			}
		}
	}
	return c
}

// Transform returns the box around a box that m moves. An empty one stays as it
// is.
func (b Box) Transform(m *Mat4) Box {
	if *m == Identity() || b.IsEmpty() {
		return b
	}
	out := EmptyBox()
	for _, c := range b.Corners() {
		out = out.Extend(m.Point(c))
	}
	return out
}
