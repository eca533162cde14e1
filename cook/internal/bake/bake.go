package bake

import (
	"errors"
	"image"
	"math"
	"sync"

	"github.com/untoldkit/untold/cook/measure"
	"github.com/untoldkit/untold/internal/geom"
)

// Coarse is the mesh that the textures are for. Its corners have normals and
// tangents for the texture coordinates of the layout: what is baked is read with
// them again.
type Coarse struct {
	Positions []geom.Vec3 // metres
	Indices   []uint32    // three per triangle
	Normals   [][3]float32
	Tangents  [][4]float32 // w is the handedness; nil: no normals are baked
	// Cards are charts that are pictures of parts of the surface. They take no light from
	// others: much of it comes through.
	Cards []Card
}

// Options tell what is baked.
type Options struct {
	// Reach is how far in metres the detailed surface may lie from the coarse mesh.
	Reach float64
	// Ahead is how far in metres before and behind the coarse mesh it shows what comes
	// first to who looks at it: windows before their walls, cars on their roads.
	Ahead float64
	// OcclusionRays are sent from each texel of the half-sized occlusion; 0: only the
	// surface's own occlusion counts.
	OcclusionRays int
	// OcclusionReach is how far in metres something can take light away.
	OcclusionReach float64
	// Encode turns linear light into a byte of a colour texture.
	Encode func(float32) uint8
	// Samples along each side of a texel: of what is smaller than a texel their mean is
	// baked. 0 stands for 1.
	Samples int
	Jobs    int // goroutines, at least 1
}

// Atlas is what was baked. Pictures but Color are half its size, and nil where one
// value does for all.
type Atlas struct {
	Color    *image.NRGBA
	Normal   *image.NRGBA // tangent space, y upwards as in glTF
	ORM      *image.NRGBA // occlusion, roughness, metalness
	Emissive *image.NRGBA

	// What stands for a picture that is nil.
	Roughness, Metallic float32
	EmissiveColor       [3]float32 // linear; the picture is relative to it
	// Coverage reports whether some texel is partly transparent.
	Coverage bool
	// Texels are those that belong to charts, ascending, y*side+x, and where each is on
	// the coarse mesh: its point and the normal of its triangle.
	Texels []int32
	Points []geom.Vec3
	Faces  []geom.Vec3
	// Missed is the part of the texels of charts for which the detailed surface has
	// nothing within reach.
	Missed float64

	owner, from []int32 // for Fill
	layout      *Layout
	cards       []int // charts
}

// ErrEmpty says that there is no surface to bake.
var ErrEmpty = errors.New("the detailed surface has no triangles")

// baker is the state of Bake.
type baker struct {
	s       *Surface
	facing  *measure.Facing
	density [][2]float64
	layout  *Layout
	coarse  *Coarse
	o       Options
	cells   []cell
	area    float64     // of a texel, square metres
	slopes  []slope     // by triangle
	faces   []geom.Vec3 // by triangle: the normal
	values  []kept      // by texel
	found   []bool
	card    []bool // by triangle of the coarse mesh: it is of a card

	solid        *Surface // what else shows; s where there are no cards
	solidDensity [][2]float64
}

// Bake makes the textures of a coarse mesh by a layout of its charts.
func Bake(s *Surface, c *Coarse, l *Layout, o Options) (*Atlas, error) {
	if len(s.Indices) == 0 {
		return nil, ErrEmpty
	}
	solid := s.solid()
	b := &baker{
		s: s, solid: solid, coarse: c, layout: l, o: o, density: s.density(), cells: rasterize(l),
		facing: measure.NewFacing(solid.index(), func(t int) bool { return s.Looks[solid.Materials[t]].DoubleSided }),
		card:   make([]bool, len(c.Indices)/3),
	}
	if b.solidDensity = b.density; solid != s {
		b.solidDensity = solid.density()
	}
	if b.area = 1e6; l.Scale > 0 {
		b.area = 1 / float64(l.Scale*l.Scale)
	}
	b.slopes = slopesOf(l, len(c.Indices)/3)
	for t := range len(c.Indices) / 3 {
		_, face, _ := b.at(&cell{triangle: int32(t), w: [3]float32{1, 0, 0}})
		b.faces = append(b.faces, face)
	}
	b.values, b.found = make([]kept, len(b.cells)), make([]bool, len(b.cells))
	b.cards()
	b.rows((l.Side+blockSide-1)/blockSide, func(row int) {
		s := &seeker{Walk: b.facing.Walk()}
		for x := 0; x < l.Side; x += blockSide {
			b.block(x, row*blockSide, s)
		}
	})
	return b.atlas(), nil
}

