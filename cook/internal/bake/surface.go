package bake

import (
	"image"
	"math"

	"github.com/untoldkit/untold/cook/measure"
	"github.com/untoldkit/untold/internal/geom"
)

// Surface is what is shown: triangles with their looks. Optional lists are nil when
// absent, else as long as Positions.
type Surface struct {
	Positions []geom.Vec3 // metres
	Normals   [][3]float32
	Tangents  [][4]float32    // w is the handedness
	UV        [2][][2]float32 // v downwards
	Colors    [][4]float32    // linear, multiplied with the base colour
	Indices   []uint32        // three per triangle
	Materials []int32         // by triangle, an index into Looks
	Looks     []Look
	// Loose are triangles that cards alone show; nil: none.
	Loose []bool
	// Index is that of all triangles, where one is known.
	Index *measure.Index
}

// index returns the index of all triangles.
func (s *Surface) index() *measure.Index {
	if s.Index != nil {
		return s.Index
	}
	return measure.NewIndex(&measure.Surface{Positions: s.Positions, Indices: s.Indices})
}

// solid returns a surface without the triangles that are loose.
func (s *Surface) solid() *Surface {
	if s.Loose == nil {
		return s
	}
	out := *s
	out.Loose, out.Index, out.Indices, out.Materials = nil, nil, nil, nil
	for t, loose := range s.Loose {
		if !loose {
			out.Indices = append(out.Indices, s.Indices[3*t:3*t+3]...)
			out.Materials = append(out.Materials, s.Materials[t])
		}
	}
	return &out
}

// Look is what is seen of a material.
type Look struct {
	BaseColor         [4]float32 // linear
	Metallic          float32
	Roughness         float32
	NormalScale       float32
	OcclusionStrength float32
	Emissive          [3]float32 // linear
	Masked            bool       // else alpha does not count
	Cutoff            float32    // where Masked: a texel whose mean alpha is below is not drawn
	DoubleSided       bool

	// Textures; those without an Image count as white, or as a flat normal.
	Color, MetalRough, Normal, Occlusion, Emission Texture
}

// plain reports whether there are no textures.
func (l *Look) plain() bool {
	return l.Color.Image == nil && l.MetalRough.Image == nil && l.Normal.Image == nil && l.Occlusion.Image == nil && l.Emission.Image == nil
}

// Texture is an image on one of the two sets of texture coordinates.
type Texture struct {
	Image *Image // nil: none
	Set   int    // 0 or 1
}

// Image is a picture with all its mips, in linear light where it holds colours. It
// repeats.
type Image struct{ mips []mip }

type mip struct {
	w, h   int
	texels float64 // w*h
	pix    [][4]float32
}

func newMip(w, h int) mip { return mip{w, h, float64(w * h), make([][4]float32, w*h)} }

// NewImage takes the pixels of a picture, whose first three channels decode turns
// into values from 0 to 1, and makes its mips. Colours count by their alpha. It
// keeps no reference to the picture.
func NewImage(img *image.NRGBA, decode func(uint8) float32) *Image {
	var table [256]float32
	for i := range table {
		table[i] = decode(uint8(i))
	}
	size := img.Bounds().Size()
	m := newMip(size.X, size.Y)
	for y := range size.Y {
		row := img.Pix[y*img.Stride:]
		for x := range size.X {
			p := row[4*x : 4*x+4]
			m.pix[y*size.X+x] = [4]float32{table[p[0]], table[p[1]], table[p[2]], float32(p[3]) / 255}
		}
	}
	out := &Image{mips: []mip{m}}
	for m.w*m.h > 1 {
		m = m.half()
		out.mips = append(out.mips, m)
	}
	return out
}

func (m *mip) half() mip {
	out := newMip(max(1, m.w/2), max(1, m.h/2))
	for y := range out.h {
		for x := range out.w {
			var sum, plain [4]float32
			for k := range 4 {
				p := m.pix[min(2*y+k/2, m.h-1)*m.w+min(2*x+k%2, m.w-1)]
				for c := range 3 {
					sum[c] += float32(p[c] * p[3])
					plain[c] += p[c]
				}
				sum[3] += p[3]
			}
			o := &out.pix[y*out.w+x]
			for c := range 3 {
				if o[c] = plain[c] / 4; sum[3] > 0 {
					o[c] = sum[c] / sum[3]
				}
			}
			o[3] = sum[3] / 4
		}
	}
	return out
}

