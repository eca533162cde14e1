package scenegen

import "fmt"

// Species of trees.
var species = []string{"Oak", "Birch", "Spruce", "Plane"}

// tree returns one of three variants of a species, standing on the origin.
// A few metres high; nodes scale it.
func (s *scene) tree(kind string, variant int) *meshRef {
	return s.mesh(fmt.Sprintf("Tree_%s_%d", kind, variant), func(b *shape) {
		r := newRNG(4242, int(kind[0]), variant)
		switch kind {
		case "Oak":
			s.leafy(b, r, "Bark", "Leaf_Oak", 2.2, vec{2.6, 2.1, 2.6})
		case "Birch":
			s.leafy(b, r, "Bark_Birch", "Leaf_Birch", 2.9, vec{1.5, 2.6, 1.5})
		case "Spruce":
			s.spruce(b, r)
		default:
			s.plane(b, r)
		}
	})
}

// leafy is a trunk, some boughs and a crown of leaf cards round a dark core.
func (s *scene) leafy(b *shape, r *rng, bark, leaves string, trunk float64, crown vec) {
	n := s.segments(8)
	b.mat(bark).cone(vec{0, -0.2, 0}, 0.26, 0.15, trunk+0.8, n, false)
	b.cone(vec{0, trunk + 0.6, 0}, 0.15, 0, crown[1], n, false)
	for i := range 4 {
		yaw := float64(float64(i)/4) + r.Span(-0.08, 0.08)
		b.at(at(0, trunk+0.2+r.Span(0, 0.8), 0).turned(yaw).tilted(r.Span(0.1, 0.16)))
		b.cone(vec{}, 0.08, 0, crown[0]*0.7, s.segments(5), false)
		b.home()
	}
	mid := vec{0, trunk + float64(crown[1]*0.9), 0}
	b.mat(leaves)
	cards := [4]int{40, 76, 150, 260}[s.detail]
	for range cards {
		d := vec{r.Span(-1, 1), r.Span(-0.8, 1), r.Span(-1, 1)}.Normalize(1e-3, vec{0, 1, 0})
		k := r.Span(0.45, 1)
		o := vec{}
		for a := range 3 {
			o[a] = mid[a] + float64(float64(d[a]*crown[a])*k)
		}
		s.card(b, r, o, d, r.Span(0.55, 0.85))
	}
}

// card adds a leaf card roughly across the direction d, turned at random.
func (s *scene) card(b *shape, r *rng, o, d vec, size float64) {
	tilt := vec{r.Span(-0.6, 0.6), r.Span(-0.6, 0.6), r.Span(-0.6, 0.6)}
	n := d.Add(tilt).Normalize(1e-3, d)
	right := n.Cross(vec{r.Span(-1, 1), 1, r.Span(-1, 1)}).Normalize(1e-3, vec{1, 0, 0})
	up := n.Cross(right)
	b.leaf(o, right.Scale(-size), up.Scale(size), d)
}

// spruce is a mast with whorls of drooping branch cards.
func (s *scene) spruce(b *shape, r *rng) {
	b.mat("Bark").cone(vec{0, -0.2, 0}, 0.2, 0, 7.4, s.segments(7), false)
	b.mat("Leaf_Needle")
	whorls := [4]int{7, 11, 16, 24}[s.detail]
	for j := range whorls {
		t := float64(j) / float64(whorls-1)
		y, reach := lerp(1, 6.7, t), lerp(1.9, 0.4, t)
		cards := 7 - 3*j/whorls
		for i := range cards {
			yaw := float64(i)/float64(cards) + float64(float64(j)*0.137) + r.Span(-0.03, 0.03)
			out := rotY(vec{0, -0.35, 1}.Normalize(1e-9, vec{}), yaw)
			side := rotY(vec{reach * 0.42, 0, 0}, yaw)
			o := vec{0, y, 0}.Add(out.Scale(reach / 2))
			lit := rotY(vec{0, 0.5, 0.85}.Normalize(1e-9, vec{}), yaw)
			b.leaf(o, side, out.Scale(reach/2), lit)
		}
	}
}

// plane is a street tree: a clean trunk and a crown of lumps with vertex
// colours, no cards.
func (s *scene) plane(b *shape, r *rng) {
	b.mat("Bark").cone(vec{0, -0.2, 0}, 0.17, 0.11, 3, s.segments(8), false)
	b.mat("Foliage")
	for i := range 4 {
		yaw := float64(i) / 3
		o := rotY(vec{0, r.Span(2.9, 4.2), r.Span(0.3, 0.95)}, yaw)
		if i == 0 {
			o = vec{0, 4.2, 0}
		}
		b.color(uint8(26+r.Intn(16)), uint8(70+r.Intn(30)), uint8(18+r.Intn(10)))
		q := newRNG(r.Next())
		lumps := make([]float64, 64*64)
		for k := range lumps {
			lumps[k] = q.Span(0.86, 1.12)
		}
		b.ball(o, vec{1.15, r.Span(0.85, 1.1), 1.15}, s.segments(7), s.segments(4),
			func(i, j int) float64 { return lumps[(j*64+i)%len(lumps)] })
	}
}

// plantTree places a tree of random variant, size and turn.
func (s *scene) plantTree(name, kind string, r *rng, p vec) {
	k := r.Span(0.8, 1.35)
	wide := float64(k * r.Span(0.9, 1.12))
	s.place(name, s.tree(kind, r.Intn(3)), at(p[0], p[1], p[2]).turned(r.Float()).scaled(wide, k, wide))
}

// bush is a low ball of leaves with vertex colours.
func (s *scene) bush() *meshRef {
	return s.mesh("Bush", func(b *shape) {
		b.mat("Foliage").color(30, 72, 22)
		r := newRNG(5)
		for i := range 3 {
			o := rotY(vec{0, 0.3, 0.3}, float64(i)/3)
			b.ball(o, vec{0.5, r.Span(0.4, 0.55), 0.5}, s.segments(6), s.segments(4), nil)
		}
	})
}

// rock is a bumpy stone with vertex colours.
func (s *scene) rock() *meshRef {
	return s.mesh("Rock", func(b *shape) {
		b.mat("Painted").color(96, 92, 86)
		b.ball(vec{0, 0.2, 0}, vec{0.7, 0.5, 0.55}, s.segments(7), s.segments(5), func(i, j int) float64 {
			return newRNG(31, i, j).Span(0.75, 1.15)
		})
	})
}
