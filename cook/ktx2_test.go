package cook

import (
	"bytes"
	"context"
	"encoding/base64"
	"image/png"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/ktx2"
	"github.com/untoldkit/untold/internal/testfile"
)

// ktx2Twins are images of the same pixels, as KTX2 of Basis Universal and as PNG.
func ktx2Twins(t testing.TB, names ...string) (basis, plain []obj) {
	t.Helper()
	for _, name := range names {
		data := testfile.Read(t, filepath.Join("../internal/ktx2/testdata", name+".ktx2"))
		f, err := ktx2.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		img, err := f.Decode(0)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		uri := func(kind string, data []byte) obj {
			return obj{"name": name, "uri": "data:image/" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)}
		}
		basis, plain = append(basis, uri("ktx2", data)), append(plain, uri("png", b.Bytes()))
	}
	return basis, plain
}

// TestCookKTX2: a scene with KTX2 images gives the files that its twin with PNG gives,
// in every mode.
func TestCookKTX2(t *testing.T) {
	basis, plain := ktx2Twins(t, "etc1s-alpha", "uastc-normals", "uastc-alpha")
	for _, mode := range []TextureMode{TexturesCopy, TexturesResize, TexturesBC} {
		o := ClassicOptions()
		if o.Textures = mode; mode == TexturesResize {
			o.MaxTexture = 16
		}
		trees := map[bool]map[string]string{}
		for ktx, images := range map[bool][]obj{true: basis, false: plain} {
			out := t.TempDir()
			scene := filepath.Join(t.TempDir(), "hills.gltf")
			testfile.Write(t, scene, testfile.Read(t, texturedHills(t, images...)))
			res, err := Run(context.Background(), scene, out, o)
			if err != nil {
				t.Fatal(err)
			}
			checkTextures(t, out)
			trees[ktx] = testfile.ReadTree(t, out)
			converted := 0
			for _, n := range res.Notes {
				switch n.Code {
				case "texture-converted":
					converted = n.Count
				case "texture-format-skipped", "texture-damaged-skipped", "texture-kept":
					t.Errorf("%v: %+v", mode, n)
				}
			}
			if want := map[bool]int{true: 3}[ktx]; converted != want {
				t.Errorf("%v: %d images were converted, want %d", mode, converted, want)
			}
		}
		if len(trees[true]) < 4 {
			t.Errorf("%v: %d files", mode, len(trees[true]))
		}
		if diff := cmp.Diff(trees[false], trees[true]); diff != "" {
			t.Errorf("%v: other files than with PNG", mode)
		}
	}
}
