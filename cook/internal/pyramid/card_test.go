package pyramid

import (
	"bytes"
	"fmt"
	"image"
	"math"
	"testing"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/internal/bake"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
)

// leafPart is an empty part with a material of leaves, of which the texture covers two
// thirds.
func leafPart(color [4]float32) Part {
	img := image.NewNRGBA(image.Rect(0, 0, 24, 24))
	for i := range 24 * 24 {
		copy(img.Pix[4*i:], []uint8{255, 255, 255, 255})
		if (i/4+i/24/4)%3 == 0 {
			img.Pix[4*i+3] = 0
		}
	}
	return Part{
		Bake: bake.Look{
			BaseColor: color, Roughness: 1, Masked: true, Cutoff: 0.2, DoubleSided: true,
			Color: bake.Texture{Image: bake.NewImage(img, texture.Linear)},
		},
		Look: appearance.Material{Color: color, Texture: appearance.NewTexture(img, texture.Linear), Masked: true, Cutoff: 0.2, DoubleSided: true},
		UV:   [][2]float32{},
	}
}

// quad adds a rectangle at a middle, lit from a direction.
func (p *Part) quad(at, right, up, lit geom.Vec3) {
	base := uint32(len(p.Positions))
	for k, s := range [4][2]float64{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}} {
		p.Positions = append(p.Positions, at.Add(right.Scale(s[0])).Add(up.Scale(s[1])))
		p.Normals = append(p.Normals, lit.F32())
		if p.UV != nil {
			p.UV = append(p.UV, [][2]float32{{0, 1}, {1, 1}, {1, 0}, {0, 0}}[k])
		}
	}
	p.Indices = append(p.Indices, base, base+1, base+2, base, base+2, base+3)
}

// tree adds leaves on a ball, and a trunk to other parts.
func tree(leaves, wood *Part, x, z float64, seed int) {
	for i := range 40 {
		y := 1 - float64(2*float64(i)+1)/40
		r := math.Sqrt(1 - y*y)
		turn := float64(i*7+seed) * 2.4
		d := geom.Vec3{r * math.Cos(turn), y, r * math.Sin(turn)}
		right := d.Cross(geom.Vec3{0.3, 1, 0.2}).Normalize(1e-9, geom.Vec3{1, 0, 0})
		leaves.quad(geom.Vec3{x, 6, z}.Add(d.Scale(2)), right.Scale(0.8), d.Cross(right).Scale(0.8), d)
	}
	if wood != nil {
		for k := range 4 {
			n := geom.Vec3{[4]float64{1, 0, -1, 0}[k], 0, [4]float64{0, 1, 0, -1}[k]}
			wood.quad(geom.Vec3{x, 2.5, z}.Add(n.Scale(0.2)), n.Cross(geom.Vec3{0, -1, 0}).Scale(0.2), geom.Vec3{0, 2.5, 0}, n)
		}
	}
}

// grove is n by n trees from a place on.
func grove(x, z float64, n int, step float64) []Part {
	leaves, bark := leafPart([4]float32{0.1, 0.4, 0.05, 1}), Part{
		Bake: bake.Look{BaseColor: [4]float32{0.3, 0.2, 0.1, 1}, Roughness: 1}, Look: appearance.Material{Color: [4]float32{0.3, 0.2, 0.1, 1}},
	}
	for i := range n {
		for k := range n {
			tree(&leaves, &bark, x+float64(i)*step, z+float64(k)*step, i*n+k)
		}
	}
	return []Part{leaves, bark}
}

// compare returns how much of the area of a source's crowns a model covers, as the mean of
// sides that are low and of those that are high, and how far the colour is off.
func compare(t *testing.T, s *Source, m *Model) (low, high, drift float64) {
	t.Helper()
	f := &s.Surface
	full := &appearance.Mesh{Positions: f.Positions, Normals: f.Normals, UV: f.UV[0], Colors: f.Colors, Indices: f.Indices, Materials: f.Materials}
	coarse := m.seen(len(s.Looks))
	surface, cards := m.looks()
	r := appearance.NewFar(full, append(s.Looks[:len(s.Looks):len(s.Looks)], surface, cards))
	var all appearance.Difference
	var parts [2]appearance.Difference
	for side := range appearance.Views {
		a, b := r.Draw(nil, side, 0.5), r.Draw(coarse, side, 0.5)
		for _, d := range []*appearance.Difference{&all, &parts[side/4]} {
			if err := d.Add(a, b); err != nil {
				t.Fatal(err)
			}
		}
	}
	return parts[0].Coverage(), parts[1].Coverage(), all.Drift()
}

