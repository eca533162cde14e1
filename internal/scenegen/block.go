package scenegen

import "fmt"

// block is one block while it is laid out.
type block struct {
	c      *city
	s      *scene
	r      *rng
	i, j   int
	cx, cz float64 // middle in the city
	seq    map[string]int
}

// level is the height of the sidewalk and the lot at a point of the block.
func (b *block) level(x, z float64) float64 { return b.c.t.height(b.cx+x, b.cz+z) + kerb }

// on stands something on the lot.
func (b *block) on(x, z float64) xform { return at(x, b.level(x, z)-0.01, z) }

// name returns a name such as Bench_3_4_1, counted per kind and block.
func (b *block) name(kind string) string {
	if b.seq == nil {
		b.seq = map[string]int{}
	}
	b.seq[kind]++
	return fmt.Sprintf("%s_%d_%d_%d", kind, b.i, b.j, b.seq[kind])
}

// surface adds the sidewalk round the block and the ground of the lot.
func (b *block) surface(kind string) {
	x0, x1 := b.cx-kerbHalf, b.cx+kerbHalf
	z0, z1 := b.cz-kerbHalf, b.cz+kerbHalf
	t := b.c.t
	local := at(-b.cx, 0, -b.cz)
	name := fmt.Sprintf("Sidewalk_%d_%d", b.i, b.j)
	b.s.place(name, b.s.once(name, func(sh *shape) {
		sh.at(local).mat("Paving")
		t.strip(sh, x0, z0, x1, z0+walk, kerb)
		t.strip(sh, x0, z1-walk, x1, z1, kerb)
		t.strip(sh, x0, z0+walk, x0+walk, z1-walk, kerb)
		t.strip(sh, x1-walk, z0+walk, x1, z1-walk, kerb)
		sh.mat("Concrete")
		for _, e := range [4][4]float64{{x0, z1, x1, z1}, {x1, z1, x1, z0}, {x1, z0, x0, z0}, {x0, z0, x0, z1}} {
			t.skirt(sh, e[0], e[1], e[2], e[3], -0.1, kerb)
		}
	}), xform{})
	ground := map[string]string{"Park": "Grass", "Houses": "Grass", "Towers": "Paving", "Warehouses": "Asphalt", "Tenements": "Grass"}[kind]
	name = fmt.Sprintf("Lot_%d_%d", b.i, b.j)
	b.s.place(name, b.s.once(name, func(sh *shape) {
		sh.at(local).mat(ground)
		t.strip(sh, x0+walk, z0+walk, x1-walk, z1-walk, kerb)
	}), xform{})
}

// side returns a place on the sidewalk of one of the four sides: u along it,
// in metres from its middle, back from the kerb; +Z looks at the street.
func (b *block) side(k int, u, back float64) xform {
	yaw := float64(k) / 4
	p := rotY(vec{u, 0, kerbHalf - back}, yaw)
	x := b.on(p[0], p[2])
	x.yaw = yaw
	return x
}

// furniture lines the four sidewalks.
func (b *block) furniture(kind string) {
	s, r := b.s, b.r
	busy := kind == "Tenements" || kind == "Towers"
	street := pick(r, "Plane", "Plane", "Oak", "Birch")
	for k := range 4 {
		for _, u := range []float64{-24, 5, 27} {
			s.place(b.name("Lamp"), s.lamp(), b.side(k, u, 0.45))
		}
		s.place(b.name("Traffic_Light"), s.trafficLight(), b.side(k, 35.2, 0.7).turned(0.25))
		s.place(b.name("Bin"), s.bin(), b.side(k, -30.5, 0.6))
		s.place(b.name("Sign"), s.sign(), b.side(k, 31.5, 0.4).turned(0.25))
		if k%2 == 0 {
			s.place(b.name("Hydrant"), s.hydrant(), b.side(k, 13, 0.6))
		}
		for _, u := range []float64{-18, 0, 18} {
			if kind != "Warehouses" && (busy || r.Chance(0.6)) {
				x := b.side(k, u, 0.8)
				g := r.Span(0.85, 1.1)
				s.place(b.name("Tree_Pit"), s.treePit(), x)
				s.place(b.name("Tree"), s.tree(street, r.Intn(3)), x.turned(r.Float()).scaled(g*0.8, g, g*0.8))
			}
			if busy && k%2 == 0 {
				s.place(b.name("Bench"), s.bench(), b.side(k, u+4, 0.75).turned(0.5))
			}
		}
	}
}

