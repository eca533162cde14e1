package gltfexport

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/glb"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/manifest"
)

// TestCompressTown: what is compressed draws the same to within the step, and says which
// extensions it takes.
func TestCompressTown(t *testing.T) {
	dir, _ := cookTown(t, 10)
	for _, ext := range []string{".glb", ".gltf"} {
		plain, a := back(t, dir, ext, Options{})
		small, b := back(t, dir, ext, Options{Compress: true})
		if small.Triangles != plain.Triangles || len(b.Notes) != 0 {
			t.Errorf("%s: %+v, plain %+v, notes %v", ext, small, plain, b.Notes)
		}
		if x, y := measureScene(a), measureScene(b); !x.near(y, 1e-4) {
			t.Errorf("%s: plain %+v, compressed %+v", ext, x, y)
		}
		if !small.Bounds.Box().Contains(plain.Bounds.Box(), 1e-3) || !plain.Bounds.Box().Contains(small.Bounds.Box(), 1e-3) {
			t.Errorf("%s: boxes %v and %v", ext, plain.Bounds, small.Bounds)
		}
	}
}

// jsonOf returns the JSON of a .glb.
func jsonOf(t *testing.T, path string) (doc struct {
	ExtensionsUsed []string
	Accessors      []accessorJSON
	BufferViews    []viewJSON
	Buffers        []bufferJSON
},
) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _, err := glb.Split(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// hierarchy is a quad that is turned, scaled and sheared, with a child that draws too.
func hierarchy(t *testing.T) *format.File {
	t.Helper()
	f := plainQuad(t)
	shear := geom.TRS(geom.Vec3{5, 6, 7}, [4]float64{0, math.Sqrt2 / 2, 0, math.Sqrt2 / 2}, geom.Vec3{3, 1, 2})
	turned := geom.TRS(geom.Vec3{0, 1, 0}, [4]float64{math.Sqrt2 / 2, 0, 0, math.Sqrt2 / 2}, geom.Vec3{1, 4, 1})
	parent := &f.Entities[0]
	parent.ID, parent.LocalTransform = 9, f32(shear)
	child := *parent
	child.ID, child.ParentID, child.LocalTransform = 7, 9, f32(turned)
	f.Entities = append(f.Entities, child)
	return f
}

func f32(m geom.Mat4) (out [16]float32) {
	for i, v := range m {
		out[i] = float32(v)
	}
	return out
}

// TestCompressHierarchy: what decodes the positions of a mesh moves no children.
func TestCompressHierarchy(t *testing.T) {
	path := save(t, t.TempDir(), "a.untold", hierarchy(t))
	_, a := back(t, path, ".glb", Options{})
	res, b := back(t, path, ".glb", Options{Compress: true})
	if x, y := measureScene(a), measureScene(b); x.triangles != 4 || !x.near(y, 1e-3) {
		t.Errorf("plain %+v, compressed %+v", x, y)
	}
	all := geom.EmptyBox()
	m := measureScene(a)
	all = all.Extend(m.min).Extend(m.max)
	if !res.Bounds.Box().Contains(all, 1e-3) {
		t.Errorf("the box %v does not hold %v", res.Bounds, all)
	}
}

// TestCompressLayout looks at what is stored: one view for attributes of a kind, none of
// them in a buffer that has a file, and no second coordinates.
func TestCompressLayout(t *testing.T) {
	dir, _ := cookTown(t, 3)
	out := filepath.Join(t.TempDir(), "a.glb")
	if _, err := Export(t.Context(), dir, out, Options{Compress: true}); err != nil {
		t.Fatal(err)
	}
	doc := jsonOf(t, out)
	if !slices.Contains(doc.ExtensionsUsed, extMeshopt) || !slices.Contains(doc.ExtensionsUsed, extQuantization) {
		t.Errorf("extensions: %v", doc.ExtensionsUsed)
	}
	if len(doc.Buffers) != 2 || doc.Buffers[1].Extensions == nil || !doc.Buffers[1].Extensions.Fallback.Fallback || doc.Buffers[1].URI != "" {
		t.Fatalf("buffers: %+v", doc.Buffers)
	}
	for i, v := range doc.BufferViews {
		if v.Extensions == nil {
			continue // a picture
		}
		if end := v.ByteOffset + v.ByteLength; v.Buffer != fallbackBuffer || end > doc.Buffers[1].ByteLength || v.ByteOffset%4 != 0 {
			t.Errorf("view %d: %+v", i, v)
		}
	}
}

// step tells how far a value is from a multiple.
func stepOff(x float64, step float64) float64 {
	return math.Abs(x/step - math.Floor(x/step+0.5))
}

// TestCompressSeams: vertices at the same place are at the same place afterwards,
// whichever container they are in: all lie on one lattice.
func TestCompressSeams(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := manifest.Manifest{Tiles: make([]manifest.Tile, 1), SharedBucket: &manifest.SharedBucket{}}
		m.Tiles[0].Bounds.Max[0] = rapid.Float64Range(0.01, 500).Draw(rt, "extent")
		far := rapid.Float64Range(0.01, 5000).Draw(rt, "far")
		m.SharedBucket.Bounds.Min[0] = -far
		step := StepFor(&m)
		p := [3]float32{}
		for i := range p {
			p[i] = float32(rapid.Float64Range(-far/2, far/2).Draw(rt, "p"))
		}
		var got [2][3]float32
		for i, wide := range []float32{float32(far / 100), float32(rapid.Float64Range(0, far/2).Draw(rt, "wide"))} {
			b := format.NewBuilder(format.FileTile)
			var vs []vertex.Vertex
			for _, d := range [][2]float32{{0, 0}, {wide, 0}, {0, wide}} {
				vs = append(vs, vertex.Vertex{Position: [3]float32{p[0] + d[0], p[1] + d[1], p[2]}, Normal: vertex.PackNormal([3]float32{0, 0, 1})})
			}
			if err := b.AddObject(format.Object{Name: "a", MeshName: "a", Material: records.NoIndex, Vertices: vertex.Append(nil, vs), Indices: []uint32{0, 1, 2}}); err != nil {
				rt.Skip(err)
			}
			_, s := back(t, save(t, t.TempDir(), "a.untold", b.File()), ".glb", Options{Compress: true, Step: step})
			for k := range s.Nodes {
				if n := &s.Nodes[k]; n.Mesh >= 0 {
					// In single precision, as viewers do.
					q := s.Meshes[n.Mesh].Primitives[0].Positions[0]
					for x := range q {
						got[i][x] = float32(n.World[5*x])*q[x] + float32(n.World[12+x])
						if off := stepOff(float64(got[i][x]), step); off > 0 {
							rt.Fatalf("%v is no multiple of %v", got[i][x], step)
						}
						if d := math.Abs(float64(got[i][x]) - float64(p[x])); d > step/2 {
							rt.Fatalf("%v became %v, by steps of %v", p, got[i], step)
						}
					}
				}
			}
		}
		if got[0] != got[1] {
			rt.Fatalf("%v became %v and %v", p, got[0], got[1])
		}
	})
}

