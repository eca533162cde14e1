package report_test

import (
	"bytes"
	"fmt"

	"github.com/untoldkit/untold/cook/report"
	"github.com/untoldkit/untold/manifest"
)

// A map needs nothing but a manifest.
func ExampleNewMap() {
	m := &manifest.Manifest{
		Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid,
		Tiles: []manifest.Tile{
			{ID: "tile_0_0_0", FileSizeBytes: 12_000, Bounds: manifest.Bounds{Max: [3]float64{25, 3, 25}}},
			{ID: "tile_1_0_0", FileSizeBytes: 70_000, Bounds: manifest.Bounds{Min: [3]float64{25, 0, 0}, Max: [3]float64{50, 3, 25}}},
		},
	}
	drawing, err := report.NewMap(m, report.MapOptions{Color: report.ColorBytes, Size: 800})
	if err != nil {
		fmt.Println(err)
		return
	}
	var svg bytes.Buffer
	if err := drawing.WriteSVG(&svg); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(bytes.Contains(svg.Bytes(), []byte("Bytes per tile")))
	// Output: true
}

// A foreign manifest can be reported on without the plan that it was made
// from.
func ExampleNew() {
	m := &manifest.Manifest{
		PartitioningMode: manifest.ModeUniformGrid,
		Tiles:            []manifest.Tile{{ID: "tile_0_0_0", FileSizeBytes: 300, TriangleCount: 12}},
		SharedBucket:     &manifest.SharedBucket{Tile: manifest.Tile{ID: manifest.SharedTileID, FileSizeBytes: 100, TriangleCount: 4}},
	}
	r := report.New(m, nil, nil)
	fmt.Printf("%d triangles, %.0f %% of them shared\n", r.Totals.TileTriangles, 100*r.Shared.TriangleShare)
	// Output: 16 triangles, 25 % of them shared
}
