package scenegen

import (
	"fmt"
	"math"
)

// Sizes of the forest in metres.
const (
	woodStep     = 5.2 // between trees of a dense stand
	woodClearing = 46.0
	woodMargin   = 20.0
)

// woods lays out a forest on hills, n by n squares as wide as a city's blocks.
type woods struct {
	s     *scene
	seed  uint64
	n     int
	size  float64
	phase [6]float64
	count map[string]int
}

// buildForest adds a forest with glades, and in its middle a hamlet with fences.
func buildForest(s *scene, seed uint64, n int) {
	f := &woods{s: s, seed: seed, n: n, size: float64(n) * pitch, count: map[string]int{}}
	r := newRNG(seed, 20)
	for i := range f.phase {
		f.phase[i] = r.Float()
	}
	s.group("Forest", xform{}, func() {
		f.ground()
		for j := range n {
			for i := range n {
				if s.ended() {
					return
				}
				s.group(fmt.Sprintf("Stand_%d_%d", i, j), xform{}, func() { f.stand(i, j) })
			}
		}
		s.group("Hamlet", xform{}, f.hamlet)
	})
	s.light("Sun", xform{t: vec{0, 200, 0}, yaw: 0.1, pitch: -0.14}, object{
		"type": "directional", "color": []float64{1, 0.96, 0.88}, "intensity": 4,
	})
	mid := f.size / 2
	s.camera("Camera_Aerial", lookAt(vec{mid * 0.4, 60 + float64(0.3*f.size), f.size * 1.2}, vec{mid, 5, mid}))
	s.camera("Camera_Low", lookAt(vec{-0.3 * f.size, 40, mid}, vec{mid, 8, mid}))
}

// height is the level of the ground: hills of ten metres, flat where the houses are.
func (f *woods) height(x, z float64) float64 {
	h := float64(6*sinTurn(x/290+f.phase[0])) + float64(5*sinTurn(z/240+f.phase[1])) + float64(1.5*sinTurn((x-z)/95+f.phase[2]))
	return float64(h * smooth((f.fromMiddle(x, z)-30)/60))
}

func (f *woods) fromMiddle(x, z float64) float64 {
	d := vec{x - float64(f.size/2), 0, z - float64(f.size/2)}
	return d.Len()
}

// density is how much of the ground is wooded, 0 to 1: glades lie between stands.
func (f *woods) density(x, z float64) float64 {
	d := 0.62 + float64(0.3*sinTurn(x/170+f.phase[3])) + float64(0.3*sinTurn(z/140+f.phase[4])) + float64(0.15*sinTurn((x+z)/60+f.phase[5]))
	return clamp01(d) * smooth((f.fromMiddle(x, z)-woodClearing)/14)
}

func (f *woods) name(kind string) string {
	f.count[kind]++
	return fmt.Sprintf("%s_%d", kind, f.count[kind])
}

func (f *woods) on(x, z float64) xform { return at(x, f.height(x, z)-0.02, z) }

func (f *woods) ground() {
	f.s.place("Ground", f.s.once("Ground", func(b *shape) {
		cells := int((f.size + 2*woodMargin) / 10)
		b.mat("Grass").grid(-woodMargin, -woodMargin, f.size+woodMargin, f.size+woodMargin, cells, cells, f.height)
	}), xform{})
}

// stand plants one square: mostly one species, on a jittered grid.
func (f *woods) stand(i, j int) {
	r := newRNG(f.seed, 21, i, j)
	kind := pick(r, species...)
	per := int(math.Round(pitch / woodStep))
	step := pitch / float64(per)
	for a := range per {
		for b := range per {
			x := float64(float64(i)*pitch) + float64((float64(a)+0.5+r.Span(-0.35, 0.35))*step)
			z := float64(float64(j)*pitch) + float64((float64(b)+0.5+r.Span(-0.35, 0.35))*step)
			tree, lone := r.Float(), r.Float()
			k := kind
			if r.Chance(0.25) {
				k = pick(r, species...)
			}
			switch d := f.density(x, z); {
			case tree < d:
				f.s.plantTree(f.name("Tree"), k, r, f.on(x, z).t)
			case d > 0.1 && lone < 0.08:
				f.s.place(f.name("Bush"), f.s.bush(), f.on(x, z).turned(r.Float()).scaled(1.5, 1.3, 1.5))
			}
		}
	}
}

// hamlet stands some houses in the clearing, with a picket fence each, and a wire
// fence round all.
func (f *woods) hamlet() {
	s, mid := f.s, float64(f.size/2)
	for q := range 6 {
		r := newRNG(f.seed, 22, q)
		yaw := float64(q) / 6
		p := rotY(vec{0, 0, 22}, yaw)
		x := f.on(mid+p[0], mid+p[2]).turned(yaw)
		h := s.newBuilding(r, q+1, 9, 8)
		s.groupWith(fmt.Sprintf("Building_%d", q+1), x, object{"style": "house"}, func() {
			h.house()
			for i := range 6 {
				if i != 2 {
					s.place(f.name("Fence"), s.fence(false), at(float64(float64(2*i)-5), 0, 9))
				}
			}
		})
	}
	const panels = 130 // of 2 m
	radius := panels * 2 / 6.2832
	for k := range panels {
		yaw := float64(k) / panels
		p := rotY(vec{0, 0, radius}, yaw)
		s.place(f.name("Fence"), s.fence(true), f.on(mid+p[0], mid+p[2]).turned(yaw))
	}
}
