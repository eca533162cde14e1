package scenegen

import "fmt"

// Sizes of the office in metres. A building is a row of bays along X with a
// corridor in the middle; rooms lie on both sides of it.
const (
	bay       = 6.0
	bays      = 8
	storey    = 3.5 // slab to slab
	slab      = 0.3
	clear     = storey - slab
	ceilingAt = 2.75
	halfDeep  = 9.0 // half the depth of a building
	corridor  = 1.2 // half the width of the corridor
	roomDeep  = halfDeep - corridor
	halfLong  = bay * bays / 2
	finish    = 0.012 // thickness of the floor finish
)

// Parts of the core on the north side, in bays 3 and 4.
var (
	stairHole = rect{-5.9, -7.4, -2.1, -2.6}
	liftHole  = rect{-1.6, -4.2, 0.6, -1.9}
)

// office is one building while it is laid out, its middle at the origin.
type office struct {
	s      *scene
	r      *rng
	id     int
	floors int
	seq    map[string]int
}

// buildOffice adds n by n office buildings to the scene.
func buildOffice(s *scene, seed uint64, n, floors int) {
	const stepX, stepZ = 2*halfLong + 24, 2*halfDeep + 28
	wide, deep := float64(n)*stepX, float64(n)*stepZ
	s.group("Office_Park", xform{}, func() {
		s.place("Ground", s.once("Ground", func(b *shape) {
			b.mat("Terrain").grid(-60, -60, wide+60, deep+60, 12+2*n, 12+2*n, func(x, z float64) float64 { return -0.35 })
			for _, v := range b.cur.p.Pos {
				b.cur.p.UV1 = append(b.cur.p.UV1, [2]float32{
					float32((float64(v[0]) + 60) / (wide + 120)), float32((float64(v[2]) + 60) / (deep + 120)),
				})
			}
		}), xform{})
		for j := range n {
			for i := range n {
				if s.ended() {
					return
				}
				o := &office{s: s, id: j*n + i, floors: floors, seq: map[string]int{}, r: newRNG(seed, 6, i, j)}
				x, z := (float64(i)+0.5)*stepX, (float64(j)+0.5)*stepZ
				s.groupWith(fmt.Sprintf("Office_%d_%d", i, j), at(x, 0, z), object{"floors": floors}, o.all)
			}
		}
	})
	s.light("Sun", xform{t: vec{0, 100, 0}, yaw: 0.1, pitch: -0.14}, object{
		"type": "directional", "color": []float64{1, 0.97, 0.9}, "intensity": 3,
	})
	x, z := stepX/2.0, stepZ/2.0
	h := float64(floors) * storey
	s.camera("Camera_Outside", lookAt(vec{x - 34, float64(h*0.7) + 9, z + 44}, vec{x, h * 0.4, z}))
	s.camera("Camera_Corridor", lookAt(vec{x - halfLong + 1, 1.7, z + 0.3}, vec{x, 1.5, z}))
}

// name returns a name such as Chair_0_17, counted per kind and building.
func (o *office) name(kind string) string {
	o.seq[kind]++
	return fmt.Sprintf("%s_%d_%d", kind, o.id, o.seq[kind])
}

// all adds the whole building.
func (o *office) all() {
	o.outside()
	for f := range o.floors {
		o.s.group(fmt.Sprintf("Level_%d_%d", o.id, f), at(0, float64(f)*storey, 0), func() {
			o.structure(f)
			o.facade(f)
			o.core(f)
			o.corridorFloor()
			o.rooms(f)
		})
	}
	o.s.group(o.name("Rooftop"), at(0, float64(o.floors)*storey, 0), o.roof)
}

// rect is an area of the plan.
type rect struct{ x0, z0, x1, z1 float64 }

func (r rect) holds(x, z float64) bool { return x > r.x0 && x < r.x1 && z > r.z0 && z < r.z1 }

