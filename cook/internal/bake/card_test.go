package bake

import (
	"image"
	"image/color"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/geom"
)

// TestSpreadCoverage: as many texels are there as are covered in all, none of them empty,
// and full ones before others.
func TestSpreadCoverage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 9).Draw(t, "width")
		covered := rapid.SliceOfN(rapid.Float64Range(0, 4), width, 20*width).Draw(t, "covered")
		covered = covered[:len(covered)/width*width]
		sum, some := 0.0, 0
		for _, c := range covered {
			if sum += c / 4; c > 0 {
				some++
			}
		}
		got := 0
		for i, a := range spreadCoverage(covered, width, 4) {
			switch {
			case a == 1 && covered[i] == 0:
				t.Fatalf("texel %d is empty", i)
			case a == 0 && covered[i] == 4 && sum > float64(some)-0.5:
				t.Fatalf("texel %d is full", i)
			case a == 1:
				got++
			case a != 0:
				t.Fatal(a)
			}
		}
		if want := min(some, int(math.Round(sum))); got != want {
			t.Errorf("%d texels, want %d", got, want)
		}
	})
}

// card bakes one card of 8 x 4 m before a surface.
func card(t *testing.T, s *Surface, c Card, side int) *Atlas {
	t.Helper()
	s.Loose = make([]bool, len(s.Indices)/3)
	for i := range s.Loose {
		s.Loose[i] = true
		c.Things = append(c.Things, Thing{Triangles: []int32{int32(i)}, Centre: geom.Vec3{4, 2, 0}})
	}
	p := []geom.Vec3{{}, {8, 0, 0}, {8, 4, 0}, {0, 4, 0}}
	uv := [4][2]float64{{0, 0}, {8, 0}, {8, 4}, {0, 4}}
	chart := Chart{Triangles: []int32{0, 1}, UV: [][3][2]float64{{uv[0], uv[1], uv[2]}, {uv[0], uv[2], uv[3]}}, Size: [2]float64{8, 4}}
	l, err := Pack([]Chart{chart}, side)
	if err != nil {
		t.Fatal(err)
	}
	indices, _, from := l.Mesh([]uint32{0, 1, 2, 0, 2, 3})
	m := &Coarse{Indices: indices, Cards: []Card{c}}
	for _, v := range from {
		m.Positions, m.Normals = append(m.Positions, p[v]), append(m.Normals, [3]float32{0, 0, 1})
	}
	a, err := Bake(s, m, l, Options{Reach: 1, Ahead: 1, OcclusionRays: 8, OcclusionReach: 5, Encode: plainByte, Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func plainByte(v float32) uint8 { return unit(float64(v)) }

// front is a card that looks to the front.
func front() Card {
	return Card{U: geom.Vec3{1, 0, 0}, V: geom.Vec3{0, 1, 0}, Toward: geom.Vec3{0, 0, 1}, Normal: geom.Vec3{0, 0, 1}, Scale: 1}
}

// TestCard: a card shows what is nearest to who looks at it, in its colour, holes where
// nothing is, and no shadows of others.
func TestCard(t *testing.T) {
	red := Look{BaseColor: [4]float32{1, 0, 0, 1}, DoubleSided: true}
	blue := Look{BaseColor: [4]float32{0, 0, 1, 1}}
	s := &Surface{
		Positions: []geom.Vec3{{0, 0, -1}, {4, 0, -1}, {4, 4, -1}, {0, 4, -1}, {0, 0, 1}, {2, 0, 1}, {2, 4, 1}, {0, 4, 1}, {4, 0, 2}, {8, 0, 2}, {8, 4, 2}, {4, 4, 2}},
		Indices:   []uint32{0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 8, 10, 9, 8, 11, 10},
		Materials: []int32{0, 0, 1, 1, 1, 1}, // the last looks away
		Looks:     []Look{red, blue},
	}
	a := card(t, s, front(), 64)
	counts := map[color.NRGBA]int{}
	for _, at := range a.Texels {
		c := a.Color.NRGBAAt(int(at)%64, int(at)/64)
		if c.A == 0 {
			c = color.NRGBA{}
		}
		counts[c]++
	}
	n := float64(len(a.Texels))
	for c, want := range map[color.NRGBA]float64{{R: 255, A: 255}: 0.25, {B: 255, A: 255}: 0.25, {}: 0.5} {
		if got := float64(counts[c]) / n; math.Abs(got-want) > 0.03 {
			t.Errorf("%v covers %.2f, want %.2f", c, got, want)
		}
	}
	if !a.Coverage || a.ORM != nil && a.ORM.Pix[0] < 250 || a.Missed > 0 {
		t.Errorf("coverage %t, %.2f missed", a.Coverage, a.Missed)
	}
	for i, k := range a.CardOf() {
		if k != 0 {
			t.Fatalf("texel %d is of card %d", i, k)
		}
	}
}

// TestCardOfHalfLeaves: of what is half covered half is there, also in smaller pictures, and
// two layers cover more than one.
func TestCardOfHalfLeaves(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 16, 16))
	for i := range 256 {
		copy(img.Pix[4*i:], []uint8{200, 200, 200, uint8(255 * ((i + i/16) % 2))})
	}
	leaf := Look{BaseColor: [4]float32{1, 1, 1, 1}, DoubleSided: true, Masked: true, Cutoff: 0.5, Color: Texture{Image: NewImage(img, func(v uint8) float32 { return float32(v) / 255 })}}
	s := &Surface{Looks: []Look{leaf}}
	share := func(a *Atlas, l *Layout) float64 {
		n, p := 0, l.Places[0]
		for y := p.Y; y < p.Y+p.H; y++ {
			for x := p.X; x < p.X+p.W; x++ {
				n += int(a.Color.NRGBAAt(x, y).A) / 255
			}
		}
		return float64(n) / float64(p.W*p.H)
	}
	for layers, want := range []float64{0, 0.5, 0.75} {
		if layers == 0 {
			continue
		}
		base := uint32(len(s.Positions))
		z := float64(layers)
		s.Positions = append(s.Positions, geom.Vec3{0, 0, z}, geom.Vec3{8, 0, z}, geom.Vec3{8, 8, z}, geom.Vec3{0, 8, z})
		s.UV[0] = append(s.UV[0], [2]float32{0, 0}, [2]float32{128, 0}, [2]float32{128, 128}, [2]float32{0, 128})
		s.Indices = append(s.Indices, base, base+1, base+2, base, base+2, base+3)
		s.Materials = append(s.Materials, 0, 0)
		a := card(t, s, front(), 64)
		if got := share(a, a.layout); math.Abs(got-want) > 0.06 {
			t.Errorf("%d layers cover %.2f, want %.2f", layers, got, want)
		}
		l, err := Pack(a.layout.Charts, 32)
		if err != nil {
			t.Fatal(err)
		}
		same := func(v float32) uint8 { return unit(float64(v)) }
		small := a.Shrink(a.layout, l, func(v uint8) float32 { return float32(v) / 255 }, same)
		if was, is := share(a, a.layout), share(small, l); math.Abs(was-is) > 0.05 {
			t.Errorf("%d layers covered %.2f and cover %.2f in a smaller picture", layers, was, is)
		}
	}
}
