package pyramid

import (
	"bytes"
	"math"
	"testing"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/internal/bake"
	"github.com/untoldkit/untold/internal/geom"
)

// field is a waving ground of n x n quads of a metre in one colour, from x on.
func field(n int, x float64, color [4]float32) *Source {
	p := Part{Bake: bake.Look{BaseColor: color, Roughness: 1}, Look: appearance.Material{Color: color}}
	for i := range n + 1 {
		for k := range n + 1 {
			h := float64(float64((i*7+k*5)%11) / 20)
			p.Positions = append(p.Positions, geom.Vec3{x + float64(i), h, float64(k)})
			p.Normals = append(p.Normals, [3]float32{0, 1, 0})
			if i > 0 && k > 0 {
				a, b := uint32((i-1)*(n+1)+k-1), uint32(i*(n+1)+k-1)
				p.Indices = append(p.Indices, a, a+1, b, b, a+1, b+1)
			}
		}
	}
	return Join([]Child{{Parts: []Part{p}}})
}

func built(t *testing.T, s *Source, o Options) *Model {
	t.Helper()
	m, err := Build(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestBuild: a model keeps to its budget, a node tells its children apart and shows
// each in its colour, errors add up, and nothing depends on the processors.
func TestBuild(t *testing.T) {
	leaf := Options{Triangles: 200, Side: 64, Jobs: 1}
	red, blue := [4]float32{0.8, 0.1, 0.1, 1}, [4]float32{0.1, 0.1, 0.8, 1}
	models := []*Model{built(t, field(20, 0, red), leaf), nil, built(t, field(20, 20, blue), leaf)}
	var children []Child
	for _, m := range models {
		children = append(children, Child{Model: m})
		if m != nil && (len(m.Mesh.Indices) > 3*200 || m.Geometric <= 0 || m.Texels == 0 || m.DoubleSided) {
			t.Errorf("%d triangles, %v m, %d texels", len(m.Mesh.Indices)/3, m.Geometric, m.Texels)
		}
	}
	var first *Model
	for _, jobs := range []int{1, 3} {
		n := built(t, Join(children), Options{Triangles: 150, Side: 64, Jobs: jobs})
		if len(n.Mesh.Indices) > 3*150 || len(n.Groups) != len(n.Mesh.Indices)/3 {
			t.Errorf("%d triangles, %d groups", len(n.Mesh.Indices)/3, len(n.Groups))
		}
		if n.Geometric < models[0].Geometric || n.Visual < models[2].Visual {
			t.Errorf("%v m and %v m are less than below", n.Geometric, n.Visual)
		}
		for k, g := range n.Groups {
			x, uv := 0.0, [2]float32{}
			for _, v := range n.Mesh.Indices[3*k : 3*k+3] {
				x += n.Mesh.Positions[v][0] / 3
				uv[0], uv[1] = uv[0]+n.Mesh.UV[0][v][0]/3, uv[1]+n.Mesh.UV[0][v][1]/3
			}
			if g != 0 && g != 2 || (g == 2) != (x > 20) {
				t.Fatalf("a triangle at x = %v m belongs to child %d", x, g)
			}
			c := n.Atlas.Color.NRGBAAt(int(uv[0]*64), int(uv[1]*64))
			if (g == 2) != (c.B > c.R) {
				t.Fatalf("child %d shows %v", g, c)
			}
		}
		if first == nil {
			first = n
		} else if !bytes.Equal(first.Atlas.Color.Pix, n.Atlas.Color.Pix) || first.Visual != n.Visual || first.Geometric != n.Geometric {
			t.Error("the result depends on the processors")
		}
	}
	if m, err := Build(Join(nil), leaf); m != nil || err != nil {
		t.Error(m, err)
	}
}

// TestShown: a model that is seen from afar gets a square whose texels are about pixels
// there, with the triangles that it had; one that is seen from near keeps its own.
func TestShown(t *testing.T) {
	m := built(t, field(20, 0, [4]float32{0.8, 0.1, 0.1, 1}), Options{Triangles: 200, Side: 256, Jobs: 1})
	for _, c := range []struct {
		visual float64 // metres
		want   int     // texels
	}{{0.01, 256}, {0.6, 128}, {5, 64}, {1000, 64}} {
		m.Visual = c.visual
		s := m.Shown()
		if got := s.Atlas.Color.Rect.Dx(); got != c.want || len(s.Mesh.Indices) != len(m.Mesh.Indices) || s.Visual != m.Visual {
			t.Errorf("%v m: %d texels and %d triangles", c.visual, got, len(s.Mesh.Indices)/3)
		}
		for _, v := range s.Mesh.Indices[:30] {
			uv := s.Mesh.UV[0][v]
			n := float32(s.Atlas.Color.Rect.Dx() - 1)
			if at := s.Atlas.Color.NRGBAAt(int(uv[0]*n), int(uv[1]*n)); at.R < 200 || at.B > 120 {
				t.Fatalf("%v m: %v at %v", c.visual, at, uv)
			}
		}
	}
}

// TestTextureScale: the scale of a node's textures is that of its large charts, whatever is
// too narrow for a texel.
func TestTextureScale(t *testing.T) {
	ground := Part{Bake: bake.Look{BaseColor: [4]float32{1, 1, 1, 1}, Roughness: 1}, Look: appearance.Material{Color: [4]float32{1, 1, 1, 1}}}
	ground.quad(geom.Vec3{0, 0, 0}, geom.Vec3{100, 0, 0}, geom.Vec3{0, 0, -100}, geom.Vec3{0, 1, 0})
	for i := range 100 { // 15 % of the area
		ground.quad(geom.Vec3{float64(i), 1, 0}, geom.Vec3{0.18, 0, 0}, geom.Vec3{0, 0, -100}, geom.Vec3{0, 1, 0})
	}
	m := built(t, Join([]Child{{Parts: []Part{ground}}}), Options{Triangles: 1000, Side: 256, Jobs: 1})
	for _, m := range []*Model{m, m.Shown()} {
		want, far := 0.0, 0.0
		for i, p := range m.Mesh.Positions {
			for k, q := range m.Mesh.Positions[:i] {
				if d := p.Sub(q).Len(); d > far && p[1] == 0 && q[1] == 0 {
					a, b := m.Mesh.UV[0][i], m.Mesh.UV[0][k]
					far, want = d, math.Hypot(float64(a[0]-b[0]), float64(a[1]-b[1]))/d
				}
			}
		}
		if got := m.TextureScale(); !(math.Abs(got-want) < 0.03*want) {
			t.Errorf("%v of the side on a metre, of the ground %v", got, want)
		}
	}
}

// TestCardsAreLitByVertices: both sides of a card show the same texels, which light can be
// of one of them alone; what else a model has is lit by its texels.
func TestCardsAreLitByVertices(t *testing.T) {
	leaves, wood := leafPart([4]float32{0.2, 0.6, 0.2, 1}), Part{}
	ground := block(geom.Vec3{-20, -1, -20}, geom.Vec3{20, 0, 20})
	wood.Bake, wood.Look = ground.Bake, ground.Look
	tree(&leaves, &wood, 0, 0, 1)
	m := built(t, Join([]Child{{Parts: []Part{ground, block(geom.Vec3{5, 0, 5}, geom.Vec3{9, 4, 9}), leaves, wood}}}), Options{Triangles: 60, Side: 64, Flush: 0.2, Jobs: 1})
	if m.solid == 0 || m.solid >= len(m.Mesh.Indices)/3 {
		t.Fatalf("%d of %d triangles are no cards", m.solid, len(m.Mesh.Indices)/3)
	}
	s := Join([]Child{{Model: m}, {Model: m}})
	for i, material := range s.Surface.Materials {
		card := i%(len(s.Surface.Materials)/2) >= m.solid
		if lit := s.Looks[material].Light != nil; lit != (!card && m.Atlas.Normal != nil) {
			t.Fatalf("triangle %d, of a card: %v, is lit by texels: %v", i, card, lit)
		}
	}
	if len(s.Looks) != 4 || len(s.Surface.Looks) != 4 {
		t.Errorf("%d and %d looks", len(s.Looks), len(s.Surface.Looks))
	}
}

// TestModelsOfChildren: a node above nodes is made of what these were made of. So it is no farther
// from that for what its children lack, it is off by no less than they are, and each of its
// triangles is of a child. Of too many models it is made of its children.
func TestModelsOfChildren(t *testing.T) {
	leaf, few := Options{Triangles: 200, Side: 64, Jobs: 1}, Options{Triangles: 60, Side: 64, Jobs: 1}
	gray := [4]float32{0.5, 0.5, 0.5, 1}
	var children, alone []Child
	for i := range 2 {
		var below []Child
		var of []*Model
		for k := range 2 {
			m := built(t, field(20, float64(40*i+20*k), gray), leaf)
			below, of = append(below, Child{Model: m}), append(of, m)
		}
		m := built(t, Join(below), few)
		children, alone = append(children, Child{Model: m, Of: of}), append(alone, Child{Model: m})
	}
	deep, flat := built(t, Join(children), few), built(t, Join(alone), few)
	if deep.Geometric >= flat.Geometric {
		t.Errorf("%v m off, %v when made of its children", deep.Geometric, flat.Geometric)
	}
	for _, g := range deep.Groups {
		if g != 0 && g != 1 {
			t.Fatalf("a triangle is of child %d", g)
		}
	}
	for i := range children {
		children[i].Model.Geometric, children[i].Model.Visual = 50, 60
	}
	if m := built(t, Join(children), few); m.Geometric != 50 || m.Visual != 60 {
		t.Errorf("%v and %v m off, children by 50 and 60", m.Geometric, m.Visual)
	}
	for len(children[0].Of) < ofMost {
		children[0].Of = append(children[0].Of, children[0].Of[0])
	}
	if a, b := Join(children), Join(alone); len(a.Groups) != len(b.Groups) {
		t.Errorf("%d triangles of %d models, %d of the children", len(a.Groups), ofMost+2, len(b.Groups))
	}
}
