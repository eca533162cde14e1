package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"

	"github.com/untoldkit/untold/internal/boxscene"
)

// boxScene is a glTF of n unit boxes, 3 m apart in rows of 100, that share one
// mesh of two materials.
func boxScene(n int) []byte {
	type m = boxscene.Object
	boxes := make([]boxscene.Box, n)
	for i := range boxes {
		boxes[i] = boxscene.Box{Name: "Box", At: [3]float64{float64(i%100) * 3, 0, -float64(i/100) * 3}}
	}
	s := boxscene.New(boxes...)
	s.Primitive["material"] = 0
	s.Root["materials"] = []m{{"name": "Paint", "pbrMetallicRoughness": m{"baseColorFactor": []float64{0.8, 0.2, 0.1, 1}}}}
	return s.Bytes()
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
