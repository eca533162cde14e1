package appearance

import (
	"image"
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// Texels are the texels of a coarse mesh's one texture that show something.
type Texels struct {
	Image  *image.NRGBA
	At     []int32     // y*width + x, each once, ascending
	Points []geom.Vec3 // where each is on the mesh, metres
	Faces  []geom.Vec3 // normals of the mesh there, of unit length
	Size   float64     // of a texel, metres
	// Pools are numbers from 0 on of texels that become lighter or darker together, by a
	// factor; -1: alone. Nil: all are alone.
	Pools []int32
}

// What is missing in a coarse mesh, and what its texture shows in the wrong place,
// makes it brighter or darker than what it stands for, and that does not shrink with
// the distance. Match finds it in pictures from all sides, first as the mean of wide
// surroundings, then of smaller ones.
const (
	matchTexels = 2   // side of a pixel, in texels
	matchMost   = 480 // pixels along the diagonal of the box, at most
	matchWidest = 16  // pixels on each side of which the mean is taken
	// matchNarrowest ends it: closer, the sides want different things, and the texture
	// knows better.
	matchNarrowest = 4
	matchStep      = 4
	// matchDark is the least light by which differences of what is lit are divided,
	// in parts of one.
	matchDark = one / 6
	// matchFacing is the least cosine under which a view counts for a texel.
	matchFacing = 0.05
	// matchCoarse is how many times as large pixels may be as they should be, if smaller ones
	// are not at hand; they may be half as large.
	matchCoarse = 1.51
	// matchPooled is by how much texels become lighter or darker together in one step.
	matchPooled = 1.2
)

// Match changes the colours of a mesh's texture to those with which the mesh looks
// like the reference: where both show something the light is the same, as a mean of some
// texels around. Texels that no side shows keep their colours. The mesh must lie close to
// the reference's box, and have n materials from the index own on alone, which the
// reference itself has not; they show the changed texture from then on. linear and encode
// turn bytes of the texture into linear light, 0 to 1, and back; after each step settle
// may change texels that are not listed.
func (r *Reference) Match(m *Mesh, own, n int, t *Texels, linear func(uint8) float32, encode func(float32) uint8, settle func()) {
	var table [256]int32
	for i := range table {
		table[i] = fixed(float64(linear(uint8(i))))
	}
	var back [one + 1]uint8
	for i := range back {
		back[i] = encode(float32(i) / one)
	}
	colors := make([][3]int32, len(t.At))
	for i, at := range t.At {
		for k := range 3 {
			colors[i][k] = table[t.Image.Pix[4*at+int32(k)]]
		}
	}
	size := r.box.Size()
	pixel := max(float64(matchTexels*t.Size), size.Len()/matchMost, 1e-9)
	r.look(r.pixelFor(len(m.Indices) / 3)) // as Compare does for the same mesh
	looks := make([]Material, n)
	for i := range looks {
		looks[i] = *r.model.paints[own+i].Material
	}
	stands := t.stands(int(min(pixel/t.Size, mostAlike)))
	views, model := r.matchViews(m, own, looks, t, stands, pixel)
	sums := make([][4]int64, len(t.At))
	var around surroundings
	repaint := func() []paint {
		texture := NewTexture(t.Image, linear)
		for i := range looks {
			looks[i].Texture = texture
		}
		return newPaints(looks)
	}
	for width := matchWidest; width >= matchNarrowest; width /= matchStep {
		clear(sums)
		model.paints = repaint()
		for i := range views {
			views[i].residual(r.canvas.draw(&views[i].view, model).pix, width, sums, &around)
		}
		for i, k := range stands {
			sums[i] = sums[k]
		}
		pool(t.Pools, colors, sums)
		for i, at := range t.At {
			if sums[i][3] == 0 {
				continue
			}
			for k := range 3 {
				colors[i][k] = min(max(colors[i][k]+int32(sums[i][k]/sums[i][3]), 0), one)
				t.Image.Pix[4*at+int32(k)] = back[colors[i][k]]
			}
		}
		settle()
	}
	copy(r.model.paints[own:], repaint())
}

// mostAlike is the side of the largest square of texels of which one stands for all.
const mostAlike = 8

// stands returns for each texel the one that stands for it: the first of those in a square of
// so many along each side, no larger than a pixel, that face the same way and are of one pool.
func (t *Texels) stands(side int) []int32 {
	out := make([]int32, len(t.At))
	width := int32(t.Image.Rect.Dx())
	wide := int32(max(side, 1))
	across := (width + wide - 1) / wide
	first := make([]int32, across) // of the squares of a row of these, counted from 1
	row := int32(-1)
	for i, at := range t.At {
		y := at / width
		if y/wide != row {
			row = y / wide
			clear(first)
		}
		out[i] = int32(i)
		f := &first[(at-y*width)/wide]
		switch k := *f - 1; {
		case k < 0:
			*f = int32(i) + 1
		case t.Faces[k] == t.Faces[i] && (t.Pools == nil || t.Pools[k] == t.Pools[i]):
			out[i] = k
		}
	}
	return out
}

// pool shares out what is to be added to the colours of each pool in proportion to
// these.
func pool(pools []int32, colors [][3]int32, sums [][4]int64) {
	type total struct {
		color [3]int64
		sum   [4]int64
		n     int64
	}
	var totals []total
	for i, p := range pools {
		if p < 0 {
			continue
		}
		for int(p) >= len(totals) {
			totals = append(totals, total{})
		}
		t := &totals[p]
		for k := range t.color {
			t.color[k] += int64(colors[i][k])
		}
		for k := range t.sum {
			t.sum[k] += sums[i][k]
		}
		t.n++
	}
	for i, p := range pools {
		if p < 0 {
			continue
		}
		t := &totals[p]
		if sums[i] = [4]int64{}; t.sum[3] == 0 {
			continue
		}
		for k := range t.color {
			mean := max(float64(t.color[k])/float64(t.n), 1)
			factor := 1 + float64(t.sum[k])/float64(t.sum[3])/mean
			factor = min(max(factor, 1/matchPooled), matchPooled)
			sums[i][k] = int64(math.Round(float64(float64(colors[i][k]) * (factor - 1))))
		}
		sums[i][3] = 1
	}
}

// matchView is one side of a mesh beside the reference.
type matchView struct {
	view
	want []pixel // of the reference
	seen []sight
}

// lighter is by how much a reference is lighter than a picture, by channel, and whether
// both show something there; or sums of that. It fits: windows have 33 x 33 pixels.
type lighter [4]int32

func (l *lighter) add(o *lighter) {
	l[0], l[1], l[2], l[3] = l[0]+o[0], l[1]+o[1], l[2]+o[2], l[3]+o[3]
}

func (l *lighter) subtract(o *lighter) {
	l[0], l[1], l[2], l[3] = l[0]-o[0], l[1]-o[1], l[2]-o[2], l[3]-o[3]
}

// surroundings sums over squares; its memory serves one view after the other.
type surroundings struct {
	values []lighter // by pixel
	rows   []lighter // the same, summed along rows
}

// sight is a texel that a view shows.
type sight struct {
	texel, at int32  // index into Texels.At, and of the pixel
	weight    uint16 // how much it faces the viewer, 1 to 16
	light     uint16
}

// matchViews draws both meshes from all sides and finds the texels there. The paints of the
// model that it returns are the mesh's, which looks are.
func (r *Reference) matchViews(m *Mesh, own int, looks []Material, t *Texels, stands []int32, size float64) ([]matchView, *model) {
	white := slices.Clone(looks)
	for i := range white {
		w := &white[i]
		w.Color = [4]float32{1, 1, 1, 1}
		if w.Texture = nil; w.Masked { // what is behind holes is seen, too
			w.Texture = whiteOf(t.Image)
		}
	}
	mesh := *m
	mesh.Materials = slices.Clone(m.Materials)
	for i := range mesh.Materials {
		mesh.Materials[i] -= int32(own)
	}
	model := newModel(&mesh, newPaints(white))
	out := make([]matchView, len(directions))
	var seen []sight // of all views one after the other
	ends := make([][2]int, len(directions))
	for i, d := range directions {
		v := &out[i]
		v.view, v.want = r.wanted(i, size)
		light := r.canvas.draw(&v.view, model).pix
		first := len(seen)
		for k := range t.At {
			if stands[k] != int32(k) {
				continue
			}
			facing := t.Faces[k].Dot(d)
			if looks[0].DoubleSided {
				facing = max(facing, -facing)
			}
			if !(facing > matchFacing) {
				continue
			}
			p := v.at(&t.Points[k])
			x, y := int(p.x)/subpixel, int(p.y)/subpixel
			if p.x < 0 || p.y < 0 || x >= v.w || y >= v.h {
				continue
			}
			at := y*v.w + x
			// A pixel has the depth of its middle, of slanted surfaces another one.
			slack := int32(2 * subpixel / facing)
			if light[at].coverage() == 0 || r.canvas.depth[at]-(zeroDepth+p.z) > slack {
				continue
			}
			if len(seen) == cap(seen) { // about as many are seen from each of the sides that are left
				seen = slices.Grow(seen, len(t.At)/2+len(seen)/(i+1)*(len(out)-1-i))
			}
			seen = append(seen, sight{int32(k), int32(at), uint16(float64(facing*15)) + 1, uint16(max(light[at].channel(0), matchDark))})
		}
		ends[i] = [2]int{first, len(seen)}
	}
	for i, e := range ends {
		out[i].seen = seen[e[0]:e[1]]
	}
	return out, model
}

// wanted returns how the reference is seen from a side with pixels of about a size: a picture
// that others are compared with does, if its pixels are not much larger.
func (r *Reference) wanted(i int, size float64) (view, []pixel) {
	times := 2.0
	for k := range r.sides[i].steps {
		if pixel := float64(r.pixel * times); pixel > size/2 && pixel <= size*matchCoarse {
			return r.sides[i].larger(times), r.sides[i].steps[k].whole()
		}
		times *= 2
	}
	v := newView(directions[i], r.box, size)
	return v, slices.Clone(r.canvas.draw(&v, r.model).pix)
}

// whole returns the pixels of a picture that are covered by a half at least as if they were
// so entirely, and the others as if they were not.
func (p picture) whole() []pixel {
	out := make([]pixel, len(p.pix))
	for i, q := range p.pix {
		switch c := uint64(q.coverage()); {
		case c == one:
			out[i] = q
		case 2*c >= one:
			out[i] = makePixel(min(uint64(q.channel(0))*one/c, one), min(uint64(q.channel(1))*one/c, one), min(uint64(q.channel(2))*one/c, one), one)
		}
	}
	return out
}

// whiteOf returns a texture that is white where an image is there.
func whiteOf(of *image.NRGBA) *Texture {
	img := image.NewNRGBA(of.Rect)
	for i := range img.Pix {
		if img.Pix[i] = 255; i%4 == 3 {
			img.Pix[i] = of.Pix[i]
		}
	}
	return NewTexture(img, func(uint8) float32 { return 1 })
}

// residual adds to the sums of each texel how much lighter the reference is than a
// picture around it, by channel, and its weight.
func (v *matchView) residual(picture []pixel, width int, sums [][4]int64, around *surroundings) {
	n := v.w * v.h
	if cap(around.values) < n {
		around.values, around.rows = make([]lighter, n), make([]lighter, n)
	}
	around.values, around.rows = around.values[:n], around.rows[:n]
	for i, p := range v.want {
		q := picture[i]
		if around.values[i] = (lighter{}); p.coverage() > 0 && q.coverage() > 0 {
			around.values[i] = lighter{int32(p.channel(0) - q.channel(0)), int32(p.channel(1) - q.channel(1)), int32(p.channel(2) - q.channel(2)), 1}
		}
	}
	around.sum(v.w, v.h, width)
	for i := range v.seen {
		s := &v.seen[i]
		l := &around.values[s.at]
		if l[3] == 0 {
			continue
		}
		to, weight := &sums[s.texel], int64(s.weight)
		// Whole numbers below 2^53: the quotient is rounded past none.
		by := float64(int64(l[3]) * int64(s.light))
		for k := range 3 {
			to[k] += int64(float64(int64(l[k])*one)/by) * weight
		}
		to[3] += weight
	}
}

// sum replaces each value by the sum of those within so many pixels in both directions.
func (around *surroundings) sum(w, h, width int) {
	for y := range h {
		row, out := around.values[y*w:(y+1)*w], around.rows[y*w:(y+1)*w]
		var s0, s1, s2, s3 int32 // registers, where an array is none
		for x := -width; x < w; x++ {
			if x+width < w {
				l := &row[x+width]
				s0, s1, s2, s3 = s0+l[0], s1+l[1], s2+l[2], s3+l[3]
			}
			if x > width {
				l := &row[x-width-1]
				s0, s1, s2, s3 = s0-l[0], s1-l[1], s2-l[2], s3-l[3]
			}
			if x >= 0 {
				out[x] = lighter{s0, s1, s2, s3}
			}
		}
	}
	columns := make([]lighter, w) // sums of the present row's
	for y := range h + width {
		if y < h {
			for x := range columns {
				columns[x].add(&around.rows[y*w+x])
			}
		}
		at := y - width // the row in the middle
		if at < 0 {
			continue
		}
		if gone := at - width - 1; gone >= 0 {
			for x := range columns {
				columns[x].subtract(&around.rows[gone*w+x])
			}
		}
		copy(around.values[at*w:(at+1)*w], columns)
	}
}
