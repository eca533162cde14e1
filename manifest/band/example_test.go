package band_test

import (
	"fmt"

	"github.com/untoldkit/untold/manifest/band"
)

func ExampleFit() {
	fit := band.Fit(14, 21, []float64{1}, []float64{0.3, 0.78})
	fmt.Println(fit.Bands)
	for _, d := range fit.Dropped {
		fmt.Println(d)
	}
	// Output:
	// streaming 14, unload 21, hlod 19, lod 15
	// lod level 1 dropped: 2 levels need 8 m between the streaming radius and the next representation's switch, there are 5
}

func ExampleNormalize() {
	written := band.Bands{Streaming: 80, Unload: 120, HLOD: 300, LODs: []float64{80, 150}}
	fmt.Println(band.Normalize(written))
	// Output: streaming 80, unload 120, hlod 119, lod 80 115
}

func ExampleClean() {
	written := band.Bands{Streaming: 80, Unload: 120, HLOD: 300, LODs: []float64{60, 150}}
	fmt.Println(band.Clean(written).Bands)
	// Output: streaming 80, unload 120, hlod 119, lod 80 115
}
