package scenegen

import "fmt"

// building is a house while it is laid out: its own frame has the origin in
// the middle of the footprint at the level of the sidewalk, front to +Z.
type building struct {
	s       *scene
	r       *rng
	id      int
	w, d, h float64 // footprint and height of the walls
	row     bool    // stands wall to wall with others
	seq     map[string]int
}

func (s *scene) newBuilding(r *rng, id int, w, d float64) *building {
	return &building{s: s, r: r, id: id, w: w, d: d, seq: map[string]int{}}
}

// name returns a name such as Window_12_7, counted per kind.
func (b *building) name(kind string) string {
	b.seq[kind]++
	return fmt.Sprintf("%s_%d_%d", kind, b.id, b.seq[kind])
}

// Sides of a building: the quarter turns that bring +Z to their outside.
var sideNames = [4]string{"Front", "Right", "Back", "Left"}

// length returns the length of a side.
func (b *building) length(side int) float64 {
	if side%2 == 0 {
		return b.w
	}
	return b.d
}

// onSide returns the place on a side's wall: u along it from its middle,
// to the right seen from outside, y up, out in front of it.
func (b *building) onSide(side int, u, y, out float64) xform {
	depth := b.d
	if side%2 == 1 {
		depth = b.w
	}
	yaw := float64(side) / 4
	p := rotY(vec{u, y, float64(depth/2) + out}, yaw)
	return xform{t: p, yaw: yaw}
}

// walls adds the plinth, four walls, the roof and the parapet.
func (b *building) walls(wall, roof, trim string) {
	s := b.s
	// In a row nothing may reach over into the neighbour.
	over := 0.08
	if b.row {
		over = -0.01
	}
	s.place(b.name("Plinth"), s.unitBox("Stone"), at(0, -0.9, 0).scaled(b.w+float64(2*over), 1.25, b.d+0.12))
	for side := range 4 {
		l, h := b.length(side), b.h
		m := s.mesh(fmt.Sprintf("Wall_%s_%.4gx%.4g", wall, l, h), func(sh *shape) {
			sh.mat(wall).tiled(vec{-l / 2, 0, 0}, vec{l / 2, 0, 0}, vec{l / 2, h, 0}, vec{-l / 2, h, 0})
		})
		s.place(fmt.Sprintf("Wall_%d_%s", b.id, sideNames[side]), m, b.onSide(side, 0, 0, 0))
	}
	w, d := b.w, b.d
	s.place(b.name("Roof"), s.mesh(fmt.Sprintf("Roof_%s_%gx%g", roof, w, d), func(sh *shape) {
		sh.mat(roof).tiled(vec{-w / 2, 0, d / 2}, vec{w / 2, 0, d / 2}, vec{w / 2, 0, -d / 2}, vec{-w / 2, 0, -d / 2})
	}), at(0, b.h, 0))
	s.place(b.name("Parapet"), s.mesh(fmt.Sprintf("Parapet_%s_%gx%g_%g", trim, w, d, over), func(sh *shape) {
		sh.mat(trim).ring(vec{-float64(w/2) - over, -0.35, -float64(d/2) - 0.08}, vec{float64(w/2) + over, 0.75, float64(d/2) + 0.08}, 0.36)
	}), at(0, b.h, 0))
}

// roofThings scatters units over the roof in cells of 4 m, none twice.
func (b *building) roofThings(n int) {
	s, r := b.s, b.r
	nx, nz := int((b.w-2)/4), int((b.d-2)/4)
	if nx < 1 || nz < 1 {
		return
	}
	taken := map[int]bool{}
	for range n {
		c := r.Intn(nx * nz)
		if taken[c] {
			continue
		}
		taken[c] = true
		x := (float64(c%nx) - float64(float64(nx-1)/2)) * 4
		z := (float64(c/nx) - float64(float64(nz-1)/2)) * 4
		p := at(x, b.h, z).turned(float64(r.Intn(4)) / 4)
		switch k := r.Intn(8); {
		case k == 0:
			s.place(b.name("Chimney"), s.unitBox("Brick_Red"), p.scaled(0.9, 1.7, 0.7))
		case k == 1:
			s.place(b.name("Vent"), s.vent(), p)
		default:
			s.place(b.name("AC"), s.acUnit(), p)
		}
	}
}

