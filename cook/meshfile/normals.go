package meshfile

import (
	"encoding/binary"
	"math"
)

// least is how long the sum of the normals of the faces at a vertex must be, as a part of
// the sum of their lengths, for the vertex to be smooth where the file does not say so: 1
// where the faces are in one plane, 0.87 for two that are 60 degrees apart, 0.58 at the
// corner of a cube.
const least = 0.85

// nearKey is where faces share a normal: at a vertex, those of a smoothing group.
type nearKey struct{ v, group uint32 }

// nearSum is the sum of the normals of faces, each as long as its area, and of these
// lengths.
type nearSum struct {
	n      [3]float64
	length float64
}

// faceNormal returns the normal of a triangle, twice as long as its area.
func faceNormal(p *[3][3]float32) (n [3]float64) {
	var a, b [3]float64
	for i := range a {
		a[i] = float64(p[1][i]) - float64(p[0][i])
		b[i] = float64(p[2][i]) - float64(p[0][i])
	}
	for i := range n {
		u, v := (i+1)%3, (i+2)%3
		n[i] = float64(a[u]*b[v]) - float64(a[v]*b[u])
	}
	return n
}

func length(n [3]float64) float64 {
	return math.Sqrt(float64(n[0]*n[0]) + float64(n[1]*n[1]) + float64(n[2]*n[2]))
}

// wantsNormals reports whether some corner has no normal and its face is to be smooth.
func (t *triangle) wantsNormals() bool {
	return t.smooth != flat && (t.corners[0].n == 0 || t.corners[1].n == 0 || t.corners[2].n == 0)
}

// gatherNear sums up the normals around the vertices of b.tris.
func (b *builder) gatherNear() error {
	b.near = nil
	for i := range b.tris {
		t := &b.tris[i]
		if !t.wantsNormals() {
			continue
		}
		p, err := b.cornersOf(t)
		if err != nil {
			return err
		}
		n := faceNormal(&p)
		l := length(n)
		if b.near == nil {
			b.near = make(map[nearKey]nearSum, len(b.tris)/2)
		}
		for _, c := range t.corners {
			key := nearKey{c.v, t.smooth}
			s := b.near[key]
			for k := range n {
				s.n[k] += n[k]
			}
			s.length += l
			b.near[key] = s
		}
	}
	return nil
}

// gatherAll does so for a triangle of a large object, at every vertex without regard to
// groups.
func (b *builder) gatherAll(t *triangle, p *[3][3]float32) error {
	if !t.wantsNormals() {
		return nil
	}
	if b.sums == nil {
		var err error
		if b.sums, err = zeroColumn(16, b.positions.n, b.opts.share()); err != nil {
			return err
		}
	}
	n := faceNormal(p)
	l := length(n)
	for _, c := range t.corners {
		at, err := b.sums.change(int64(c.v) - 1)
		if err != nil {
			return err
		}
		for k, v := range [4]float64{n[0], n[1], n[2], l} {
			sum := float64(math.Float32frombits(binary.LittleEndian.Uint32(at[4*k:]))) + v
			binary.LittleEndian.PutUint32(at[4*k:], math.Float32bits(float32(sum)))
		}
	}
	return nil
}

// normal returns the normal of a corner.
func (b *builder) normal(c corner, group uint32, face [3]float64) ([3]float32, error) {
	if c.n > 0 {
		at, err := b.normals.at(int64(c.n) - 1)
		if err != nil {
			return [3]float32{}, err
		}
		if n := float3(at); n != [3]float32{} {
			return n, nil
		}
	}
	if group != flat {
		s := b.near[nearKey{c.v, group}]
		asked := group != smooth
		if b.sums != nil {
			at, err := b.sums.at(int64(c.v) - 1)
			if err != nil {
				return [3]float32{}, err
			}
			n := float3(at)
			s.n = [3]float64{float64(n[0]), float64(n[1]), float64(n[2])}
			s.length, asked = float64(math.Float32frombits(binary.LittleEndian.Uint32(at[12:]))), false
		}
		if l := length(s.n); l > 0 && (asked || l >= s.length*least) {
			return unit(s.n), nil
		}
	}
	return unit(face), nil
}

// unit returns a vector of length 1, or upwards where there is no direction.
func unit(n [3]float64) [3]float32 {
	// Squares of what is very small or large would vanish or overflow.
	top := max(math.Abs(n[0]), math.Abs(n[1]), math.Abs(n[2]))
	if !(top > 0) || math.IsInf(top, 0) {
		return [3]float32{0, 1, 0}
	}
	for i := range n {
		n[i] /= top
	}
	l := length(n)
	return [3]float32{float32(n[0] / l), float32(n[1] / l), float32(n[2] / l)}
}
