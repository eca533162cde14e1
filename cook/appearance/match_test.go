package appearance

import (
	"image"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/internal/geom"
)

// plate is a square of ten metres on the ground.
func plate(height float64, at, size float64, material int32, m *Mesh) {
	base := uint32(len(m.Positions))
	for _, c := range [4][2]float64{{0, 0}, {0, 1}, {1, 1}, {1, 0}} {
		m.Positions = append(m.Positions, geom.Vec3{at + size*c[0], height, at + size*c[1]})
		m.UV = append(m.UV, [2]float32{float32(c[0]), float32(c[1])})
	}
	for _, v := range []uint32{0, 1, 2, 0, 2, 3} {
		m.Indices = append(m.Indices, base+v)
	}
	m.Materials = append(m.Materials, material, material)
}

// TestMatch: a plate takes the colour of what lay on it and is gone, texels that no
// side shows stay as they are, and the pictures agree afterwards.
func TestMatch(t *testing.T) {
	full := &Mesh{}
	plate(0, 0, 10, 0, full)
	plate(0.5, 3, 4, 1, full)
	const side = 128
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		copy(img.Pix[4*i:], []uint8{128, 128, 128, 255})
	}
	own := func() Material {
		return Material{Color: [4]float32{1, 1, 1, 1}, Texture: NewTexture(img, texture.Linear)}
	}
	gray := texture.Linear(128)
	materials := []Material{{Color: [4]float32{gray, gray, gray, 1}}, {Color: [4]float32{0.1, 0.6, 0.1, 1}}, own()}
	coarse := &Mesh{}
	plate(0, 0, 10, 2, coarse)
	r := New(full, materials)
	_, before := r.Compare(coarse)
	texels := &Texels{Image: img, Size: 10.0 / side}
	for i := range side * side {
		texels.At = append(texels.At, int32(i))
		texels.Points = append(texels.Points, geom.Vec3{10 * (float64(i%side) + 0.5) / side, 0, 10 * (float64(i/side) + 0.5) / side})
		face := geom.Vec3{0, 1, 0}
		if i == 0 {
			face = geom.Vec3{0, -1, 0}
		}
		texels.Faces = append(texels.Faces, face)
	}
	steps := 0
	r.Match(coarse, 2, 1, texels, texture.Linear, texture.FromLinear, func() { steps++ })
	if _, after := r.Compare(coarse); before < 10 || after > 1.5 || steps == 0 {
		t.Errorf("mean colours were %v apart and are %v, after %d steps", before, after, steps)
	}
	middle, corner := img.NRGBAAt(side/2, side/2), img.NRGBAAt(1, side-2)
	if middle.G < middle.R+60 || corner.G > corner.R+30 || img.NRGBAAt(0, 0).R != 128 {
		t.Errorf("the middle is %v, a corner %v, what is not seen %v", middle, corner, img.NRGBAAt(0, 0))
	}
}

// TestMatchPools: texels of a pool become lighter or darker by one factor, and keep their
// hues.
func TestMatchPools(t *testing.T) {
	colors := [][3]int32{{1000, 2000, 100}, {500, 1000, 50}, {3000, 0, 0}, {7, 7, 7}}
	sums := [][4]int64{{100, 100, 1000, 1}, {200, 200, -1000, 2}, {5, 6, 7, 1}, {}}
	pool([]int32{0, 0, -1, 1}, colors, sums)
	want := [][4]int64{{133, 133, 0, 1}, {67, 67, 0, 1}, {5, 6, 7, 1}, {}}
	for i := range want {
		if sums[i] != want[i] {
			t.Errorf("texel %d: %v, want %v", i, sums[i], want[i])
		}
	}
	far := [][4]int64{{1 << 20, -1 << 20, 0, 1}}
	pool([]int32{0}, [][3]int32{{1000, 1200, 5}}, far)
	if far[0] != [4]int64{200, -200, 0, 1} {
		t.Errorf("a step of %v", far[0])
	}
}

// TestSurroundings: sums are those of all pixels within a square.
func TestSurroundings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 40).Draw(t, "w"), rapid.IntRange(1, 40).Draw(t, "h")
		width := rapid.IntRange(1, matchWidest).Draw(t, "width")
		s := surroundings{values: make([]lighter, w*h), rows: make([]lighter, w*h)}
		for i := range s.values {
			for k := range s.values[i] {
				s.values[i][k] = int32(i*i%97*(k+1)) - 40
			}
		}
		want := make([]lighter, w*h)
		for i := range want {
			for y := max(0, i/w-width); y <= min(h-1, i/w+width); y++ {
				for x := max(0, i%w-width); x <= min(w-1, i%w+width); x++ {
					want[i].add(&s.values[y*w+x])
				}
			}
		}
		if s.sum(w, h, width); !slices.Equal(s.values, want) {
			t.Fatalf("%v, want %v", s.values, want)
		}
	})
}