func (s *scene) vent() *meshRef {
	return s.mesh("Vent", func(b *shape) {
		n := s.segments(10)
		b.mat("Metal").cone(vec{0, 0, 0}, 0.3, 0.3, 0.9, n, false)
		b.cone(vec{0, 0.9, 0}, 0.45, 0.2, 0.35, n, true)
	})
}

// tenement is a brick or plaster house with rows of windows, a shop or a door
// and balconies; party marks the sides that touch a neighbour.
func (b *building) tenement(party [4]bool) {
	s, r := b.s, b.r
	b.row = true
	floors := 3 + r.Intn(2) + r.Intn(3)
	const ground, storey = 3.9, 3.2
	b.h = ground + float64(storey*float64(floors-1)) + 0.5
	wall := pick(r, "Brick_Red", "Brick_Red", "Brick_Ochre", "Plaster_White", "Plaster_Rose", "Plaster_Blue")
	frame := pick(r, "Frame_White", "Frame_White", "Frame_Dark")
	b.walls(wall, "Roofing", pick(r, "Concrete", "Stone"))
	for side := range 4 {
		if party[side] {
			continue
		}
		l := b.length(side)
		bays := int((l - 1) / 3)
		for f := 1; f < floors; f++ {
			for k := range bays {
				u := (float64(k) - float64(float64(bays-1)/2)) * (l - 1) / float64(bays)
				y := ground + float64(storey*float64(f-1)) + 0.85
				s.place(b.name("Window"), s.window(1.25, 1.75, frame, r.Chance(0.14)), b.onSide(side, u, y, 0))
				if side == 0 && f > 1 && k%3 == 1 && b.id%3 == 0 {
					s.place(b.name("Balcony"), s.balcony(), b.onSide(side, u, y-0.12, 0))
				}
			}
		}
		b.tenementGround(side, bays, l)
	}
	w, d := b.w, b.d
	s.place(b.name("Cornice"), s.mesh(fmt.Sprintf("Cornice_%gx%g", w, d), func(sh *shape) {
		sh.mat("Stone").ring(vec{-float64(w/2) + 0.01, 0, -float64(d/2) - 0.1}, vec{float64(w/2) - 0.01, 0.3, float64(d/2) + 0.1}, 0.3)
	}), at(0, ground-0.25, 0))
	b.roofThings(4)
	if r.Chance(0.3) {
		s.place(b.name("Water_Tank"), s.waterTank(), at(float64(w/2)-2.6, b.h, -float64(d/2)+2.6))
	}
}

// tenementGround fills the ground floor of one side.
func (b *building) tenementGround(side, bays int, l float64) {
	s, r := b.s, b.r
	shop := side == 0 && r.Chance(0.6)
	for k := range bays {
		u := (float64(k) - float64(float64(bays-1)/2)) * (l - 1) / float64(bays)
		switch {
		case k == bays/2 && side%2 == 0:
			s.place(b.name("Door"), s.door(1.1, 2.3, pick(r, "Wood_Dark", "Paint_Green", "Paint_Blue")), b.onSide(side, u, 0.4, 0))
		case shop && l/float64(bays) > 2.9:
			board := pick(r, "Paint_Green", "Paint_Red", "Paint_Blue", "Paint_Black")
			s.place(b.name("Shop"), s.shopfront(2.3, board), b.onSide(side, u, 0.35, 0))
			if k%2 == 0 {
				s.place(b.name("Awning"), s.awning(2.4), b.onSide(side, u, 3.05, 0.2))
			}
		default:
			s.place(b.name("Window"), s.window(1.25, 1.75, "Frame_White", false), b.onSide(side, u, 1.25, 0))
		}
	}
}