// treePit is a square of soil in the paving.
func (s *scene) treePit() *meshRef {
	return s.mesh("Tree_Pit", func(b *shape) {
		b.mat("Metal_Dark").ring(vec{-0.7, -0.1, -0.7}, vec{0.7, 0.05, 0.7}, 0.06)
		b.mat("Bark").boxOpen(vec{-0.64, -0.1, -0.64}, vec{0.64, 0.03, 0.64}, faceTop)
	})
}

// stand places a building with its front to the side k; the footprint's
// highest corner gives the level, the plinth covers the rest.
func (b *block) stand(style string, k int, x, z, w, d float64, build func(*building)) {
	b.c.houseID++
	id := b.c.houseID
	if k%2 == 1 { // w runs along Z now
		w, d = d, w
	}
	y := b.level(x, z)
	for q := range 4 {
		y = max(y, b.level(x+float64(float64(q%2*2-1)*w/2), z+float64(float64(q/2*2-1)*d/2)))
	}
	if k%2 == 1 {
		w, d = d, w
	}
	h := b.s.newBuilding(newRNG(b.c.seed, 5, b.i, b.j, id), id, w, d)
	b.s.groupWith(fmt.Sprintf("Building_%d", id), at(x, y-0.1, z).turned(float64(k)/4), object{"style": style}, func() { build(h) })
}

// tenements rows houses along all four sides round a courtyard.
func (b *block) tenements() {
	const depth = 13.0
	for k := range 4 {
		n := 4
		span := 2 * lotHalf
		if k%2 == 1 { // the shorter rows fit between the others
			n, span = 2, 2*(lotHalf-depth)-4
		}
		w := span / float64(n)
		for q := range n {
			u := (float64(q) - float64(float64(n-1)/2)) * w
			p := rotY(vec{u, 0, lotHalf - depth/2}, float64(k)/4)
			party := [4]bool{1: q < n-1, 3: q > 0}
			b.stand("tenement", k, p[0], p[2], w, depth, func(h *building) { h.tenement(party) })
		}
	}
	b.s.group(b.name("Courtyard"), xform{}, func() {
		s, r := b.s, b.r
		for range 5 {
			x, z := r.Span(-13, 13), r.Span(-13, 13)
			b.s.plantTree(b.name("Tree"), pick(r, "Oak", "Birch"), r, b.on(x, z).t)
		}
		for q := range 4 {
			p := rotY(vec{0, 0, 15.5}, float64(q)/4)
			s.place(b.name("Bench"), s.bench(), b.on(p[0], p[2]).turned(float64(float64(q)/4)+0.5))
			p = rotY(vec{8, 0, 16}, float64(q)/4)
			s.place(b.name("Bush"), s.bush(), b.on(p[0], p[2]))
		}
	})
}

// towers stands four towers round a plaza.
func (b *block) towers() {
	s, r := b.s, b.r
	for q := range 4 {
		sx, sz := float64(q%2*2-1), float64(q/2*2-1)
		w, d := 20+float64(float64(r.Intn(3))*1.8), 20+float64(float64(r.Intn(3))*1.8)
		k := 0
		if sz < 0 {
			k = 2
		}
		b.stand("tower", k, sx*19, sz*19, w, d, (*building).tower)
	}
	b.s.group(b.name("Plaza"), xform{}, func() {
		s.place(b.name("Fountain"), s.fountain(), b.on(0, 0))
		for q := range 8 {
			p := rotY(vec{0, 0, 5.6}, float64(q)/8)
			if q%2 == 0 {
				s.place(b.name("Planter"), s.planter(), b.on(p[0], p[2]).turned(float64(q)/8))
			} else {
				s.place(b.name("Bench"), s.bench(), b.on(p[0], p[2]).turned(float64(float64(q)/8)+0.5))
			}
		}
		for q := range 4 {
			p := rotY(vec{0, 0, 28}, float64(q)/4)
			s.place(b.name("Lamp"), s.parkLamp(), b.on(p[0], p[2]))
			b.s.plantTree(b.name("Tree"), "Birch", r, b.on(p[0]*0.55, p[2]*0.55).t)
		}
	})
}

