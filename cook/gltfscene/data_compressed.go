package gltfscene

import (
	"errors"
	"fmt"

	"github.com/qmuntal/gltf"
	"github.com/untoldkit/untold/internal/jsonscan"
	"github.com/untoldkit/untold/internal/meshopt"
)

// meshoptNames are the names of the meshopt codec. Both stand for the same
// decoder: what EXT allows is a part of what KHR does.
var meshoptNames = []string{"KHR_meshopt_compression", "EXT_meshopt_compression"}

var meshoptSchema = &schema{[]prop{
	{name: "buffer", kind: isInt, need: true},
	{name: "byteOffset", kind: isInt},
	{name: "byteLength", kind: isInt, need: true},
	{name: "byteStride", kind: isInt, need: true},
	{name: "count", kind: isInt, need: true},
	{name: "mode", kind: isString, need: true},
	{name: "filter", kind: isString},
}}

// meshoptView is the JSON of a compressed bufferView.
type meshoptView struct {
	Buffer, ByteOffset, ByteLength int
	ByteStride, Count              int
	Mode, Filter                   string
}

// meshoptOf returns the value and the name of the meshopt extension of a
// bufferView or a buffer, nil if it has none.
func meshoptOf(raw []byte) (ext []byte, name string) {
	all := jsonscan.Member(raw, "extensions")
	for _, name := range meshoptNames {
		if ext := jsonscan.Member(all, name); isObjectValue(ext) {
			return ext, name
		}
	}
	return nil, ""
}

// isPlaceholder reports whether a buffer is marked as the fallback of
// compressed views.
func isPlaceholder(raw []byte) bool {
	ext, _ := meshoptOf(raw)
	return string(jsonscan.Member(ext, "fallback")) == "true"
}

// expandView finds a compressed bufferView's bytes. Its own buffer, the
// fallback, is read only if the stream cannot be decoded and the extension
// is not required.
func (dr *dataReader) expandView(bv *gltf.BufferView, place string, ext []byte, name string) (loadedView, error) {
	data, err := dr.decompress(bv, ext, place)
	if err == nil {
		return loadedView{at: data, stride: bv.ByteStride}, nil
	}
	err = at(place+".extensions."+name, err)
	if dr.ext.required[name] || errors.Is(err, ErrTooLarge) {
		return loadedView{}, err
	}
	v, plainErr := dr.plainView(bv, place)
	if plainErr != nil {
		return loadedView{}, err
	}
	dr.notes.fault("meshopt-fallback", "the uncompressed fallback was used instead of compressed data", err)
	return v, nil
}

// decompress decodes the stream that ext describes, which shows that it can be; what it
// holds is decoded again where the cache has let go of it.
func (dr *dataReader) decompress(bv *gltf.BufferView, ext []byte, place string) (found extent, err error) {
	var v meshoptView
	if err := meshoptSchema.decode(ext, &v); err != nil {
		return found, err
	}
	layout, err := v.layout()
	if err != nil {
		return found, err
	}
	if b, err := dr.doc.buffers.get(bv.Buffer); err != nil {
		dr.notes.fault("meshopt-placeholder", "the fallback of compressed data, which is not read, is faulty", at(place, err))
	} else if err := viewFits(bv, b.ByteLength); err != nil {
		dr.notes.fault("meshopt-placeholder", "the fallback of compressed data, which is not read, is faulty", at(place, err))
	}
	buffer, err := dr.buffer(v.Buffer)
	if err != nil {
		return found, err
	}
	if err := viewFits(&gltf.BufferView{Buffer: v.Buffer, ByteOffset: v.ByteOffset, ByteLength: v.ByteLength}, buffer.n); err != nil {
		return found, err
	}
	packed := buffer.part(v.ByteOffset, v.ByteLength)
	src, err := packed.bytes()
	if err != nil {
		return found, err
	}
	size, err := layout.Size(src)
	if err != nil {
		return found, meshoptFault(err)
	}
	// A plain file of the same content would be larger: it may decode to more.
	dr.bufferBytes += 2 * int64(len(src))
	if err := dr.reserve("", int64(size), 1); err != nil {
		return found, err
	}
	if err := dr.checkReserved(); err != nil {
		return found, err
	}
	if size != bv.ByteLength {
		dr.notes.warn("meshopt-length", place, fmt.Sprintf("byteLength is %d, but the compressed data holds %d bytes, which were used", bv.ByteLength, size))
	}
	u := &unpacked{dr.cache, packed, layout, size}
	if dr.cache.keepsAll() || int64(size) <= dr.cache.limit/unpackedShare {
		_, end, err := u.reader()
		if err != nil {
			return found, err
		}
		end()
		return extent{u, 0, size}, nil
	}
	// Many meshes lie in one view: it would be decoded again for each of them.
	out, err := u.decode()
	if err != nil {
		return found, err
	}
	f, err := spill(out)
	if err != nil {
		return found, openError("(temporary)", err)
	}
	dr.spills = append(dr.spills, f)
	return extent{&spilled{inFile{f, "(temporary)"}, u}, 0, size}, nil
}

// decode decodes the stream.
func (u *unpacked) decode() ([]byte, error) {
	src, err := u.packed.bytes()
	if err != nil {
		return nil, err
	}
	out, err := meshopt.Decode(src, u.layout)
	if err != nil {
		return nil, meshoptFault(err)
	}
	return out, nil
}

// unpackedShare is the part of the cache that one decoded view may take.
const unpackedShare = 8

// layout returns the shape of the view's data.
func (v *meshoptView) layout() (meshopt.Layout, error) {
	l := meshopt.Layout{Count: v.Count, Stride: v.ByteStride}
	var ok bool
	if l.Mode, ok = meshopt.ParseMode(v.Mode); !ok {
		return l, unsupported(".mode", decodeHint, "is %q, only ATTRIBUTES, TRIANGLES and INDICES are known", clip(v.Mode))
	}
	if v.Filter != "" {
		if l.Filter, ok = meshopt.ParseFilter(v.Filter); !ok {
			return l, unsupported(".filter", decodeHint, "is %q, only NONE, OCTAHEDRAL, QUATERNION, EXPONENTIAL and COLOR are known", clip(v.Filter))
		}
	}
	if err := l.Check(); err != nil {
		return l, meshoptFault(err)
	}
	return l, nil
}

// meshoptFault makes an error of package meshopt one of this package.
func meshoptFault(err error) error {
	e := malformed("", "%v", err)
	e.Hint = "the compressed data is damaged: export or compress the file again"
	return e
}
