package format_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
)

// Build a container with one triangle, write it, and read it back.
func Example() {
	b := format.NewBuilder(format.FileTile)
	red := b.AddMaterial("Red", records.Material{
		BaseColor: [4]float32{1, 0, 0, 1}, NormalScale: 1, Roughness: 0.5, OcclusionStrength: 1, AlphaCutoff: 0.5,
		BaseColorTexture: records.NoIndex, NormalTexture: records.NoIndex, MetallicTexture: records.NoIndex,
		RoughnessTexture: records.NoIndex, EmissiveTexture: records.NoIndex, OcclusionTexture: records.NoIndex,
	})
	corner := func(x, y float32) vertex.Vertex {
		return vertex.Vertex{
			Position: [3]float32{x, y, 0}, Normal: vertex.PackNormal([3]float32{0, 0, 1}),
			Tangent: vertex.PackTangent([4]float32{1, 0, 0, 1}), Color: [4]uint8{255, 255, 255, 255},
		}
	}
	err := b.AddObject(format.Object{
		Name: "Triangle", MeshName: "TriangleMesh", Material: red, Indices: []uint32{0, 1, 2},
		Vertices: vertex.Append(nil, []vertex.Vertex{corner(0, 0), corner(1, 0), corner(0, 1)}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	if _, err := b.File().WriteTo(&file, format.WriteOptions{Compress: format.ModeAuto}); err != nil {
		fmt.Println(err)
		return
	}

	r, err := format.NewBytesReader(file.Bytes(), format.VerifyOnOpen())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	m := r.Meshes()[0]
	fmt.Println(r.String(m.NameOffset), m.VertexCount, "vertices,", m.IndexCount, m.IndexType, "indices, x from", m.LocalBounds.Min[0], "to", m.LocalBounds.Max[0])
	// Output: TriangleMesh 3 vertices, 3 uint16 indices, x from 0 to 1
}

// Findings carry a stable code, the place and a remedy.
func ExampleValidate() {
	file := strings.NewReader("this is not a container")
	report := format.Validate(file, file.Size(), format.ValidateOptions{})
	for _, f := range report.Findings {
		fmt.Printf("%s %s at byte %d: %s\n", f.Severity, f.Code, f.Offset, f.Hint)
	}
	// Output: error invalid-magic at byte 0: this is not an .untold file
}
