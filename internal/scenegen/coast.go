package scenegen

import (
	"fmt"
	"math"
)

// coast lays out what is thin and opaque: palms of leaf sheets, fences of boards, masts and
// railings, n by n squares as wide as a city's blocks.
type coast struct {
	s     *scene
	seed  uint64
	size  float64
	count map[string]int
}

// buildCoast adds a palm grove with fenced lots and a promenade each.
func buildCoast(s *scene, seed uint64, n int) {
	c := &coast{s: s, seed: seed, size: float64(n) * pitch, count: map[string]int{}}
	s.group("Coast", xform{}, func() {
		s.place("Ground", s.once("Ground", func(b *shape) {
			cells := n * 8
			b.mat("Sand").grid(-woodMargin, -woodMargin, c.size+woodMargin, c.size+woodMargin, cells, cells, c.height)
		}), xform{})
		for j := range n {
			for i := range n {
				if s.ended() {
					return
				}
				s.group(fmt.Sprintf("Grove_%d_%d", i, j), xform{}, func() { c.grove(i, j) })
			}
		}
	})
	s.light("Sun", xform{t: vec{0, 200, 0}, yaw: 0.1, pitch: -0.14}, object{
		"type": "directional", "color": []float64{1, 0.96, 0.88}, "intensity": 4,
	})
	mid := c.size / 2
	s.camera("Camera_Aerial", lookAt(vec{mid * 0.4, 60 + float64(0.3*c.size), c.size * 1.2}, vec{mid, 5, mid}))
	s.camera("Camera_Low", lookAt(vec{-0.3 * c.size, 25, mid}, vec{mid, 5, mid}))
}

func (c *coast) height(x, z float64) float64 {
	return float64(1.5*sinTurn(x/190)) + float64(1.2*sinTurn(z/230+0.2))
}

func (c *coast) put(kind string, m *meshRef, x xform) {
	c.count[kind]++
	c.s.place(fmt.Sprintf("%s_%d", kind, c.count[kind]), m, x)
}

// on places something on the ground.
func (c *coast) on(x, z float64) xform { return at(x, c.height(x, z)-0.02, z) }

// grove fills one square: palms, in its middle a turned lot with a hut and a fence round
// it, and a promenade with lamps, a railing and masts along one side.
func (c *coast) grove(i, j int) {
	s, r := c.s, newRNG(c.seed, 31, i, j)
	x0, z0 := float64(float64(i)*pitch), float64(float64(j)*pitch)
	mid, yaw := vec{x0 + pitch/2, 0, z0 + pitch/2}, r.Span(0, 1)
	half := [2]float64{18, 12}
	for range 26 {
		x, z := x0+float64(r.Float()*pitch), z0+float64(12+float64(r.Float()*(pitch-12)))
		p := rotY(vec{x - mid[0], 0, z - mid[2]}, -yaw)
		if math.Abs(p[0]) < half[0]+1 && math.Abs(p[2]) < half[1]+1 {
			continue
		}
		k := r.Span(0.8, 1.25)
		c.put("Palm", s.palm(r.Intn(3)), c.on(x, z).turned(r.Float()).scaled(k, k, k))
	}
	panel := func(x, z, turn float64) {
		p := rotY(vec{x, 0, z}, yaw)
		c.put("Fence", s.fence(false), c.on(mid[0]+p[0], mid[2]+p[2]).turned(yaw+turn).scaled(1, 1.7, 1))
	}
	for x := -half[0] + 1; x < half[0]; x += 2 {
		panel(x, half[1], 0)
		panel(x, -half[1], 0)
	}
	for z := -half[1] + 1; z < half[1]; z += 2 {
		panel(half[0], z, 0.25)
		panel(-half[0], z, 0.25)
	}
	c.put("Hut", s.hut(), c.on(mid[0], mid[2]).turned(yaw))
	for x := 1.0; x < pitch; x += 2 {
		c.put("Railing", s.railing(), c.on(x0+x, z0+3))
		if math.Mod(x, 16) == 9 {
			c.put("Lamp", s.lamp(), c.on(x0+x, z0+4))
		}
		if math.Mod(x, 10) == 5 {
			c.put("Mast", s.mast(), c.on(x0+x, z0+9))
		}
	}
}

// palm returns one of three variants of a palm, 7 to 9 m high: a trunk and leaves that are
// opaque sheets, folded along their ribs.
func (s *scene) palm(variant int) *meshRef {
	return s.mesh(fmt.Sprintf("Palm_%d", variant), func(b *shape) {
		r := newRNG(4243, variant)
		high := 6.5 + float64(variant)
		b.mat("Bark").cone(vec{0, -0.3, 0}, 0.22, 0.13, high+0.3, s.segments(8), false)
		b.mat("Leaf_Palm")
		const leaves, steps = 15, 6
		for i := range leaves {
			yaw, rise, long := float64(i)/leaves+r.Span(-0.02, 0.02), r.Span(-0.3, 0.9), r.Span(2.6, 3.2)
			b.at(at(0, high, 0).turned(yaw))
			rib := func(t float64) vec {
				return vec{0, float64(long*t*rise) - float64(long*t*t*1.1), float64(long * t * 0.9)}
			}
			edge := func(t, side float64) vec {
				p := rib(t)
				w := float64(0.55 * sinTurn(float64(t*0.45)+0.03))
				return vec{side * w, p[1] - float64(0.4*w), p[2]}
			}
			for k := range steps {
				t, u := float64(k)/steps, float64(k+1)/steps
				b.tiled(edge(t, 1), rib(t), rib(u), edge(u, 1))
				b.tiled(rib(t), edge(t, -1), edge(u, -1), rib(u))
			}
			b.home()
		}
	})
}

// hut is a closed box with a lid.
func (s *scene) hut() *meshRef {
	return s.mesh("Hut", func(b *shape) {
		b.mat("Wood").box(vec{-4, -0.5, -3}, vec{4, 3, 3})
		b.mat("Wood_Dark").box(vec{-4.5, 3, -3.5}, vec{4.5, 3.25, 3.5})
	})
}

// railing is 2 m of two bars on a post.
func (s *scene) railing() *meshRef {
	return s.mesh("Railing", func(b *shape) {
		b.mat("Metal_Dark").cone(vec{-1, 0, 0}, 0.03, 0.03, 1.1, s.segments(6), true)
		for _, y := range []float64{0.55, 1.06} {
			b.box(vec{-1, y, -0.025}, vec{1, y + 0.05, 0.025})
		}
	})
}

// mast is a pole of 9 m.
func (s *scene) mast() *meshRef {
	return s.mesh("Mast", func(b *shape) {
		b.mat("Paint_White").cone(vec{0, -0.2, 0}, 0.12, 0.08, 9.2, s.segments(7), true)
	})
}
