package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/stable"
)

// chunk is how many cells per side share a group node.
const chunk = 8

// city places a kit on a street plan.
type city struct {
	*builder
	s           *streets
	plain, rich []*part // tiles that fill a cell
	buildings   []*part
	lights      []*part
	small       []*part
	cars        []*part
	carLane     float64 // how far a lane is from the middle of the street
}

// buildCity places a city of cells x cells and returns its root nodes.
func buildCity(b *builder, scale float64) ([]int, error) {
	k := b.k
	c := &city{builder: b, s: planStreets(stable.NewRNG(b.seed, 1), b.cells, b.cells)}
	c.plain, c.rich = k.ground()
	c.small = k.small(roleTree, roleProp, roleLoot)
	c.lights = k.small(roleLight)
	c.cars = k.small(roleCar)
	c.carLane = 0.2 * k.pitch
	for _, p := range k.by[roleBuilding] {
		if s := p.box.Size(); max(s[0], s[2]) > 1.15*k.pitch {
			k.warn("%s is larger than a cell and is left out", p.name)
			continue
		}
		c.buildings = append(c.buildings, p)
	}
	for _, m := range []struct {
		n    int
		what string
	}{
		{len(k.by[roleRoad]), "road parts: the streets stay empty"},
		{len(c.buildings), "buildings: lots stay empty"},
		{len(c.plain), "plain ground tile: nothing lies under small parts"},
	} {
		if m.n == 0 {
			k.warn("the kit has no %s", m.what)
		}
	}
	var groups []int
	for gz := 0; gz < b.cells; gz += chunk {
		for gx := 0; gx < b.cells; gx += chunk {
			var list []int
			for z := gz; z < min(gz+chunk, b.cells); z++ {
				for x := gx; x < min(gx+chunk, b.cells); x++ {
					c.cell(&list, x, z)
				}
			}
			if len(list) > 0 && b.err == nil {
				groups = append(groups, b.m.group(fmt.Sprintf("District_%d_%d", gx/chunk, gz/chunk), list))
			}
		}
	}
	if b.err != nil {
		return nil, b.err
	}
	return b.finish("City", groups, scale), nil
}

// cell fills one cell.
func (c *city) cell(list *[]int, x, z int) {
	r := stable.NewRNG(c.seed, 2, x, z)
	var own []int
	name := "Lot"
	if c.s.at(x, z) {
		name = "Street"
		c.street(&own, r, x, z)
	} else {
		c.lot(&own, r, x, z)
	}
	if len(own) > 0 && c.err == nil {
		*list = append(*list, c.m.group(fmt.Sprintf("%s_%d_%d", name, x, z), own))
	}
}

// street places the road part that fits the neighbours, with its lights and
// cars.
func (c *city) street(list *[]int, r *stable.RNG, x, z int) {
	mask := c.s.mask(x, z)
	p, q := c.roadPart(r, mask, x, z)
	if p == nil {
		return
	}
	at, yaw := c.center(x, z), float64(q)/4
	c.add(list, fmt.Sprintf("Road_%s_%d_%d", p.kind, x, z), p, at, yaw)
	if kindOfMask(mask) != kindStraight {
		return
	}
	along := 0.0 // the street runs along Z
	if mask&(1<<sideE|1<<sideW) != 0 {
		along = 0.25
	}
	edge := 0.465 * c.k.pitch
	if l := c.light(r, x, z); l != nil {
		side := 1 - float64(2*float64((x+z)/2%2))
		d := turn(geom.Vec3{side * edge, 0, 0}, along)
		// The arm reaches over the street.
		arm := along + float64(0.25*float64(sideIndex(-side))) - float64(0.25*float64(armSide(l)))
		c.stand(list, fmt.Sprintf("Light_%d_%d", x, z), l, at, p, yaw, d[0], d[2], arm)
	}
	if len(c.cars) > 0 && r.Chance(0.3) {
		lane := 1 - float64(2*float64(r.Intn(2)))
		d := turn(geom.Vec3{lane * c.carLane, 0, r.Span(-0.2, 0.2) * c.k.pitch}, along)
		heading := along
		if lane > 0 { // facing +Z the right-hand lane is at -X
			heading += 0.5
		}
		c.stand(list, fmt.Sprintf("Car_%d_%d", x, z), stable.Pick(r, c.cars...), at, p, yaw, d[0], d[2], heading)
	}
}

