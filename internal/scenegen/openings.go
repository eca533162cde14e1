package scenegen

import "fmt"

// The functions of this file build windows, doors and what hangs on walls.
// The origin is the lower middle of the opening, on the wall's outer face,
// which looks to +Z. Walls have no holes: frames and panes stand in front of
// them, so nothing shares a plane with a wall.

// window is a frame with a sill and two panes.
func (s *scene) window(w, h float64, frame string, lit bool) *meshRef {
	pane := "Pane"
	if lit {
		pane = "Pane_Lit"
	}
	key := fmt.Sprintf("Window_%gx%g_%s_%s", w, h, frame, pane)
	return s.mesh(key, func(b *shape) {
		const front, t = 0.07, 0.08
		x := float64(w / 2)
		b.mat(frame).boxOpen(vec{-x, 0, 0}, vec{x, h, front}, faceAll&^faceBack)
		b.boxOpen(vec{-x - 0.08, -0.09, 0}, vec{x + 0.08, 0, 0.2}, faceAll&^faceBack)
		// Panes stand a little in front of the frame: far enough for a depth
		// buffer, too little to be seen, and cheaper than a recess.
		b.mat(pane)
		p := func(px, py float64) vec { return vec{px, py, front + 0.02} }
		for _, e := range [2]float64{-x + t, 0.03} {
			r := e + x - t - 0.03
			b.quad(p(e, t), p(r, t), p(r, h-t), p(e, h-t), 1, 1)
		}
	})
}

// door is a leaf in a frame with a handle and a step.
func (s *scene) door(w, h float64, leaf string) *meshRef {
	return s.mesh(fmt.Sprintf("Door_%gx%g_%s", w, h, leaf), func(b *shape) {
		x := float64(w / 2)
		b.mat("Frame_Dark")
		b.box(vec{-x - 0.12, 0, -0.02}, vec{-x, h + 0.12, 0.14})
		b.box(vec{x, 0, -0.02}, vec{x + 0.12, h + 0.12, 0.14})
		b.box(vec{-x, h, -0.02}, vec{x, h + 0.12, 0.14})
		b.mat(leaf).box(vec{-x, 0, -0.02}, vec{x, h, 0.06})
		b.mat("Pane").boxOpen(vec{-x + 0.15, h * 0.45, 0.06}, vec{x - 0.15, h - 0.2, 0.08}, faceAll&^faceBack)
		b.mat("Metal").box(vec{x - 0.16, 1, 0.06}, vec{x - 0.05, 1.05, 0.15})
		b.mat("Stone").box(vec{-x - 0.3, -0.9, -0.02}, vec{x + 0.3, 0, 0.7})
		b.box(vec{-x - 0.3, -0.9, 0.7}, vec{x + 0.3, -0.17, 1.05})
	})
}

// dockDoor is a roller door with a frame of bollards.
func (s *scene) dockDoor() *meshRef {
	return s.mesh("Door_Dock", func(b *shape) {
		b.mat("Paint_Silver")
		for i := range 12 {
			y := float64(float64(i) * 0.3)
			b.box(vec{-1.8, y, -0.02}, vec{1.8, y + 0.27, 0.08})
		}
		b.mat("Paint_Yellow")
		for _, x := range []float64{-2.05, 1.85} {
			b.box(vec{x, -0.6, -0.02}, vec{x + 0.2, 3.7, 0.25})
		}
		b.box(vec{-1.85, 3.6, -0.02}, vec{1.85, 3.85, 0.3})
		b.mat("Concrete").box(vec{-2.3, -0.9, -0.02}, vec{2.3, 0, 1.6})
	})
}

// awning is a striped cloth on two arms, 0.9 m deep, w wide.
func (s *scene) awning(w float64) *meshRef {
	return s.mesh(fmt.Sprintf("Awning_%g", w), func(b *shape) {
		x := float64(w / 2)
		b.mat("Awning")
		b.tiled(vec{-x, 0, 1.1}, vec{x, 0, 1.1}, vec{x, 0.55, 0}, vec{-x, 0.55, 0})
		b.tiled(vec{-x, -0.2, 1.1}, vec{x, -0.2, 1.1}, vec{x, 0, 1.1}, vec{-x, 0, 1.1})
		b.mat("Metal_Dark")
		for _, e := range []float64{-x, x - 0.03} {
			b.box(vec{e, -0.03, 0}, vec{e + 0.03, 0, 1.08})
		}
	})
}

// shopfront is a wide window with a base and a sign board.
func (s *scene) shopfront(w float64, board string) *meshRef {
	return s.mesh(fmt.Sprintf("Window_Shop_%g_%s", w, board), func(b *shape) {
		x := float64(w / 2)
		b.mat("Wood_Dark").box(vec{-x, 0, -0.02}, vec{x, 0.5, 0.16})
		for _, e := range []float64{-x, -0.05, x - 0.1} {
			b.box(vec{e, 0.5, -0.02}, vec{e + 0.1, 2.55, 0.14})
		}
		b.mat(board).box(vec{-x - 0.1, 2.55, -0.02}, vec{x + 0.1, 3.1, 0.2})
		b.mat("Pane_Lit").boxOpen(vec{-x + 0.1, 0.5, 0}, vec{x - 0.1, 2.55, 0.07}, faceFront)
	})
}

// balcony is a slab with a railing, 2.4 m wide.
func (s *scene) balcony() *meshRef {
	return s.mesh("Balcony", func(b *shape) {
		b.mat("Concrete").box(vec{-1.2, -0.2, -0.02}, vec{1.2, 0, 1.1})
		b.mat("Metal_Dark")
		b.box(vec{-1.18, 0.95, 1.03}, vec{1.18, 1, 1.08})
		for _, x := range []float64{-1.18, 1.13} {
			b.box(vec{x, 0.95, 0}, vec{x + 0.05, 1, 1.03})
		}
		for i := range 9 {
			x := -1.16 + float64(float64(i)*0.286)
			b.boxOpen(vec{x, 0, 1.04}, vec{x + 0.025, 0.95, 1.065}, faceAll&^faceTop&^faceBottom)
		}
	})
}
