package gltfexport

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/testfile"
)

func TestParseLevels(t *testing.T) {
	for in, want := range map[string]Levels{"": LevelsFull, "full": LevelsFull, "lod1": LevelsLOD1, "hlod": LevelsHLOD} {
		if got, err := ParseLevels(in); err != nil || got != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	if _, err := ParseLevels("lod2"); err == nil {
		t.Error("lod2 was accepted")
	}
}

// TestAttributes compares every attribute of a quad with what was packed.
func TestAttributes(t *testing.T) {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "Textures/n.png"), pngOf(t, 2, 2, gray(128)))
	bumped := quadFile(t, func(b *format.Builder) records.Material {
		m := blank()
		m.NormalTexture = b.AddTexture("n.png", "Textures/n.png", records.Texture{Width: 2, Height: 2, MipCount: 1})
		return m
	})
	for _, ext := range []string{".glb", ".gltf", ".GLB"} {
		res, s := back(t, save(t, dir, "a.untold", bumped), ext, Options{})
		if res.Triangles != 2 || res.Vertices != 4 || res.Containers != 1 || len(res.Notes) != 0 {
			t.Fatalf("%s: %+v", ext, res)
		}
		p := &s.Meshes[0].Primitives[0]
		if s.Nodes[0].Name != "Quad" || s.Meshes[0].Name != "quadMesh" {
			t.Errorf("%s: names %q, %q", ext, s.Nodes[0].Name, s.Meshes[0].Name)
		}
		if p.Tangents == nil || p.UV[1] == nil || p.Colors == nil {
			t.Fatalf("%s: an attribute is missing", ext)
		}
		vs, idx := quad()
		if !cmp.Equal(p.Indices, idx) {
			t.Errorf("%s: indices %v", ext, p.Indices)
		}
		for i, v := range vs {
			checkVertex(t, p, i, &v)
		}
	}
}

func checkVertex(t *testing.T, p *gltfscene.Primitive, i int, v *vertex.Vertex) {
	t.Helper()
	if p.Positions[i] != v.Position {
		t.Errorf("vertex %d: position %v, want %v", i, p.Positions[i], v.Position)
	}
	n := p.Normals[i]
	if l := math.Hypot(math.Hypot(float64(n[0]), float64(n[1])), float64(n[2])); math.Abs(l-1) > 1e-6 {
		t.Errorf("vertex %d: the normal has length %v", i, l)
	}
	// What is packed again must be what was stored.
	if vertex.PackNormal(n) != v.Normal || vertex.PackTangent(p.Tangents[i]) != v.Tangent {
		t.Errorf("vertex %d: normal %v, tangent %v", i, n, p.Tangents[i])
	}
	for k, uv := range [][2]uint16{v.UV0, v.UV1} {
		want := [2]float32{vertex.FromHalf(uv[0]), 1 - vertex.FromHalf(uv[1])}
		if p.UV[k][i] != want {
			t.Errorf("vertex %d: uv%d %v, want %v", i, k, p.UV[k][i], want)
		}
	}
	if vertex.PackColor(p.Colors[i]) != v.Color {
		t.Errorf("vertex %d: colour %v, want %v", i, p.Colors[i], v.Color)
	}
}

// TestOptionalAttributes leaves out what says nothing.
func TestOptionalAttributes(t *testing.T) {
	b := format.NewBuilder(format.FileTile)
	vs, idx := quad()
	if err := b.AddObject(format.Object{Name: "Q", Material: records.NoIndex, Vertices: vertex.Append(nil, plain(vs)), Indices: idx}); err != nil {
		t.Fatal(err)
	}
	_, s := back(t, save(t, t.TempDir(), "a.untold", b.File()), ".glb", Options{})
	p := &s.Meshes[0].Primitives[0]
	if p.Tangents != nil || p.UV[0] != nil || p.UV[1] != nil || p.Colors != nil || p.Normals == nil || p.Material != -1 {
		t.Errorf("attributes: %+v", p)
	}
}

// TestHierarchy checks parents in any order, instances and a shear.
func TestHierarchy(t *testing.T) {
	f := plainQuad(t)
	f.Strings = append(f.Strings, "Child\x00Sheared\x00"...)
	name := func(s string) uint32 { return uint32(bytes.Index(f.Strings, []byte(s+"\x00"))) }
	id := f.Entities[0].LocalTransform
	child, parent, sheared := f.Entities[0], f.Entities[0], f.Entities[0]
	child.ID, child.ParentID, child.NameOffset = 7, 9, name("Child")
	child.LocalTransform[12] = 5
	parent.ID, parent.MeshCount = 9, 0
	parent.LocalTransform = id
	parent.LocalTransform[0], parent.LocalTransform[13] = -2, 3 // mirrors, moves up
	sheared.ID, sheared.NameOffset, sheared.FirstMesh = 11, name("Sheared"), 1
	sheared.LocalTransform[4] = 1 // x += y
	f.Entities = []records.Entity{child, parent, sheared}
	second := f.Meshes[0]
	second.EntityID = 11
	f.Meshes[0].EntityID = 7
	f.Meshes = append(f.Meshes, second)
	res, s := back(t, save(t, t.TempDir(), "a.untold", f), ".glb", Options{})
	if res.Meshes != 1 || res.Nodes != 4 || res.Triangles != 4 || noteCounts(res)["shear"] != 1 {
		t.Errorf("%+v", res)
	}
	m := measureScene(s)
	// The child covers x -2*5-4..-10, y 3..4; the sheared quad x 0..3, y 0..1.
	want := measure{triangles: 4, area: 4 + 2, min: [3]float64{-14, 0, 0}, max: [3]float64{3, 4, 0}}
	if !m.near(want, 1e-6) {
		t.Errorf("got %+v, want %+v", m, want)
	}
	for i := range s.Nodes {
		if s.Nodes[i].Name == "Child" && s.Nodes[s.Nodes[i].Parent].Name != "Quad" {
			t.Errorf("the child's parent is %q", s.Nodes[s.Nodes[i].Parent].Name)
		}
	}
}

