package scenegen

import "fmt"

// num formats a size for a name.
func num(v float64) string { return fmt.Sprintf("%.4g", v) }

// The functions of this file build the office's shared meshes. Each stands on
// y = 0 at the origin and faces +Z unless it says otherwise.

// chair is a swivel chair on five legs.
func (s *scene) chair() *meshRef {
	return s.mesh("Chair", func(b *shape) {
		n := s.segments(6)
		b.mat("Fabric_Grey").box(vec{-0.24, 0.42, -0.24}, vec{0.24, 0.5, 0.25})
		b.box(vec{-0.22, 0.58, -0.28}, vec{0.22, 1, -0.22})
		b.mat("Metal_Dark").cone(vec{0, 0.1, 0}, 0.03, 0.03, 0.32, n, false)
		b.box(vec{-0.03, 0.45, -0.3}, vec{0.03, 0.7, -0.28})
		for i := range 5 {
			b.at(at(0, 0, 0).turned(float64(i)/5)).box(vec{-0.025, 0.03, 0.02}, vec{0.025, 0.1, 0.3})
		}
		b.home()
	})
}

func (s *scene) desk() *meshRef {
	return s.mesh("Desk", func(b *shape) {
		b.mat("Wood").box(vec{-0.8, 0.7, -0.4}, vec{0.8, 0.74, 0.4})
		b.mat("Metal")
		for _, x := range []float64{-0.75, 0.7} {
			b.box(vec{x, 0, -0.35}, vec{x + 0.05, 0.7, -0.3})
			b.box(vec{x, 0, 0.3}, vec{x + 0.05, 0.7, 0.35})
		}
		b.mat("Frame_White").box(vec{0.35, 0.05, -0.28}, vec{0.69, 0.66, 0.28})
		b.mat("Metal")
		for i := range 3 {
			y := 0.16 + float64(float64(i)*0.2)
			b.box(vec{0.46, y, 0.28}, vec{0.58, y + 0.02, 0.3})
		}
	})
}

func (s *scene) table(w, d float64) *meshRef {
	return s.mesh("Table_"+num(w)+"x"+num(d), func(b *shape) {
		x, z := float64(w/2), float64(d/2)
		b.mat("Wood").box(vec{-x, 0.71, -z}, vec{x, 0.75, z})
		b.mat("Metal_Dark")
		for _, q := range [4][2]float64{{-x + 0.15, -z + 0.15}, {x - 0.15, -z + 0.15}, {-x + 0.15, z - 0.15}, {x - 0.15, z - 0.15}} {
			b.box(vec{q[0] - 0.03, 0, q[1] - 0.03}, vec{q[0] + 0.03, 0.71, q[1] + 0.03})
		}
	})
}

func (s *scene) monitor() *meshRef {
	return s.mesh("Monitor", func(b *shape) {
		b.mat("Frame_Dark")
		b.box(vec{-0.12, 0, -0.09}, vec{0.12, 0.015, 0.07})
		b.box(vec{-0.025, 0.015, -0.05}, vec{0.025, 0.2, -0.03})
		b.box(vec{-0.3, 0.13, -0.03}, vec{0.3, 0.49, 0})
		b.mat("Screen").boxOpen(vec{-0.285, 0.15, 0}, vec{0.285, 0.475, 0.006}, faceAll&^faceBack)
	})
}

func (s *scene) deskLamp() *meshRef {
	return s.mesh("Lamp_Desk", func(b *shape) {
		n := s.segments(8)
		b.mat("Metal_Dark").cone(vec{0, 0, 0}, 0.09, 0.08, 0.02, n, true)
		b.cone(vec{0, 0.02, 0}, 0.01, 0.01, 0.4, n, false)
		b.cone(vec{0, 0.36, 0.06}, 0.09, 0.04, 0.1, n, true)
		b.mat("Glow").disc(vec{0, 0.355, 0.06}, 0.07, n, false)
	})
}

func (s *scene) floorLamp() *meshRef {
	return s.mesh("Lamp_Floor", func(b *shape) {
		n := s.segments(10)
		b.mat("Metal_Dark").cone(vec{0, 0, 0}, 0.16, 0.14, 0.03, n, true)
		b.cone(vec{0, 0.03, 0}, 0.015, 0.015, 1.42, n, false)
		b.mat("Glow").cone(vec{0, 1.4, 0}, 0.2, 0.15, 0.28, n, true)
	})
}