// tower is a glass office tower: curtain wall with ledges and fins, a taller
// core set back on top, a lobby of clear glass.
func (b *building) tower() {
	s, r := b.s, b.r
	const storey = 3.6
	floors := 11 + r.Intn(20)
	b.h = float64(storey * float64(floors))
	wall := pick(r, "Facade_Glass", "Facade_Glass", "Facade_Bronze")
	b.walls(wall, "Roofing", "Metal")
	w, d, h := b.w, b.d, b.h
	s.place(b.name("Facade_Ledges"), s.mesh(fmt.Sprintf("Facade_Ledges_%gx%gx%d", w, d, floors), func(sh *shape) {
		sh.mat("Metal")
		for f := 1; f < floors; f++ {
			y := float64(storey * float64(f))
			sh.ring(vec{-float64(w/2) - 0.22, y - 0.12, -float64(d/2) - 0.22}, vec{float64(w/2) + 0.22, y + 0.06, float64(d/2) + 0.22}, 0.24)
		}
	}), xform{})
	for side := range 4 {
		l := b.length(side)
		m := s.mesh(fmt.Sprintf("Facade_Fins_%.4gx%.4g", l, h), func(sh *shape) {
			sh.mat("Metal_Dark")
			n := int(l/3.6 + 0.5)
			for k := range n + 1 {
				x := float64((float64(k)/float64(n) - 0.5) * (l - 0.3))
				sh.boxOpen(vec{x - 0.07, storey + 0.06, -0.02}, vec{x + 0.07, h - 0.35, 0.3}, faceAll&^faceBack)
			}
		})
		s.place(b.name("Facade_Fins"), m, b.onSide(side, 0, 0, 0))
	}
	b.lobby()
	b.towerTop()
}

// lobby adds doors, a canopy and a glass vestibule at the front.
func (b *building) lobby() {
	s := b.s
	for _, u := range []float64{-2.4, 0, 2.4} {
		s.place(b.name("Door"), s.door(1.8, 2.5, "Frame_Dark"), b.onSide(0, u, 0.4, 0))
	}
	s.place(b.name("Canopy"), s.mesh("Canopy", func(sh *shape) {
		sh.mat("Metal_Dark").box(vec{-4.6, 0, -0.02}, vec{4.6, 0.22, 3.2})
		for _, x := range []float64{-4.3, 4.3} {
			sh.cone(vec{x, -3.9, 2.9}, 0.09, 0.09, 3.9, s.segments(8), false)
		}
		sh.mat("Glass").box(vec{-4.5, -3.2, 0.2}, vec{-4.45, 0, 2.8})
		sh.box(vec{4.45, -3.2, 0.2}, vec{4.5, 0, 2.8})
	}), b.onSide(0, 0, 3.5, 0))
}

// towerTop adds the set-back storey with plant and an antenna.
func (b *building) towerTop() {
	s, r := b.s, b.r
	w, d := float64(b.w*0.55), float64(b.d*0.55)
	s.place(b.name("Wall_Core"), s.unitBox("Concrete"), at(0, b.h, 0).scaled(w, 5, d))
	s.place(b.name("Roof_Core"), s.unitBox("Metal_Dark"), at(0, b.h+5, 0).scaled(w+0.6, 0.35, d+0.6))
	for i := range 4 {
		p := rotY(vec{0, 0, 0.39}, float64(i)/4)
		x := at(float64(p[0]*b.w), b.h, float64(p[2]*b.d)).turned(float64(i) / 4)
		s.place(b.name("AC"), s.acUnit(), x.scaled(1.6, 1.4, 1.6))
	}
	if r.Chance(0.6) {
		s.place(b.name("Antenna"), s.antenna(), at(0, b.h+5.35, 0).scaled(1.3, 1+float64(r.Float()), 1.3))
	}
}

