package palette

import (
	"image"
	"math"
	"testing"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// sixteen is a palette of 4 x 4 cells of 16 texels, the last row of which are
// gradients downwards.
func sixteen() *appearance.Texture {
	img := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	for y := range 64 {
		for x := range 64 {
			cell := x/16 + y/16*4
			r, g, b := uint8(cell*53), uint8(cell*97+40), uint8(cell*151+90)
			if y >= 48 {
				r, g, b = uint8(80+60*(x/16)), uint8(5*(y-48)), 60
			}
			copy(img.Pix[y*img.Stride+4*x:], []byte{r, g, b, 255})
		}
	}
	return appearance.NewTexture(img, texture.Linear)
}

// wall is n x n squares of 1 m that share vertices where they have one cell: of
// stripes of two cells, or of one.
func wall(n int, cell func(i int) (u, v float32)) *simplify.Mesh {
	m := &simplify.Mesh{Normals: [][3]float32{}}
	for i := range n {
		u, v := cell(i)
		first := uint32(len(m.Positions))
		for k := range n + 1 {
			for side := range 2 {
				m.Positions = append(m.Positions, geom.Vec3{float64(i + side), float64(k), 0})
				m.Normals = append(m.Normals, [3]float32{0, 0, 1})
				// Coordinates wander within the cell.
				m.UV[0] = append(m.UV[0], [2]float32{u + float32((i*7+k*3+side)%5)/64, v + float32((k*5+i)%4)/64})
			}
		}
		for k := range uint32(n) {
			a := first + 2*k
			m.Indices = append(m.Indices, a, a+1, a+3, a, a+3, a+2)
			m.Groups = append(m.Groups, 0, 0)
		}
	}
	return m
}

var flatLook = func() []Look { t := sixteen(); return []Look{{true, t}} }

// Faces of one colour are as if they had one coordinate, and no coordinate leaves
// its cell, whatever the simplifier does.
func TestCells(t *testing.T) {
	stripes := func(i int) (u, v float32) { return float32(i%4)/4 + 0.05, 0.05 }
	m := wall(16, stripes)
	p := Find(m, flatLook())
	if p == nil {
		t.Fatal("no palette")
	}
	if n := len(p.sheets[0].cells); n != 4 {
		t.Errorf("%d cells of 4", n)
	}
	prepared := p.Prepare(m)
	seen := map[[2]float32]bool{}
	for _, uv := range prepared.UV[0] {
		seen[uv] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d coordinates for 4 colours", len(seen))
	}
	o := simplify.Options{Seams: simplify.SeamsWeld, PruneBelow: math.Inf(1)}
	p.Apply(&o)
	if !o.ColorSeams || !(o.Weights.UV < 0) || o.Weights.Color != colorWeight {
		t.Errorf("%+v", o)
	}
	level, r, err := simplify.Simplify(prepared, o, 32, 0)
	if err != nil || r.Triangles > 40 || r.Error > 1e-6 {
		t.Fatalf("%v, %v: 16 stripes of one colour each are 32 triangles", r, err)
	}
	level = p.Restore(level)
	if level.Colors != nil {
		t.Error("colours were not there before")
	}
	for k, g := range level.Groups {
		if g != 0 {
			t.Fatalf("triangle %d is of group %d", k, g)
		}
		v := level.Indices[3*k]
		cell := func(uv [2]float32) int { return int(uv[0]*4) + 4*int(uv[1]*4) }
		x := (level.Positions[v][0] + level.Positions[level.Indices[3*k+1]][0] + level.Positions[level.Indices[3*k+2]][0]) / 3
		want := int(x) % 4
		for _, v := range level.Indices[3*k : 3*k+3] {
			if c := cell(level.UV[0][v]); c != want {
				t.Errorf("triangle %d at %.2f m has cell %d, not %d", k, x, c, want)
			}
		}
	}
}

// In a gradient the coordinate along it stays.
func TestGradient(t *testing.T) {
	m := wall(4, func(i int) (u, v float32) { return 0.05, 0.8 })
	p := Find(m, flatLook())
	if p == nil {
		t.Fatal("no palette")
	}
	back := p.Restore(p.Prepare(m))
	s := flatLook()[0].Palette
	for c, v := range back.Indices {
		from, to := m.UV[0][m.Indices[c]], back.UV[0][v]
		if from[1] != to[1] || to[0] != back.UV[0][0][0] {
			t.Fatalf("%v became %v", from, to)
		}
		if a, b := s.Encoded(int(from[0]*64), int(from[1]*64)), s.Encoded(int(to[0]*64), int(to[1]*64)); a != b {
			t.Fatalf("colour %v became %v", a, b)
		}
	}
}

// Pictures, meshes with colours of their own, and textures beyond their border are
// no palettes.
func TestNoPalette(t *testing.T) {
	photo := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	for i := range photo.Pix {
		photo.Pix[i] = uint8(i * i >> 3 * 31)
	}
	small := func(i int) (u, v float32) { return float32(i%4)/4 + 0.05, 0.05 }
	colored := wall(4, small)
	colored.Colors = make([][4]float32, len(colored.Positions))
	far := wall(4, small)
	for i := range far.UV[0] {
		far.UV[0][i][0] *= 9
	}
	bare := wall(4, small)
	bare.UV[0] = nil
	for name, c := range map[string]struct {
		m     *simplify.Mesh
		looks []Look
	}{
		"a picture":       {wall(4, small), []Look{{true, appearance.NewTexture(photo, texture.Linear)}}},
		"colours":         {colored, flatLook()},
		"repeats":         {far, flatLook()},
		"no coordinates":  {bare, flatLook()},
		"other textures":  {wall(4, small), []Look{{Textured: true}}},
		"nothing to show": {wall(4, small), []Look{{}}},
	} {
		if Find(c.m, c.looks) != nil {
			t.Errorf("%s: a palette", name)
		}
	}
}

func TestLookOf(t *testing.T) {
	tex := sixteen()
	read := func(int) (*appearance.Texture, error) { return tex, nil }
	none := gltfscene.TextureRef{Image: -1}
	base := gltfscene.Material{BaseColorTex: gltfscene.TextureRef{Image: 3}, NormalTex: none, MetalRoughTex: none, OcclusionTex: none, EmissiveTex: none}
	for _, c := range []struct {
		name   string
		change func(m *gltfscene.Material)
		want   Look
	}{
		{"base colour alone", func(*gltfscene.Material) {}, Look{true, tex}},
		{"it also shines", func(m *gltfscene.Material) { m.EmissiveTex.Image = 3 }, Look{true, tex}},
		{"another one shines", func(m *gltfscene.Material) { m.EmissiveTex.Image = 4 }, Look{true, nil}},
		{"bumps", func(m *gltfscene.Material) { m.NormalTex.Image = 4 }, Look{true, nil}},
		{"bumps alone", func(m *gltfscene.Material) { m.NormalTex.Image, m.BaseColorTex.Image = 4, -1 }, Look{true, nil}},
		{"none", func(m *gltfscene.Material) { m.BaseColorTex.Image = -1 }, Look{}},
	} {
		m := base
		c.change(&m)
		if got, err := LookOf(&m, read); got != c.want || err != nil {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

// What a cell does not hold: any coordinates, of any size.
func TestCover(t *testing.T) {
	s := newSheet(sixteen())
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, uv := range [][3][2]float32{{{nan, 0}, {0, 0}, {0, 0}}, {{inf, 0}, {0, 0}, {0, 0}}, {{0, 0}, {-inf, 0}, {0, 0}}, {{0, 0}, {1.5, 0}, {0, 0}}} {
		if r, ok := s.cover(&uv); ok {
			t.Errorf("%v covers %v", uv, r)
		}
	}
	for uv, want := range map[[3][2]float32]rect{
		{{0, 0}, {0.25, 0}, {0.25, 0.25}}:    {0, 0, 15, 15},
		{{0.25, 1}, {0.25, 1}, {0.25, 1}}:    {16, 0, 16, 0},
		{{3.25, -1}, {3.5, -1}, {3.5, -0.5}}: {16, 0, 31, 31},
	} {
		if r, ok := s.cover(&uv); !ok || r != want {
			t.Errorf("%v covers %v, %t, not %v", uv, r, ok, want)
		}
	}
}

// The border of a texture is the end of the cells before it.
func TestBorder(t *testing.T) {
	s := newSheet(sixteen())
	cell := rect{0, 48, 15, 63}
	s.cells = []rect{cell}
	if got, want := s.sample([2]float32{0.1, 1}, cell), s.sample([2]float32{0.1, 0.999}, cell); got != want {
		t.Errorf("%v at the border, %v before it", got, want)
	}
	s.cells = []rect{{16, 32, 31, 47}, {48, 32, 63, 47}}
	if got := s.settle([2]float32{-2, 0.7}, 1); got != [2]float32{-2.125, 0.625} {
		t.Errorf("settled at %v", got)
	}
}
