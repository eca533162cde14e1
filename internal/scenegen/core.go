package scenegen

// core adds stairs, the lift shaft and the wash room of one storey, in bays 3
// and 4 on the north side.
func (o *office) core(f int) {
	s := o.s
	wall := func(name string, x0, z0, x1, z1 float64) {
		l := max(x1-x0, z1-z0)
		x := at((x0+x1)/2, 0, (z0+z1)/2)
		if z1-z0 > x1-x0 {
			x = x.turned(0.25)
		}
		s.place(o.name(name), o.wallMesh(l, clear, false), x)
	}
	wall("Wall_Core", -6, -halfDeep, -6, -corridor)
	wall("Wall_Core", 6, -halfDeep, 6, -corridor)
	wall("Wall_Shaft", -2, -halfDeep, -2, -corridor-0.06)
	wall("Wall_Shaft", 1, -halfDeep, 1, -corridor-0.06)
	wall("Wall_Shaft", -1.94, -4.4, 0.94, -4.4)
	o.stairs(f)
	o.lift(f)
	o.washRoom()
}

// stairs adds two flights with a landing; the top storey has none.
func (o *office) stairs(f int) {
	s := o.s
	s.place(o.name("Wall_Stair"), o.wallMesh(4, clear, true), at(-4, 0, -corridor))
	o.hangDoor(at(-4, 0, -corridor), 4)
	if f+1 >= o.floors {
		return
	}
	s.place(o.name("Stairs"), s.mesh("Stairs", func(b *shape) {
		b.mat("Concrete")
		const rise, tread = storey / 20, 0.28
		for i := range 10 {
			y := float64(rise * float64(i+1))
			z := -2.6 - float64(tread*float64(i))
			b.box(vec{-5.88, max(0, y-0.34), z - tread}, vec{-4.06, y, z})
			z = -5.4 + float64(tread*float64(i))
			if i < 9 { // the last tread is the next floor
				b.box(vec{-3.94, storey/2 + y - 0.34, z}, vec{-2.12, storey/2 + y, z + tread})
			}
		}
		b.box(vec{-5.88, storey/2 - 0.34, -7.38}, vec{-2.12, storey / 2, -5.4})
		b.mat("Metal")
		for _, x := range []float64{-4.04, -3.98} {
			for i := range 5 {
				t := float64(i) * 2
				y := float64(rise * (t + 1))
				z := -2.74 - float64(tread*t)
				if x > -4 {
					y, z = storey/2+y, -5.26+float64(tread*t)
				}
				b.box(vec{x - 0.02, y, z - 0.02}, vec{x + 0.02, y + 0.95, z + 0.02})
			}
		}
	}), xform{})
}

// lift adds the doors and, on the ground, the car.
func (o *office) lift(f int) {
	s := o.s
	s.place(o.name("Wall_Lift"), s.mesh("Wall_Lift", func(b *shape) {
		b.mat("Wall_Paint")
		b.box(vec{-1.5, 0, -0.06}, vec{-0.6, clear, 0.06})
		b.box(vec{0.6, 0, -0.06}, vec{1.5, clear, 0.06})
		b.box(vec{-0.6, 2.2, -0.06}, vec{0.6, clear, 0.06})
		b.mat("Metal")
		b.box(vec{-0.6, 0, -0.03}, vec{-0.005, 2.2, 0.01})
		b.box(vec{0.005, 0, -0.03}, vec{0.6, 2.2, 0.01})
	}), at(-0.5, 0, -corridor))
	s.place(o.name("Switch_Lift"), s.wallSwitch(), at(0.35, 1.15, -corridor+0.06))
	if f > 0 {
		return
	}
	s.place(o.name("Lift_Car"), s.mesh("Lift_Car", func(b *shape) {
		b.mat("Metal").plate(rect{-1.5, -4.1, 0.5, -2}, 0.02, 0.12)
		b.box(vec{-1.5, 0.12, -4.1}, vec{0.5, 2.4, -4})
		b.box(vec{-1.5, 0.12, -4}, vec{-1.4, 2.4, -2})
		b.box(vec{0.4, 0.12, -4}, vec{0.5, 2.4, -2})
		b.mat("Glow").box(vec{-1.4, 2.36, -4}, vec{0.4, 2.4, -2})
	}), xform{})
}

