package scenegen

import "fmt"

// The functions of this file build the shared meshes of small things. Each
// stands on y = 0 at the origin and faces +Z unless it says otherwise.

func (s *scene) unitBox(material string) *meshRef {
	return s.mesh("Box_"+material, func(b *shape) {
		b.mat(material).box(vec{-0.5, 0, -0.5}, vec{0.5, 1, 0.5})
	})
}

// bench is 1.8 m of slats on two cast legs.
func (s *scene) bench() *meshRef {
	return s.mesh("Bench", func(b *shape) {
		b.mat("Wood")
		for i := range 4 {
			z := -0.2 + float64(float64(i)*0.12)
			b.box(vec{-0.9, 0.42, z}, vec{0.9, 0.46, z + 0.09})
		}
		for i := range 2 {
			y := 0.58 + float64(float64(i)*0.19)
			b.box(vec{-0.9, y, -0.27}, vec{0.9, y + 0.14, -0.23})
		}
		b.mat("Metal_Dark")
		for _, x := range []float64{-0.7, 0.7} {
			b.box(vec{x - 0.03, 0, 0.15}, vec{x + 0.03, 0.42, 0.21})
			b.box(vec{x - 0.03, 0, -0.32}, vec{x + 0.03, 0.92, -0.27})
			b.box(vec{x - 0.03, 0.37, -0.27}, vec{x + 0.03, 0.42, 0.15})
		}
	})
}

// lamp is a street lamp of 6 m whose arm reaches along +Z.
func (s *scene) lamp() *meshRef {
	return s.mesh("Lamp_Street", func(b *shape) {
		n := s.segments(6)
		b.mat("Metal_Dark")
		b.cone(vec{0, 0, 0}, 0.14, 0.11, 0.6, n, true)
		b.cone(vec{0, 0.6, 0}, 0.075, 0.05, 5.4, n, true)
		b.box(vec{-0.035, 5.86, 0}, vec{0.035, 5.94, 1.5})
		b.box(vec{-0.16, 5.84, 1.1}, vec{0.16, 5.98, 1.75})
		b.mat("Glow").box(vec{-0.12, 5.8, 1.16}, vec{0.12, 5.84, 1.69})
	})
}

// parkLamp is a lantern of 3.4 m.
func (s *scene) parkLamp() *meshRef {
	return s.mesh("Lamp_Park", func(b *shape) {
		n := s.segments(8)
		b.mat("Metal_Dark")
		b.cone(vec{0, 0, 0}, 0.1, 0.05, 0.4, n, true)
		b.cone(vec{0, 0.4, 0}, 0.04, 0.04, 2.6, n, false)
		b.cone(vec{0, 3, 0}, 0.16, 0.16, 0.05, n, true)
		b.cone(vec{0, 3.4, 0}, 0.2, 0.02, 0.14, n, true)
		b.mat("Glow").ball(vec{0, 3.22, 0}, vec{0.15, 0.18, 0.15}, n, s.segments(6), nil)
	})
}

func (s *scene) bin() *meshRef {
	return s.mesh("Bin", func(b *shape) {
		n := s.segments(9)
		b.mat("Paint_Green").cone(vec{0, 0, 0}, 0.24, 0.29, 0.8, n, true)
		b.mat("Metal").cone(vec{0, 0.8, 0}, 0.31, 0.31, 0.05, n, true)
		b.cone(vec{0, 0.85, 0}, 0.29, 0.1, 0.12, n, true)
	})
}

func (s *scene) hydrant() *meshRef {
	return s.mesh("Hydrant", func(b *shape) {
		n := s.segments(7)
		b.mat("Paint_Red")
		b.cone(vec{0, 0, 0}, 0.17, 0.17, 0.06, n, true)
		b.cone(vec{0, 0.06, 0}, 0.11, 0.11, 0.5, n, false)
		b.cone(vec{0, 0.56, 0}, 0.14, 0.14, 0.05, n, true)
		b.ball(vec{0, 0.61, 0}, vec{0.11, 0.13, 0.11}, n, s.segments(4), nil)
		b.mat("Metal")
		for _, yaw := range []float64{0, 0.25, 0.75} {
			b.at(at(0, 0.42, 0).turned(yaw).tilted(0.25)).cone(vec{0, 0.08, 0}, 0.055, 0.055, 0.1, n, true)
		}
		b.home()
	})
}

func (s *scene) sign() *meshRef {
	return s.mesh("Sign_Stop", func(b *shape) {
		b.mat("Metal").cone(vec{0, 0, 0}, 0.03, 0.03, 2.7, s.segments(8), true)
		b.mat("Metal").boxOpen(vec{-0.32, 2.02, 0.03}, vec{0.32, 2.66, 0.05}, faceAll&^faceFront)
		b.mat("Sign_Stop").quad(vec{-0.32, 2.02, 0.05}, vec{0.32, 2.02, 0.05}, vec{0.32, 2.66, 0.05}, vec{-0.32, 2.66, 0.05}, 1, 1)
	})
}

