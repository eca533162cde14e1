package octree_test

import (
	"fmt"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/octree"
)

func ExampleTree_Sphere() {
	tree := octree.New([]geom.Box{
		{Min: geom.Vec3{0, 0, 0}, Max: geom.Vec3{10, 10, 10}},
		{Min: geom.Vec3{50, 0, 0}, Max: geom.Vec3{60, 10, 10}},
		{Min: geom.Vec3{13, 0, 0}, Max: geom.Vec3{20, 10, 10}},
	})
	var found []int32
	found = tree.Sphere(geom.Vec3{10, 5, 5}, 3, found[:0])
	fmt.Println(found)
	// Output: [0 2]
}