func (s *scene) fountain() *meshRef {
	return s.mesh("Fountain", func(b *shape) {
		n := s.segments(24)
		b.mat("Stone")
		for i := range n {
			// Blocks of the rim; each is a box turned about the middle.
			b.at(at(0, 0, 0).turned(float64(i) / float64(n)))
			half := 3.14159 * 3 / float64(n)
			b.box(vec{-half - 0.02, -0.3, 2.7}, vec{half + 0.02, 0.55, 3})
		}
		b.home()
		b.cone(vec{0, -0.3, 0}, 0.5, 0.4, 1.5, n, false)
		b.cone(vec{0, 1.2, 0}, 0.5, 1.2, 0.35, n, true)
		b.mat("Water").disc(vec{0, 0.38, 0}, 2.72, n, true)
	})
}

// warehouses stands two halls with a yard of containers between.
func (b *block) warehouses() {
	s, r := b.s, b.r
	b.stand("warehouse", 0, 0, -21, 56, 20, (*building).warehouse)
	b.stand("warehouse", 2, 0, 21, 56, 20, (*building).warehouse)
	b.s.group(b.name("Yard"), xform{}, func() {
		paints := []string{"Paint_Red", "Paint_Blue", "Paint_Green", "Paint_Silver"}
		for q := range 6 {
			x := -20 + float64(float64(q)*8)
			m := s.container(pick(r, paints...))
			s.place(b.name("Container"), m, b.on(x, 0))
			if r.Chance(0.45) {
				top := b.on(x, 0)
				top.t[1] += 2.5
				s.place(b.name("Container"), s.container(pick(r, paints...)), top.turned(0.5))
			}
		}
		for q := range 3 {
			s.car(b.name("Car"), r, b.on(-24+float64(float64(q)*4), 6.4).turned(0.5))
		}
		for _, k := range []int{1, 3} {
			for q := range 15 {
				u := -28 + float64(float64(q)*4)
				s.place(b.name("Fence"), s.fence(true), b.side(k, u, walk+0.3).scaled(2, 1.2, 1))
			}
		}
	})
}

// houses stands eight houses in gardens, four on each long side.
func (b *block) houses() {
	r := b.r
	for row := range 2 {
		k := row * 2
		for q := range 4 {
			u := float64((float64(q) - 1.5) * 16.75)
			w, d := 8.5+float64(r.Intn(3)), 8+float64(r.Intn(3))
			p := rotY(vec{u + 1.7, 0, lotHalf - 12}, float64(k)/4)
			b.stand("house", k, p[0], p[2], w, d, (*building).house)
			b.garden(k, u, w)
		}
	}
}

