package scenegen

import "fmt"

// buildBoxes adds n by n buildings of closed, hard-edged boxes: every face has
// its own vertices, nothing is shared, nothing is joined. Simplifiers that
// only follow connected surfaces get stuck on them. A building is one node with
// a mesh of its own of 337 boxes, 4,044 triangles.
func buildBoxes(s *scene, seed uint64, n int) {
	const step = 30.0
	for j := range n {
		for i := range n {
			if s.ended() {
				return
			}
			name := fmt.Sprintf("Building_%d", j*n+i)
			s.place(name, s.once(name, func(b *shape) { boxBuilding(b, newRNG(seed, 9, i, j)) }), at(float64(i)*step, 0, float64(j)*step))
		}
	}
	s.light("Sun", xform{t: vec{0, 100, 0}, yaw: 0.1, pitch: -0.14}, object{
		"type": "directional", "color": []float64{1, 0.97, 0.9}, "intensity": 3,
	})
	s.camera("Camera", xform{t: vec{-40, 60, float64(float64(n)*step) + 40}, yaw: -0.125, pitch: -0.06})
}

// boxBuilding makes a body, 80 windows on each side, a parapet and machines on
// the roof.
func boxBuilding(b *shape, r *rng) {
	grid := pick(r, [2]int{16, 5}, [2]int{20, 4}, [2]int{10, 8}, [2]int{8, 10})
	floors, columns := grid[0], grid[1]
	height := float64(float64(floors) * r.Span(2.9, 3.6))
	wide, deep := float64(r.Span(7, 11)), float64(r.Span(7, 11)) // half sides
	b.mat(pick(r, "Plaster_White", "Plaster_Rose", "Plaster_Blue", "Concrete", "Brick_Red", "Brick_Ochre"))
	b.box(vec{-wide, 0, -deep}, vec{wide, height, deep})
	b.box(vec{-wide - 0.3, 0, -deep - 0.3}, vec{wide + 0.3, 0.6, deep + 0.3})
	for k, side := range []vec{{wide, 0, 0.15}, {wide, 0, 0.15}, {0.15, 0, deep}, {0.15, 0, deep}} {
		sign := float64(1 - 2*(k%2))
		c := vec{0, height, float64(sign * (deep - 0.15))}
		if k >= 2 {
			c = vec{float64(sign * (wide - 0.15)), height, 0}
		}
		b.box(vec{c[0] - side[0], height, c[2] - side[2]}, vec{c[0] + side[0], height + 0.9, c[2] + side[2]})
	}
	b.mat(pick(r, "Pane", "Frame_White", "Frame_Dark"))
	for side := range 4 {
		long, out := wide, deep
		if side >= 2 {
			long, out = deep, wide
		}
		sign := float64(1 - 2*(side%2))
		for f := range floors {
			for c := range columns {
				x := float64(long * (float64(2*c+1)/float64(columns) - 1))
				y := float64(height * (float64(f) + 0.55) / float64(floors))
				half := float64(long / float64(columns) * 0.55)
				lo, hi := vec{x - half, y - 0.7, float64(sign * out)}, vec{x + half, y + 0.7, float64(sign * (out + 0.12))}
				lo[2], hi[2] = min(lo[2], hi[2]), max(lo[2], hi[2])
				if side >= 2 {
					lo, hi = vec{lo[2], lo[1], lo[0]}, vec{hi[2], hi[1], hi[0]}
				}
				b.box(lo, hi)
			}
		}
	}
	b.mat("Metal")
	for range 11 {
		x, z, h := float64(r.Span(-wide+1, wide-1)), float64(r.Span(-deep+1, deep-1)), float64(r.Span(0.6, 2))
		b.box(vec{x - 0.6, height, z - 0.5}, vec{x + 0.6, height + h, z + 0.5})
	}
}
