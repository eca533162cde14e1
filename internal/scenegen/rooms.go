package scenegen

// corridorFloor furnishes the corridor of one storey.
func (o *office) corridorFloor() {
	s, r := o.s, o.r
	s.place(o.name("Floor_Corridor"), o.floorMesh("Tiles", 2*halfLong-0.02, 2*corridor-0.14), xform{})
	for k := range bays {
		x := float64(float64(k)*bay) - halfLong + bay/2
		for i, z := range []float64{-0.75, -0.5, 0.7} {
			k := 1 + float64(0.4*float64(i))
			s.place(o.name("Pipe"), s.pipe(), at(x, 2.95, z).scaled(1, k, k))
		}
		s.place(o.name("Lamp_Ceiling"), s.panelLamp(), at(x, 2.7, 0).turned(0.25))
		s.place(o.name("Sprinkler"), s.sprinkler(), at(x+1.5, 2.88, 0.2))
		if r.Chance(0.35) {
			s.place(o.name("Plant"), s.plant(r.Intn(2)), at(x+2, finish, 0.85).turned(r.Float()))
		}
	}
}

// rooms fills both sides of the corridor with rooms of one or two bays.
func (o *office) rooms(f int) {
	for side := range 2 {
		for k := 0; k < bays; {
			if side == 1 && k == 3 { // the core, seen from the north
				k += 2
				continue
			}
			n := 1
			free := bays - k
			if side == 1 && k < 3 {
				free = 3 - k
			}
			if free > 1 && o.r.Chance(0.5) {
				n = 2
			}
			kind := pick(o.r, "Office", "Office", "Office", "Meeting", "Lounge", "Kitchen")
			if f == 0 && side == 0 && k <= 3 && k+n > 3 {
				kind = "Lobby" // behind the entrance
			}
			o.room(kind, side, k, n)
			k += n
		}
	}
}

// room adds n bays from bay k on one side. Its frame has the origin in the
// middle of the floor, +Z towards the facade.
func (o *office) room(kind string, side, k, n int) {
	s := o.s
	w := float64(n) * bay
	x := float64(float64(k)*bay) - halfLong + float64(w/2)
	yaw := 0.5 * float64(side)
	z := corridor + roomDeep/2
	if side == 1 {
		x, z = -x, -z
	}
	s.groupWith(o.name("Room_"+kind), at(x, 0, z).turned(yaw), object{"room": kind}, func() {
		o.finishes("Carpet", w-0.12, roomDeep-0.12)
		for i := range n {
			u := (float64(i) - float64(float64(n-1)/2)) * bay
			front := at(u, 0, -roomDeep/2).turned(0.5)
			s.place(o.name("Wall"), o.wallMesh(bay, clear, i == 0), front)
			if i == 0 {
				o.hangDoor(front, bay)
			}
		}
		// Each room brings the wall to the one before; facade and core have theirs.
		if k > 0 && !(side == 1 && k == 5) {
			m := o.wallMesh(roomDeep-0.06, clear, false)
			s.place(o.name("Wall"), m, at(-w/2, 0, 0.03).turned(0.25))
		}
		o.services(w, kind != "Lobby")
		switch kind {
		case "Meeting":
			o.meeting(w)
		case "Lounge", "Lobby":
			o.lounge(w)
		case "Kitchen":
			o.kitchen(w)
		default:
			o.desks(n)
		}
	})
}

// finishes adds the floor finish and the ceiling of a room.
func (o *office) finishes(floor string, w, d float64) {
	s := o.s
	s.place(o.name("Floor"), o.floorMesh(floor, w, d), xform{})
	s.place(o.name("Ceiling"), s.mesh("Ceiling_"+num(w)+"x"+num(d), func(b *shape) {
		b.mat("Ceiling").box(vec{-w / 2, 0, -d / 2}, vec{w / 2, 0.04, d / 2})
	}), at(0, ceilingAt, 0))
	for i := range int(w / 2.4) {
		x := float64((float64(i)+0.5)*2.4) - float64(float64(int(w/2.4))*1.2)
		for _, z := range []float64{-2.2, 0.6, 2.6} {
			s.place(o.name("Lamp_Ceiling"), s.panelLamp(), at(x, ceilingAt-0.06, z))
		}
	}
}

// floorMesh is a thin finish of w by d on the slab.
func (o *office) floorMesh(floor string, w, d float64) *meshRef {
	return o.s.mesh("Floor_"+floor+"_"+num(w)+"x"+num(d), func(b *shape) {
		b.mat(floor).box(vec{-w / 2, 0, -d / 2}, vec{w / 2, finish, d / 2})
	})
}

// services adds outlets, sprinklers and, where the facade is closed below,
// radiators.
func (o *office) services(w float64, heated bool) {
	s := o.s
	for i := range int(w / 3) {
		x := float64((float64(i)+0.5)*3) - float64(w/2)
		s.place(o.name("Sprinkler"), s.sprinkler(), at(x, ceilingAt-0.12, -0.8))
		s.place(o.name("Outlet"), s.outlet(), at(x+0.9, 0.3, -roomDeep/2+0.06))
		if heated {
			s.place(o.name("Radiator"), s.radiator(), at(x, 0, roomDeep/2-0.16))
		}
	}
}