// at returns the texel at texture coordinates of the mip whose texels are at least
// as large as a part of the picture's area.
func (i *Image) at(u, v, area float64) *[4]float32 {
	m := &i.mips[0]
	for k := 1; k < len(i.mips) && float64(area*m.texels) > 2; k++ {
		m = &i.mips[k]
	}
	return &m.pix[wrap(v, m.h)*m.w+wrap(u, m.w)]
}

func wrap(t float64, n int) int {
	f := t - math.Floor(t)
	if !(f >= 0 && f < 1) { // NaN, or so close below that it rounds up
		return 0
	}
	return min(int(f*float64(n)), n-1)
}

// point is a place on a surface.
type point struct {
	triangle int
	w        [3]float64
	area     float64 // of the surface that is looked at, square metres
}

// point returns where a query ended.
func (s *Surface) point(n *measure.Near) (p geom.Vec3) {
	for k, v := range s.Indices[3*n.Triangle : 3*n.Triangle+3] {
		p = p.Add(s.Positions[v].Scale(n.Weights[k]))
	}
	return p
}

// value is what is seen at a point.
type value struct {
	color    [4]float64
	normal   geom.Vec3 // in the surface's space; of one point it has unit length
	occluded float64   // ambient light that arrives, 0 to 1
	rough    float64
	metal    float64
	emissive [3]float64
}

// kept is a value in single precision: an atlas has one for each texel.
type kept struct {
	color                  [4]float32
	normal, emissive       [3]float32
	occluded, rough, metal float32
}

func (v *value) keep() kept {
	return kept{
		color:  [4]float32{float32(v.color[0]), float32(v.color[1]), float32(v.color[2]), float32(v.color[3])},
		normal: v.normal.F32(), emissive: [3]float32{float32(v.emissive[0]), float32(v.emissive[1]), float32(v.emissive[2])},
		occluded: float32(v.occluded), rough: float32(v.rough), metal: float32(v.metal),
	}
}

// add adds another value.
func (v *value) add(o *value) {
	v.color[0] += o.color[0]
	v.color[1] += o.color[1]
	v.color[2] += o.color[2]
	v.color[3] += o.color[3]
	v.emissive[0] += o.emissive[0]
	v.emissive[1] += o.emissive[1]
	v.emissive[2] += o.emissive[2]
	v.normal[0] += o.normal[0]
	v.normal[1] += o.normal[1]
	v.normal[2] += o.normal[2]
	v.occluded, v.rough, v.metal = v.occluded+o.occluded, v.rough+o.rough, v.metal+o.metal
}

// mean returns the mean of so many values of which v is the sum. Its normal is as long as
// those were alike.
func (v *value) mean(n float64) (out value) {
	part := 1 / n
	for c := range out.color {
		out.color[c] = float64(v.color[c] * part)
	}
	for c := range out.emissive {
		out.emissive[c] = float64(v.emissive[c] * part)
	}
	out.normal = v.normal.Scale(part)
	out.occluded, out.rough, out.metal = float64(v.occluded*part), float64(v.rough*part), float64(v.metal*part)
	return out
}

// density returns, by triangle and set, the part of a texture that a square metre
// covers.
func (s *Surface) density() [][2]float64 {
	out := make([][2]float64, len(s.Indices)/3)
	for t := range out {
		i := s.Indices[3*t : 3*t+3]
		a, b, c := s.Positions[i[0]], s.Positions[i[1]], s.Positions[i[2]]
		area := b.Sub(a).Cross(c.Sub(a)).Len()
		for set, uv := range s.UV {
			if uv == nil || !(area > 0) {
				continue
			}
			p := func(k int) [2]float64 { return [2]float64{float64(uv[i[k]][0]), float64(uv[i[k]][1])} }
			out[t][set] = math.Abs(turn(p(0), p(1), p(2))) / area
		}
	}
	return out
}

// mixed returns the mean of what three corners have, by their weights.
func mixed(w *[3]float64, a, b, c float32) float64 {
	return float64(w[0]*float64(a)) + float64(w[1]*float64(b)) + float64(w[2]*float64(c))
}

// reader reads textures at a point.
type reader struct {
	s       *Surface
	i       [3]uint32 // corners of the triangle
	w       [3]float64
	density *[2]float64
	area    float64
	uv      [2][2]float64
	known   [2]bool // what uv holds
}

// white is the texel of no texture.
var white = [4]float32{1, 1, 1, 1}

// read returns the texel of a texture.
func (r *reader) read(t *Texture, none *[4]float32) *[4]float32 {
	if t.Image == nil {
		return none
	}
	return r.texel(t, none)
}