// rows calls do for every row, in any order, each once.
func (b *baker) rows(n int, do func(y int)) {
	var wg sync.WaitGroup
	jobs := min(max(1, b.o.Jobs), n)
	for j := range jobs {
		wg.Go(func() {
			for y := j; y < n; y += jobs {
				do(y)
			}
		})
	}
	wg.Wait()
}

// point returns the point of a cell on the coarse mesh.
func (b *baker) point(c *cell) geom.Vec3 {
	i := b.coarse.Indices[3*c.triangle : 3*c.triangle+3]
	q, r, s := &b.coarse.Positions[i[0]], &b.coarse.Positions[i[1]], &b.coarse.Positions[i[2]]
	u, v, w := float64(c.w[0]), float64(c.w[1]), float64(c.w[2])
	return geom.Vec3{
		float64(q[0]*u) + float64(r[0]*v) + float64(s[0]*w),
		float64(q[1]*u) + float64(r[1]*v) + float64(s[1]*w),
		float64(q[2]*u) + float64(r[2]*v) + float64(s[2]*w),
	}
}

// at returns the point of a cell on the coarse mesh, with its normals: of the
// triangle and of the shading.
func (b *baker) at(c *cell) (p, face, shade geom.Vec3) {
	i := b.coarse.Indices[3*c.triangle : 3*c.triangle+3]
	p = b.point(c)
	a := b.coarse.Positions[i[0]]
	face = b.coarse.Positions[i[1]].Sub(a).Cross(b.coarse.Positions[i[2]].Sub(a)).Normalize(1e-30, geom.Vec3{})
	shade = b.normals(c).Normalize(1e-12, face)
	if face == (geom.Vec3{}) {
		face = shade
	}
	return p, face, shade
}

// normals returns the sum of the normals of a cell's corners, by their weights.
func (b *baker) normals(c *cell) geom.Vec3 {
	i := b.coarse.Indices[3*c.triangle : 3*c.triangle+3]
	q, r, s := &b.coarse.Normals[i[0]], &b.coarse.Normals[i[1]], &b.coarse.Normals[i[2]]
	w := [3]float64{float64(c.w[0]), float64(c.w[1]), float64(c.w[2])}
	return geom.Vec3{mixed(&w, q[0], r[0], s[0]), mixed(&w, q[1], r[1], s[1]), mixed(&w, q[2], r[2], s[2])}
}

// shade returns the normal of the shading at a cell.
func (b *baker) shade(c *cell) geom.Vec3 {
	n := b.normals(c).Normalize(1e-12, geom.Vec3{})
	if n == (geom.Vec3{}) {
		_, _, n = b.at(c)
	}
	return n
}

// atlas turns the values into pictures.
func (b *baker) atlas() *Atlas {
	out := &Atlas{layout: b.layout}
	for _, c := range b.coarse.Cards {
		out.cards = append(out.cards, c.Chart)
	}
	charted, found := 0, 0
	for i := range b.cells {
		if b.cells[i].triangle >= 0 {
			charted++
		}
	}
	out.Texels, out.Points, out.Faces = make([]int32, 0, charted), make([]geom.Vec3, 0, charted), make([]geom.Vec3, 0, charted)
	for i := range b.cells {
		if c := &b.cells[i]; c.triangle >= 0 {
			out.Texels, out.Points, out.Faces = append(out.Texels, int32(i)), append(out.Points, b.point(c)), append(out.Faces, b.faces[c.triangle])
			if b.found[i] {
				found++
			}
		}
	}
	if charted > 0 {
		out.Missed = float64(charted-found) / float64(charted)
	}
	if found == 0 {
		b.values[0] = kept{color: [4]float32{1, 1, 1, 1}, rough: 1, occluded: 1, normal: [3]float32{0, 1, 0}}
		b.found[0] = true
	}
	out.owner = b.layout.owners(b.layout.Side)
	from := fill(b.found, b.layout.Side, out.owner)
	b.color(out, from)
	half := b.halves(from)
	b.surfaceMaps(out, half)
	return out
}

