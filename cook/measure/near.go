package measure

import "github.com/untoldkit/untold/internal/geom"

// Near reports whether some triangle that accept takes lies within a distance of
// a point. Triangles have the numbers of the surface; they are looked at in an
// order of their own.
func (x *Index) Near(p geom.Vec3, distance float64, accept func(triangle int) bool) bool {
	if len(x.tris) == 0 {
		return false
	}
	d2 := float64(distance * distance)
	var stack [maxStack]uint32
	for top := 1; top > 0; {
		top--
		at := stack[top]
		n := &x.nodes[at]
		if n.distance2(&p) > d2 {
			continue
		}
		if n.count == 0 {
			stack[top], stack[top+1] = n.next, at+1
			top += 2
			continue
		}
		for i := n.next; i < n.next+n.count; i++ {
			if d, _ := x.tris[i].nearest(&p); d <= d2 && accept(int(x.order[i])) {
				return true
			}
		}
	}
	return false
}
