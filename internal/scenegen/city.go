package scenegen

import "fmt"

// city lays out n by n blocks.
type city struct {
	s       *scene
	t       *terrain
	n       int
	seed    uint64
	houseID int
}

// buildCity adds a whole city of n by n blocks to the scene.
func buildCity(s *scene, seed uint64, n int) {
	c := &city{s: s, t: newTerrain(seed, n), n: n, seed: seed}
	kinds := c.zoning()
	s.group("City", xform{}, func() {
		c.t.placeGround(s)
		s.group("Streets", xform{}, c.streets)
		for j := range n {
			for i := range n {
				if s.ended() {
					return
				}
				c.block(i, j, kinds[j*n+i])
			}
		}
	})
	size := c.t.size
	s.light("Sun", xform{t: vec{0, 200, 0}, yaw: 0.1, pitch: -0.14}, object{
		"type": "directional", "color": []float64{1, 0.96, 0.88}, "intensity": 4,
	})
	mid := size / 2
	s.camera("Camera_Aerial", lookAt(vec{0.04 * size, 45 + float64(0.24*size), size * 1.06}, vec{mid * 1.04, 5, mid}))
	street := float64(float64(n/2) * pitch)
	eye := vec{street - 1.5, c.t.height(street, size-30) + 1.75, size - 30}
	s.camera("Camera_Street", lookAt(eye, vec{street + 2, eye[1] + 3.5, eye[2] - 60}))
}

// zoning gives every block a kind: towers in the middle, then tenements, then
// houses and halls, parks in between. Small cities still get some of each.
func (c *city) zoning() []string {
	n := c.n
	kinds := make([]string, n*n)
	type cell struct {
		i int
		d float64
	}
	var order []cell
	for i := range kinds {
		dx, dz := float64(i%n)-float64(float64(n-1)/2), float64(i/n)-float64(float64(n-1)/2)
		d := float64(dx*dx) + float64(dz*dz) + float64(newRNG(c.seed, 2, i).Float()*float64(n))
		at := len(order)
		order = append(order, cell{})
		for at > 0 && order[at-1].d > d {
			order[at] = order[at-1]
			at--
		}
		order[at] = cell{i, d}
	}
	outer := []string{"Houses", "Tenements", "Warehouses", "Houses", "Park", "Houses", "Warehouses"}
	for k, o := range order {
		f := float64(k) / float64(len(order))
		switch {
		case k == 1 || k > 5 && k%9 == 4:
			kinds[o.i] = "Park"
		case f < 0.2:
			kinds[o.i] = "Towers"
		case f < 0.42:
			kinds[o.i] = "Tenements"
		default:
			kinds[o.i] = outer[k%len(outer)]
		}
	}
	return kinds
}

// block adds the sidewalk, the lot and what stands on them. Everything inside
// is placed relative to the middle of the block.
func (c *city) block(i, j int, kind string) {
	b := &block{
		c: c, s: c.s, i: i, j: j, r: newRNG(c.seed, 3, i, j),
		cx: (float64(i) + 0.5) * pitch, cz: (float64(j) + 0.5) * pitch,
	}
	name := fmt.Sprintf("Block_%d_%d", i, j)
	c.s.groupWith(name, at(b.cx, 0, b.cz), object{"kind": kind}, func() {
		b.surface(kind)
		b.furniture(kind)
		switch kind {
		case "Park":
			b.park()
		case "Towers":
			b.towers()
		case "Houses":
			b.houses()
		case "Warehouses":
			b.warehouses()
		default:
			b.tenements()
		}
	})
}

// streets adds crossings, the carriageways between them and the outer walk.
func (c *city) streets() {
	s, t := c.s, c.t
	for j := range c.n + 1 {
		for i := range c.n + 1 {
			x, z := float64(i)*pitch, float64(j)*pitch
			s.place(fmt.Sprintf("Road_Junction_%d_%d", i, j), s.once(fmt.Sprintf("Road_Junction_%d_%d", i, j), func(b *shape) {
				b.mat("Asphalt").grid(x-laneHalf, z-laneHalf, x+laneHalf, z+laneHalf, 1, 1, t.height)
			}), xform{})
			if i < c.n {
				c.road(i, j, true)
			}
			if j < c.n {
				c.road(i, j, false)
			}
		}
	}
	a, e := -laneHalf-walk, c.t.size+laneHalf+walk
	c.outerWalk("North", a, a, e, a+walk)
	c.outerWalk("South", a, e-walk, e, e)
	c.outerWalk("West", a, a+walk, a+walk, e-walk)
	c.outerWalk("East", e-walk, a+walk, e, e-walk)
}

