package scenegen

import "math"

// Sizes of the street grid in metres. Streets run along x = k*pitch and
// z = k*pitch; a block fills the square between four of them.
const (
	pitch    = 80.0 // from street to street
	laneHalf = 4.0  // half a carriageway
	kerb     = 0.15 // height of the sidewalk over the road
	walk     = 2.5  // width of a sidewalk
	lotHalf  = pitch/2 - laneHalf - walk
	kerbHalf = pitch/2 - laneHalf
)

// terrain is the shape of the land under an n by n city.
type terrain struct {
	size   float64 // metres from the first to the last street
	phase  [3]float64
	margin float64 // land around the outer streets
}

func newTerrain(seed uint64, n int) *terrain {
	r := newRNG(seed, 1)
	t := &terrain{size: float64(n) * pitch, margin: 240}
	for i := range t.phase {
		t.phase[i] = r.Float()
	}
	return t
}

// height is the level of the roads in metres. It moves by about a metre over
// hundreds of metres inside the city and rises to hills outside.
func (t *terrain) height(x, z float64) float64 {
	h := float64(0.9*sinTurn(x/430+t.phase[0])) + float64(0.7*sinTurn(z/370+t.phase[1])) +
		float64(0.3*sinTurn((x+z)/510+t.phase[2]))
	hill := smooth((t.outside(x, z) - 40) / 220)
	k := 9 + float64(5*sinTurn(x/190+t.phase[1])) + float64(4*sinTurn(z/150+t.phase[2]))
	return h + float64(hill*k)
}

// outside is the distance from the city's square, 0 inside.
func (t *terrain) outside(x, z float64) float64 {
	d := func(v float64) float64 { return max(-v, v-t.size, 0) }
	dx, dz := d(x), d(z)
	return math.Sqrt(float64(dx*dx) + float64(dz*dz))
}

// ground is the level of the terrain object, which stays below the streets.
func (t *terrain) ground(x, z float64) float64 {
	return t.height(x, z) - float64(0.6*(1-smooth((t.outside(x, z)-32)/30)))
}

// placeGround adds the terrain: one object under the whole scene.
func (t *terrain) placeGround(s *scene) {
	side := t.size + float64(2*t.margin)
	cells := int(side/20 + 0.5)
	if s.detail > 1 {
		cells *= s.detail
	}
	s.place("Ground", s.once("Ground", func(b *shape) {
		b.mat("Terrain").grid(-t.margin, -t.margin, t.size+t.margin, t.size+t.margin, cells, cells, t.ground)
		p := &b.cur.p
		for _, v := range p.Pos {
			p.UV1 = append(p.UV1, [2]float32{
				float32((float64(v[0]) + t.margin) / side), float32((float64(v[2]) + t.margin) / side),
			})
		}
	}), xform{})
}

// strip adds the top of a sidewalk or road along a line: a grid from (x0,z0)
// to (x1,z1) that follows the terrain, raised by lift.
func (t *terrain) strip(b *shape, x0, z0, x1, z1 float64, lift float64) {
	cells := func(d float64) int { return max(1, int(float64(d/8)+0.5)) }
	b.grid(x0, z0, x1, z1, cells(x1-x0), cells(z1-z0), func(x, z float64) float64 { return t.height(x, z) + lift })
}

// skirt adds a vertical face along the terrain from a to b, seen with b on
// the right, from the level low to the level high above the road.
func (t *terrain) skirt(b *shape, x0, z0, x1, z1, low, high float64) {
	n := max(1, int(float64((math.Abs(x1-x0)+math.Abs(z1-z0))/8)+0.5))
	p := func(i int, lift float64) vec {
		f := float64(i) / float64(n)
		x, z := lerp(x0, x1, f), lerp(z0, z1, f)
		return vec{x, t.height(x, z) + lift, z}
	}
	for i := range n {
		b.tiled(p(i, low), p(i+1, low), p(i+1, high), p(i, high))
	}
}