func (s *scene) trafficLight() *meshRef {
	return s.mesh("Traffic_Light", func(b *shape) {
		n := s.segments(8)
		b.mat("Metal_Dark")
		b.cone(vec{0, 0, 0}, 0.09, 0.07, 3.6, n, true)
		b.box(vec{-0.15, 2.55, 0.08}, vec{0.15, 3.45, 0.3})
		for i, m := range []string{"Glow_Green", "Paint_Yellow", "Glow_Red"} {
			y := 2.72 + float64(float64(i)*0.28)
			b.mat(m).at(at(0, y, 0.3).tilted(0.25)).cone(vec{0, 0, 0}, 0.1, 0.09, 0.03, n, true)
			b.home()
		}
	})
}

// fence is one 2 m panel between x = -1 and 1: wire on posts, or pickets.
func (s *scene) fence(wire bool) *meshRef {
	if wire {
		return s.mesh("Fence_Wire", func(b *shape) {
			b.mat("Metal").cone(vec{-1, 0, 0}, 0.03, 0.03, 1.9, s.segments(6), true)
			b.box(vec{-1, 1.82, -0.02}, vec{1, 1.86, 0.02})
			b.mat("Fence_Mesh").tiled(vec{-1, 0.05, 0}, vec{1, 0.05, 0}, vec{1, 1.82, 0}, vec{-1, 1.82, 0})
		})
	}
	return s.mesh("Fence_Picket", func(b *shape) {
		b.mat("Paint_White")
		for i := range 8 {
			x := -0.93 + float64(float64(i)*0.25)
			b.box(vec{x, 0, 0}, vec{x + 0.1, 0.95, 0.025})
		}
		b.box(vec{-1, 0.2, -0.03}, vec{1, 0.28, 0})
		b.box(vec{-1, 0.68, -0.03}, vec{1, 0.76, 0})
	})
}

func (s *scene) hedge() *meshRef {
	return s.mesh("Hedge", func(b *shape) {
		b.mat("Foliage").color(24, 60, 20).box(vec{-1, 0, -0.35}, vec{1, 0.9, 0.35})
		b.color(40, 88, 28).box(vec{-0.97, 0.9, -0.3}, vec{0.97, 1.05, 0.3})
	})
}

// wheel is centred, its axle along X, its hub towards +X.
func (s *scene) wheel() *meshRef {
	return s.mesh("Wheel", func(b *shape) {
		n := s.segments(10)
		b.at(at(0, 0, 0).rolled(-0.25))
		b.mat("Rubber").cone(vec{0, -0.11, 0}, 0.32, 0.32, 0.22, n, true)
		b.mat("Metal").disc(vec{0, 0.115, 0}, 0.19, n, true)
		b.home()
	})
}

// carBody is 4.3 m long and drives towards +Z; body is a paint.
func (s *scene) carBody(paint string) *meshRef {
	return s.mesh("Car_Body_"+paint, func(b *shape) {
		// The profile from the rear to the front, and the half width.
		lower := [][2]float64{{-2.12, 0.3}, {2.1, 0.28}, {2.15, 0.6}, {2.02, 0.78}, {0.95, 0.92}, {-1.75, 0.95}, {-2.12, 0.86}}
		b.mat(paint)
		b.prism(lower, 0.86)
		cabin := [][2]float64{{-1.7, 0.94}, {0.98, 0.91}, {0.3, 1.4}, {-1.15, 1.42}}
		b.mat("Pane").prism(cabin, 0.74)
		b.mat(paint).box(vec{-0.74, 1.4, -1.17}, vec{0.74, 1.45, 0.34})
		b.mat("Metal_Dark").box(vec{-0.84, 0.2, -2.17}, vec{0.84, 0.42, -2.05})
		b.box(vec{-0.84, 0.2, 2.05}, vec{0.84, 0.4, 2.2})
		for _, x := range []float64{-0.66, 0.66} {
			b.mat("Glow").box(vec{x - 0.16, 0.56, 2.0}, vec{x + 0.16, 0.7, 2.14})
			b.mat("Glow_Red").box(vec{x - 0.16, 0.64, -2.15}, vec{x + 0.16, 0.78, -2.05})
		}
	})
}

// car places a car with its four wheels; the right ones are mirrored.
func (s *scene) car(name string, r *rng, x xform) {
	paint := pick(r, "Paint_Red", "Paint_Blue", "Paint_Yellow", "Paint_White", "Paint_Black", "Paint_Silver", "Paint_Silver", "Paint_Green")
	s.placeWith(name, s.carBody(paint), x, func() {
		for i, z := range []float64{1.35, -1.3} {
			s.place(fmt.Sprintf("%s_Wheel_L%d", name, i), s.wheel(), at(0.78, 0.32, z))
			s.place(fmt.Sprintf("%s_Wheel_R%d", name, i), s.wheel(), at(-0.78, 0.32, z).scaled(-1, 1, 1))
		}
	})
}

