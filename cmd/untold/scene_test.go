package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// writeScene stores a file in a folder of its own.
func writeScene(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// boxScene is a glTF of n unit boxes, 3 m apart in rows of 100, that share one
// mesh of two materials.
func boxScene(n int) []byte {
	var bin []byte
	for i := range 8 {
		for a := range 3 {
			v := float32(-0.5)
			if i>>a&1 == 1 {
				v = 0.5
			}
			bin = binary.LittleEndian.AppendUint32(bin, math.Float32bits(v))
		}
	}
	for _, i := range []uint16{
		0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
		2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5,
	} {
		bin = binary.LittleEndian.AppendUint16(bin, i)
	}
	type m = map[string]any
	nodes, roots := []m{}, []int{}
	for i := range n {
		nodes = append(nodes, m{"name": "Box", "mesh": 0, "translation": []float64{float64(i%100) * 3, 0, -float64(i/100) * 3}})
		roots = append(roots, i)
	}
	doc := m{
		"asset": m{"version": "2.0"}, "scene": 0, "scenes": []m{{"nodes": roots}}, "nodes": nodes,
		"meshes":    []m{{"name": "box", "primitives": []m{{"attributes": m{"POSITION": 0}, "indices": 1, "material": 0}}}},
		"materials": []m{{"name": "Paint", "pbrMetallicRoughness": m{"baseColorFactor": []float64{0.8, 0.2, 0.1, 1}}}},
		"accessors": []m{
			{"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3", "min": []float64{-.5, -.5, -.5}, "max": []float64{.5, .5, .5}},
			{"bufferView": 1, "componentType": 5123, "count": 36, "type": "SCALAR"},
		},
		"bufferViews": []m{{"buffer": 0, "byteLength": 96}, {"buffer": 0, "byteOffset": 96, "byteLength": 72}},
		"buffers":     []m{{"byteLength": len(bin), "uri": "data:application/octet-stream;base64," + base64.StdEncoding.EncodeToString(bin)}},
	}
	b, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return b
}

// dunes is a glTF of waves on a square of 10 m, n quads a side.
func dunes(n int) []byte {
	var bin []byte
	for i := range (n + 1) * (n + 1) {
		x, z := float64(i%(n+1))/float64(n), float64(i/(n+1))/float64(n)
		for _, v := range [...]float64{10 * x, 0.2 * math.Sin(40*x+7*z) * math.Cos(31*z), 10 * z} {
			bin = binary.LittleEndian.AppendUint32(bin, math.Float32bits(float32(v)))
		}
	}
	vertices := len(bin)
	for i := range n * n {
		a := i/n*(n+1) + i%n
		for _, v := range [...]int{a, a + n + 1, a + 1, a + 1, a + n + 1, a + n + 2} {
			bin = binary.LittleEndian.AppendUint16(bin, uint16(v))
		}
	}
	type m = map[string]any
	b, err := json.Marshal(m{
		"asset": m{"version": "2.0"}, "scene": 0, "scenes": []m{{"nodes": []int{0}}}, "nodes": []m{{"name": "Dunes", "mesh": 0}},
		"meshes": []m{{"name": "dunes", "primitives": []m{{"attributes": m{"POSITION": 0}, "indices": 1}}}},
		"accessors": []m{
			{"bufferView": 0, "componentType": 5126, "count": vertices / 12, "type": "VEC3", "min": []float64{0, -0.2, 0}, "max": []float64{10, 0.2, 10}},
			{"bufferView": 1, "componentType": 5123, "count": 6 * n * n, "type": "SCALAR"},
		},
		"bufferViews": []m{{"buffer": 0, "byteLength": vertices}, {"buffer": 0, "byteOffset": vertices, "byteLength": len(bin) - vertices}},
		"buffers":     []m{{"byteLength": len(bin), "uri": "data:application/octet-stream;base64," + base64.StdEncoding.EncodeToString(bin)}},
	})
	if err != nil {
		panic(err)
	}
	return b
}
