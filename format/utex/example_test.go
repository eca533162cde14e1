package utex_test

import (
	"bytes"
	"fmt"

	"github.com/untoldkit/untold/format/utex"
)

func Example() {
	var file bytes.Buffer
	w, err := utex.NewWriter(&file, 8, 8, utex.BC7SRGB, 0)
	if err != nil {
		panic(err)
	}
	for _, l := range w.Info().Levels {
		if err := w.WriteLevel(make([]byte, l.Size)); err != nil { // blocks of an encoder
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}

	r, err := utex.NewBytesReader(file.Bytes())
	if err != nil {
		panic(err)
	}
	first := r.StartLevel(4) // as far away, 4 x 4 texels do
	levels, err := r.ReadLevels(first)
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Format, r.Width, "x", r.Height, "from level", first, len(levels), "levels", r.Bytes(first), "bytes")
	fmt.Println("they are in the first", r.Prefix(first), "bytes of", file.Len())
	// Output:
	// BC7-sRGB 8 x 8 from level 1 3 levels 48 bytes
	// they are in the first 176 bytes of 240
}