// plate adds a flat slab between the heights y0 and y1 with holes, cut along
// all edges so that there are no T-junctions.
func (s *shape) plate(area rect, y0, y1 float64, holes ...rect) {
	xs, zs := []float64{area.x0, area.x1}, []float64{area.z0, area.z1}
	for _, h := range holes {
		xs, zs = append(xs, h.x0, h.x1), append(zs, h.z0, h.z1)
	}
	insertSort(xs)
	insertSort(zs)
	solid := func(i, j int) bool {
		if i < 0 || j < 0 || i+1 >= len(xs) || j+1 >= len(zs) || xs[i] == xs[i+1] || zs[j] == zs[j+1] {
			return false
		}
		for _, h := range holes {
			if h.holds((xs[i]+xs[i+1])/2, (zs[j]+zs[j+1])/2) {
				return false
			}
		}
		return true
	}
	for j := range len(zs) - 1 {
		for i := range len(xs) - 1 {
			if !solid(i, j) {
				continue
			}
			faces := faceTop | faceBottom
			for k, n := range [4][2]int{{i - 1, j}, {i + 1, j}, {i, j - 1}, {i, j + 1}} {
				if !solid(n[0], n[1]) {
					faces |= [4]int{faceLeft, faceRight, faceBack, faceFront}[k]
				}
			}
			s.boxOpen(vec{xs[i], y0, zs[j]}, vec{xs[i+1], y1, zs[j+1]}, faces)
		}
	}
}

func insertSort(v []float64) {
	for i := range v {
		for k := i; k > 0 && v[k-1] > v[k]; k-- {
			v[k-1], v[k] = v[k], v[k-1]
		}
	}
}

// structure adds the slab below the floor and the columns on it.
func (o *office) structure(f int) {
	s := o.s
	area := rect{-halfLong, -halfDeep, halfLong, halfDeep}
	m := s.mesh("Slab_Ground", func(b *shape) { b.mat("Concrete").plate(area, -slab, 0) })
	if f > 0 {
		m = s.mesh("Slab_Upper", func(b *shape) { b.mat("Concrete").plate(area, -slab, 0, stairHole, liftHole) })
	}
	s.place(o.name("Slab"), m, xform{})
	for k := range bays + 1 {
		x := float64(float64(k)*bay) - halfLong
		for _, z := range []float64{-halfDeep + 0.35, -corridor - 0.3, corridor + 0.3, halfDeep - 0.35} {
			if z < 0 && k == 4 { // the core stands here
				continue
			}
			edge := 0.0
			if k == 0 {
				edge = 0.25
			} else if k == bays {
				edge = -0.25
			}
			s.place(o.name("Column"), s.mesh("Column", func(b *shape) {
				b.mat("Concrete").box(vec{-0.2, 0, -0.2}, vec{0.2, clear, 0.2})
			}), at(x+edge, 0, z))
		}
	}
}

// facade adds the panels of one storey all round, with a door on the ground.
func (o *office) facade(f int) {
	s := o.s
	panel := s.mesh("Facade_Panel", func(b *shape) {
		b.mat("Metal_Dark")
		b.box(vec{-3, -slab, 0}, vec{3, 0.8, 0.2})
		b.box(vec{-3, 2.9, 0}, vec{3, clear, 0.2})
		for _, x := range []float64{-3, -1.05, 0.95, 2.9} {
			b.box(vec{x, 0.8, 0.02}, vec{x + 0.1, 2.9, 0.18})
		}
	})
	glazing := s.mesh("Glazing_Panel", func(b *shape) {
		b.mat("Glass").box(vec{-2.9, 0.8, 0.09}, vec{2.9, 2.9, 0.11})
	})
	for side := range 4 {
		n, out := bays, halfDeep
		if side%2 == 1 {
			n, out = int(2*halfDeep/bay), halfLong
		}
		for k := range n {
			u := (float64(k) - float64(float64(n-1)/2)) * bay
			x := xform{t: rotY(vec{u, 0, out}, float64(side)/4), yaw: float64(side) / 4}
			if f == 0 && side == 0 && k == 3 {
				o.entrance(x)
				continue
			}
			s.place(o.name("Facade"), panel, x)
			s.place(o.name("Glazing"), glazing, x)
		}
	}
	for q := range 4 {
		sx, sz := float64(q%2*2-1), float64(q/2*2-1)
		s.place(o.name("Facade_Corner"), s.mesh("Facade_Corner", func(b *shape) {
			b.mat("Metal_Dark").box(vec{-0.1, -slab, -0.1}, vec{0.1, clear, 0.1})
		}), at(sx*(halfLong+0.1), 0, sz*(halfDeep+0.1)))
	}
}