// light picks a lamp for a straight stretch: traffic lights beside junctions,
// others on every second cell elsewhere.
func (c *city) light(r *stable.RNG, x, z int) *part {
	traffic := c.nearJunction(x, z)
	if !traffic && (x+z)%2 == 1 {
		return nil
	}
	var list []*part
	for _, p := range c.lights {
		if strings.Contains(strings.ToLower(p.name), "traffic") == traffic {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return stable.Pick(r, list...)
}

// nearJunction reports whether a neighbour is a street with more than two
// arms.
func (c *city) nearJunction(x, z int) bool {
	for _, st := range sideStep {
		kind := kindOfMask(c.s.mask(x+st[0], z+st[1]))
		if c.s.at(x+st[0], z+st[1]) && (kind == kindT || kind == kindJunction) {
			return true
		}
	}
	return false
}

func sideIndex(x float64) int {
	if x > 0 {
		return sideE
	}
	return sideW
}

// armSide is the side to which a lamp reaches farthest from its foot.
func armSide(p *part) int {
	reach := [4]float64{p.box.Max[2], p.box.Max[0], -p.box.Min[2], -p.box.Min[0]}
	best := 0
	for d, v := range reach {
		if v > reach[best] {
			best = d
		}
	}
	return best
}

// roadPart chooses a part whose open sides fit the mask and the quarter turns
// that bring it there. Kits that lack a kind get the next best one.
func (c *city) roadPart(r *stable.RNG, mask uint8, x, z int) (*part, int) {
	want := kindOfMask(mask)
	order := map[string][]string{
		kindStraight: {kindStraight, kindJunction, kindT},
		kindCorner:   {kindCorner, kindT, kindJunction, kindStraight},
		kindT:        {kindT, kindJunction, kindStraight},
		kindJunction: {kindJunction, kindT, kindStraight},
		kindEnd:      {kindEnd, kindStraight, kindJunction},
	}[want]
	for _, kind := range order {
		parts := c.k.find(roleRoad, kind)
		if len(parts) == 0 {
			continue
		}
		if kind != want {
			c.k.warn("the kit has no %s road; %s takes its place", want, kind)
		}
		p := c.variant(r, parts, x, z)
		for q := range 4 {
			if rotate(p.open, q)&mask == mask {
				if kind == kindStraight && want == kindStraight && r.Chance(0.5) && !named(p, "crossing") {
					return p, q + 2 // straight parts may face either way
				}
				return p, q
			}
		}
		for q := range 4 { // some street is better than none
			if rotate(p.open, q)&mask != 0 {
				return p, q
			}
		}
	}
	return nil, 0
}

// variant picks among parts of one kind: crossings only beside junctions, the
// part with the shortest name most often.
func (c *city) variant(r *stable.RNG, parts []*part, x, z int) *part {
	plain := slices.MinFunc(parts, func(a, b *part) int { return len(a.name) - len(b.name) })
	near := c.nearJunction(x, z)
	for _, p := range parts {
		if p != plain && named(p, "crossing") == near && r.Chance(0.45) {
			return p
		}
	}
	return plain
}

func named(p *part, word string) bool { return slices.Contains(tokens(p.name), word) }

// lot places a building that faces a street, or a green.
func (c *city) lot(list *[]int, r *stable.RNG, x, z int) {
	var faces []int
	for d, st := range sideStep {
		if c.s.at(x+st[0], z+st[1]) {
			faces = append(faces, d)
		}
	}
	if len(faces) == 0 || len(c.buildings) == 0 || !r.Chance(0.82) {
		c.green(list, r, x, z)
		return
	}
	p := stable.Pick(r, c.buildings...)
	yaw := float64(stable.Pick(r, faces...)-c.k.front) / 4
	at := c.center(x, z)
	name := fmt.Sprintf("Building_%d_%d", x, z)
	if c.k.fills(p) || len(c.plain) == 0 {
		c.add(list, name, p, at, yaw)
		return
	}
	base := c.plain[0]
	c.add(list, fmt.Sprintf("Base_%d_%d", x, z), base, at, 0)
	// Parts that were cut off their base already stand at its height.
	ground := surface(base, 0, 0, 0)
	if p.box.Min[1] < ground-float64(0.01*c.k.pitch) {
		at[1] = ground - p.box.Min[1]
	}
	c.add(list, name, p, at, yaw)
}

// green places a tile with trees and other small things.
func (c *city) green(list *[]int, r *stable.RNG, x, z int) {
	at := c.center(x, z)
	if len(c.rich) > 0 && r.Chance(0.7) {
		p := stable.Pick(r, c.rich...)
		c.add(list, fmt.Sprintf("%s_%d_%d", title(p.role), x, z), p, at, float64(r.Intn(4))/4)
		return
	}
	if len(c.plain) == 0 {
		return
	}
	base := stable.Pick(r, c.plain...)
	c.add(list, fmt.Sprintf("Base_%d_%d", x, z), base, at, 0)
	if len(c.small) == 0 {
		return
	}
	// Nine places per tile; what stands on one reaches no other.
	step := c.k.pitch / 3
	for i := range 9 {
		p := stable.Pick(r, c.small...)
		s := p.box.Size()
		if !r.Chance(0.5) || math.Sqrt(float64(s[0]*s[0])+float64(s[2]*s[2])) > step {
			continue
		}
		dx, dz := (float64(i%3)-1)*step*0.95, (float64(i/3)-1)*step*0.95
		c.stand(list, fmt.Sprintf("%s_%d_%d_%d", title(p.role), x, z, i), p, at, base, 0, dx, dz, r.Float())
	}
}

// title is the role with a capital, for node names.
func title(r role) string {
	s := r.String()
	return string(s[0]-'a'+'A') + s[1:]
}
