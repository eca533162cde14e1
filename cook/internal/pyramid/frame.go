package pyramid

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// slender is how many times as long as wide a thin clump must be for its cards to lie along
// it.
const slender = 3.0

// frame is how the cards of a clump stand: two directions along the ground, and how far
// the clump reaches in these and upwards, and where its cards are.
type frame struct {
	along, across     geom.Vec3
	low, high, middle geom.Vec3 // along, up, across
}

func (f *frame) size() geom.Vec3 { return f.high.Sub(f.low) }

func (f *frame) point(along, up, across float64) geom.Vec3 {
	return f.along.Scale(along).Add(geom.Vec3{0, up, 0}).Add(f.across.Scale(across))
}

// frameOf returns how cards stand: of leaves along the axes, through their middle. Of what
// is thin they lie along it if it is slender, and where most of it faces them.
func (s *Source) frameOf(l *loose, c *clump) frame {
	f := frame{
		along: geom.Vec3{1, 0, 0}, across: geom.Vec3{0, 0, 1}, low: c.box.Min, high: c.box.Max, middle: c.centre,
	}
	if !c.thin {
		return f
	}
	var xx, xz, zz float64
	each := func(do func(a, b, c, normal geom.Vec3)) {
		for _, i := range c.things {
			for _, t := range l.things[i].triangles {
				i := s.Surface.Indices[3*t : 3*t+3]
				a, b, c := s.Surface.Positions[i[0]], s.Surface.Positions[i[1]], s.Surface.Positions[i[2]]
				do(a, b, c, b.Sub(a).Cross(c.Sub(a)))
			}
		}
	}
	each(func(p, q, r, normal geom.Vec3) {
		area := normal.Len()
		for _, p := range [3]geom.Vec3{p, q, r} {
			x, z := p[0]-c.centre[0], p[2]-c.centre[2]
			xx += float64(float64(x*x) * area)
			xz += float64(float64(x*z) * area)
			zz += float64(float64(z*z) * area)
		}
	})
	// The eigenvalues of the moments are (xx + zz ± spread) / 2.
	spread := math.Sqrt(float64((xx-zz)*(xx-zz)) + float64(4*float64(xz*xz)))
	if xx+zz+spread > float64(slender*slender*(xx+zz-spread)) {
		x, z := xx-zz+spread, 2*xz
		if xx < zz {
			x, z = 2*xz, zz-xx+spread
		}
		f.along = geom.Vec3{x, 0, z}.Normalize(1e-12, f.along)
		f.across = geom.Vec3{-f.along[2], 0, f.along[0]}
	}
	box, sum, weight := geom.EmptyBox(), geom.Vec3{}, geom.Vec3{}
	axes := [3]geom.Vec3{f.along, {0, 1, 0}, f.across}
	in := func(p geom.Vec3) geom.Vec3 { return geom.Vec3{p.Dot(axes[0]), p.Dot(axes[1]), p.Dot(axes[2])} }
	each(func(p, q, r, normal geom.Vec3) {
		box = box.Extend(in(p)).Extend(in(q)).Extend(in(r))
		middle, faces := in(p.Add(q).Add(r).Scale(1.0/3)), in(normal)
		for k := range sum {
			w := math.Abs(faces[k])
			sum[k] += float64(middle[k] * w)
			weight[k] += w
		}
	})
	f.low, f.high = box.Min, box.Max
	for k := range sum {
		if f.middle[k] = (box.Min[k] + box.Max[k]) / 2; weight[k] > 0 {
			f.middle[k] = min(max(sum[k]/weight[k], box.Min[k]), box.Max[k])
		}
	}
	return f
}