// TestGroveKeepsItsVolume: up three levels crowns cover what they did, seen from the side and
// from above, in their colour, within the budget of triangles, whatever the processors.
func TestGroveKeepsItsVolume(t *testing.T) {
	if race.Enabled {
		t.Skip("takes a minute; make test runs it without the race detector")
	}
	o := Options{Triangles: 600, Side: 256, Samples: 2, Jobs: 1}
	var level []*Model
	var all []Child
	for k := range 4 {
		parts := grove(float64(k%2)*48, float64(k/2)*48, 8, 6)
		all = append(all, Child{Parts: parts})
		level = append(level, built(t, Join([]Child{{Parts: parts}}), o))
	}
	full := Join(all)
	budget := o.Triangles
	for height := 2; ; height++ {
		var children []Child
		for _, m := range level {
			if m.Mesh.Bounds().Size()[1] < 6 || len(m.Mesh.Indices) > 3*budget || len(m.cards) == 0 {
				t.Fatalf("level %d: %d triangles, %d cards, %v m", height-1, len(m.Mesh.Indices)/3, len(m.cards), m.Mesh.Bounds().Size())
			}
			children = append(children, Child{Model: m})
		}
		var first *Model
		for _, jobs := range []int{3, 1} {
			o.Jobs = jobs
			m := built(t, Join(children), o)
			if first == nil {
				first = m
			} else if !bytes.Equal(first.Atlas.Color.Pix, m.Atlas.Color.Pix) || fmt.Sprint(first.Mesh) != fmt.Sprint(m.Mesh) {
				t.Error("the model depends on the number of processors")
			}
		}
		for _, shown := range []*Model{first, first.Shown()} {
			low, high, drift := compare(t, full, shown)
			if low < 0.7 || low > 1.4 || high < 0.7 || high > 1.4 || drift > 20 {
				t.Errorf("level %d, %d texels: crowns cover %.2f from the side and %.2f from above, colours are off by %.1f", height, shown.Atlas.Color.Rect.Dx(), low, high, drift)
			}
		}
		for _, c := range children {
			if first.Visual < c.Model.Visual || first.Geometric < c.Model.Geometric {
				t.Errorf("level %d is closer than what it is made of", height)
			}
		}
		if height == 4 {
			break
		}
		level, budget = []*Model{first}, o.Triangles
		o.Triangles /= 2
	}
}

// TestHousesStandAmongTrees: farther up cards leave triangles to houses, which would vanish,
// where fewer cards show the trees nearly as well.
func TestHousesStandAmongTrees(t *testing.T) {
	parts := grove(0, 0, 16, 6)
	for i := range 64 {
		at := geom.Vec3{float64(i%8)*12 + 1, 0, float64(i/8)*12 + 1}
		parts = append(parts, block(at, at.Add(geom.Vec3{5, 10, 5})))
	}
	ground := plain([4]float32{0.5, 0.5, 0.5, 1}, false)
	ground.quad(geom.Vec3{48, 0, 48}, geom.Vec3{50, 0, 0}, geom.Vec3{0, 0, -50}, geom.Vec3{0, 1, 0})
	near := built(t, Join([]Child{{Parts: append(parts, ground)}}), Options{Triangles: 1700, Side: 256, Jobs: 1})
	m := built(t, Join([]Child{{Model: near}}), Options{Triangles: 500, Side: 256, Jobs: 1})
	if cards := len(m.Mesh.Indices)/3 - m.solid; cards > m.solid || cards < 50 {
		t.Errorf("%d triangles of cards beside %d", cards, m.solid)
	}
}

// TestCardsAreLitLikeCrowns: the normals of cards point up and to the side that they are seen
// from, and a flat fence has its own.
func TestCardsAreLitLikeCrowns(t *testing.T) {
	m := built(t, Join([]Child{{Parts: grove(0, 0, 3, 6)}}), Options{Triangles: 90, Side: 128, Jobs: 1})
	for i := 3 * m.solid; i < len(m.Mesh.Indices); i += 3 {
		v := m.Mesh.Indices[i : i+3]
		p := m.Mesh.Positions
		face := p[v[1]].Sub(p[v[0]]).Cross(p[v[2]].Sub(p[v[0]])).Normalize(1e-12, geom.Vec3{})
		n := geom.FromF32(m.Mesh.Normals[v[0]])
		if face.Dot(n) < 0.4 || n[1] < 0.2 {
			t.Errorf("a card that looks to %.2f is lit from %.2f", face, n)
		}
	}
	fence := leafPart([4]float32{1, 1, 1, 1})
	for k := range 30 {
		fence.quad(geom.Vec3{float64(2 * k), 1, 0}, geom.Vec3{1, 0, 0}, geom.Vec3{0, 1, 0}, geom.Vec3{0, 0, 1})
	}
	m = built(t, Join([]Child{{Parts: []Part{fence}}}), Options{Triangles: 100, Side: 128, Jobs: 1})
	if len(m.cards) == 0 {
		t.Fatal("a fence has no cards")
	}
	for _, n := range m.Mesh.Normals {
		if math.Abs(float64(n[2])) < 0.99 {
			t.Errorf("a fence along x is lit from %v", n)
		}
	}
	for _, c := range m.cards {
		if c.Toward[2] == 0 {
			t.Errorf("a fence along x has a card that looks to %v", c.Toward)
		}
	}
}

