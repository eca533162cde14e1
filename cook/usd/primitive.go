package usd

import (
	"encoding/binary"
	"strconv"

	"github.com/untoldkit/untold/cook/internal/gltfdoc"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/glb"
)

// The views of the buffer, by what their elements are.
const (
	viewVec3 = iota // 3 float32
	viewPair        // 2 float32, or 4 uint16
	viewIndices
)

var viewStrides = [...]int{viewVec3: 12, viewPair: 8, viewIndices: 0}

// Where the parts of a vertex lie.
const (
	atPosition = 0
	atNormal   = 3
	atUV       = 6
	atColor    = 10 // 4 numbers of 16 bits
	vertexSize = 12
)

// vertex is a vertex as it is stored, with the bits of its numbers; equal ones are one.
type vertex [vertexSize]uint32

// primitive writes faces of one material, and returns the primitive of a mesh that shows
// them; nil where nothing is left.
func (w *walker) primitive(s *surface, faces, starts []int32, material int) ([]byte, error) {
	if s.normals == nil && s.smooth && s.sums == nil {
		s.round()
	}
	normals := s.normals != nil || s.sums != nil
	colors := s.color != nil || s.opacity != nil
	total := 0
	for _, f := range faces {
		total += int(s.counts.IntAt(int(f)))
	}
	w.table.Reset(total)
	var indices []byte
	var points [][3]float32
	var numbers []uint32
	for n, f := range faces {
		if n%(1<<14) == 0 && w.ctx.Err() != nil {
			return nil, w.ctx.Err()
		}
		points, numbers = points[:0], numbers[:0]
		count := int(s.counts.IntAt(int(f)))
		for i := range count {
			if s.left {
				i = count - 1 - i
			}
			at := int(starts[f]) + i
			c := corner{face: int(f), at: at, point: int(s.indices.IntAt(at))}
			var v vertex
			q := s.point(at).F32()
			points = append(points, q)
			for k, x := range q {
				v[atPosition+k] = gltfdoc.Bits(x)
			}
			if normals {
				for k, x := range s.normal(c).F32() {
					v[atNormal+k] = gltfdoc.Bits(x)
				}
			}
			for k, uv := range s.uvs {
				if uv != nil {
					e := uv.index(c) * uv.values.Width
					v[atUV+2*k] = gltfdoc.Bits(float32(uv.values.At(e)))
					v[atUV+2*k+1] = gltfdoc.Bits(float32(1 - uv.values.At(e+1)))
				}
			}
			if colors {
				v[atColor], v[atColor+1] = s.colorOf(c)
			}
			numbers = append(numbers, w.table.Number(&v))
		}
		for _, cut := range w.cutter.Cut(points) {
			for _, i := range cut {
				indices = binary.LittleEndian.AppendUint32(indices, numbers[i])
			}
		}
	}
	if len(indices) == 0 {
		return nil, nil
	}
	out := []byte(`{"attributes":{"POSITION":`)
	add := func(view, component int, kind string, normalized bool, at, n int, extent string) {
		out = strconv.AppendInt(out, int64(w.accessor(view, component, len(w.table.List), kind, normalized, extent)), 10)
		w.words(at, n)
	}
	add(viewVec3, glb.ComponentF32, "VEC3", false, atPosition, 3, w.table.Extent())
	if normals {
		out = append(out, `,"NORMAL":`...)
		add(viewVec3, glb.ComponentF32, "VEC3", false, atNormal, 3, "")
	}
	set := 0
	for k, uv := range s.uvs {
		if uv != nil || k == 0 && s.uvs[1] != nil {
			out = append(out, `,"TEXCOORD_`+strconv.Itoa(set)+`":`...)
			add(viewPair, glb.ComponentF32, "VEC2", false, atUV+2*k, 2, "")
			set++
		}
	}
	if colors {
		out = append(out, `,"COLOR_0":`...)
		add(viewPair, glb.ComponentU16, "VEC4", true, atColor, 2, "")
	}
	out = append(out, `},"indices":`...)
	out = strconv.AppendInt(out, int64(w.accessor(viewIndices, glb.ComponentU32, len(indices)/4, "SCALAR", false, "")), 10)
	if err := w.emit(indices); err != nil {
		return nil, err
	}
	out = append(out, `,"material":`...)
	return append(strconv.AppendInt(out, int64(w.doc.index(material, s.double)), 10), '}'), nil
}

// normal returns the direction of a corner's normal.
func (s *surface) normal(c corner) geom.Vec3 {
	var v geom.Vec3
	if s.normals != nil {
		e := s.normals.index(c) * s.normals.values.Width
		v = geom.Vec3{s.normals.values.At(e), s.normals.values.At(e + 1), s.normals.values.At(e + 2)}
	} else {
		v = s.sums[c.point]
	}
	if !v.IsFinite() {
		return geom.Vec3{} // which the import repairs
	}
	return v.Normalize(0, geom.Vec3{})
}

// colorOf returns the colour of a corner, linear, as 4 numbers of 16 bits.
func (s *surface) colorOf(c corner) (uint32, uint32) {
	q := [4]float64{1, 1, 1, 1}
	if s.color != nil {
		e := s.color.index(c) * s.color.values.Width
		for k := range 3 {
			q[k] = s.color.values.At(e + k)
		}
	}
	if s.opacity != nil {
		q[3] = s.opacity.values.At(s.opacity.index(c) * s.opacity.values.Width)
	}
	var out [4]uint32
	for k, x := range q {
		if x > 0 {
			out[k] = uint32(float64(min(x, 1)*65535) + 0.5)
		}
	}
	return out[0] | out[1]<<16, out[2] | out[3]<<16
}

// words writes a part of every vertex. An error of the file sticks to the writer.
func (w *walker) words(at, n int) {
	buf := make([]byte, 0, 64<<10)
	for i := range w.table.List {
		for _, x := range w.table.List[i][at : at+n] {
			buf = binary.LittleEndian.AppendUint32(buf, x)
		}
		if len(buf) > 63<<10 {
			w.emit(buf) //nolint:errcheck // the last write says it again
			buf = buf[:0]
		}
	}
	w.emit(buf) //nolint:errcheck // as above
}

func (r *reader) emit(data []byte) error {
	r.n += int64(len(data))
	_, err := r.out.Write(data)
	return gltfdoc.Working(err)
}

// accessor adds one for what is written next, and returns its number.
func (r *reader) accessor(view, component, count int, kind string, normalized bool, extent string) int {
	r.accessors = gltfdoc.AppendElement(r.accessors, gltfdoc.Accessor(view, r.n, component, count, kind, normalized, extent))
	r.accessCount++
	return r.accessCount - 1
}
