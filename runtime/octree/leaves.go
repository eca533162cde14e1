package octree

import "github.com/untoldkit/untold/internal/geom"

// AppendLeaves appends the boxes of the leaves, for debug views.
func (t *Tree) AppendLeaves(dst []geom.Box) []geom.Box {
	if len(t.levels) == 0 {
		return dst
	}
	for i := range t.levels[0] {
		n := &t.levels[0][i]
		dst = append(dst, geom.Box{Min: geom.FromF32(n.min), Max: geom.FromF32(n.max)})
	}
	return dst
}