// washRoom fills x from 1 to 6 of the core.
func (o *office) washRoom() {
	s := o.s
	s.place(o.name("Wall_Wash"), o.wallMesh(5, clear, true), at(3.5, 0, -corridor))
	o.hangDoor(at(3.5, 0, -corridor), 5)
	s.group(o.name("Room_Wash"), at(3.5, 0, -5.1), func() {
		o.finishes("Tiles", 4.88, roomDeep-0.12)
		for i := range 3 {
			z := -2.9 + float64(float64(i)*1.2)
			s.place(o.name("Toilet"), s.toilet(), at(1.9, finish, z).turned(-0.25))
			s.place(o.name("Wall_Stall"), s.mesh("Wall_Stall", func(b *shape) {
				b.mat("Frame_White").box(vec{-0.75, 0.15, -0.02}, vec{0.75, 2, 0.02})
			}), at(1.68, 0, z+0.6))
			s.place(o.name("Sink"), s.sink(), at(-2.38, 0, z).turned(0.25))
			s.place(o.name("Mirror"), s.unitBox("Pane"), at(-2.42, 1.2, z).scaled(0.03, 0.9, 0.7))
		}
		s.place(o.name("Bin"), s.bin(), at(-2, finish, 1.4).scaled(0.7, 0.7, 0.7))
	})
}

// wallMesh is an inner wall of length l along X, 12 cm thick, its middle at
// the origin; a door opening is 0.9 m wide at a quarter of the length.
func (o *office) wallMesh(l, h float64, door bool) *meshRef {
	const t = 0.06
	if !door {
		return o.s.mesh("Wall_"+num(l), func(b *shape) {
			b.mat("Wall_Paint").box(vec{-l / 2, 0, -t}, vec{l / 2, h, t})
		})
	}
	d := doorAt(l)
	return o.s.mesh("Wall_Door_"+num(l), func(b *shape) {
		b.mat("Wall_Paint")
		b.box(vec{-l / 2, 0, -t}, vec{d - 0.5, h, t})
		b.box(vec{d + 0.5, 0, -t}, vec{l / 2, h, t})
		b.box(vec{d - 0.5, 2.15, -t}, vec{d + 0.5, h, t})
		b.mat("Frame_Dark")
		for _, x := range []float64{d - 0.5, d + 0.45} {
			b.box(vec{x, 0, -t - 0.01}, vec{x + 0.05, 2.15, t + 0.01})
		}
		b.box(vec{d - 0.45, 2.1, -t - 0.01}, vec{d + 0.45, 2.15, t + 0.01})
	})
}

// doorAt is where the door of a wall of length l stands.
func doorAt(l float64) float64 { return float64(-l / 4) }

// hangDoor adds the leaf with its two handles to the door wall at x.
func (o *office) hangDoor(x xform, l float64) {
	s := o.s
	p := rotY(vec{doorAt(l) - 0.44, 0, 0}, x.yaw)
	open := pick(o.r, 0, -0.05, -0.12, -0.2)
	s.placeWith(o.name("Door"), s.mesh("Door_Inner", func(b *shape) {
		b.mat("Wood_Dark").box(vec{0, 0.02, -0.02}, vec{0.88, 2.09, 0.02})
	}), xform{t: x.t.Add(p), yaw: x.yaw - open}, func() {
		s.place(o.name("Handle"), s.handle(), at(0.8, 1.02, 0.02))
		s.place(o.name("Handle"), s.handle(), at(0.8, 1.02, -0.02).scaled(1, 1, -1))
	})
	side := rotY(vec{doorAt(l) + 0.75, 1.1, 0.06}, x.yaw)
	s.place(o.name("Switch"), s.wallSwitch(), xform{t: x.t.Add(side), yaw: x.yaw})
}
