package gltfexport

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/testfile"
)

// shared returns the folder of the shared assets or skips the test.
func shared(t testing.TB) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "assets")
	if _, err := os.Stat(filepath.Join(dir, "INVENTORY.tsv")); err != nil {
		t.Skip("the shared assets are absent: ", err)
	}
	return dir
}

// blank is a material with neutral values and no textures.
func blank() records.Material {
	return records.Material{
		BaseColor: [4]float32{1, 1, 1, 1}, NormalScale: 1, Metallic: 1, Roughness: 1, OcclusionStrength: 1, AlphaCutoff: 0.5,
		BaseColorTexture: records.NoIndex, NormalTexture: records.NoIndex, MetallicTexture: records.NoIndex,
		RoughnessTexture: records.NoIndex, EmissiveTexture: records.NoIndex, OcclusionTexture: records.NoIndex,
	}
}

// quad is two triangles of 2 x 1 metres in the plane z = 0 with all attributes.
func quad() ([]vertex.Vertex, []uint32) {
	var vs []vertex.Vertex
	for _, p := range [][2]float32{{0, 0}, {2, 0}, {2, 1}, {0, 1}} {
		vs = append(vs, vertex.Vertex{
			Position: [3]float32{p[0], p[1], 0}, Normal: vertex.PackNormal([3]float32{0.3, 0.2, 0.9}),
			Tangent: vertex.PackTangent([4]float32{1, 0, -0.3, -1}),
			UV0:     [2]uint16{vertex.Half(p[0]), vertex.Half(p[1] / 4)}, UV1: [2]uint16{vertex.Half(0.5), vertex.Half(p[1])},
			Color: [4]uint8{255, 128, 0, 255},
		})
	}
	return vs, []uint32{0, 1, 2, 0, 2, 3}
}

// plain removes what is optional from vertices.
func plain(vs []vertex.Vertex) []vertex.Vertex {
	for i := range vs {
		vs[i].UV0, vs[i].UV1, vs[i].Color = [2]uint16{}, [2]uint16{}, [4]uint8{255, 255, 255, 255}
	}
	return vs
}

// quadFile is a container with one quad of the given material.
func quadFile(t testing.TB, build func(b *format.Builder) records.Material) *format.File {
	t.Helper()
	b := format.NewBuilder(format.FileTile)
	vs, idx := quad()
	err := b.AddObject(format.Object{
		Name: "Quad", MeshName: "quadMesh", Material: b.AddMaterial("Paint", build(b)),
		Vertices: vertex.Append(nil, vs), Indices: idx,
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.File()
}

func plainQuad(t testing.TB) *format.File {
	return quadFile(t, func(*format.Builder) records.Material { return blank() })
}

// save writes a container into a folder and returns its path.
func save(t testing.TB, dir, name string, f *format.File) string {
	t.Helper()
	b, err := f.Encode(format.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return testfile.Write(t, filepath.Join(dir, name), b)
}

// pngOf returns a PNG of one colour.
func pngOf(t testing.TB, w, h int, c color.Color) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// back exports to a file of the given extension in a fresh folder, reads the
// result with the importer and returns both.
func back(t testing.TB, path, ext string, opts Options) (*Result, *gltfscene.Scene) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "model"+ext)
	res, err := Export(context.Background(), path, out, opts)
	if err != nil {
		t.Fatalf("export: %v", err)
	}
	s, err := gltfscene.Load(context.Background(), out, gltfscene.DefaultOptions())
	if err != nil {
		t.Fatalf("import of the export: %v", err)
	}
	return res, s
}

// measure is what a scene looks like from afar.
type measure struct {
	triangles int
	area      float64
	min, max  geom.Vec3
}

func measureScene(s *gltfscene.Scene) measure {
	m := measure{min: geom.Vec3{math.Inf(1), math.Inf(1), math.Inf(1)}, max: geom.Vec3{math.Inf(-1), math.Inf(-1), math.Inf(-1)}}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Mesh < 0 {
			continue
		}
		for k := range s.Meshes[n.Mesh].Primitives {
			p := &s.Meshes[n.Mesh].Primitives[k]
			at := func(j int) geom.Vec3 { return n.World.Point(geom.FromF32(p.Positions[p.Indices[j]])) }
			for j := 0; j+2 < len(p.Indices); j += 3 {
				a, b, c := at(j), at(j+1), at(j+2)
				area := b.Sub(a).Cross(c.Sub(a)).Len() / 2
				if area == 0 {
					continue // cooking drops them
				}
				m.triangles++
				m.area += area
				for _, v := range []geom.Vec3{a, b, c} {
					for x := range 3 {
						m.min[x], m.max[x] = min(m.min[x], v[x]), max(m.max[x], v[x])
					}
				}
			}
		}
	}
	return m
}

// near compares two scenes' measures with a relative tolerance.
func (m measure) near(o measure, tol float64) bool {
	size := m.max.Sub(m.min).Len()
	ok := m.triangles == o.triangles && math.Abs(m.area-o.area) <= tol*(1e-9+m.area)
	for i := range 3 {
		ok = ok && math.Abs(m.min[i]-o.min[i]) <= tol*size && math.Abs(m.max[i]-o.max[i]) <= tol*size
	}
	return ok
}

// noteCounts maps the notes of a result to their counts.
func noteCounts(r *Result) map[string]int {
	out := map[string]int{}
	for _, n := range r.Notes {
		out[n.Code] = n.Count
	}
	return out
}
