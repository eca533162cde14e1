package gltfscene

import (
	"fmt"

	"github.com/qmuntal/gltf"
)

// dataReader owns the bytes of a load: the buffers that were read, their views and
// accessors, each read once, and the count of memory that decoded geometry takes. It
// hands out nothing that lies outside a buffer, and reads no file that is not named
// by a buffer in use.
type dataReader struct {
	*session
	box         container
	buffers     map[int]loadedBuffer
	views       map[int]loadedView
	accessors   map[int]memo[accessor]
	bufferBytes int64 // of the file and all buffers read
	decoded     int64 // bytes that decoding will allocate
}

func newDataReader(se *session, fileBytes int64) dataReader {
	return dataReader{
		session: se, bufferBytes: fileBytes,
		buffers: make(map[int]loadedBuffer), views: make(map[int]loadedView), accessors: make(map[int]memo[accessor]),
	}
}

// loadedBuffer is a buffer's bytes, exactly byteLength of them, or why they
// cannot be had.
type loadedBuffer struct {
	data []byte
	err  error
}

// loadedView is a bufferView's bytes.
type loadedView struct {
	data   []byte
	stride int // 0: tightly packed
	err    error
}

// buffer returns the bytes of buffer i; they are read once.
func (dr *dataReader) buffer(i int) ([]byte, error) {
	if b, ok := dr.buffers[i]; ok {
		return b.data, b.err
	}
	data, err := dr.readBuffer(i)
	dr.buffers[i] = loadedBuffer{data, err}
	return data, err
}

func (dr *dataReader) readBuffer(i int) ([]byte, error) {
	t := &dr.doc.buffers
	if err := t.check(i); err != nil {
		return nil, err
	}
	b, err := t.get(i)
	if err != nil {
		return nil, err
	}
	dr.observe(t.place(i), onBuffer, t.raw[i])
	uri := uriOf(t.raw[i])
	var data []byte
	switch {
	case uri == nil:
		data, err = dr.embedded(i, t.raw[i])
	case isDataURI(uri):
		data, err = decodeDataURI(uri)
		dr.bufferBytes += int64(len(data))
	default:
		data, err = dr.readExternal(string(uri), int64(b.ByteLength))
		dr.bufferBytes += int64(len(data))
	}
	if err != nil {
		return nil, at(t.place(i), err)
	}
	if len(data) < b.ByteLength {
		return nil, malformed(t.place(i), "holds %d bytes, its byteLength is %d", len(data), b.ByteLength)
	}
	return data[:b.ByteLength:b.ByteLength], nil
}

// embedded returns the BIN chunk for the first buffer of a .glb.
func (dr *dataReader) embedded(i int, raw []byte) ([]byte, error) {
	if i == 0 && dr.box.hasBin {
		return dr.box.bin, nil
	}
	if isPlaceholder(raw) {
		return nil, malformed("", "is a placeholder for compressed data and holds none: only compressed bufferViews may refer to it")
	}
	reason := "has no uri, and the file has no BIN chunk"
	if i != 0 {
		reason = "has no uri; only the first buffer of a .glb may lack one"
	}
	return nil, &Error{Reason: reason, Hint: "the geometry is not in this file; export it again", Err: ErrMissingFile}
}

// readExternal reads the first n bytes of the file that uri names.
func (dr *dataReader) readExternal(uri string, n int64) ([]byte, error) {
	dr.noteBackslash(uri)
	x, err := find(dr.src, uri, dr.opts.AllowParentPaths)
	if err != nil {
		return nil, err
	}
	if n > dr.opts.maxFile() {
		return nil, &Error{
			Reason: fmt.Sprintf("needs %d bytes of file %s, the limit is %d", n, quote(x.name), dr.opts.maxFile()),
			Hint:   "raise Options.MaxFileBytes", Err: ErrTooLarge,
		}
	}
	dr.scene.Files = append(dr.scene.Files, x.src.path(x.name))
	return x.read(n)
}

// view returns the bytes of bufferView i.
func (dr *dataReader) view(i int) (loadedView, error) {
	if v, ok := dr.views[i]; ok {
		return v, v.err
	}
	v, err := dr.readView(i)
	v.err = err
	dr.views[i] = v
	return v, err
}

func (dr *dataReader) readView(i int) (loadedView, error) {
	bv, err := dr.doc.views.get(i)
	if err != nil {
		return loadedView{}, err
	}
	place, raw := dr.doc.views.place(i), dr.doc.views.raw[i]
	dr.observe(place, onView, raw)
	if strideFault(bv.ByteStride) {
		dr.notes.warn("byte-stride", place, "byteStride is not a multiple of 4 within 4 to 252; it was used as it is")
	}
	if ext, name := meshoptOf(raw); ext != nil {
		return dr.expandView(bv, place, ext, name)
	}
	return dr.plainView(bv, place)
}

// plainView returns the bytes of a bufferView that is not compressed.
func (dr *dataReader) plainView(bv *gltf.BufferView, place string) (loadedView, error) {
	data, err := dr.buffer(bv.Buffer)
	if err != nil {
		return loadedView{}, at(place, err)
	}
	if err := viewFits(bv, len(data)); err != nil {
		return loadedView{}, at(place, err)
	}
	return loadedView{data: data[bv.ByteOffset:][:bv.ByteLength:bv.ByteLength], stride: bv.ByteStride}, nil
}

// viewFits returns an error unless the view lies within a buffer of length
// bytes.
func viewFits(v *gltf.BufferView, length int) error {
	if v.ByteLength > length || v.ByteOffset > length-v.ByteLength {
		return malformed("", "ends at byte %d of buffer %d, which has %d",
			uint64(v.ByteOffset)+uint64(v.ByteLength), v.Buffer, length)
	}
	return nil
}

// strideFault reports a byteStride that glTF does not allow; 0 stands for none.
func strideFault(stride int) bool {
	return stride != 0 && (stride < 4 || stride > 252 || stride%4 != 0)
}
