package layer

import "math"

// Value is nil, for a value that is blocked, or one of bool, int64, float64, string, Token,
// Asset, Path, []string (texts and tokens), []Asset, []Path, Dict and *Numbers.
type Value any

// Token is a word of the schema, such as "Y".
type Token string

// Asset is the name of a file as a layer has it.
type Asset string

// Path is that of a prim or a property.
type Path string

// Dict is a dictionary.
type Dict map[string]Value

// Numbers are a tuple, a matrix or an array of numbers, tuples or matrices. One of the
// slices is set.
type Numbers struct {
	Width int  // numbers of an element: 1, 2, 3, 4, 9 or 16
	Array bool // any number of elements, not one
	F32   []float32
	F64   []float64
	Int   []int64
}

// Len returns how many elements there are.
func (n *Numbers) Len() int { return n.Flat() / max(n.Width, 1) }

// Flat returns how many numbers there are.
func (n *Numbers) Flat() int { return len(n.F32) + len(n.F64) + len(n.Int) }

// At returns a number, counted through all elements.
func (n *Numbers) At(i int) float64 {
	switch {
	case n.F32 != nil:
		return float64(n.F32[i])
	case n.F64 != nil:
		return n.F64[i]
	}
	return float64(n.Int[i])
}

// IntAt is At for whole numbers; what is none is -1.
func (n *Numbers) IntAt(i int) int64 {
	if n.Int != nil {
		return n.Int[i]
	}
	v := n.At(i)
	if v != math.Floor(v) || v < -(1<<53) || v > 1<<53 {
		return -1
	}
	return int64(v)
}

// kind is how the elements of a type are stored.
type kind struct {
	base  byte // 'f' float and half, 'd' double, 'i' whole numbers, 'b' bool, 's' text, 't' token, 'a' asset, 0 none of these
	width int
}

// kinds are the types of attributes, by their names without [].
var kinds = map[string]kind{
	"bool": {'b', 1}, "uchar": {'i', 1}, "int": {'i', 1}, "uint": {'i', 1}, "int64": {'i', 1}, "uint64": {'i', 1},
	"half": {'f', 1}, "float": {'f', 1}, "double": {'d', 1}, "timecode": {'d', 1}, "string": {'s', 1}, "token": {'t', 1}, "asset": {'a', 1},
	"int2": {'i', 2}, "int3": {'i', 3}, "int4": {'i', 4},
	"half2": {'f', 2}, "half3": {'f', 3}, "half4": {'f', 4}, "float2": {'f', 2}, "float3": {'f', 3}, "float4": {'f', 4},
	"double2": {'d', 2}, "double3": {'d', 3}, "double4": {'d', 4},
	"point3h": {'f', 3}, "point3f": {'f', 3}, "point3d": {'d', 3}, "vector3h": {'f', 3}, "vector3f": {'f', 3}, "vector3d": {'d', 3},
	"normal3h": {'f', 3}, "normal3f": {'f', 3}, "normal3d": {'d', 3}, "color3h": {'f', 3}, "color3f": {'f', 3}, "color3d": {'d', 3},
	"color4h": {'f', 4}, "color4f": {'f', 4}, "color4d": {'d', 4}, "quath": {'f', 4}, "quatf": {'f', 4}, "quatd": {'d', 4},
	"texCoord2h": {'f', 2}, "texCoord2f": {'f', 2}, "texCoord2d": {'d', 2}, "texCoord3h": {'f', 3}, "texCoord3f": {'f', 3}, "texCoord3d": {'d', 3},
	"matrix2d": {'d', 4}, "matrix3d": {'d', 9}, "matrix4d": {'d', 16}, "frame4d": {'d', 16},
}
