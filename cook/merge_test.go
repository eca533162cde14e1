package cook

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/format/vertex"
)

// strip is a packed row of triangles with n vertices.
func strip(n int) *mesh.Packed {
	p := &mesh.Packed{Vertices: make([]byte, n*vertex.Size)}
	for i := range n {
		vertex.Put(p.Vertices[i*vertex.Size:], &vertex.Vertex{Position: [3]float32{float32(i), float32(i % 2), 0}})
	}
	for i := uint32(0); int(i)+2 < n; i++ {
		p.Indices = append(p.Indices, i, i+1, i+2)
	}
	return p
}

func TestMerge(t *testing.T) {
	class := []int{0, 1, 0} // materials 0 and 2 are equal
	in := []drawable{
		{name: "a", material: 0, packed: strip(10)},
		{name: "b", material: 1, packed: strip(10)},
		{name: "c", material: 2, packed: strip(10)},
		{name: "d", material: 0, packed: strip(10), identity: true},
		{name: "e", material: 0, packed: strip(65530)}, // would pass 16 bits with a and c
		{name: "f", material: 2, packed: strip(5)},     // joins e
		{name: "g", material: 1, packed: strip(100000)},
	}
	var got []string
	for _, d := range merge(in, class) {
		got = append(got, fmt.Sprintf("%s/%d", d.name, d.packed.VertexCount()))
		for _, v := range d.packed.Indices {
			if int(v) >= d.packed.VertexCount() {
				t.Fatalf("%s: index %d of %d", d.name, v, d.packed.VertexCount())
			}
		}
	}
	want := []string{"a/20", "b/10", "d/10", "e/65535", "g/65535", "g_part2/34467"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestMaterialClasses(t *testing.T) {
	base := defaultMaterial()
	named := base
	named.Name, named.Index = "other", 7
	rough := base
	rough.Roughness = 0.5
	sided := base
	sided.DoubleSided = true
	strength := base
	strength.OcclusionStrength = 0.5
	image := func(i int) gltfscene.Material {
		m := base
		m.BaseColorTex.Image = i
		return m
	}
	moved := image(0)
	moved.BaseColorTex.Offset = [2]float64{0.5, 0}
	staged := []texture.Staged{{File: "a.png"}, {File: "a.png"}, {File: "b.png"}, {Err: texture.ErrFormat}}
	got := materialClasses([]gltfscene.Material{base, named, rough, sided, strength, image(0), image(1), image(2), image(3), moved}, staged)
	want := []int{0, 0, 2, 3, 4, 5, 5, 7, 0, 5}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
