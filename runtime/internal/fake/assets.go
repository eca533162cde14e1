package fake

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/runtime/payload"
)

// Node is a node of a made-up asset.
type Node struct {
	Name   string
	Box    [6]float64 // min, max
	Bytes  int64      // 0: a node without meshes
	Parent string
}

// NodesAt makes boxes of half a metre around x = d for every distance, each of
// so many bytes, named n0, n1, ...
func NodesAt(bytes int64, d ...float64) (out []Node) {
	for i, v := range d {
		out = append(out, Node{Name: fmt.Sprint("n", i), Box: [6]float64{v, -.5, -.5, v + 1, .5, .5}, Bytes: bytes})
	}
	return out
}

// Asset makes an asset without buffers; released counts how often they go back.
func Asset(released *int, nodes ...Node) *payload.Asset {
	a := payload.NewAsset(func() {
		if released != nil {
			*released++
		}
	})
	names := make([]string, len(nodes))
	ids := map[string]uint32{}
	for i, n := range nodes {
		names[i], ids[n.Name] = n.Name, uint32(i)
		e := records.Entity{ID: uint32(i), ParentID: records.NoIndex, NameOffset: uint32(i), FirstMesh: uint32(len(a.Meshes))}
		if n.Parent != "" {
			e.ParentID = ids[n.Parent]
		}
		for k := range 3 {
			e.WorldBounds.Min[k], e.WorldBounds.Max[k] = float32(n.Box[k]), float32(n.Box[k+3])
		}
		if n.Bytes > 0 {
			e.MeshCount = 1
			a.Meshes = append(a.Meshes, records.Mesh{EntityID: e.ID, EstimatedGPUBytes: uint64(n.Bytes)})
		}
		a.Entities = append(a.Entities, e)
	}
	a.Strings = func(at uint32) string { return names[at] }
	return a
}

// Container returns a container of meshes n0, n1, ..., each of so many vertices, which are
// where at says, three to a triangle.
func Container(t testing.TB, kind format.FileType, mode format.CompressMode, meshes, vertices int, at func(mesh, vertex int) [3]float32) []byte {
	t.Helper()
	b := format.NewBuilder(kind)
	for i := range meshes {
		corners, indices := make([]vertex.Vertex, vertices), make([]uint32, vertices)
		for k := range corners {
			corners[k] = vertex.Vertex{Position: at(i, k), Normal: vertex.PackNormal([3]float32{0, 0, 1}), Tangent: vertex.PackTangent([4]float32{1, 0, 0, 1})}
			indices[k] = uint32(k)
		}
		err := b.AddObject(format.Object{
			Name: fmt.Sprint("n", i), MeshName: fmt.Sprint("m", i), Material: records.NoIndex, Vertices: vertex.Append(nil, corners), Indices: indices,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	data, err := b.File().Encode(format.WriteOptions{Compress: mode})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// WriteTriangles writes a container with a triangle at x = 0, 1, 2, ... and
// returns its size.
func WriteTriangles(t testing.TB, path string, kind format.FileType, mode format.CompressMode, n int) int64 {
	t.Helper()
	data := Container(t, kind, mode, n, 3, func(mesh, k int) [3]float32 {
		return [3]float32{float32(mesh + k&1), float32(k / 2), 0}
	})
	Write(t, path, data)
	return int64(len(data))
}

// Write writes a file and the folders above it.
func Write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Folder returns a folder with files.
func Folder(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		Write(t, filepath.Join(dir, name), data)
	}
	return dir
}

// Utex returns a cooked texture whose levels hold the same block again and again.
func Utex(t testing.TB, f utex.PixelFormat, w, h int, block [16]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	tw, err := utex.NewWriter(&b, w, h, f, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range tw.Info().Levels {
		if err := tw.WriteLevel(bytes.Repeat(block[:], int(l.Size)/16)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