// color draws the base colour with its coverage.
func (b *baker) color(out *Atlas, from []int32) {
	side := b.layout.Side
	out.Color = image.NewNRGBA(image.Rect(0, 0, side, side))
	for i, f := range from {
		v := &b.values[f]
		p := out.Color.Pix[4*i : 4*i+4]
		for c := range 3 {
			p[c] = b.o.Encode(v.color[c])
		}
		p[3] = unit(float64(v.color[3]))
		if p[3] < 255 && b.found[i] {
			out.Coverage = true
		}
	}
}

// Fill gives texels between charts the colour of the nearest one of a chart.
func (a *Atlas) Fill() {
	if a.from == nil {
		found := make([]bool, len(a.Color.Pix)/4)
		for _, at := range a.Texels {
			found[at] = true
		}
		a.from = fill(found, a.Color.Rect.Dx(), a.owner)
	}
	for i, f := range a.from {
		if f >= 0 {
			copy(a.Color.Pix[4*i:4*i+3], a.Color.Pix[4*f:4*f+3])
		}
	}
	a.fillCards()
}

// halved is the mean of four texels.
type halved struct {
	value
	cell cell
	near int32 // the last of the four, or the texel that it is filled from
	own  bool  // some of the four belong to a chart
}

// halves returns the values at half the size, with normals in the surface's space.
func (b *baker) halves(from []int32) []halved {
	side := b.layout.Side
	n := max(1, side/2)
	out := make([]halved, n*n)
	for y := range n {
		for x := range n {
			h := &out[y*n+x]
			h.cell.triangle = -1
			count := 0.0
			for k := range 4 {
				i := min(2*y+k/2, side-1)*side + min(2*x+k%2, side-1)
				if !b.found[i] && (k < 3 || h.own) {
					continue
				}
				if b.found[i] && !h.own {
					h.own, h.cell = true, b.cells[i]
				}
				v := &b.values[from[i]]
				h.normal = h.normal.Add(geom.FromF32(v.normal))
				h.near = from[i]
				h.occluded, h.rough, h.metal = h.occluded+float64(v.occluded), h.rough+float64(v.rough), h.metal+float64(v.metal)
				for c := range 3 {
					h.emissive[c] += float64(v.emissive[c])
				}
				count++
			}
			h.normal = h.normal.Normalize(1e-12, geom.Vec3{0, 1, 0})
			h.occluded, h.rough, h.metal = h.occluded/count, h.rough/count, h.metal/count
			for c := range 3 {
				h.emissive[c] /= count
			}
		}
	}
	return out
}

// tangentSpace turns a normal at a texel into the space of the coarse mesh there.
func (b *baker) tangentSpace(i int32, n geom.Vec3) geom.Vec3 {
	c := &b.cells[i]
	if c.triangle < 0 || b.coarse.Tangents == nil {
		return geom.Vec3{0, 0, 1}
	}
	tangent, bitangent, shade := b.frame(c)
	// What points away is bent up to the horizon: a normal below it is lit from behind.
	return geom.Vec3{n.Dot(tangent), n.Dot(bitangent), max(0.05, n.Dot(shade))}.Normalize(1e-12, geom.Vec3{0, 0, 1})
}

// Differences within these are no reason for a picture: two of 255 steps, and for
// normals some four degrees.
const (
	evenStep   = 2.0 / 255
	evenNormal = 0.9976
)