// ball is a closed sphere of n by n squares, as a part in one colour.
func ball(at geom.Vec3, r float64, n int) Part {
	p := Part{Bake: bake.Look{BaseColor: [4]float32{0.1, 0.3, 0.1, 1}, Roughness: 1}, Look: appearance.Material{Color: [4]float32{0.1, 0.3, 0.1, 1}}}
	for j := range n + 1 {
		for i := range n + 1 {
			a, b := math.Pi*float64(j)/float64(n), 2*math.Pi*float64(i%n)/float64(n)
			d := geom.Vec3{math.Sin(a) * math.Sin(b), math.Cos(a), math.Sin(a) * math.Cos(b)}
			if j == n {
				d = geom.Vec3{0, -1, 0}
			}
			p.Positions, p.Normals = append(p.Positions, at.Add(d.Scale(r))), append(p.Normals, d.F32())
			if i > 0 && j > 0 {
				k := uint32(j*(n+1) + i)
				w := uint32(n + 1)
				p.Indices = append(p.Indices, k-w-1, k-1, k-w, k-w, k-1, k)
			}
		}
	}
	return p
}

// block is a closed box.
func block(lo, hi geom.Vec3) Part {
	p := Part{Bake: bake.Look{BaseColor: [4]float32{1, 1, 1, 1}, Roughness: 1}, Look: appearance.Material{Color: [4]float32{1, 1, 1, 1}}}
	mid, half := lo.Add(hi).Scale(0.5), hi.Sub(lo).Scale(0.5)
	for axis := range 3 {
		for _, sign := range []float64{-1, 1} {
			var n, u, v geom.Vec3
			n[axis], u[(axis+1)%3], v[(axis+2)%3] = sign, half[(axis+1)%3], sign*half[(axis+2)%3]
			p.quad(mid.Add(n.Scale(half[axis])), u, v, n)
		}
	}
	return p
}

// TestFindLoose: leaves, round bushes where there are many, and trunks below leaves are
// loose; ground, houses, poles and what is not cut out of a texture are not.
func TestFindLoose(t *testing.T) {
	ground := block(geom.Vec3{-50, -1, -50}, geom.Vec3{50, 0, 50})
	leaves, wood := leafPart([4]float32{1, 1, 1, 1}), Part{Bake: ground.Bake, Look: ground.Look}
	tree(&leaves, &wood, 0, 0, 1)
	plain := leaves
	plain.Bake.Color.Image = nil
	opaque := leaves
	opaque.Bake.Masked = false
	sheet := leafPart([4]float32{1, 1, 1, 1})
	sheet.quad(geom.Vec3{0, 1, 0}, geom.Vec3{40, 0, 0}, geom.Vec3{0, 1, 0}, geom.Vec3{0, 0, 1})
	empty := leafPart([4]float32{1, 1, 1, 1})
	empty.quad(geom.Vec3{0, 1, 0}, geom.Vec3{}, geom.Vec3{}, geom.Vec3{0, 1, 0})
	line := leafPart([4]float32{1, 1, 1, 1})
	line.quad(geom.Vec3{0, 1, 0}, geom.Vec3{1, 0, 0}, geom.Vec3{}, geom.Vec3{0, 1, 0})
	far := leafPart([4]float32{1, 1, 1, 1})
	far.quad(geom.Vec3{1e200, 1, 1e200}, geom.Vec3{1e200, 0, 0}, geom.Vec3{0, 1e200, 0}, geom.Vec3{0, 0, 1})
	var bushes []Part
	for i := range 20 {
		bushes = append(bushes, ball(geom.Vec3{float64(i*4 - 40), 1, 0}, 1, 8))
	}
	for _, c := range []struct {
		name      string
		parts     []Part
		triangles int
		want      int // triangles that are loose
	}{
		{"a tree", []Part{ground, leaves, wood}, 1000, 80 + 8},
		{"a tree before a house", []Part{ground, leaves, wood, block(geom.Vec3{-3, 0, 3}, geom.Vec3{3, 9, 8})}, 1000, 88},
		{"a pole beside a tree", []Part{ground, leaves, wood, block(geom.Vec3{6, 0, 0}, geom.Vec3{6.2, 5, 0.2})}, 1000, 88},
		{"a pole alone", []Part{ground, block(geom.Vec3{0, 0, 0}, geom.Vec3{0.2, 5, 0.2})}, 1000, 0},
		{"leaves without a texture", []Part{ground, plain}, 1000, 0},
		{"opaque leaves", []Part{ground, opaque}, 1000, 0},
		{"a large sheet", []Part{ground, sheet}, 1000, 0},
		{"leaves without area", []Part{ground, empty, line}, 1000, 0},
		{"few bushes", append([]Part{ground}, bushes...), 1000, 0},
		{"many bushes", append([]Part{ground}, bushes...), 100, 20 * 128},
		{"out of measure", []Part{far}, 1000, 0},
		{"nothing", nil, 1000, 0},
	} {
		s := Join([]Child{{Parts: c.parts}})
		got := 0
		if l := s.findLoose(s.findThings(c.triangles), c.triangles, 1); l != nil {
			for _, is := range l.is {
				if is {
					got++
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %d triangles are loose, want %d", c.name, got, c.want)
		}
		m, err := Build(s, Options{Triangles: c.triangles, Side: 64, Jobs: 1})
		if c.name == "out of measure" || c.name == "nothing" {
			continue // an error or no model, but no panic
		}
		if err != nil || m == nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
