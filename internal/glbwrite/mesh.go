package glbwrite

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"github.com/untoldkit/untold/internal/glb"
)

// Primitive is a triangle list with one material. Every non-empty attribute
// is as long as Pos.
type Primitive struct {
	Material int // index into the materials, -1 for the default material
	Pos      [][3]float32
	Normal   [][3]float32
	Tangent  [][4]float32
	UV0, UV1 [][2]float32
	Color    [][4]uint8 // linear colour, 255 is 1
	Index    []uint32   // three per triangle, counter-clockwise from outside
}

// Node is one node of the scene. The zero value of a transform part means
// glTF's default.
type Node struct {
	Name        string
	Mesh        int // -1 for none
	Camera      int // -1 for none
	Light       int // KHR_lights_punctual, -1 for none
	Translation [3]float32
	Rotation    [4]float32 // x, y, z, w
	Scale       [3]float32
	Matrix      *[16]float32 // column-major; excludes the three above
	Children    []int
	Extras      json.RawMessage
}

type attribute struct {
	name string
	typ  string
	comp int // component type
	size int // bytes per vertex, a multiple of four
}

// Mesh adds a mesh and returns its index. The vertices of a primitive are
// interleaved in one buffer view; indices take 16 bits where they fit.
func (w *Writer) Mesh(name string, prims []Primitive) int {
	b := append([]byte(nil), `{"name":`...)
	b = appendString(b, name)
	b = append(b, `,"primitives":[`...)
	for i := range prims {
		if i > 0 {
			b = append(b, ',')
		}
		b = w.primitive(b, name, &prims[i])
	}
	return w.Raw(glb.Meshes, append(b, `]}`...))
}

func (p *Primitive) attributes() (list []attribute, stride int) {
	list = append(list, attribute{"POSITION", "VEC3", glb.ComponentF32, 12})
	if len(p.Normal) > 0 {
		list = append(list, attribute{"NORMAL", "VEC3", glb.ComponentF32, 12})
	}
	if len(p.Tangent) > 0 {
		list = append(list, attribute{"TANGENT", "VEC4", glb.ComponentF32, 16})
	}
	if len(p.UV0) > 0 {
		list = append(list, attribute{"TEXCOORD_0", "VEC2", glb.ComponentF32, 8})
	}
	if len(p.UV1) > 0 {
		list = append(list, attribute{"TEXCOORD_1", "VEC2", glb.ComponentF32, 8})
	}
	if len(p.Color) > 0 {
		list = append(list, attribute{"COLOR_0", "VEC4", glb.ComponentU8, 4})
	}
	for _, a := range list {
		stride += a.size
	}
	return list, stride
}

func (p *Primitive) check(name string) error {
	n := len(p.Pos)
	for _, l := range []int{len(p.Normal), len(p.Tangent), len(p.UV0), len(p.UV1), len(p.Color)} {
		if l != 0 && l != n {
			return fmt.Errorf("glbwrite: mesh %s: an attribute has %d entries for %d vertices", name, l, n)
		}
	}
	if n == 0 || len(p.Index) == 0 || len(p.Index)%3 != 0 {
		return fmt.Errorf("glbwrite: mesh %s: %d vertices and %d indices are no triangle list", name, n, len(p.Index))
	}
	for _, i := range p.Index {
		if int(i) >= n {
			return fmt.Errorf("glbwrite: mesh %s: index %d of %d vertices", name, i, n)
		}
	}
	return nil
}

func (w *Writer) primitive(b []byte, name string, p *Primitive) []byte {
	if err := p.check(name); err != nil {
		if w.err == nil {
			w.err = err
		}
		return append(b, '{', '}')
	}
	list, stride := p.attributes()
	view := w.View(p.vertexBytes(stride), stride, glb.TargetVertex)
	b = append(b, `{"attributes":{`...)
	off := 0
	for i, a := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `"`+a.name+`":`...)
		b = appendInt(b, int64(w.accessor(view, off, len(p.Pos), a, p)))
		off += a.size
	}
	b = append(b, `},"indices":`...)
	b = appendInt(b, int64(w.indices(p)))
	if p.Material >= 0 {
		b = append(b, `,"material":`...)
		b = appendInt(b, int64(p.Material))
	}
	return append(b, '}')
}

func (p *Primitive) vertexBytes(stride int) []byte {
	le := binary.LittleEndian
	out := make([]byte, 0, stride*len(p.Pos))
	put := func(v []float32) {
		for _, x := range v {
			out = le.AppendUint32(out, math.Float32bits(x))
		}
	}
	for i := range p.Pos {
		put(p.Pos[i][:])
		if len(p.Normal) > 0 {
			put(p.Normal[i][:])
		}
		if len(p.Tangent) > 0 {
			put(p.Tangent[i][:])
		}
		if len(p.UV0) > 0 {
			put(p.UV0[i][:])
		}
		if len(p.UV1) > 0 {
			put(p.UV1[i][:])
		}
		if len(p.Color) > 0 {
			out = append(out, p.Color[i][:]...)
		}
	}
	return out
}

