package gltfexport

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/testfile"
)

// FuzzExport exports arbitrary containers: whatever the reader accepts must
// become a file that the strict importer accepts, or an error.
func FuzzExport(f *testing.F) {
	seed := func(file *format.File, mode format.CompressMode) {
		b, err := file.Encode(format.WriteOptions{Compress: mode})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	seed(plainQuad(f), format.ModeNone)
	seed(plainQuad(f), format.ModeLZ4)
	seed(format.NewBuilder(format.FileHLOD).File(), format.ModeNone)
	seed(quadFile(f, func(b *format.Builder) records.Material {
		m := blank()
		m.BaseColorTexture = b.AddTexture("x.png", "x.png", records.Texture{})
		m.NormalTexture, m.RoughnessTexture = m.BaseColorTexture, m.BaseColorTexture
		return m
	}), format.ModeNone)
	if b, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "spec", "vectors", "triangle_none.untold")); err == nil {
		f.Add(b)
	}
	picture := pngOf(f, 2, 2, gray(5))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		testfile.Write(t, filepath.Join(dir, "x.png"), picture)
		out := filepath.Join(dir, "m.glb")
		res, err := Export(context.Background(), testfile.Write(t, filepath.Join(dir, "a.untold"), data), out, Options{files: atomicfile.Options{NoSync: true}})
		if err != nil {
			if l, _ := os.ReadDir(dir); len(l) != 2 {
				t.Fatalf("left behind: %v", l)
			}
			return
		}
		s, err := gltfscene.Load(context.Background(), out, gltfscene.DefaultOptions())
		if err != nil {
			t.Fatalf("the export does not load: %v", err)
		}
		n := s.Triangles()
		if n != res.Triangles && len(s.Notes) == 0 {
			t.Fatalf("%d triangles, the result says %d", n, res.Triangles)
		}
		if _, err := Export(context.Background(), filepath.Join(dir, "a.untold"), out, Options{Compress: true, files: atomicfile.Options{NoSync: true}}); err != nil {
			t.Fatalf("compressed: %v", err)
		}
		small, err := gltfscene.Load(context.Background(), out, gltfscene.DefaultOptions())
		if err != nil {
			t.Fatalf("the compressed export does not load: %v", err)
		}
		if k := small.Triangles(); k != n && len(s.Notes) == 0 && len(small.Notes) == 0 {
			t.Fatalf("%d triangles, compressed %d", n, k)
		}
	})
}