// TestRootTransform puts the container below a node.
func TestRootTransform(t *testing.T) {
	b, err := plainQuad(t).Encode(format.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b[76+12*4+2], b[76+12*4+3] = 0x20, 0x41 // x = 10; the hash covers payloads only
	_, s := back(t, testfile.Write(t, filepath.Join(t.TempDir(), "a.untold"), b), ".glb", Options{})
	m := measureScene(s)
	if m.min[0] != 10 || len(s.Nodes) != 2 {
		t.Errorf("%+v, %d nodes", m, len(s.Nodes))
	}
	// It stands where every other reader puts it.
	r, err := format.NewBytesReader(b)
	if err != nil {
		t.Fatal(err)
	}
	if _, box := r.Placed(); m.min != geom.FromF32(box.Min) || m.max != geom.FromF32(box.Max) {
		t.Errorf("%v to %v, want %v", m.min, m.max, box)
	}
}

// TestHostileNumbers replaces what glTF forbids, so that the result loads.
func TestHostileNumbers(t *testing.T) {
	f := plainQuad(t)
	nan := math.Float32bits(float32(math.NaN()))
	for i, at := range []int{0, 32 + 20, 64 + 12} {
		v := nan
		switch i {
		case 1:
			v = 0x7c007c00 // both halves infinite
		case 2:
			v = 0 // no normal
		}
		for k := range 4 {
			f.Vertices[at+k] = byte(v >> (8 * k))
		}
	}
	f.Entities[0].LocalTransform[5] = float32(math.Inf(1))
	m := &f.Materials[0]
	m.BaseColor[1], m.Roughness, m.Emissive[0], m.Flags = 7, float32(math.NaN()), float32(math.Inf(1)), 0xffffffff
	res, _ := back(t, save(t, t.TempDir(), "a.untold", f), ".glb", Options{})
	want := map[string]int{"not-finite": 2, "direction-missing": 1, "transform": 1, "material-clamped": 1}
	if d := cmp.Diff(want, noteCounts(res)); d != "" {
		t.Error(d)
	}
}

// TestWideIndices exports an index of 65535, which 16 bits cannot tell from a
// restart.
func TestWideIndices(t *testing.T) {
	vs := make([]vertex.Vertex, 65536)
	for i := range vs {
		vs[i] = vertex.Vertex{Position: [3]float32{float32(i % 256), float32(i / 256), 0}, Normal: vertex.PackNormal([3]float32{0, 0, 1})}
	}
	b := format.NewBuilder(format.FileTile)
	if err := b.AddObject(format.Object{Name: "N", Material: records.NoIndex, Vertices: vertex.Append(nil, vs), Indices: []uint32{0, 255, 65535}}); err != nil {
		t.Fatal(err)
	}
	f := b.File()
	f.Meshes[0].IndexType, f.Meshes[0].IndexSize = vertex.Index16, 6
	f.Indices = vertex.AppendIndices(nil, vertex.Index16, []uint32{0, 255, 65535})
	_, s := back(t, save(t, t.TempDir(), "a.untold", f), ".glb", Options{})
	if got := s.Meshes[0].Primitives[0].Indices; !cmp.Equal(got, []uint32{0, 255, 65535}) {
		t.Errorf("indices %v", got)
	}
}

// TestEmpty exports containers without anything to draw.
func TestEmpty(t *testing.T) {
	for _, ext := range []string{".glb", ".gltf"} {
		out := filepath.Join(t.TempDir(), "m"+ext)
		res, err := Export(context.Background(), save(t, t.TempDir(), "a.untold", format.NewBuilder(format.FileTile).File()), out, Options{})
		if err != nil || res.Nodes != 0 {
			t.Fatalf("%s: %+v, %v", ext, res, err)
		}
		s, err := gltfscene.Load(context.Background(), out, gltfscene.DefaultOptions())
		if err != nil || len(s.Nodes) != 0 {
			t.Errorf("%s: %v", ext, err)
		}
		if l, _ := os.ReadDir(filepath.Dir(out)); len(l) != 1 {
			t.Errorf("%s: files %v", ext, l)
		}
	}
	f := plainQuad(t)
	f.Meshes[0].IndexCount, f.Meshes[0].IndexSize = 0, 0
	res, _ := back(t, save(t, t.TempDir(), "a.untold", f), ".glb", Options{})
	if res.Meshes != 0 || res.Nodes != 1 || noteCounts(res)["empty-mesh"] != 1 {
		t.Errorf("%+v", res)
	}
}

// TestOverlap refuses ranges that make a small file explode.
func TestOverlap(t *testing.T) {
	t.Run("entities", func(t *testing.T) {
		f := plainQuad(t)
		for i := range 40 {
			f.Meshes = append(f.Meshes, f.Meshes[0])
			for range 40 {
				e := f.Entities[0]
				e.ID, e.MeshCount = uint32(len(f.Entities)), uint32(i+1)
				f.Entities = append(f.Entities, e)
			}
		}
		wantError(t, save(t, t.TempDir(), "a.untold", f), "m.glb", Options{}, ErrOverlap)
	})
	t.Run("vertices", func(t *testing.T) {
		b := format.NewBuilder(format.FileTile)
		vs, _ := quad()
		many := make([]vertex.Vertex, 4096)
		for i := range many {
			many[i] = vs[i%4]
		}
		if err := b.AddObject(format.Object{Name: "V", Material: records.NoIndex, Vertices: vertex.Append(nil, many), Indices: []uint32{0, 1, 2}}); err != nil {
			t.Fatal(err)
		}
		f := b.File()
		m := f.Meshes[0]
		f.Meshes = nil
		for i := range 64 {
			m.VertexOffset, m.VertexCount = uint64(i)*32, 2048
			m.VertexSize = 2048 * 32
			f.Meshes = append(f.Meshes, m)
		}
		f.Entities[0].MeshCount = 64
		wantError(t, save(t, t.TempDir(), "a.untold", f), "m.glb", Options{}, ErrOverlap)
	})
}

// wantError exports and checks the error and that nothing was left behind.
func wantError(t *testing.T, path, name string, opts Options, want error) {
	t.Helper()
	dir := t.TempDir()
	if _, err := Export(context.Background(), path, filepath.Join(dir, name), opts); !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
	if l, _ := os.ReadDir(dir); len(l) != 0 {
		t.Errorf("left behind: %v", l)
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	good := save(t, dir, "a.untold", plainQuad(t))
	wantError(t, good, "m.glb", Options{maxBytes: 100}, ErrTooLarge)
	wantError(t, good, "m.gltf", Options{maxBytes: 100}, ErrTooLarge)
	wantError(t, good, "m.glb", Options{maxBytes: 600}, ErrTooLarge) // only the JSON exceeds it
	wantError(t, filepath.Join(dir, "none.untold"), "m.glb", Options{}, fs.ErrNotExist)
	if _, err := Export(context.Background(), os.DevNull, filepath.Join(t.TempDir(), "m.glb"), Options{}); err == nil {
		t.Error("a device was taken as input")
	}
	for _, name := range []string{"m.obj", "m", filepath.Join("no-such-folder", "m.glb")} {
		if _, err := Export(context.Background(), good, filepath.Join(t.TempDir(), name), Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	folder := filepath.Join(t.TempDir(), "x.glb")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Export(context.Background(), good, folder, Options{}); err == nil {
		t.Error("a folder was taken as output")
	}
	if _, err := Export(context.Background(), good, filepath.Join(t.TempDir(), "m.glb"), Options{Levels: "nope"}); err == nil {
		t.Error("levels: no error")
	}
	var fe *format.Error
	_, err := Export(context.Background(), testfile.Write(t, filepath.Join(dir, "b.untold"), []byte("no container at all")), filepath.Join(t.TempDir(), "m.glb"), Options{})
	if !errors.As(err, &fe) {
		t.Errorf("bad container: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Export(ctx, good, filepath.Join(t.TempDir(), "m.glb"), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestLongNames cuts what a hostile string table makes of names.
func TestLongNames(t *testing.T) {
	f := plainQuad(t)
	f.Entities[0].NameOffset = uint32(len(f.Strings))
	f.Strings = append(append(f.Strings, bytes.Repeat([]byte("ä"), 5000)...), 0)
	_, s := back(t, save(t, t.TempDir(), "a.untold", f), ".glb", Options{})
	if n := len(s.Nodes[0].Name); n == 0 || n > maxName {
		t.Errorf("a name of %d bytes", n)
	}
}

func TestDeterministic(t *testing.T) {
	path := save(t, t.TempDir(), "a.untold", plainQuad(t))
	var first []byte
	for range 3 {
		out := filepath.Join(t.TempDir(), "m.glb")
		if _, err := Export(context.Background(), path, out, Options{Generator: "test"}); err != nil {
			t.Fatal(err)
		}
		b := testfile.Read(t, out)
		if first != nil && !bytes.Equal(first, b) {
			t.Error("two exports differ")
		}
		first = b
	}
	if len(first)%4 != 0 {
		t.Errorf("%d bytes are no multiple of 4", len(first))
	}
}
