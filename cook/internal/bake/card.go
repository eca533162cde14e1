package bake

import (
	"cmp"
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// Card is a flat picture that stands for triangles of the detailed surface around it: an
// impostor (Decoret and others, "Billboard Clouds for Extreme Model Simplification",
// 2003). It is taken by parallel projection, with how much of each texel is covered.
type Card struct {
	Chart  int       // of the layout: its rectangle is the picture's
	Origin geom.Vec3 // where the chart's coordinates are 0
	U, V   geom.Vec3 // unit vectors along the chart's coordinates
	Toward geom.Vec3 // of unit length, to the viewer
	Normal geom.Vec3 // of what has none of its own: holes
	Scale  float64   // of the chart's coordinates to metres, above 0
	Things []Thing
}

// Thing is a part of the surface that cards show. It is where it is seen from the card's
// front, and looks as from somewhat above, Lift metres up for each towards the viewer: what
// lies flat, such as the branches of firs, has no picture from the side.
type Thing struct {
	Triangles []int32
	Centre    geom.Vec3
	Lift      float64
}

// cardSamples are taken along each side of a card's texel.
const cardSamples = 3

// cards draws the pictures of all cards into the values of their texels.
func (b *baker) cards() {
	for _, c := range b.coarse.Cards {
		for _, t := range b.layout.Charts[c.Chart].Triangles {
			b.card[t] = true
		}
	}
	b.rows(len(b.coarse.Cards), func(i int) { b.picture(&b.coarse.Cards[i]) })
}

// shot is what a sample of a picture sees.
type shot struct {
	depth    float64
	w        [3]float64
	triangle int32
	back     bool
}

// picture draws one card.
func (b *baker) picture(c *Card) {
	p := &b.layout.Places[c.Chart]
	scale := float64(b.layout.Scale*c.Scale) * cardSamples
	w, h := p.W*cardSamples, p.H*cardSamples
	shots := make([]shot, w*h)
	for i := range shots {
		shots[i] = shot{depth: math.Inf(-1), triangle: -1}
	}
	for i := range c.Things {
		for _, t := range c.Things[i].Triangles {
			b.project(c, &c.Things[i], t, scale, w, h, shots)
		}
	}
	values, covered := make([]value, p.W*p.H), make([]float64, p.W*p.H)
	mean, all := value{}, 0.0
	area := b.area / float64(c.Scale*c.Scale) / (cardSamples * cardSamples)
	var v value
	for i := range shots {
		s := &shots[i]
		if s.triangle < 0 {
			continue
		}
		b.s.look(&point{int(s.triangle), s.w, area}, b.density, &v)
		if s.back && v.normal.Dot(c.Toward) < 0 {
			v.normal = v.normal.Scale(-1) // as backs are lit
		}
		at := i/w/cardSamples*p.W + i%w/cardSamples
		values[at].add(&v)
		covered[at]++
		mean.add(&v)
		all++
	}
	if all == 0 {
		mean, all = value{color: [4]float64{1, 1, 1, 1}, rough: 1, occluded: 1}, 1
	}
	mean = mean.mean(all)
	alpha := spreadCoverage(covered, p.W, cardSamples*cardSamples)
	for k := range values {
		v := mean
		if covered[k] > 0 {
			v = values[k].mean(covered[k])
		}
		if v.color[3] = alpha[k]; covered[k] == 0 {
			v.normal = c.Normal
		}
		y, x := p.Y+k/p.W, p.X+k%p.W
		if y >= b.layout.Side || x >= b.layout.Side {
			continue
		}
		b.values[y*b.layout.Side+x], b.found[y*b.layout.Side+x] = v.keep(), true
	}
}

// project draws one triangle of the surface into a picture.
func (b *baker) project(c *Card, thing *Thing, t int32, scale float64, w, h int, shots []shot) {
	i := b.s.Indices[3*t : 3*t+3]
	var q [3][2]float64
	var depth [3]float64
	middle := thing.Centre.Sub(c.Origin).Dot(c.Toward)
	lift := float64(thing.Lift * math.Abs(c.V[1]))
	for k, v := range i {
		d := b.s.Positions[v].Sub(c.Origin)
		depth[k] = d.Dot(c.Toward)
		up := d.Dot(c.V) - float64((depth[k]-middle)*lift)
		q[k] = [2]float64{float64(d.Dot(c.U) * scale), float64(up * scale)}
	}
	area := turn(q[0], q[1], q[2])
	if !(math.Abs(area) > 1e-12) {
		return
	}
	look := &b.s.Looks[b.s.Materials[t]]
	p := b.s.Positions[i[0]]
	back := b.s.Positions[i[1]].Sub(p).Cross(b.s.Positions[i[2]].Sub(p)).Dot(c.Toward.Add(c.V.Scale(lift))) <= 0
	if back && !look.DoubleSided {
		return
	}
	from := func(a int) int { return int(max(0, math.Ceil(min(q[0][a], q[1][a], q[2][a])-0.5))) }
	to := func(a, n int) int { return int(min(float64(n-1), math.Floor(max(q[0][a], q[1][a], q[2][a])-0.5))) }
	x0, x1, y0, y1 := from(0), to(0, w), from(1), to(1, h)
	sample := b.area / float64(c.Scale*c.Scale) / (cardSamples * cardSamples)
	for y := y0; y <= y1; y++ {
		for x := x0; x <= x1; x++ {
			at := [2]float64{float64(x) + 0.5, float64(y) + 0.5}
			u, v := turn(at, q[1], q[2]), turn(q[0], at, q[2])
			if area > 0 && (u < 0 || v < 0) || area < 0 && (u > 0 || v > 0) {
				continue
			}
			u, v = u/area, v/area
			r := 1 - u - v
			if r < 0 {
				continue
			}
			s := &shots[y*w+x]
			z := float64(u*depth[0]) + float64(v*depth[1]) + float64(r*depth[2])
			if z <= s.depth {
				continue
			}
			weights := [3]float64{u, v, r}
			if look.Masked && b.s.shows(&point{int(t), weights, sample}, b.density) <= threshold(x, y, int(t)) {
				continue
			}
			*s = shot{z, weights, t, back}
		}
	}
}

// shows returns the part of the samples at a point in which the surface is there. Where
// leaves show sooner than half covered it rises faster with what is covered.
func (s *Surface) shows(p *point, density [][2]float64) float64 {
	m := &s.Looks[s.Materials[p.triangle]]
	if !(m.Cutoff > 0) {
		return 1
	}
	sharp := 0.5 / float64(m.Cutoff)
	return 0.5 + float64((float64(sharp*s.alpha(p, density))-0.5)*max(1, sharp))
}

// alpha returns the part of the surface around a point that is there.
func (s *Surface) alpha(p *point, density [][2]float64) float64 {
	m := &s.Looks[s.Materials[p.triangle]]
	a := float64(m.BaseColor[3])
	i := s.Indices[3*p.triangle : 3*p.triangle+3]
	if uvs := s.UV[m.Color.Set]; m.Color.Image != nil && uvs != nil {
		q, r, t := &uvs[i[0]], &uvs[i[1]], &uvs[i[2]]
		color := m.Color.Image.at(mixed(&p.w, q[0], r[0], t[0]), mixed(&p.w, q[1], r[1], t[1]), float64(p.area*density[p.triangle][m.Color.Set]))
		a = float64(a * float64(color[3]))
	}
	if s.Colors != nil {
		a = float64(a * mixed(&p.w, s.Colors[i[0]][3], s.Colors[i[1]][3], s.Colors[i[2]][3]))
	}
	return a
}

// threshold spreads partial coverage over samples (Enderton and others, "Stochastic
// Transparency", 2010): of a surface that is half there half the samples are, and what is
// behind shows through its holes only. It is above 0 and below 1, and looks like chance.
func threshold(x, y, t int) float64 {
	h := uint32(x)*0x9e3779b1 ^ uint32(y)*0x85ebca77 ^ uint32(t)*0xc2b2ae3d
	h ^= h >> 15
	h *= 0x2c1b3c6d
	h ^= h >> 12
	h *= 0x297a2d39
	h ^= h >> 15
	return (float64(h) + 0.5) / (1 << 32)
}

// dither orders the texels of a square, so that any part of them is spread evenly
// (Bayer, "An optimum method for two-level rendition of continuous-tone pictures", 1973).
var dither = [4][4]int{{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}}

// ditherWeight is how much the order of texels counts beside how much is covered of
// them, in parts of a texel.
const ditherWeight = 0.35

// spreadCoverage turns how much of each texel is covered, of at most so much, into texels
// that are there, 1, and others, 0, of which the part is the same. Those that are covered
// most come first.
func spreadCoverage(covered []float64, width int, most float64) []float64 {
	sum := 0.0
	order := make([]int, 0, len(covered))
	for i, c := range covered {
		sum += c / most
		if c > 0 {
			order = append(order, i)
		}
	}
	key := func(i int) float64 {
		return covered[i]/most + float64(ditherWeight*float64(dither[i/width%4][i%width%4])/16)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(key(b), key(a)) })
	out := make([]float64, len(covered))
	for _, i := range order[:min(len(order), int(math.Round(sum)))] {
		out[i] = 1
	}
	return out
}