// desks is an office: rows of desks with chairs, a shelf, a plant.
func (o *office) desks(n int) {
	s, r := o.s, o.r
	for i := range 2 * n {
		x := (float64(i) - float64(float64(2*n-1)/2)) * 3
		for row := range 2 {
			z := 2.35 - float64(float64(row)*2.9)
			o.workplace(at(x, finish, z))
		}
	}
	w := float64(n) * bay
	for i := range n {
		s.place(o.name("Shelf"), s.shelf(), at(-float64(w/2)+0.3, finish, -2.6+float64(float64(i)*1.3)).turned(0.25))
	}
	s.place(o.name("Plant"), s.plant(r.Intn(2)), at(float64(w/2)-0.6, finish, -3.3).turned(r.Float()))
	s.place(o.name("Bin"), s.bin(), at(float64(w/2)-1.3, finish, -3.4).scaled(0.55, 0.5, 0.55))
}

// workplace is a desk with its chair, one or two monitors and a lamp.
func (o *office) workplace(x xform) {
	s, r := o.s, o.r
	s.group(o.name("Workplace"), x, func() {
		s.place(o.name("Desk"), s.desk(), xform{})
		s.place(o.name("Chair"), s.chair(), at(r.Span(-0.15, 0.15), 0, 0.75+r.Span(0, 0.2)).turned(0.5+r.Span(-0.1, 0.1)))
		if r.Chance(0.4) {
			s.place(o.name("Monitor"), s.monitor(), at(-0.33, 0.74, -0.1).turned(0.03))
			s.place(o.name("Monitor"), s.monitor(), at(0.33, 0.74, -0.1).turned(-0.03))
		} else {
			s.place(o.name("Monitor"), s.monitor(), at(0, 0.74, -0.1))
		}
		s.place(o.name("Keyboard"), s.unitBox("Paint_Black"), at(0, 0.74, 0.18).scaled(0.42, 0.02, 0.14))
		if r.Chance(0.5) {
			s.place(o.name("Lamp_Desk"), s.deskLamp(), at(0.68, 0.74, -0.2).turned(r.Span(-0.1, 0.1)))
		}
	})
}

// meeting is a table with chairs round it and a screen on the wall.
func (o *office) meeting(w float64) {
	s, r := o.s, o.r
	s.place(o.name("Table"), s.table(3.2, 1.2), at(0, finish, 0.2))
	for i := range 4 {
		x := -1.2 + float64(float64(i)*0.8)
		s.place(o.name("Chair"), s.chair(), at(x, finish, 1.15).turned(0.5+r.Span(-0.04, 0.04)))
		s.place(o.name("Chair"), s.chair(), at(x, finish, -0.75).turned(r.Span(-0.04, 0.04)))
	}
	s.place(o.name("Screen"), s.unitBox("Screen"), at(float64(w/2)-0.12, 1, 0.2).scaled(0.05, 1, 1.8))
	s.place(o.name("Plant"), s.plant(0), at(-float64(w/2)+0.6, finish, 3.2))
	s.place(o.name("Shelf"), s.shelf(), at(-float64(w/2)+0.3, finish, -1).turned(0.25))
}

// lounge has sofas round a low table.
func (o *office) lounge(w float64) {
	s, r := o.s, o.r
	for i := range int(w / bay) {
		x := float64((float64(i)+0.5)*bay) - float64(w/2)
		s.place(o.name("Table"), s.unitBox("Wood"), at(x, finish, 0.9).scaled(1.2, 0.4, 0.7))
		sofa := s.sofa(pick(r, "Fabric_Teal", "Fabric_Orange", "Fabric_Grey"))
		s.place(o.name("Sofa"), sofa, at(x, finish, -0.4))
		s.place(o.name("Sofa"), sofa, at(x, finish, 2.2).turned(0.5))
		s.place(o.name("Plant"), s.plant(i%2), at(x+2, finish, 2.6))
		s.place(o.name("Lamp_Floor"), s.floorLamp(), at(x-1.9, finish, 2.4))
	}
	s.place(o.name("Shelf"), s.shelf(), at(-float64(w/2)+0.3, finish, -1.4).turned(0.25))
}

// kitchen has a counter with a sink, a fridge and tables.
func (o *office) kitchen(w float64) {
	s := o.s
	s.place(o.name("Counter"), s.counter(), at(0.9, finish, -roomDeep/2+0.38))
	s.place(o.name("Fridge"), s.unitBox("Paint_Silver"), at(float64(w/2)-0.45, finish, -3.45).scaled(0.7, 1.85, 0.7))
	for i := range 2 * int(w/bay) {
		x := float64((float64(i)+0.5)*3) - float64(w/2)
		s.place(o.name("Table"), s.table(1.2, 0.8), at(x, finish, 1.4))
		s.place(o.name("Chair"), s.chair(), at(x, finish, 2.15).turned(0.5))
		s.place(o.name("Chair"), s.chair(), at(x, finish, 0.65))
	}
}