// road adds the carriageway from crossing (i,j) to the next along X or Z: a
// zebra crossing at each end and lanes between.
func (c *city) road(i, j int, alongX bool) {
	t := c.t
	name := fmt.Sprintf("Road_%d_%d_%s", i, j, map[bool]string{true: "X", false: "Z"}[alongX])
	m := c.s.once(name, func(b *shape) {
		const cells = 9 // 8 m each, the same steps as the kerbs beside
		p := func(along, across float64) vec {
			x, z := float64(float64(i)*pitch)+across, float64(float64(j)*pitch)+along
			if alongX {
				x, z = float64(float64(i)*pitch)+along, float64(float64(j)*pitch)-across
			}
			return vec{x, t.height(x, z), z}
		}
		// face adds one stretch; v runs along the road in repeats of 8 m.
		face := func(from, to, v0, v1 float64) {
			quad := [4]vec{p(to, -laneHalf), p(to, laneHalf), p(from, laneHalf), p(from, -laneHalf)}
			uv := [4][2]float64{{0, v1}, {1, v1}, {1, v0}, {0, v0}}
			var k [4]uint32
			for q, v := range quad {
				k[q] = b.vertex(v, slopeNormal(t.height, v[0], v[2]), uv[q][0], uv[q][1])
			}
			b.tri(k[0], k[1], k[2])
			b.tri(k[0], k[2], k[3])
		}
		b.mat("Road_Crossing")
		face(laneHalf, laneHalf+4, 0, 1)
		face(pitch-laneHalf-4, pitch-laneHalf, 1, 0)
		b.mat("Road_Lane")
		face(laneHalf+4, laneHalf+8, 0.5, 1)
		for k := range cells - 2 {
			face(float64(float64(k+1)*8)+laneHalf, float64(float64(k+2)*8)+laneHalf, 0, 1)
		}
		face(pitch-laneHalf-8, pitch-laneHalf-4, 0, 0.5)
	})
	c.s.place(name, m, xform{})
	c.traffic(name, i, j, alongX)
}

// traffic puts cars on both lanes; they keep to the right.
func (c *city) traffic(road string, i, j int, alongX bool) {
	r := newRNG(c.seed, 4, i, j, map[bool]int{true: 1, false: 0}[alongX])
	for lane := range 2 {
		for k := range 2 {
			if !r.Chance(0.33) {
				continue
			}
			along := 18 + float64(float64(k)*28) + r.Span(0, 14)
			side := float64(1-2*lane) * 2
			// Towards +Z the right-hand lane is at -X; towards +X at +Z.
			x, z, yaw := float64(float64(i)*pitch)-side, float64(float64(j)*pitch)+along, 0.5*float64(lane)
			if alongX {
				x, z, yaw = float64(float64(i)*pitch)+along, float64(float64(j)*pitch)+side, 0.25+float64(0.5*float64(lane))
			}
			c.s.car(fmt.Sprintf("Car_%s_%d_%d", road[5:], lane, k), r, at(x, c.t.height(x, z), z).turned(yaw))
		}
	}
}

// outerWalk adds the sidewalk beyond the outermost streets with its edges.
func (c *city) outerWalk(name string, x0, z0, x1, z1 float64) {
	t := c.t
	c.s.place("Sidewalk_"+name, c.s.once("Sidewalk_"+name, func(b *shape) {
		b.mat("Paving")
		t.strip(b, x0, z0, x1, z1, kerb)
		b.mat("Concrete")
		for _, e := range [4][4]float64{{x0, z1, x1, z1}, {x1, z1, x1, z0}, {x1, z0, x0, z0}, {x0, z0, x0, z1}} {
			t.skirt(b, e[0], e[1], e[2], e[3], -0.9, kerb)
		}
	}), xform{})
}
