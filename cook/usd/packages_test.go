package usd

import (
	"archive/zip"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// TestNestedPackages: a package may be named any number of times, but packages within each
// other are bounded.
func TestNestedPackages(t *testing.T) {
	part := head + "def Mesh \"World\" {" + quad + "}"
	var b strings.Builder
	b.WriteString(head + "def \"World\" {\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "def \"A%d\" ( references = @k.usdz@ ) {}\n", i)
	}
	m, err := parse([]byte(b.String()+"}"), "a.usda", memory{"k.usdz": packed(t, zip.Store, "a.usda", part)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
	inner := packed(t, zip.Store, "a.usda", part)
	for n := 1; n <= 17; n++ {
		m, err := parse([]byte(inner), "a.usdz", memory{}, Options{})
		switch {
		case err == nil && n <= 16:
			m.Close()
		case n <= 16 || !errors.Is(err, gltfscene.ErrMalformed) || !strings.Contains(err.Error(), "packages nest more than 16 levels"):
			t.Fatalf("%d levels: %v", n, err)
		}
		inner = packed(t, zip.Store, "p.usdz", inner)
	}
}
