package ktx2_test

import (
	"bytes"
	"fmt"
	"os"

	"github.com/untoldkit/untold/internal/ktx2"
)

// Files of any size are told from their header; pixels are decoded level by level.
func ExampleParse() {
	data, err := os.ReadFile("testdata/etc1s-alpha.ktx2")
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := ktx2.Parse(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s, %d x %d pixels, %d levels\n", f.Kind(), f.Width, f.Height, f.Levels())
	for level := range 2 {
		img, err := f.Decode(level)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(img.Rect.Dx(), "x", img.Rect.Dy(), img.NRGBAAt(0, 0))
	}
	// Output:
	// ETC1S, 40 x 24 pixels, 6 levels
	// 40 x 24 {0 3 118 0}
	// 20 x 12 {45 62 144 0}
}

// What is written can be read again.
func ExampleWrite() {
	var file bytes.Buffer
	err := ktx2.Write(&file, ktx2.Content{
		Format: ktx2.RGBA8SRGB, Width: 2, Height: 1, Transfer: ktx2.TransferSRGB, Scheme: ktx2.Zstandard,
		Metadata: map[string]string{ktx2.KeyWriter: "example"},
		Levels:   [][]byte{{255, 0, 0, 255, 0, 0, 255, 128}, {128, 0, 128, 192}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := ktx2.Parse(file.Bytes())
	if err != nil {
		fmt.Println(err)
		return
	}
	img, err := f.Decode(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Kind(), f.Levels(), img.NRGBAAt(0, 0))
	// Output: RGBA8 sRGB 2 {128 0 128 192}
}