// surfaceMaps draws what is not the same everywhere.
func (b *baker) surfaceMaps(out *Atlas, half []halved) {
	n := int(math.Sqrt(float64(len(half))))
	light := b.occlusion(half, n)
	for i := range half {
		half[i].occluded = min(half[i].occluded, light[i])
	}
	var lo, hi value
	lo = value{rough: math.Inf(1), metal: math.Inf(1), occluded: math.Inf(1), emissive: [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)}}
	bent := false
	var rough, metal, count float64
	for i := range half {
		h := &half[i]
		if !h.own {
			continue
		}
		lo.rough, hi.rough = min(lo.rough, h.rough), max(hi.rough, h.rough)
		lo.metal, hi.metal = min(lo.metal, h.metal), max(hi.metal, h.metal)
		lo.occluded = min(lo.occluded, h.occluded)
		for c := range 3 {
			lo.emissive[c], hi.emissive[c] = min(lo.emissive[c], h.emissive[c]), max(hi.emissive[c], h.emissive[c])
		}
		h.normal = b.tangentSpace(h.near, h.normal)
		bent = bent || h.normal[2] < evenNormal
		rough, metal, count = rough+h.rough, metal+h.metal, count+1
	}
	if count > 0 {
		out.Roughness, out.Metallic = float32(rough/count), float32(metal/count)
	}
	picture := func(of func(h *halved) [3]float64) *image.NRGBA {
		img := image.NewNRGBA(image.Rect(0, 0, n, n))
		for i := range half {
			v := of(&half[i])
			copy(img.Pix[4*i:], []uint8{unit(v[0]), unit(v[1]), unit(v[2]), 255})
		}
		return img
	}
	if hi.rough-lo.rough > evenStep || hi.metal-lo.metal > evenStep || lo.occluded < 1-evenStep {
		out.ORM = picture(func(h *halved) [3]float64 { return [3]float64{h.occluded, h.rough, h.metal} })
		out.Roughness, out.Metallic = 1, 1
	}
	if bent && b.coarse.Tangents != nil {
		out.Normal = picture(func(h *halved) [3]float64 {
			if !h.own {
				h.normal = b.tangentSpace(h.near, h.normal)
			}
			return [3]float64{(h.normal[0] + 1) / 2, (h.normal[1] + 1) / 2, (h.normal[2] + 1) / 2}
		})
	}
	b.emission(out, half, n, lo.emissive, hi.emissive)
}

// emission draws the light that the surface gives, relative to its greatest.
func (b *baker) emission(out *Atlas, half []halved, n int, lo, hi [3]float64) {
	uneven := false
	for c := range 3 {
		out.EmissiveColor[c] = float32(hi[c])
		uneven = uneven || hi[c]-lo[c] > evenStep
	}
	if !uneven {
		return
	}
	most := max(hi[0], hi[1], hi[2])
	out.EmissiveColor = [3]float32{float32(most), float32(most), float32(most)}
	out.Emissive = image.NewNRGBA(image.Rect(0, 0, n, n))
	for i := range half {
		for c := range 3 {
			out.Emissive.Pix[4*i+c] = b.o.Encode(float32(half[i].emissive[c] / most))
		}
		out.Emissive.Pix[4*i+3] = 255
	}
}

func unit(v float64) uint8 {
	if !(v > 0) {
		return 0
	}
	return uint8(min(255, float64(v*255)+0.5))
}

// fill returns for every texel the nearest one, counted in steps to a side, that has
// a value: what is between charts looks like the nearest chart, in all mips. A texel that
// has an owner takes what this one has, if that is anything.
func fill(found []bool, side int, owner []int32) []int32 {
	from := make([]int32, len(found))
	reached := make([]int32, 0, len(found)) // in the order of their steps
	for i, ok := range found {
		from[i] = -1
		if ok {
			from[i] = int32(i)
			reached = append(reached, int32(i))
		}
	}
	wide := int32(side)
	for _, free := range []bool{false, true} {
		for k := 0; k < len(reached); k++ {
			i := reached[k]
			f := from[i]
			step := func(to int32) {
				if from[to] < 0 && (free || owner[to] == owner[f]) {
					from[to] = f
					reached = append(reached, to)
				}
			}
			y := i / wide
			x := i - y*wide
			if x > 0 {
				step(i - 1)
			}
			if x < wide-1 {
				step(i + 1)
			}
			if y > 0 {
				step(i - wide)
			}
			if y < wide-1 {
				step(i + wide)
			}
		}
	}
	return from
}
