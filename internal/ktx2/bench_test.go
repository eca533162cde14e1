package ktx2

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// BenchmarkDecode decodes the files of testdata that have most pixels, or those in the
// folder UNTOLD_BASIS_FILES, and beside each a PNG of the same picture, on one core.
func BenchmarkDecode(b *testing.B) {
	paths := []string{"testdata/etc1s-alpha.ktx2", "testdata/uastc-alpha.ktx2", "testdata/uastc-modes.ktx2"}
	if dir := os.Getenv("UNTOLD_BASIS_FILES"); dir != "" {
		var err error
		if paths, err = filepath.Glob(filepath.Join(dir, "*.ktx2")); err != nil {
			b.Fatal(err)
		}
	}
	for _, p := range paths {
		data := testfile.Read(b, p)
		img := decoded(b, data, 0)
		var twin bytes.Buffer
		if err := png.Encode(&twin, img); err != nil {
			b.Fatal(err)
		}
		name, pixels := strings.TrimSuffix(filepath.Base(p), ".ktx2"), float64(img.Rect.Dx()*img.Rect.Dy())
		for kind, decode := range map[string]func() error{
			"ktx2": func() error {
				f, err := Parse(data)
				if err == nil {
					_, err = f.Decode(0)
				}
				return err
			},
			"png": func() error { _, err := png.Decode(bytes.NewReader(twin.Bytes())); return err },
		} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				for b.Loop() {
					if err := decode(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(pixels*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpix/s")
			})
		}
	}
}