func (w *Writer) accessor(view, off, count int, a attribute, p *Primitive) int {
	b := append(w.scratch[:0], `{"bufferView":`...)
	b = appendInt(b, int64(view))
	if off > 0 {
		b = append(b, `,"byteOffset":`...)
		b = appendInt(b, int64(off))
	}
	b = append(b, `,"componentType":`...)
	b = appendInt(b, int64(a.comp))
	if a.comp == glb.ComponentU8 {
		b = append(b, `,"normalized":true`...)
	}
	b = append(b, `,"count":`...)
	b = appendInt(b, int64(count))
	b = append(b, `,"type":"`+a.typ+`"`...)
	if a.name == "POSITION" {
		lo, hi := p.Pos[0], p.Pos[0]
		for _, v := range p.Pos {
			for k := range 3 {
				lo[k], hi[k] = min(lo[k], v[k]), max(hi[k], v[k])
			}
		}
		b = append(b, `,"min":`...)
		b = appendFloats(b, lo[:]...)
		b = append(b, `,"max":`...)
		b = appendFloats(b, hi[:]...)
	}
	w.scratch = append(b, '}')
	return w.Raw(glb.Accessors, w.scratch)
}

func (w *Writer) indices(p *Primitive) int {
	le, comp := binary.LittleEndian, glb.ComponentU32
	data := make([]byte, 0, 4*len(p.Index))
	// 65535 itself is reserved as the primitive restart value.
	if len(p.Pos) <= 65535 {
		comp = glb.ComponentU16
		for _, i := range p.Index {
			data = le.AppendUint16(data, uint16(i))
		}
	} else {
		for _, i := range p.Index {
			data = le.AppendUint32(data, i)
		}
	}
	view := w.View(data, 0, glb.TargetIndex)
	b := append(w.scratch[:0], `{"bufferView":`...)
	b = appendInt(b, int64(view))
	b = append(b, `,"componentType":`...)
	b = appendInt(b, int64(comp))
	b = append(b, `,"count":`...)
	b = appendInt(b, int64(len(p.Index)))
	w.scratch = append(b, `,"type":"SCALAR"}`...)
	return w.Raw(glb.Accessors, w.scratch)
}

// Node adds a node, whose children must have been added before, and returns
// its index.
func (w *Writer) Node(n *Node) int {
	b := append(w.scratch[:0], `{"name":`...)
	b = appendString(b, n.Name)
	if n.Mesh >= 0 {
		b = append(b, `,"mesh":`...)
		b = appendInt(b, int64(n.Mesh))
	}
	if n.Camera >= 0 {
		b = append(b, `,"camera":`...)
		b = appendInt(b, int64(n.Camera))
	}
	if n.Matrix != nil {
		b = append(b, `,"matrix":`...)
		b = appendFloats(b, n.Matrix[:]...)
	} else {
		b = appendTRS(b, n)
	}
	if len(n.Children) > 0 {
		b = append(b, `,"children":`...)
		b = appendInts(b, n.Children)
		for _, c := range n.Children {
			if (c < 0 || c >= w.Count(glb.Nodes)) && w.err == nil {
				w.err = fmt.Errorf("glbwrite: node %s: child %d of %d nodes", n.Name, c, w.Count(glb.Nodes))
			}
		}
	}
	if n.Light >= 0 {
		b = append(b, `,"extensions":{"KHR_lights_punctual":{"light":`...)
		b = appendInt(b, int64(n.Light))
		b = append(b, `}}`...)
	}
	if len(n.Extras) > 0 {
		b = append(b, `,"extras":`...)
		b = append(b, n.Extras...)
	}
	w.scratch = append(b, '}')
	return w.Raw(glb.Nodes, w.scratch)
}

func appendTRS(b []byte, n *Node) []byte {
	if n.Translation != [3]float32{} {
		b = append(b, `,"translation":`...)
		b = appendFloats(b, n.Translation[:]...)
	}
	if n.Rotation != [4]float32{} && n.Rotation != [4]float32{0, 0, 0, 1} {
		b = append(b, `,"rotation":`...)
		b = appendFloats(b, n.Rotation[:]...)
	}
	if n.Scale != [3]float32{} && n.Scale != [3]float32{1, 1, 1} {
		b = append(b, `,"scale":`...)
		b = appendFloats(b, n.Scale[:]...)
	}
	return b
}
