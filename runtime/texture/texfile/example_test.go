package texfile_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"

	"github.com/untoldkit/untold/runtime/texture/texfile"
)

func ExampleDecode() {
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewNRGBA(image.Rect(0, 0, 512, 256))); err != nil {
		panic(err)
	}
	// A material far away needs no more than this.
	img, err := texfile.Decode(&file, texfile.Options{Use: texfile.Color, MaxSize: 128})
	if err != nil {
		panic(err)
	}
	fmt.Println(img.SourceWidth, "x", img.SourceHeight)
	for _, l := range img.Levels[:2] {
		fmt.Println(l.Width, "x", l.Height)
	}
	// Output:
	// 512 x 256
	// 128 x 64
	// 64 x 32
}

func ExampleCheckURI() {
	fmt.Println(texfile.CheckURI("Textures/brick.png"))
	fmt.Println(texfile.CheckURI("../outside.png"))
	// Output:
	// <nil>
	// texture: the URI is not followed: manifest: path leaves the manifest's folder: "../outside.png" holds ".."
}
