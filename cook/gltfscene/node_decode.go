package gltfscene

import (
	"strconv"

	"github.com/qmuntal/gltf"
	"github.com/untoldkit/untold/internal/jsonscan"
)

// decodeNode checks a node against its schema and decodes what placing it needs;
// extras and extensions are read from raw by those who use them. A scene
// may be a million nodes, for which encoding/json takes most of the time that the
// document does.
func decodeNode(raw []byte, n *gltf.Node) error {
	n.Matrix, n.Rotation, n.Scale = gltf.DefaultMatrix, gltf.DefaultRotation, gltf.DefaultScale
	var c checker
	return c.members(nodeSchema, raw, func(p *prop, val []byte) {
		switch p.name {
		case "name":
			n.Name = text(val)
		case "children":
			n.Children = indices(val)
		case "mesh":
			n.Mesh = index(val)
		case "camera":
			n.Camera = index(val)
		case "skin":
			n.Skin = index(val)
		case "weights":
			n.Weights = numberList(val)
		case "matrix":
			numbers(n.Matrix[:], val)
		case "rotation":
			numbers(n.Rotation[:], val)
		case "scale":
			numbers(n.Scale[:], val)
		case "translation":
			numbers(n.Translation[:], val)
		}
	})
}

// index, indices and numbers decode values that a schema has checked.
func index(val []byte) *int {
	v, _ := wholeNumber(val)
	return &v
}

func indices(val []byte) []int {
	out := []int{}
	for _, e := range jsonscan.Elements(val, 0) {
		v, _ := wholeNumber(e.Of(val))
		out = append(out, v)
	}
	return out
}

// numberList is never nil.
func numberList(val []byte) []float64 {
	n := 0
	for range jsonscan.Elements(val, 0) {
		n++
	}
	out := make([]float64, n)
	numbers(out, val)
	return out
}

func numbers(out []float64, val []byte) {
	for i, e := range jsonscan.Elements(val, 0) {
		out[i], _ = strconv.ParseFloat(string(e.Of(val)), 64)
	}
}
