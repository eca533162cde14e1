//go:build !js

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "the viewer runs in a browser: build it with GOOS=js GOARCH=wasm, as scripts/build-web.sh does")
	os.Exit(2)
}
