package format

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWriterReproducesGoldenTriangle(t *testing.T) {
	got := mustEncode(t, triangleFile(t), ModeNone)
	sum := sha256.Sum256(got)
	const want = "aad07a18858584cbe0b17f2f943d1017fe1260d59c13e93e584f0171e4832de0"
	if hex.EncodeToString(sum[:]) != want {
		t.Errorf("the triangle tile has hash %x, want %s", sum, want)
	}
	if golden := vector(t, "triangle_none.untold"); !bytes.Equal(got, golden) {
		t.Errorf("bytes differ from the golden file (%d and %d bytes)", len(got), len(golden))
	}
}

func TestReaderReadsGoldenTriangles(t *testing.T) {
	want := triangleFile(t)
	for _, name := range []string{"triangle_none.untold", "triangle_lz4.untold"} {
		t.Run(name, func(t *testing.T) {
			data := vector(t, name)
			r, err := NewBytesReader(data, VerifyOnOpen())
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.ToFile()
			if err != nil {
				t.Fatal(err)
			}
			got.Textures = nil
			for i := range got.Materials {
				got.Materials[i].HeightTexture = 0 // absent in version 1
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("content differs (-want +got):\n%s", d)
			}
			if rep := validateBytes(data, ValidateOptions{}); len(rep.Findings) > 0 {
				t.Errorf("findings: %+v", rep.Findings)
			}
		})
	}
}