// prism extrudes a profile of (z, y) points, convex and clockwise seen from +X, over x from -half to half.
func (s *shape) prism(profile [][2]float64, half float64) {
	p := func(i int, x float64) vec {
		q := profile[i%len(profile)]
		return vec{x, q[1], q[0]}
	}
	for i := range profile {
		s.tiled(p(i, -half), p(i, half), p(i+1, half), p(i+1, -half))
	}
	for _, x := range []float64{-half, half} {
		n := vec{1, 0, 0}
		if x < 0 {
			n[0] = -1
		}
		first := uint32(len(s.cur.p.Pos))
		for _, q := range profile {
			s.vertex(vec{x, q[1], q[0]}, n, q[0]/s.cur.tile, -q[1]/s.cur.tile)
		}
		for i := uint32(1); i+1 < uint32(len(profile)); i++ {
			if x < 0 {
				s.tri(first, first+i, first+i+1)
			} else {
				s.tri(first, first+i+1, first+i)
			}
		}
	}
}

// container is a 6 m shipping container along X.
func (s *scene) container(paint string) *meshRef {
	return s.mesh("Container_"+paint, func(b *shape) {
		b.mat(paint)
		for i := range 20 {
			x := -3 + float64(float64(i)*0.3)
			b.box(vec{x, 0.1, -1.2}, vec{x + 0.15, 2.5, 1.2})
			b.box(vec{x + 0.15, 0.14, -1.16}, vec{x + 0.3, 2.46, 1.16})
		}
		b.mat("Metal_Dark")
		b.box(vec{-3.02, 0, -1.22}, vec{3.02, 0.1, 1.22})
	})
}

func (s *scene) acUnit() *meshRef {
	return s.mesh("AC_Unit", func(b *shape) {
		n := s.segments(7)
		b.mat("Frame_White").box(vec{-0.8, 0.15, -0.55}, vec{0.8, 1.15, 0.55})
		b.mat("Metal_Dark")
		for _, x := range []float64{-0.7, 0.7} {
			b.box(vec{x - 0.06, 0, -0.5}, vec{x + 0.06, 0.15, 0.5})
		}
		b.cone(vec{-0.38, 1.15, 0}, 0.33, 0.33, 0.06, n, true)
		b.cone(vec{0.38, 1.15, 0}, 0.33, 0.33, 0.06, n, true)
		b.mat("Metal")
		for i := range 3 {
			y := 0.34 + float64(float64(i)*0.24)
			b.boxOpen(vec{-0.7, y, 0.55}, vec{0.7, y + 0.08, 0.57}, faceAll&^faceBack)
		}
	})
}

func (s *scene) waterTank() *meshRef {
	return s.mesh("Water_Tank", func(b *shape) {
		n := s.segments(16)
		b.mat("Wood").cone(vec{0, 2, 0}, 1.5, 1.45, 2.8, n, true)
		b.mat("Metal_Dark").cone(vec{0, 4.8, 0}, 1.6, 0, 0.9, n, true)
		for _, q := range [][2]float64{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}} {
			b.box(vec{q[0] - 0.08, 0, q[1] - 0.08}, vec{q[0] + 0.08, 2, q[1] + 0.08})
		}
	})
}

func (s *scene) antenna() *meshRef {
	return s.mesh("Antenna", func(b *shape) {
		n := s.segments(6)
		b.mat("Metal").cone(vec{0, 0, 0}, 0.18, 0.06, 7, n, true)
		b.cone(vec{0, 7, 0}, 0.03, 0.02, 3, n, true)
		b.box(vec{-0.9, 4.6, -0.03}, vec{0.9, 4.66, 0.03})
		b.box(vec{-0.03, 5.4, -0.7}, vec{0.03, 5.46, 0.7})
		b.mat("Glow_Red").ball(vec{0, 10.05, 0}, vec{0.12, 0.12, 0.12}, n, s.segments(6), nil)
	})
}

func (s *scene) planter() *meshRef {
	return s.mesh("Planter", func(b *shape) {
		b.mat("Concrete").box(vec{-0.9, 0, -0.4}, vec{0.9, 0.55, 0.4})
		b.mat("Foliage").color(30, 76, 24)
		for i := range 4 {
			r := newRNG(77, i)
			b.ball(vec{-0.6 + float64(float64(i)*0.4), 0.62, r.Span(-0.08, 0.08)}, vec{0.26, r.Span(0.22, 0.36), 0.26}, s.segments(7), s.segments(5), nil)
		}
	})
}
