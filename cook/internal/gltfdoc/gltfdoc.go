// Package gltfdoc holds what readers of other formats share that make a glTF document of a
// file: vertices that are stored once, and the text of accessors and views.
package gltfdoc

import (
	"context"
	"errors"
	"math"
	"strconv"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// Vertex is a vertex as it is stored, with the bits of its numbers; the first three are its
// position. Equal ones are one.
type Vertex interface{ ~[9]uint32 | ~[12]uint32 }

// Table numbers vertices by what they are.
type Table[V Vertex] struct {
	List []V // in the order of their numbers

	slots []int32 // 1 + index into List, 0 for none
}

// Reset empties the table, for at most so many vertices.
func (t *Table[V]) Reset(expected int) {
	n := 1024
	for n < 2*expected {
		n *= 2
	}
	if len(t.slots) != n {
		t.slots = make([]int32, n)
	} else {
		clear(t.slots)
	}
	t.List = t.List[:0]
}

// Number returns the number of a vertex, which is a new one the first time.
func (t *Table[V]) Number(v *V) uint32 {
	h := uint64(14695981039346656037)
	for i := range len(*v) {
		h = (h ^ uint64((*v)[i])) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	mask := uint64(len(t.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		k := t.slots[i]
		if k == 0 {
			t.List = append(t.List, *v)
			t.slots[i] = int32(len(t.List))
			return uint32(len(t.List) - 1)
		}
		if t.List[k-1] == *v {
			return uint32(k - 1)
		}
	}
}

// Bits returns the bits of a number, of both zeros the same.
func Bits(x float32) uint32 { return math.Float32bits(x + 0) }

// AppendElement adds an element to the text of a list.
func AppendElement(list, element []byte) []byte {
	if len(list) > 0 {
		list = append(list, ',')
	}
	return append(list, element...)
}

// Accessor returns the text of an accessor. extent is that of Table.Extent, or empty.
func Accessor(view int, offset int64, component, count int, kind string, normalized bool, extent string) []byte {
	a := []byte(`{"bufferView":` + strconv.Itoa(view) + `,"byteOffset":` + strconv.FormatInt(offset, 10) +
		`,"componentType":` + strconv.Itoa(component) + `,"count":` + strconv.Itoa(count) + `,"type":"` + kind + `"`)
	if normalized {
		a = append(a, `,"normalized":true`...)
	}
	return append(append(a, extent...), '}')
}

// Extent returns the text of min and max of the positions, for Accessor.
func (t *Table[V]) Extent() string {
	lo := [3]float32{math.MaxFloat32, math.MaxFloat32, math.MaxFloat32}
	hi := [3]float32{-math.MaxFloat32, -math.MaxFloat32, -math.MaxFloat32}
	for i := range t.List {
		for k := range lo {
			x := math.Float32frombits(t.List[i][k])
			lo[k], hi[k] = min(lo[k], x), max(hi[k], x)
		}
	}
	text := func(v [3]float32) string {
		out := []byte{'['}
		for i, x := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = strconv.AppendFloat(out, float64(x), 'g', -1, 32)
		}
		return string(append(out, ']'))
	}
	return `,"min":` + text(lo) + `,"max":` + text(hi)
}

// AppendViews adds the text of a buffer and the beginning of its views: each shows the whole
// buffer, with the stride of an attribute or, where it is 0, of indices.
func AppendViews(out []byte, size int64, strides []int) []byte {
	n := strconv.FormatInt(size, 10)
	out = append(out, `,"buffers":[{"byteLength":`+n+`}],"bufferViews":[`...)
	for i, stride := range strides {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"buffer":0,"byteLength":`+n...)
		if stride > 0 {
			out = append(out, `,"byteStride":`+strconv.Itoa(stride)...)
		}
		out = append(out, '}')
	}
	return out
}

// Working returns an error of a temporary file; nil for nil.
func Working(err error) error {
	if err == nil {
		return nil
	}
	return &gltfscene.Error{Reason: "a temporary file: " + err.Error(), Hint: "TMPDIR names another place for temporary files", Err: err}
}

// Named returns an error of reading a file as a *gltfscene.Error that names it, or ctx's.
func Named(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return ctx.Err()
	}
	var e *gltfscene.Error
	if !errors.As(err, &e) {
		e = &gltfscene.Error{Reason: err.Error(), Err: err}
	}
	c := *e
	c.File = name
	return &c
}
