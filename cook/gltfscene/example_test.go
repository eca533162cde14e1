package gltfscene_test

import (
	"context"
	"errors"
	"fmt"
	"testing/fstest"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// A triangle; the buffer holds three positions.
const triangle = `{
  "asset": {"version": "2.0"},
  "scenes": [{"nodes": [0]}],
  "nodes": [{"name": "roof", "mesh": 0, "translation": [0, 5, 0]}],
  "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}, {"mode": 0, "attributes": {"POSITION": 0}}]}],
  "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}],
  "bufferViews": [{"buffer": 0, "byteLength": 36}],
  "buffers": [{"byteLength": 36, "uri": "roof.bin"}]
}`

func ExampleLoadFS() {
	fsys := fstest.MapFS{
		"roof.gltf": {Data: []byte(triangle)},
		"roof.bin":  {Data: make([]byte, 36)},
	}
	scene, err := gltfscene.LoadFS(context.Background(), fsys, "roof.gltf", gltfscene.DefaultOptions())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(scene.Nodes[0].Name, scene.Triangles())
	for _, n := range scene.Notes {
		fmt.Printf("%d x %s (first: %s)\n", n.Count, n.Message, n.Where)
	}
	// Output:
	// roof 1
	// 1 x primitives of points were left out: only triangles are cooked (first: meshes[0].primitives[1])
}

func ExampleError() {
	fsys := fstest.MapFS{"roof.gltf": {Data: []byte(triangle)}}
	_, err := gltfscene.LoadFS(context.Background(), fsys, "roof.gltf", gltfscene.DefaultOptions())
	var e *gltfscene.Error
	if errors.As(err, &e) && errors.Is(err, gltfscene.ErrMissingFile) {
		fmt.Println(e.Place)
		fmt.Println(e.Reason)
	}
	// Output:
	// meshes[0].primitives[0].attributes.POSITION (accessor 0).bufferView: bufferViews[0]: buffers[0]
	// file "roof.bin" is missing
}

// A tree at two levels of detail; both show mesh 0.
const tree = `{
  "asset": {"version": "2.0"},
  "scenes": [{"nodes": [0, 1]}],
  "nodes": [{"name": "Tree_LOD0", "mesh": 0}, {"name": "Tree_LOD1", "mesh": 0}],
  "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
  "accessors": [{"componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [0, 0, 0]}]
}`

func ExampleLODGroup() {
	scene, err := gltfscene.LoadBytes(context.Background(), "tree.gltf", []byte(tree), gltfscene.DefaultOptions())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, group := range scene.LODs {
		for level, l := range group.Levels {
			n := scene.Nodes[l.Nodes[0]]
			fmt.Println(group.Name, level, n.Name, "drawn mesh:", n.Mesh, "own mesh:", n.LOD.Mesh)
		}
	}
	// Output:
	// Tree 0 Tree_LOD0 drawn mesh: 0 own mesh: 0
	// Tree 1 Tree_LOD1 drawn mesh: -1 own mesh: 0
}
