package diff_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/untoldkit/untold/cook/diff"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
)

// Two containers with a triangle each, which lies elsewhere in the second.
func ExampleCompare() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	var paths []string
	for i, x := range []float32{0, 2.5} {
		b := format.NewBuilder(format.FileTile)
		corners := []vertex.Vertex{{Position: [3]float32{x, 0, 0}}, {Position: [3]float32{x + 1, 0, 0}}, {Position: [3]float32{x, 1, 0}}}
		err := b.AddObject(format.Object{Name: "Sail", Material: records.NoIndex, Vertices: vertex.Append(nil, corners), Indices: []uint32{0, 1, 2}})
		if err != nil {
			fmt.Println(err)
			return
		}
		data, err := b.File().Encode(format.WriteOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("%d.untold", i)))
		if err := os.WriteFile(paths[i], data, 0o644); err != nil {
			fmt.Println(err)
			return
		}
	}
	r, err := diff.Compare(context.Background(), paths[0], paths[1], diff.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Differ, r.Triangles.Moved, "moved by", *r.Triangles.Moves[0].By)
	// Output: true 1 moved by [2.5 0 0]
}