// shelf is a case of books with vertex colours, open to +Z.
func (s *scene) shelf() *meshRef {
	return s.mesh("Shelf", func(b *shape) {
		b.mat("Wood")
		b.box(vec{-0.6, 0, -0.17}, vec{-0.57, 1.9, 0.17})
		b.box(vec{0.57, 0, -0.17}, vec{0.6, 1.9, 0.17})
		b.box(vec{-0.57, 0, -0.17}, vec{0.57, 1.9, -0.15})
		for i := range 6 {
			y := float64(float64(i) * 0.372)
			b.box(vec{-0.57, y, -0.15}, vec{0.57, y + 0.03, 0.16})
		}
		b.mat("Painted")
		r := newRNG(606)
		for i := range 5 {
			y := float64(float64(i)*0.372) + 0.03
			for x := -0.55; x < 0.35; {
				w := r.Span(0.05, 0.13)
				b.color(uint8(20+r.Intn(150)), uint8(20+r.Intn(110)), uint8(20+r.Intn(110)))
				b.box(vec{x, y, -0.14}, vec{x + w - 0.006, y + r.Span(0.2, 0.31), r.Span(0.02, 0.1)})
				x += w
			}
		}
	})
}

func (s *scene) sofa(fabric string) *meshRef {
	return s.mesh("Sofa_"+fabric, func(b *shape) {
		b.mat(fabric)
		b.box(vec{-0.85, 0.12, -0.4}, vec{0.85, 0.3, 0.45})
		b.box(vec{-0.68, 0.3, -0.2}, vec{-0.01, 0.44, 0.47})
		b.box(vec{0.01, 0.3, -0.2}, vec{0.68, 0.44, 0.47})
		b.box(vec{-0.85, 0.3, -0.42}, vec{0.85, 0.85, -0.2})
		b.box(vec{-0.87, 0.3, -0.2}, vec{-0.69, 0.6, 0.43})
		b.box(vec{0.69, 0.3, -0.2}, vec{0.87, 0.6, 0.43})
		b.mat("Metal_Dark")
		for _, q := range [4][2]float64{{-0.78, -0.34}, {0.78, -0.34}, {-0.78, 0.38}, {0.78, 0.38}} {
			b.box(vec{q[0] - 0.03, 0, q[1] - 0.03}, vec{q[0] + 0.03, 0.12, q[1] + 0.03})
		}
	})
}

// plant is a pot with leaf cards, low or high.
func (s *scene) plant(kind int) *meshRef {
	return s.mesh(fmt.Sprintf("Plant_%d", kind), func(b *shape) {
		n, high := s.segments(9), 0.6+float64(0.5*float64(kind))
		b.mat("Concrete").cone(vec{0, 0, 0}, 0.17, 0.22, 0.4, n, true)
		b.mat("Bark").cone(vec{0, 0.38, 0}, 0.025, 0.015, high, s.segments(5), false)
		b.mat("Leaf_Oak")
		r := newRNG(88, kind)
		for range [4]int{10, 18, 30, 50}[s.detail] {
			d := vec{r.Span(-1, 1), r.Span(-0.3, 1), r.Span(-1, 1)}.Normalize(1e-3, vec{0, 1, 0})
			o := vec{0, 0.42 + high, 0}.Add(d.Scale(r.Span(0.05, 0.3)))
			s.card(b, r, o, d, r.Span(0.16, 0.24))
		}
	})
}

func (s *scene) toilet() *meshRef {
	return s.mesh("Toilet", func(b *shape) {
		n := s.segments(10)
		b.mat("Ceramic").cone(vec{0, 0, 0.05}, 0.13, 0.2, 0.38, n, true)
		b.cone(vec{0, 0.38, 0.07}, 0.23, 0.23, 0.04, n, true)
		b.box(vec{-0.2, 0.36, -0.3}, vec{0.2, 0.85, -0.13})
		b.mat("Metal").cone(vec{0, 0.85, -0.21}, 0.03, 0.03, 0.02, n, true)
	})
}

func (s *scene) sink() *meshRef {
	return s.mesh("Sink", func(b *shape) {
		n := s.segments(8)
		b.mat("Ceramic").ring(vec{-0.28, 0.72, 0}, vec{0.28, 0.88, 0.44}, 0.05)
		b.boxOpen(vec{-0.23, 0.74, 0.05}, vec{0.23, 0.77, 0.39}, faceTop|faceBottom)
		b.cone(vec{0, 0.4, 0.16}, 0.07, 0.1, 0.34, n, true)
		b.mat("Metal").box(vec{-0.02, 0.88, 0.02}, vec{0.02, 1.02, 0.06})
		b.box(vec{-0.02, 0.99, 0.06}, vec{0.02, 1.02, 0.17})
	})
}

