package format

import (
	"encoding/binary"
	"math"

	"github.com/untoldkit/untold/format/records"

	"github.com/untoldkit/untold/format/vertex"
)

// matrix is a column-major 4x4 matrix in double precision.
type matrix [16]float64

func widen(m *[16]float32) matrix {
	var r matrix
	for i, v := range m {
		r[i] = float64(v)
	}
	return r
}

func (m *matrix) mul(o *matrix) matrix {
	var r matrix
	for c := range 4 {
		for i := range 4 {
			r[4*c+i] = float64(m[i]*o[4*c]) + float64(m[4+i]*o[4*c+1]) + float64(m[8+i]*o[4*c+2]) + float64(m[12+i]*o[4*c+3])
		}
	}
	return r
}

// worldTransform is an entity's transform from its own space to the world:
// root transform * parents * local.
type worldTransform struct {
	m        matrix
	ok       bool // finite and not part of a cycle
	overflow bool // finite transforms whose product is not
	identity bool
}

// finite reports whether all numbers are.
func (w *worldTransform) finite() bool {
	for _, v := range w.m {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// worldTransforms computes the transform of every entity, parents first
// whatever their order in the table; entities on or below a cycle have none.
func (p *parser) worldTransforms() []worldTransform {
	out := make([]worldTransform, len(p.entities))
	const unseen, open, done = 0, 1, 2
	state := make([]uint8, len(p.entities))
	var path []int
	for i := range p.entities {
		path = path[:0]
		j, rooted := i, true
		for state[j] == unseen {
			state[j] = open
			path = append(path, j)
			if p.entities[j].ParentID == records.NoIndex {
				break
			}
			k, ok := p.byID[p.entities[j].ParentID]
			if rooted = ok; !ok {
				break
			}
			j = k
		}
		for n := len(path) - 1; n >= 0; n-- {
			k := path[n]
			out[k] = p.worldOf(k, state, out, rooted)
			state[k] = done
		}
	}
	return out
}

func (p *parser) worldOf(k int, state []uint8, out []worldTransform, rooted bool) worldTransform {
	e := &p.entities[k]
	parent := worldTransform{m: widen(&p.header.RootTransform), ok: true, identity: p.header.RootTransform == identity}
	if e.ParentID != records.NoIndex {
		j, ok := p.byID[e.ParentID]
		if !ok || state[j] != 2 || !rooted {
			return worldTransform{}
		}
		parent = out[j]
	}
	if e.LocalTransform == identity || !parent.ok {
		return parent
	}
	local := widen(&e.LocalTransform)
	w := worldTransform{m: parent.m.mul(&local), ok: true}
	for _, v := range w.m {
		w.ok = w.ok && v-v == 0
	}
	w.overflow = !w.ok && parent.finite() && finite(e.LocalTransform[:]...)
	return w
}

// transformedBounds returns the box of serialised vertices moved by m.
func transformedBounds(vertices []byte, m *matrix) records.Bounds {
	inf := math.Inf(1)
	lo, hi := [3]float64{inf, inf, inf}, [3]float64{-inf, -inf, -inf}
	le := binary.LittleEndian
	for ; len(vertices) >= vertex.Size; vertices = vertices[vertex.Size:] {
		x := float64(math.Float32frombits(le.Uint32(vertices)))
		y := float64(math.Float32frombits(le.Uint32(vertices[4:])))
		z := float64(math.Float32frombits(le.Uint32(vertices[8:])))
		for r := range 3 {
			v := float64(m[r]*x) + float64(m[4+r]*y) + float64(m[8+r]*z) + m[12+r]
			lo[r], hi[r] = min(lo[r], v), max(hi[r], v)
		}
	}
	var b records.Bounds
	for r := range 3 {
		b.Min[r], b.Max[r] = float32(lo[r]), float32(hi[r])
	}
	return b
}
