package partition_test

import (
	"fmt"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/partition"
)

func ExampleGrid() {
	objects := []partition.Object{
		{ID: 0, Name: "crate", Box: geom.Box{Min: geom.Vec3{2, 0, -6}, Max: geom.Vec3{4, 2, -4}}},
		{ID: 1, Name: "wall", Box: geom.Box{Min: geom.Vec3{8, 0, -4}, Max: geom.Vec3{14, 3, -3}}},
		{ID: 2, Name: "ground", Box: geom.Box{Min: geom.Vec3{0, -1, -90}, Max: geom.Vec3{90, 0, 0}}},
	}
	plan, err := partition.Grid(objects, partition.GridOptions{TileSize: geom.Vec3{10, 10000, 10}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range plan.Tiles {
		fmt.Println(t.ID, t.Objects)
	}
	fmt.Println("shared", plan.Shared, plan.Objects[2].Export, plan.Objects[2].Reasons.Strings())
	// Output:
	// tile_0_0_0 [0 1]
	// tile_1_0_0 [1]
	// shared [2] shared_bucket [width_threshold depth_threshold overlap_threshold]
}

func ExampleSanitize() {
	fmt.Println(partition.Sanitize("My Object! (v2)"))
	// Output: My_Object___v2
}
