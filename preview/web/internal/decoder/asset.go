package decoder

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/runtime/payload"
)

// materialVersion is that of the format whose material records have all fields.
const materialVersion = 4

// writeAsset writes a decoded tile: its records as they are in a file, the strings that
// they name, and the geometry.
func writeAsset(token uint64, x *payload.Result) *writer {
	a := x.Asset
	w := newWriter(kindAsset, token)
	w.u64(uint64(max(0, x.GeometryBytes)))
	w.u64(uint64(max(0, x.TextureBytes)))
	w.u64(uint64(max(0, x.Nodes)))
	w.u32(uint32(a.Type))
	w.u32(uint32(a.Level))
	w.u32(uint32(a.Levels))
	w.text(a.Dir)
	w.b = append(w.b, a.Version[:]...)
	w.b = records.AppendBounds(w.b, a.Bounds)
	w.u32(uint32(len(a.Entities)))
	for i := range a.Entities {
		w.b = records.AppendEntity(w.b, &a.Entities[i])
	}
	w.u32(uint32(len(a.Meshes)))
	for i := range a.Meshes {
		w.b = records.AppendMesh(w.b, &a.Meshes[i])
	}
	w.u32(uint32(len(a.Materials)))
	for i := range a.Materials {
		w.b = records.AppendMaterial(w.b, &a.Materials[i], materialVersion)
	}
	w.u32(uint32(len(a.Textures)))
	for i := range a.Textures {
		w.b = records.AppendTexture(w.b, &a.Textures[i])
	}
	offsets := namedStrings(a)
	w.u32(uint32(len(offsets)))
	for _, at := range offsets {
		w.u32(at)
		w.text(a.Strings(at))
	}
	w.block(a.Geometry.Vertices)
	w.block(a.Geometry.Indices)
	return w
}

// namedStrings lists the offsets of the strings that records name, ascending.
func namedStrings(a *payload.Asset) []uint32 {
	if a.Strings == nil {
		return nil
	}
	var out []uint32
	for i := range a.Entities {
		out = append(out, a.Entities[i].NameOffset)
	}
	for i := range a.Meshes {
		out = append(out, a.Meshes[i].NameOffset)
	}
	for i := range a.Materials {
		out = append(out, a.Materials[i].NameOffset)
	}
	for i := range a.Textures {
		out = append(out, a.Textures[i].NameOffset, a.Textures[i].URIOffset)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// readAsset is the inverse. The geometry stays in the message, to which it is
// aligned; release is called when it is not used any more, unless there is an error.
// Which indices and ranges make sense was checked when the file was read.
func readAsset(r *reader, release func()) (x payload.Result, err error) {
	a := payload.NewAsset(release)
	x.Asset = a
	const most = math.MaxInt64
	x.GeometryBytes, x.TextureBytes, x.Nodes = int64(r.length(most)), int64(r.length(most)), r.length(math.MaxInt32)
	a.Type = format.FileType(r.u32())
	a.Level, a.Levels = int(int32(r.u32())), int(int32(r.u32()))
	a.Dir = r.text()
	copy(a.Version[:], r.take(uint64(len(a.Version))))
	if p := r.take(24); p != nil {
		a.Bounds = records.ReadBounds(p)
	}
	a.Entities = readRecords(r, records.EntitySize, records.DecodeEntity)
	a.Meshes = readRecords(r, records.MeshSize, records.DecodeMesh)
	a.Materials = readRecords(r, records.MaterialSize(materialVersion), func(b []byte) records.Material { return records.DecodeMaterial(b, materialVersion) })
	a.Textures = readRecords(r, records.TextureSize, records.DecodeTexture)
	a.Strings = readStrings(r)
	a.Geometry.Vertices = r.block()
	a.Geometry.Indices = r.block()
	if err := r.end(); err != nil {
		return payload.Result{}, err
	}
	return x, nil
}

func readRecords[T any](r *reader, size int, decode func([]byte) T) []T {
	n := r.count(size)
	if n == 0 {
		return nil
	}
	out := make([]T, n)
	for i := range out {
		if p := r.take(uint64(size)); p != nil {
			out[i] = decode(p)
		}
	}
	return out
}

// readStrings returns what resolves the offsets of strings; "" for those that no record
// names.
func readStrings(r *reader) func(uint32) string {
	const least = 8 // bytes of a string with its offset
	n := r.count(least)
	// All of them are one string, which does not keep the message.
	begin, size := r.b, uint64(0)
	offsets, ends := make([]uint32, 0, n), make([]uint32, 0, n)
	for range n {
		at := r.u32()
		if k := len(offsets); k > 0 && at <= offsets[k-1] {
			r.fail("string offset %d after %d", at, offsets[k-1])
		}
		size += uint64(len(r.take(uint64(r.u32()))))
		offsets, ends = append(offsets, at), append(ends, uint32(size))
	}
	if r.err != nil {
		return nil
	}
	text := make([]byte, 0, size)
	for range n {
		length := binary.LittleEndian.Uint32(begin[4:])
		text = append(text, begin[8:8+length]...)
		begin = begin[8+length:]
	}
	all := string(text)
	return func(offset uint32) string {
		i, ok := slices.BinarySearch(offsets, offset)
		if !ok {
			return ""
		}
		from := uint32(0)
		if i > 0 {
			from = ends[i-1]
		}
		return all[from:ends[i]]
	}
}
