package gltfexport_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/untoldkit/untold/cook/gltfexport"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
)

// A container with one triangle becomes a .glb.
func ExampleExport() {
	dir, err := os.MkdirTemp("", "example-*")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	b := format.NewBuilder(format.FileTile)
	vs := []vertex.Vertex{{}, {Position: [3]float32{1, 0, 0}}, {Position: [3]float32{0, 1, 0}}}
	for i := range vs {
		vs[i].Normal = vertex.PackNormal([3]float32{0, 0, 1})
	}
	err = b.AddObject(format.Object{
		Name: "Triangle", Material: records.NoIndex, Vertices: vertex.Append(nil, vs), Indices: []uint32{0, 1, 2},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := b.File().Encode(format.WriteOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	path := filepath.Join(dir, "triangle.untold")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		fmt.Println(err)
		return
	}
	res, err := gltfexport.Export(context.Background(), path, filepath.Join(dir, "triangle.glb"), gltfexport.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Nodes, "node,", res.Meshes, "mesh,", res.Triangles, "triangle")
	// Output: 1 node, 1 mesh, 1 triangle
}