// entrance is a glass front with two leaves in place of a facade panel.
func (o *office) entrance(x xform) {
	s := o.s
	s.placeWith(o.name("Facade_Entrance"), s.mesh("Facade_Entrance", func(b *shape) {
		b.mat("Metal")
		b.box(vec{-3, -slab, 0}, vec{3, 0, 0.2})
		b.box(vec{-3, 2.5, 0}, vec{3, clear, 0.2})
		for _, e := range []float64{-3, -1.1, 1, 2.9} {
			b.box(vec{e, 0, 0}, vec{e + 0.1, 2.5, 0.2})
		}
	}), x, func() {
		leaf := s.mesh("Door_Glass", func(b *shape) {
			b.mat("Metal")
			b.box(vec{0, 0.01, -0.03}, vec{1, 0.12, 0.03})
			b.box(vec{0, 2.4, -0.03}, vec{1, 2.49, 0.03})
			b.mat("Glass").box(vec{0.02, 0.12, -0.01}, vec{0.98, 2.4, 0.01})
		})
		s.place(o.name("Door_Entrance"), leaf, at(-1, 0, 0.1).turned(0.15))
		s.place(o.name("Door_Entrance"), leaf, at(1, 0, 0.1).turned(-0.15).scaled(-1, 1, 1))
		pane := s.mesh("Glazing_Side", func(b *shape) {
			b.mat("Glass").box(vec{-0.9, 0, -0.01}, vec{0.9, 2.5, 0.01})
		})
		s.place(o.name("Glazing"), pane, at(-2, 0, 0.1))
		s.place(o.name("Glazing"), pane, at(2, 0, 0.1))
	})
}

// roof closes the building.
func (o *office) roof() {
	s, r := o.s, o.r
	area := rect{-halfLong, -halfDeep, halfLong, halfDeep}
	s.place(o.name("Roof"), s.mesh("Roof_Slab", func(b *shape) { b.mat("Roofing").plate(area, -slab, 0) }), xform{})
	s.place(o.name("Parapet"), s.mesh("Parapet_Office", func(b *shape) {
		b.mat("Metal").ring(vec{-halfLong - 0.22, -slab - 0.01, -halfDeep - 0.22}, vec{halfLong + 0.22, 0.7, halfDeep + 0.22}, 0.4)
	}), xform{})
	s.place(o.name("Wall_Stair_Head"), s.unitBox("Concrete"), at(-4, 0, -5).scaled(4.6, 2.8, 5.6))
	s.place(o.name("Roof_Stair_Head"), s.unitBox("Metal_Dark"), at(-4, 2.8, -5).scaled(5, 0.2, 6))
	for i := range 8 {
		x := -halfLong + 4 + float64(float64(i)*5.6)
		switch {
		case i%3 == 2:
			s.place(o.name("Skylight"), s.skylight(), at(x, 0, 4))
		default:
			s.place(o.name("AC"), s.acUnit(), at(x, 0, 4+r.Span(-1.5, 1.5)).scaled(1.4, 1.3, 1.4))
		}
	}
	s.place(o.name("Antenna"), s.antenna(), at(halfLong-3, 0, -halfDeep+3))
}

// outside adds paving, trees and furniture round the building.
func (o *office) outside() {
	s, r := o.s, o.r
	s.place(o.name("Plaza"), s.mesh("Plaza", func(b *shape) {
		b.mat("Paving").plate(rect{-halfLong - 6, -halfDeep - 6, halfLong + 6, halfDeep + 6}, -slab-0.3, -slab+0.02)
	}), xform{})
	s.place(o.name("Step"), s.unitBox("Stone"), at(-3, -slab, halfDeep+1).scaled(5, 0.16, 1.6))
	ground := -slab + 0.02
	for i := range 6 {
		x := -halfLong + 2 + float64(float64(i)*9)
		if i != 2 {
			s.place(o.name("Bench"), s.bench(), at(x, ground, halfDeep+1.2))
		}
		s.place(o.name("Lamp"), s.parkLamp(), at(x+4, ground, halfDeep+5))
		o.s.plantTree(o.name("Tree"), pick(r, species...), r, vec{x, ground - 0.06, -halfDeep - 4})
		s.place(o.name("Planter"), s.planter(), at(x, ground, halfDeep+4.6))
	}
}