func (r *reader) texel(t *Texture, none *[4]float32) *[4]float32 {
	all := r.s.UV[t.Set]
	if all == nil {
		return none
	}
	uv := &r.uv[t.Set]
	if !r.known[t.Set] {
		a, b, c := &all[r.i[0]], &all[r.i[1]], &all[r.i[2]]
		*uv = [2]float64{mixed(&r.w, a[0], b[0], c[0]), mixed(&r.w, a[1], b[1], c[1])}
		r.known[t.Set] = true
	}
	return t.Image.at(uv[0], uv[1], float64(r.area*r.density[t.Set]))
}

// look finds what is seen at a point.
func (s *Surface) look(p *point, density [][2]float64, out *value) {
	i := [3]uint32(s.Indices[3*p.triangle : 3*p.triangle+3])
	m := &s.Looks[s.Materials[p.triangle]]
	r := reader{s: s, i: i, w: p.w, density: &density[p.triangle], area: p.area}
	color := r.read(&m.Color, &white)
	out.color[0] = float64(color[0] * m.BaseColor[0])
	out.color[1] = float64(color[1] * m.BaseColor[1])
	out.color[2] = float64(color[2] * m.BaseColor[2])
	out.color[3] = float64(color[3] * m.BaseColor[3])
	if s.Colors != nil {
		a, b, c := &s.Colors[i[0]], &s.Colors[i[1]], &s.Colors[i[2]]
		if *a == white && *b == white && *c == white {
			all := mixed(&p.w, 1, 1, 1) // nearly 1
			for k := range out.color {
				out.color[k] = float64(out.color[k] * all)
			}
		} else {
			for k := range out.color {
				out.color[k] = float64(out.color[k] * mixed(&p.w, a[k], b[k], c[k]))
			}
		}
	}
	out.color[3] = m.opacity(out.color[3])
	metalRough := r.read(&m.MetalRough, &white)
	out.rough, out.metal = float64(metalRough[1]*m.Roughness), float64(metalRough[2]*m.Metallic)
	occlusion := r.read(&m.Occlusion, &white)
	out.occluded = 1 - float64(float64(m.OcclusionStrength)*(1-float64(occlusion[0])))
	emission := r.read(&m.Emission, &white)
	out.emissive[0] = float64(emission[0] * m.Emissive[0])
	out.emissive[1] = float64(emission[1] * m.Emissive[1])
	out.emissive[2] = float64(emission[2] * m.Emissive[2])
	out.normal = s.normal(p, &i, m, &r)
}

// opacity turns a mean alpha into one whose threshold is a half.
func (m *Look) opacity(alpha float64) float64 {
	if !m.Masked || !(m.Cutoff > 0) {
		return 1
	}
	return min(1, 0.5*alpha/float64(m.Cutoff))
}

// hides reports whether what is seen at a point covers what is behind.
func (s *Surface) hides(p *point, density [][2]float64) bool {
	m := &s.Looks[s.Materials[p.triangle]]
	return !m.Masked || !(m.Cutoff > 0) || m.opacity(s.alpha(p, density)) >= 0.5
}

// normal returns the shading normal at a point.
func (s *Surface) normal(p *point, i *[3]uint32, m *Look, r *reader) geom.Vec3 {
	var n geom.Vec3
	if s.Normals != nil {
		a, b, c := &s.Normals[i[0]], &s.Normals[i[1]], &s.Normals[i[2]]
		sum := geom.Vec3{mixed(&p.w, a[0], b[0], c[0]), mixed(&p.w, a[1], b[1], c[1]), mixed(&p.w, a[2], b[2], c[2])}
		n = sum.Normalize(1e-12, geom.Vec3{})
	}
	if n == (geom.Vec3{}) {
		a := s.Positions[i[0]]
		n = s.Positions[i[1]].Sub(a).Cross(s.Positions[i[2]].Sub(a)).Normalize(1e-30, geom.Vec3{0, 1, 0})
	}
	if m.Normal.Image == nil || s.Tangents == nil {
		return n
	}
	tangent, bitangent := axes(s.Tangents, i[:], &p.w, n)
	texel := r.read(&m.Normal, &[4]float32{0.5, 0.5, 1, 1})
	x := float64(float64(m.NormalScale) * (float64(2*texel[0]) - 1))
	y := float64(float64(m.NormalScale) * (float64(2*texel[1]) - 1))
	z := float64(2*texel[2]) - 1
	return tangent.Scale(x).Add(bitangent.Scale(y)).Add(n.Scale(z)).Normalize(1e-12, n)
}