func (s *scene) counter() *meshRef {
	return s.mesh("Counter", func(b *shape) {
		b.mat("Frame_White").box(vec{-1.2, 0.08, -0.3}, vec{1.2, 0.86, 0.28})
		b.mat("Stone").box(vec{-1.22, 0.86, -0.3}, vec{1.22, 0.9, 0.31})
		b.mat("Metal").box(vec{-0.02, 0.9, -0.2}, vec{0.02, 1.15, -0.16})
		b.box(vec{-0.02, 1.12, -0.16}, vec{0.02, 1.15, 0})
		for i := range 4 {
			x := -0.95 + float64(float64(i)*0.6)
			b.box(vec{x, 0.74, 0.28}, vec{x + 0.14, 0.76, 0.31})
		}
	})
}

// radiator hangs below a window, its back to +Z.
func (s *scene) radiator() *meshRef {
	return s.mesh("Radiator", func(b *shape) {
		b.mat("Frame_White")
		for i := range 8 {
			x := -0.6 + float64(float64(i)*0.15)
			b.box(vec{x, 0.14, -0.04}, vec{x + 0.13, 0.66, 0.04})
		}
		b.box(vec{-0.6, 0.2, 0.04}, vec{0.6, 0.24, 0.1})
	})
}

// panelLamp is a ceiling light of 1.2 m by 0.3 m, shining down.
func (s *scene) panelLamp() *meshRef {
	return s.mesh("Lamp_Panel", func(b *shape) {
		b.mat("Frame_White").boxOpen(vec{-0.62, 0, -0.17}, vec{0.62, 0.06, 0.17}, faceAll&^faceTop&^faceBottom)
		b.mat("Glow").boxOpen(vec{-0.62, 0, -0.17}, vec{0.62, 0.06, 0.17}, faceTop|faceBottom)
	})
}

// sprinkler hangs from y = 0.12.
func (s *scene) sprinkler() *meshRef {
	return s.mesh("Sprinkler", func(b *shape) {
		n := s.segments(6)
		b.mat("Metal").cone(vec{0, 0.03, 0}, 0.012, 0.012, 0.09, n, false)
		b.cone(vec{0, 0.02, 0}, 0.03, 0.03, 0.01, n, true)
		b.mat("Paint_Red").cone(vec{0, 0, 0}, 0.006, 0.006, 0.02, n, true)
	})
}

// pipe is 6 m along X.
func (s *scene) pipe() *meshRef {
	return s.mesh("Pipe", func(b *shape) {
		n := s.segments(8)
		b.at(at(-bay/2, 0, 0).rolled(-0.25)).mat("Metal")
		b.cone(vec{}, 0.05, 0.05, bay, n, true)
		b.cone(vec{0, 2.9, 0}, 0.065, 0.065, 0.06, n, true)
		b.home()
	})
}

// wallSwitch sits on a wall behind it, its middle at the origin.
func (s *scene) wallSwitch() *meshRef {
	return s.mesh("Switch", func(b *shape) {
		b.mat("Frame_White").boxOpen(vec{-0.04, -0.04, 0}, vec{0.04, 0.04, 0.01}, faceAll&^faceBack)
		b.mat("Paint_White").box(vec{-0.022, -0.028, 0.01}, vec{0.022, 0.028, 0.016})
	})
}

func (s *scene) outlet() *meshRef {
	return s.mesh("Outlet", func(b *shape) {
		b.mat("Frame_White").boxOpen(vec{-0.04, -0.04, 0}, vec{0.04, 0.04, 0.01}, faceAll&^faceBack)
		b.mat("Frame_Dark").at(at(0, 0, 0.01).tilted(0.25)).cone(vec{}, 0.022, 0.02, 0.003, s.segments(8), true)
		b.home()
	})
}

// handle reaches out along +Z from the leaf.
func (s *scene) handle() *meshRef {
	return s.mesh("Handle", func(b *shape) {
		b.mat("Metal").box(vec{-0.02, -0.06, 0}, vec{0.02, 0.06, 0.008})
		b.box(vec{-0.012, -0.012, 0.008}, vec{0.012, 0.012, 0.05})
		b.box(vec{-0.12, -0.012, 0.05}, vec{0.012, 0.012, 0.07})
	})
}
