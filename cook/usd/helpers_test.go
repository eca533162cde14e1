package usd

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/testfile"
)

// head begins a layer in metres, y upwards.
const head = "#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = \"Y\"\n    defaultPrim = \"World\"\n)\n"

// quad is the body of a mesh of one square metre, at z = 0.
const quad = `
    int[] faceVertexCounts = [4]
    int[] faceVertexIndices = [0, 1, 2, 3]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    uniform token subdivisionScheme = "none"
`

// load imports the first of some files.
func load(t testing.TB, files map[string]string, name string) *gltfscene.Scene {
	t.Helper()
	s, err := tryLoad(t, files, name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func tryLoad(t testing.TB, files map[string]string, name string, opts Options) (*gltfscene.Scene, error) {
	t.Helper()
	dir := t.TempDir()
	testfile.WriteTree(t, dir, files)
	s, err := openAt(t, filepath.Join(dir, filepath.FromSlash(name)), opts)
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return s, err
}

// one imports a scene of one layer.
func one(t testing.TB, body string) *gltfscene.Scene {
	t.Helper()
	return load(t, map[string]string{"a.usda": head + body}, "a.usda")
}

// pngOf returns a picture of one colour.
func pngOf(c color.Color, side int) string {
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		img.Set(i%side, i/side, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.String()
}

// packed returns a package: files one after the other, at multiples of 64 bytes, as they
// are.
func packed(t testing.TB, method uint16, list ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(list); i += 2 {
		if err := z.Flush(); err != nil {
			t.Fatal(err)
		}
		h := &zip.FileHeader{Name: list[i], Method: method}
		if pad := 64 - (b.Len()+30+len(list[i])+4)%64; method == zip.Store {
			h.Extra = append([]byte{0x86, 0x19, byte(pad), 0}, make([]byte, pad)...)
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(list[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// extent returns the area and the box of what a scene shows, and the number of triangles.
func extent(t testing.TB, s *gltfscene.Scene) (area float64, box geom.Box, n int) {
	t.Helper()
	box = geom.EmptyBox()
	for i := range s.Nodes {
		node := &s.Nodes[i]
		if node.Mesh < 0 {
			continue
		}
		list, err := s.Geometry(node.Mesh)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			for k := 0; k < len(p.Indices); k += 3 {
				var at [3]geom.Vec3
				for j := range at {
					at[j] = node.World.Point(geom.FromF32(p.Positions[p.Indices[k+j]]))
					box = box.Extend(at[j])
				}
				area += at[1].Sub(at[0]).Cross(at[2].Sub(at[0])).Len() / 2
				n++
			}
		}
	}
	return area, box, n
}

// shows describes a scene: the names of nodes with meshes and the boxes of these.
func shows(t testing.TB, s *gltfscene.Scene) string {
	t.Helper()
	var out []string
	for i := range s.Nodes {
		if s.Nodes[i].Mesh < 0 {
			continue
		}
		only := *s
		only.Nodes = s.Nodes[i : i+1]
		_, b, _ := extent(t, &only)
		text := s.Nodes[i].Name
		for _, v := range []geom.Vec3{b.Min, b.Max} {
			text += fmt.Sprintf(" %g,%g,%g", geom.Round(v[0], 4)+0, geom.Round(v[1], 4)+0, geom.Round(v[2], 4)+0)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// codes lists the notes of a scene.
func codes(s *gltfscene.Scene) string {
	var out []string
	for _, n := range s.Notes {
		out = append(out, n.Code)
	}
	return strings.Join(out, " ")
}

// memory are files beside a scene, in memory.
type memory map[string]string

func (m memory) open(name string) (opened, int64, string, error) {
	text, ok := m[name]
	if !ok {
		return nil, 0, "", fs.ErrNotExist
	}
	return noClose{strings.NewReader(text)}, int64(len(text)), "/" + name, nil
}

func (m memory) find(name string) string {
	if _, ok := m[path.Clean(name)]; ok {
		return path.Clean(name)
	}
	return ""
}

// parse reads bytes as a scene.
func parse(data []byte, name string, beside memory, opts Options) (*gltfscene.Made, error) {
	return read(context.Background(), name, noClose{bytes.NewReader(data)}, int64(len(data)), beside, opts)
}
