// Package boxscene makes the glTF scenes of tests: unit boxes around the origins of
// their nodes, which share one mesh. What else a scene has, tests add to its JSON.
package boxscene

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// Object is a JSON object.
type Object = map[string]any

// Box is a node with the mesh: a box from -0.5 to 0.5, moved and scaled.
type Box struct {
	Name   string
	At     [3]float64
	Scale  [3]float64 // 0, 0, 0 stands for 1, 1, 1
	Extras Object     // nil for none
}

// Scene is a glTF document. Its one buffer stands in the document.
type Scene struct {
	Root      Object // the top level; nodes come last
	Primitive Object // the mesh's only one
	nodes     []Object
	bin       []byte
}

// New makes a scene of boxes, in their order, without materials.
func New(boxes ...Box) *Scene {
	s := &Scene{Root: Object{"asset": Object{"version": "2.0"}, "scene": 0}}
	s.Primitive = Object{"attributes": Object{"POSITION": 0}, "indices": 1}
	s.Root["meshes"] = []Object{{"name": "box", "primitives": []Object{s.Primitive}}}
	for i := range 8 {
		for a := range 3 {
			s.bin = appendFloat(s.bin, float32(i>>a&1)-0.5)
		}
	}
	for _, i := range []uint16{
		0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
		2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5,
	} {
		s.bin = binary.LittleEndian.AppendUint16(s.bin, i)
	}
	s.Root["accessors"] = []Object{
		{"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3", "min": []float64{-.5, -.5, -.5}, "max": []float64{.5, .5, .5}},
		{"bufferView": 1, "componentType": 5123, "count": 36, "type": "SCALAR"},
	}
	s.Root["bufferViews"] = []Object{{"buffer": 0, "byteLength": 96}, {"buffer": 0, "byteOffset": 96, "byteLength": 72}}
	for _, b := range boxes {
		n := Object{"name": b.Name, "mesh": 0, "translation": b.At}
		if b.Scale != [3]float64{} {
			n["scale"] = b.Scale
		}
		if b.Extras != nil {
			n["extras"] = b.Extras
		}
		s.AddNode(n)
	}
	return s
}

func appendFloat(b []byte, v float32) []byte {
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
}

// AddNode adds a node at the root.
func (s *Scene) AddNode(n Object) { s.nodes = append(s.nodes, n) }

// AddTexCoords gives every corner of the box texture coordinates, 0 or 1 along x
// and y.
func (s *Scene) AddTexCoords() {
	at := len(s.bin)
	for i := range 8 {
		for a := range 2 {
			s.bin = appendFloat(s.bin, float32(i>>a&1))
		}
	}
	accessors := s.Root["accessors"].([]Object)
	views := s.Root["bufferViews"].([]Object)
	s.Primitive["attributes"].(Object)["TEXCOORD_0"] = len(accessors)
	s.Root["accessors"] = append(accessors, Object{"bufferView": len(views), "componentType": 5126, "count": 8, "type": "VEC2"})
	s.Root["bufferViews"] = append(views, Object{"buffer": 0, "byteOffset": at, "byteLength": len(s.bin) - at})
}

// Bytes returns the text of a .gltf file.
func (s *Scene) Bytes() []byte {
	roots := make([]int, len(s.nodes))
	for i := range roots {
		roots[i] = i
	}
	s.Root["nodes"], s.Root["scenes"] = s.nodes, []Object{{"nodes": roots}}
	uri := "data:application/octet-stream;base64," + base64.StdEncoding.EncodeToString(s.bin)
	s.Root["buffers"] = []Object{{"byteLength": len(s.bin), "uri": uri}}
	b, err := json.Marshal(s.Root)
	if err != nil {
		panic(err) // a test has added what is no JSON
	}
	return b
}

// Save writes the scene to a folder of its own and returns its path.
func (s *Scene) Save(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, s.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