// warehouse is a hall of metal sheets with dock doors and roof lights.
func (b *building) warehouse() {
	s, r := b.s, b.r
	b.h = 8 + float64(r.Intn(3))
	b.walls("Metal_Sheet", "Roofing", pick(r, "Paint_Blue", "Paint_Red", "Metal"))
	doors := int(b.w / 8)
	for k := range doors {
		u := (float64(k) - float64(float64(doors-1)/2)) * b.w / float64(doors)
		s.place(b.name("Door_Dock"), s.dockDoor(), b.onSide(0, u, 0.45, 0))
	}
	for k := range int(b.w / 5) {
		u := float64((float64(k)+0.5)*5) - float64(float64(int(b.w/5))*2.5)
		s.place(b.name("Window"), s.window(2.4, 1, "Frame_Dark", r.Chance(0.2)), b.onSide(2, u, b.h-2.4, 0))
	}
	for k := range int(b.w / 9) {
		u := float64((float64(k)+0.5)*9) - float64(float64(int(b.w/9))*4.5)
		s.place(b.name("Skylight"), s.skylight(), at(u, b.h, 3))
		s.place(b.name("Vent"), s.vent(), at(u, b.h, -b.d/4))
	}
	s.place(b.name("Door"), s.door(1.1, 2.3, "Paint_Blue"), b.onSide(1, 0, 0.4, 0))
}

func (s *scene) skylight() *meshRef {
	return s.mesh("Skylight", func(b *shape) {
		b.mat("Concrete").ring(vec{-1.6, 0, -3.2}, vec{1.6, 0.5, 3.2}, 0.2)
		b.mat("Glass").boxOpen(vec{-1.4, 0.1, -3}, vec{1.4, 0.42, 3}, faceTop)
		b.mat("Metal")
		for i := range 5 {
			z := -2.4 + float64(float64(i)*1.2)
			b.box(vec{-1.4, 0.42, z - 0.04}, vec{1.4, 0.48, z + 0.04})
		}
	})
}

// house is a small plaster house with a flat roof and an attached garage.
func (b *building) house() {
	s, r := b.s, b.r
	floors := 1 + r.Intn(2)
	b.h = 0.5 + float64(3*float64(floors))
	b.walls(pick(r, "Plaster_White", "Plaster_White", "Plaster_Rose", "Plaster_Blue", "Brick_Red"), "Roofing", "Frame_White")
	for side := range 4 {
		l := b.length(side)
		bays := int(l / 3.1)
		for f := range floors {
			for k := range bays {
				u := (float64(k) - float64(float64(bays-1)/2)) * 3.1
				y := 0.5 + float64(3*float64(f))
				switch {
				case side == 0 && f == 0 && k == bays/2:
					s.place(b.name("Door"), s.door(1, 2.1, pick(r, "Wood_Dark", "Paint_Red", "Paint_Green")), b.onSide(side, u, 0.4, 0))
				case side == 3 && f == 0:
				default:
					s.place(b.name("Window"), s.window(1.6, 1.3, "Frame_White", r.Chance(0.15)), b.onSide(side, u, y+0.75, 0))
				}
			}
		}
	}
	x := -float64(b.w/2) - 1.75
	s.place(b.name("Garage"), s.unitBox("Concrete"), at(x, -0.5, 0.6).scaled(3.5, 3.2, 5.6))
	s.place(b.name("Roof_Garage"), s.unitBox("Frame_White"), at(x-0.05, 2.7, 0.6).scaled(3.7, 0.18, 5.9))
	s.place(b.name("Door_Garage"), s.unitBox("Paint_Silver"), at(x, 0.1, 3.4).scaled(2.7, 2.2, 0.1))
	s.place(b.name("Chimney"), s.unitBox("Brick_Red"), at(float64(b.w/2)-1.4, b.h, -1.5).scaled(0.7, 1.5, 0.7))
	if floors == 2 && b.w > 9 {
		s.place(b.name("AC"), s.acUnit(), at(-1, b.h, 0).scaled(0.7, 0.7, 0.7))
	}
}