// garden fills the lot of the house at u on the side k: fence, path, trees.
func (b *block) garden(k int, u, w float64) {
	s, r := b.s, b.r
	yaw := float64(k) / 4
	pos := func(x, z float64) xform {
		p := rotY(vec{x, 0, z}, yaw)
		return b.on(p[0], p[2]).turned(yaw)
	}
	for i := range 7 {
		if x := u - 6.6 + float64(float64(i)*2.2); i != 1 && i != 4 {
			s.place(b.name("Fence"), s.fence(false), pos(x, lotHalf-0.5).scaled(1.08, 1, 1))
		}
	}
	for i := range 7 {
		s.place(b.name("Hedge"), s.hedge(), pos(u+8.1, 3+float64(float64(i)*2.05)).turned(0.25))
	}
	s.place(b.name("Path"), s.unitBox("Paving"), lowered(pos(u+1.7, 28.2), 0.37).scaled(1.3, 0.4, 9.6))
	drive := u + 1.7 - float64(w/2) - 1.75
	s.place(b.name("Driveway"), s.unitBox("Concrete"), lowered(pos(drive, 28.6), 0.37).scaled(3, 0.4, 10.2))
	if r.Chance(0.55) {
		x := pos(drive, 28.6)
		x.t[1] += 0.03
		s.car(b.name("Car"), r, x)
	}
	for _, z := range []float64{5.5, 9.5} {
		b.s.plantTree(b.name("Tree"), pick(r, species...), r, pos(u+r.Span(-5.5, 5.5), z).t)
	}
	s.place(b.name("Bush"), s.bush(), pos(u+6.2, 27))
	s.place(b.name("Bush"), s.bush(), pos(u+6, 29).scaled(1.3, 1, 1.2))
	s.place(b.name("Bench"), s.bench(), pos(u+4.5, 13).turned(0.5))
}

func lowered(x xform, d float64) xform {
	x.t[1] -= d
	return x
}

// park has a pond, paths, groves and lamps.
func (b *block) park() {
	s, r := b.s, b.r
	path := func(name string, x0, z0, x1, z1 float64) {
		full := fmt.Sprintf("%s_%d_%d", name, b.i, b.j)
		s.place(full, s.once(full, func(sh *shape) {
			sh.at(at(-b.cx, 0, -b.cz)).mat("Paving")
			b.c.t.strip(sh, b.cx+x0, b.cz+z0, b.cx+x1, b.cz+z1, kerb+0.04)
		}), xform{})
	}
	const half = 1.6
	path("Path_West", -lotHalf, -half, -6, half)
	path("Path_East", 6, -half, lotHalf, half)
	path("Path_North", -half, -lotHalf, half, -6)
	path("Path_South", -half, 6, half, lotHalf)
	path("Path_Middle", -6, -6, 6, 6)
	s.place(b.name("Fountain"), s.fountain(), b.on(0, 0))
	for q := range 4 {
		yaw := float64(float64(q) / 4)
		for i := range 4 {
			p := rotY(vec{2.4, 0, 9 + float64(float64(i)*6.4)}, yaw)
			x := b.on(p[0], p[2]).turned(yaw - 0.25)
			if i%2 == 0 {
				s.place(b.name("Lamp"), s.parkLamp(), x)
			} else {
				s.place(b.name("Bench"), s.bench(), x)
			}
		}
		b.grove(q)
	}
	for q := range 4 {
		p := rotY(vec{4.6, 0, 4.6}, float64(q)/4)
		s.place(b.name("Planter"), s.planter(), b.on(p[0], p[2]).turned(float64(float64(q)/4)+0.125))
	}
	_ = r
}

// grove plants one quarter of a park on a jittered grid.
func (b *block) grove(q int) {
	s, r := b.s, b.r
	kind := species[(q+b.i+b.j)%len(species)]
	count := [4]int{3, 4, 5, 7}[s.detail]
	b.s.group(b.name("Grove"), xform{}, func() {
		step := 25 / float64(count)
		for i := range count {
			for j := range count {
				x := 5.5 + float64((float64(i)+0.5)*step) + float64(r.Span(-0.3, 0.3)*step)
				z := 5.5 + float64((float64(j)+0.5)*step) + float64(r.Span(-0.3, 0.3)*step)
				p := rotY(vec{x, 0, z}, float64(q)/4)
				switch {
				case r.Chance(0.12):
					s.place(b.name("Rock"), s.rock(), b.on(p[0], p[2]).turned(r.Float()).scaled(r.Span(0.7, 1.6), r.Span(0.7, 1.4), 1))
				case r.Chance(0.15):
					s.place(b.name("Bush"), s.bush(), b.on(p[0], p[2]).turned(r.Float()))
				default:
					k := kind
					if r.Chance(0.2) {
						k = pick(r, species...)
					}
					s.plantTree(b.name("Tree"), k, r, b.on(p[0], p[2]).t)
				}
			}
		}
	})
}
