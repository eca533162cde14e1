package palette

import (
	"math"
	"slices"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/simplify"
)

// Palettes knows the cells of a mesh's textures.
type Palettes struct {
	sheets  []*sheet // by group of the mesh; nil: no palette
	weights simplify.Weights
	groups  []key
	known   map[key]int32
}

// key is a group of the simplifier: a group of the mesh, and a cell of its
// texture, or -1.
type key struct {
	group int32
	cell  int
}

const (
	// leastShare is the part of the textured area that lies in cells from which on
	// a mesh is taken for one with palettes.
	leastShare = 0.5
	// shrink is what coordinates in cells are multiplied with while colours count
	// instead. A power of two loses nothing.
	shrink = 1.0 / 1024
)

// Look is the material of a group, as far as it matters here.
type Look struct {
	Textured bool                // it has any texture
	Palette  *appearance.Texture // that of the base colour, if it is the only one; else nil
}

// LookOf returns the look of a material, of which texture reads the image. It is
// asked only for the only texture that a material has, which may also be that of its
// light: others have more to show than colours, such as bumps.
func LookOf(m *gltfscene.Material, texture func(image int) (*appearance.Texture, error)) (out Look, err error) {
	base := m.BaseColorTex.Image
	only := base >= 0
	for _, image := range [4]int{m.NormalTex.Image, m.MetalRoughTex.Image, m.OcclusionTex.Image, m.EmissiveTex.Image} {
		out.Textured = out.Textured || image >= 0
		only = only && image < 0
	}
	if m.EmissiveTex.Image == base && base >= 0 && m.NormalTex.Image < 0 && m.MetalRoughTex.Image < 0 && m.OcclusionTex.Image < 0 {
		only = true
	}
	out.Textured = out.Textured || base >= 0
	if only {
		out.Palette, err = texture(base)
	}
	return out, err
}

// Find looks for palettes among the looks of a mesh's groups. It returns nil if
// most of what is textured is no palette, or the mesh has colours of its own.
func Find(m *simplify.Mesh, looks []Look) *Palettes {
	if m.UV[0] == nil || m.Colors != nil || m.Groups == nil {
		return nil
	}
	p := &Palettes{sheets: make([]*sheet, len(looks)), known: map[key]int32{}}
	made := map[*appearance.Texture]*sheet{}
	any := false
	for g, look := range looks {
		if look.Palette == nil {
			continue
		}
		s := made[look.Palette]
		if s == nil {
			s = newSheet(look.Palette)
			made[look.Palette] = s
		}
		p.sheets[g], any = s, true
	}
	if !any {
		return nil
	}
	for t := range m.Triangles() {
		p.cellOf(m, t, true)
	}
	for g, s := range p.sheets {
		if s != nil && s.full {
			p.sheets[g] = nil
		}
	}
	var in, textured, all float64
	for t := range m.Triangles() {
		a := areaOf(m, t)
		all += a
		if !looks[m.Groups[t]].Textured {
			continue
		}
		textured += a
		if p.cellOf(m, t, false) >= 0 {
			in += a
		}
	}
	if !(in > 0 && in >= leastShare*textured) {
		return nil
	}
	p.weights = simplify.Weights{UV: -1, Color: colorWeight}
	// The simplifier takes the area of all for that of what has coordinates.
	if rest := (textured - in) / all; rest > 1e-3 {
		p.weights.UV = uvWeight * math.Sqrt(rest)
	}
	return p
}

const (
	uvWeight = 0.1 // the simplifier's default
	// colorWeight is more than the simplifier's default for colours of vertices: they
	// are all that is seen of a palette.
	colorWeight = 3
)

// cellOf returns the cell of a triangle, -1 for none.
func (p *Palettes) cellOf(m *simplify.Mesh, t int, grow bool) int {
	s := p.sheets[m.Groups[t]]
	if s == nil {
		return -1
	}
	v := m.Indices[3*t : 3*t+3]
	r, ok := s.cover(&[3][2]float32{m.UV[0][v[0]], m.UV[0][v[1]], m.UV[0][v[2]]})
	if !ok {
		return -1
	}
	return s.find(r, grow)
}

// Apply sets the options for what Prepare returns; weights that are given stay.
func (p *Palettes) Apply(o *simplify.Options) {
	o.ColorSeams = true
	if o.Weights.UV == 0 {
		o.Weights.UV = p.weights.UV
	}
	if o.Weights.Color == 0 {
		o.Weights.Color = p.weights.Color
	}
}

// Prepare returns a mesh for the simplifier, with a group for each cell and the
// sampled colours. Triangles keep their order. The mesh is the one that Find got, or
// one that Restore made of it.
func (p *Palettes) Prepare(m *simplify.Mesh) *simplify.Mesh {
	out := &simplify.Mesh{Indices: make([]uint32, len(m.Indices)), Groups: make([]int32, len(m.Groups))}
	type corner struct {
		vertex uint32
		group  int32
	}
	known := make(map[corner]uint32, len(m.Positions))
	var from []corner
	for t, g := range m.Groups {
		k := key{g, p.cellOf(m, t, false)}
		group, ok := p.known[k]
		if !ok {
			group = int32(len(p.groups))
			p.known[k], p.groups = group, append(p.groups, k)
		}
		out.Groups[t] = group
		for i := range 3 {
			c := corner{m.Indices[3*t+i], group}
			v, ok := known[c]
			if !ok {
				v = uint32(len(from))
				known[c], from = v, append(from, c)
			}
			out.Indices[3*t+i] = v
		}
	}
	out.Colors = make([][4]float32, len(from))
	out.UV[0] = make([][2]float32, len(from))
	for i, c := range from {
		out.Positions = append(out.Positions, m.Positions[c.vertex])
		if m.Normals != nil {
			out.Normals = append(out.Normals, m.Normals[c.vertex])
		}
		if m.UV[1] != nil {
			out.UV[1] = append(out.UV[1], m.UV[1][c.vertex])
		}
		k, uv := p.groups[c.group], m.UV[0][c.vertex]
		out.UV[0][i], out.Colors[i] = uv, [4]float32{1, 1, 1, 1}
		if k.cell >= 0 {
			s := p.sheets[k.group]
			uv = s.settle(uv, k.cell)
			out.UV[0][i] = [2]float32{uv[0] * shrink, uv[1] * shrink}
			out.Colors[i] = s.sample(uv, s.cells[k.cell])
		}
	}
	return out
}

// Restore takes back what Prepare did, in a mesh that the simplifier made. Its
// triangles keep their order.
func (p *Palettes) Restore(m *simplify.Mesh) *simplify.Mesh {
	out := *m
	out.Colors = nil
	out.UV[0] = slices.Clone(m.UV[0])
	out.Groups = make([]int32, len(m.Groups))
	done := make([]bool, len(m.Positions))
	for t, group := range m.Groups {
		k := p.groups[group]
		out.Groups[t] = k.group
		if k.cell < 0 {
			continue
		}
		for _, v := range m.Indices[3*t : 3*t+3] {
			if !done[v] { // no other group has it
				done[v] = true
				uv := m.UV[0][v]
				out.UV[0][v] = [2]float32{uv[0] / shrink, uv[1] / shrink}
			}
		}
	}
	return &out
}

// areaOf returns a triangle's area.
func areaOf(m *simplify.Mesh, t int) float64 {
	v := m.Indices[3*t : 3*t+3]
	a := m.Positions[v[0]]
	return m.Positions[v[1]].Sub(a).Cross(m.Positions[v[2]].Sub(a)).Len() / 2
}