// TestCompressModels: real models look the same, take a third, and are written alike
// twice.
func TestCompressModels(t *testing.T) {
	list := models(t, "models")
	if testing.Short() {
		list = list[:min(len(list), 3)]
	}
	if race.Enabled {
		list = list[:min(len(list), 8)]
	}
	plain, small := int64(0), int64(0)
	for _, path := range list {
		container := filepath.Join(t.TempDir(), "m.untold")
		if _, err := cook.Convert(t.Context(), path, container, cook.ClassicOptions()); err != nil {
			t.Fatal(err)
		}
		a, scene := back(t, container, ".glb", Options{})
		out := filepath.Join(t.TempDir(), "b.glb")
		b, err := Export(t.Context(), container, out, Options{Compress: true})
		if err != nil {
			t.Fatal(err)
		}
		if x, y := measureScene(scene), measureScene(load(t, out)); math.Abs(x.area-y.area) > 0.01*x.area {
			t.Errorf("%s: area %v, compressed %v", filepath.Base(path), x.area, y.area)
		}
		first, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Export(t.Context(), container, out, Options{Compress: true}); err != nil {
			t.Fatal(err)
		}
		if again, err := os.ReadFile(out); err != nil || !bytes.Equal(first, again) {
			t.Errorf("%s: other bytes the second time (%v)", path, err)
		}
		plain, small = plain+a.Bytes-a.TextureBytes, small+b.Bytes-b.TextureBytes
	}
	t.Logf("geometry of %d models: %d bytes plain, %d compressed", len(list), plain, small)
	if small > plain/3 {
		t.Errorf("%d bytes, plain %d", small, plain)
	}
}

func load(t *testing.T, path string) *gltfscene.Scene {
	t.Helper()
	s, err := gltfscene.Load(t.Context(), path, gltfscene.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return s
}