// CardOf returns the number of the card that each of Texels is of, -1 for none.
func (a *Atlas) CardOf() []int32 {
	in := make([]int32, len(a.Color.Pix)/4)
	for i := range in {
		in[i] = -1
	}
	for i, c := range a.cards {
		p := &a.layout.Places[c]
		for y := p.Y; y < min(p.Y+p.H, a.layout.Side); y++ {
			for x := p.X; x < min(p.X+p.W, a.layout.Side); x++ {
				in[y*a.layout.Side+x] = int32(i)
			}
		}
	}
	out := make([]int32, len(a.Texels))
	for i, at := range a.Texels {
		out[i] = in[at]
	}
	return out
}

// fillCards gives the holes of each card the mean colour of what is around them.
func (a *Atlas) fillCards() {
	for _, c := range a.cards {
		p := &a.layout.Places[c]
		var sum [3]int
		var holes []int
		n := 0
		for y := p.Y; y < min(p.Y+p.H, a.layout.Side); y++ {
			for x := p.X; x < min(p.X+p.W, a.layout.Side); x++ {
				at := 4 * (y*a.layout.Side + x)
				if a.Color.Pix[at+3] == 0 {
					holes = append(holes, at)
					continue
				}
				for k := range sum {
					sum[k] += int(a.Color.Pix[at+k])
				}
				n++
			}
		}
		for _, at := range holes {
			for k := range sum {
				if n > 0 {
					a.Color.Pix[at+k] = uint8(sum[k] / n)
				}
			}
		}
	}
}

// spreadCards does for the cards of a smaller picture what spreadCoverage does.
func (s *shrinker) spreadCards(pix []uint8, side int, charts []int) {
	for _, c := range charts {
		p := &s.to.Places[c]
		w, h := min(p.W, side-p.X), min(p.H, side-p.Y)
		covered := make([]float64, w*h)
		at := func(i int) int { return 4*((p.Y+i/w)*side+p.X+i%w) + 3 }
		for i := range covered {
			covered[i] = float64(pix[at(i)])
		}
		for i, a := range spreadCoverage(covered, w, 255) {
			pix[at(i)] = unit(a)
		}
	}
}
