package format

import (
	"bytes"
	"math"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format/records"

	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/testfile"
)

// vector reads a file of the golden data.
func vector(t testing.TB, name string) []byte {
	t.Helper()
	b := testfile.Read(t, filepath.Join("..", "testdata", "vectors", name))
	return b
}

// triangleFile is the golden one-triangle tile.
func triangleFile(t testing.TB) *File {
	t.Helper()
	b := NewBuilder(FileTile)
	m := b.AddMaterial("Red", records.Material{
		BaseColor: [4]float32{1, 0, 0, 1}, NormalScale: 1, Roughness: 0.5, OcclusionStrength: 1, AlphaCutoff: 0.5,
		BaseColorTexture: records.NoIndex, NormalTexture: records.NoIndex, MetallicTexture: records.NoIndex,
		RoughnessTexture: records.NoIndex, EmissiveTexture: records.NoIndex, OcclusionTexture: records.NoIndex,
	})
	vs := make([]vertex.Vertex, 3)
	for i, p := range [][2]float32{{0, 0}, {1, 0}, {0, 1}} {
		vs[i] = vertex.Vertex{
			Position: [3]float32{p[0], p[1], 0}, Normal: vertex.PackNormal([3]float32{0, 0, 1}),
			Tangent: vertex.PackTangent([4]float32{1, 0, 0, 1}), UV0: [2]uint16{vertex.Half(p[0]), vertex.Half(p[1])},
			Color: [4]uint8{255, 255, 255, 255},
		}
	}
	err := b.AddObject(Object{
		Name: "Triangle", MeshName: "TriangleMesh", Material: m,
		Vertices: vertex.Append(nil, vs), Indices: []uint32{0, 1, 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.File()
}

// gridFile is a tile of n objects, each a bumpy k x k grid, with textures, two
// materials and repeated content that compresses.
func gridFile(t testing.TB, n, k int) *File {
	t.Helper()
	b := NewBuilder(FileTile)
	blank := records.Material{
		BaseColor: [4]float32{1, 1, 1, 1}, NormalScale: 1, Roughness: 0.8, OcclusionStrength: 1, AlphaCutoff: 0.5,
		BaseColorTexture: records.NoIndex, NormalTexture: records.NoIndex, MetallicTexture: records.NoIndex,
		RoughnessTexture: records.NoIndex, EmissiveTexture: records.NoIndex, OcclusionTexture: records.NoIndex,
	}
	brick := blank
	brick.BaseColorTexture = b.AddTexture("brick.png", "Textures/brick.png", records.Texture{Flags: records.TextureSRGB, Width: 64, Height: 32, MipCount: 1})
	brick.NormalTexture = b.AddTexture("brick_n.png", "Textures/brick_n.png", records.Texture{Flags: records.TextureNormalMap, Width: 64, Height: 32, MipCount: 1})
	mats := []uint32{b.AddMaterial("Brick", brick), b.AddMaterial("Plain", blank)}
	for o := range n {
		vs := make([]vertex.Vertex, 0, k*k)
		for y := range k {
			for x := range k {
				u, v := float32(x)/float32(k-1), float32(y)/float32(k-1)
				h := float32(0.1 * math.Sin(float64(u)*9) * math.Cos(float64(v)*7))
				vs = append(vs, vertex.Vertex{
					Position: [3]float32{u*10 + float32(o)*11, h, v * 10},
					Normal:   vertex.PackNormal([3]float32{-h, 1, h}), Tangent: vertex.PackTangent([4]float32{1, h, 0, 1}),
					UV0: [2]uint16{vertex.Half(u), vertex.Half(1 - v)}, Color: [4]uint8{255, 255, 255, 255},
				})
			}
		}
		var idx []uint32
		for y := range k - 1 {
			for x := range k - 1 {
				a := uint32(y*k + x)
				w := uint32(k)
				idx = append(idx, a, a+w, a+1, a+1, a+w, a+w+1)
			}
		}
		err := b.AddObject(Object{
			Name: "Grid_" + string(rune('A'+o%26)), MeshName: "grid", Material: mats[o%2],
			Vertices: vertex.Append(nil, vs), Indices: idx,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.File()
}

func mustEncode(t testing.TB, f *File, m CompressMode) []byte {
	t.Helper()
	b, err := f.Encode(WriteOptions{Compress: m})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readerAt hides the bytes behind an io.ReaderAt.
type readerAt struct{ *bytes.Reader }

func newReaderAt(b []byte) readerAt { return readerAt{bytes.NewReader(b)} }

// validateBytes judges a container in memory.
func validateBytes(b []byte, opts ValidateOptions) *Report {
	return validate(nil, b, int64(len(b)), "", opts)
}

func codes(r *Report, severity finding.Severity) []finding.Code {
	var out []finding.Code
	for _, f := range r.Findings {
		if f.Severity == severity {
			out = append(out, f.Code)
		}
	}
	return out
}
