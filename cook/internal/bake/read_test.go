package bake

import (
	"image"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
)

// ReadNormals returns what Bake has written: the normals of the surface, in its own space,
// whatever way the charts lie.
func TestReadNormals(t *testing.T) {
	positions, indices := plane(10, 0)
	detailed, _ := plane(10, 0)
	want := geom.Vec3{0.6, 0.8, 0}
	var normals [][3]float32
	for range detailed {
		normals = append(normals, want.F32())
	}
	s := &Surface{Positions: detailed, Indices: indices, Normals: normals, Looks: looks([4]float32{1, 1, 1, 1}), Materials: make([]int32, len(indices)/3)}
	charts := Unwrap(positions, indices)
	layout, err := Pack(charts, 64)
	if err != nil {
		t.Fatal(err)
	}
	corners, uv, from := layout.Mesh(indices)
	for _, turn := range [][4]float32{{1, 0, 0, 1}, {0, 0, 1, -1}, {-1, 0, 0, -1}} {
		c := &Coarse{Indices: corners}
		for _, v := range from {
			c.Positions = append(c.Positions, positions[v])
			c.Normals, c.Tangents = append(c.Normals, [3]float32{0, 1, 0}), append(c.Tangents, turn)
		}
		a, err := Bake(s, c, layout, Options{Reach: 1, Ahead: 1, Encode: func(v float32) uint8 { return unit(float64(v)) }, Jobs: 1})
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for i, n := range c.ReadNormals(uv, a.Normal) {
			if n == (geom.Vec3{}) {
				continue
			}
			if found++; n.Sub(want).Len() > 0.02 {
				t.Fatalf("turned by %v texel %d is %v, want %v", turn, i, n, want)
			}
		}
		if found < len(a.Texels)/4 {
			t.Errorf("turned by %v: %d of %d texels have a normal", turn, found, len(a.Texels)/4)
		}
	}
}

// ReadNormals gives texels off all triangles none, and survives places that are nowhere.
func TestReadNormalsOutside(t *testing.T) {
	c := &Coarse{
		Positions: []geom.Vec3{{0, 0, 0}, {0, 0, 1}, {1, 0, 0}}, Indices: []uint32{0, 1, 2},
		Normals: make([][3]float32, 3), Tangents: make([][4]float32, 3),
	}
	img := image.NewNRGBA(image.Rect(0, 0, 16, 16))
	for _, uv := range [][][2]float32{{{0, 0}, {0, 0.1}, {0.1, 0}}, {{-5, 9}, {1e30, -1e30}, {7, 7}}, {{0.5, 0.5}, {0.5, 0.5}, {0.5, 0.5}}} {
		out := c.ReadNormals(uv, img)
		far := 0
		for _, n := range out {
			if n == (geom.Vec3{}) {
				far++
			} else if l := n.Len(); !(l > 0.999 && l < 1.001) {
				t.Errorf("places %v: a normal %v", uv, n)
			}
		}
		if large := uv[1][0] > 1; len(out) != 256 || !large && (far == 0 || far == 256) {
			t.Errorf("places %v: %d normals, %d of them none", uv, len(out), far)
		}
	}
}
