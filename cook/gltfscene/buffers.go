package gltfscene

import (
	"fmt"

	"github.com/qmuntal/gltf"
)

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
func (im *importer) buffer(i int) ([]byte, error) {
	if b, ok := im.buffers[i]; ok {
		return b.data, b.err
	}
	data, err := im.readBuffer(i)
	im.buffers[i] = loadedBuffer{data, err}
	return data, err
}

func (im *importer) readBuffer(i int) ([]byte, error) {
	t := &im.doc.buffers
	if err := t.check(i); err != nil {
		return nil, err
	}
	b, err := t.get(i)
	if err != nil {
		return nil, err
	}
	im.observe(t.place(i), onBuffer, t.raw[i])
	uri := uriOf(t.raw[i])
	var data []byte
	switch {
	case uri == nil:
		data, err = im.embedded(i, t.raw[i])
	case isDataURI(uri):
		data, err = decodeDataURI(uri)
		im.bufferBytes += int64(len(data))
	default:
		data, err = im.readExternal(string(uri), int64(b.ByteLength))
		im.bufferBytes += int64(len(data))
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
func (im *importer) embedded(i int, raw []byte) ([]byte, error) {
	if i == 0 && im.box.hasBin {
		return im.box.bin, nil
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
func (im *importer) readExternal(uri string, n int64) ([]byte, error) {
	im.noteBackslash(uri)
	x, err := find(im.src, uri, im.opts.AllowParentPaths)
	if err != nil {
		return nil, err
	}
	if n > im.opts.maxFile() {
		return nil, &Error{
			Reason: fmt.Sprintf("needs %d bytes of file %s, the limit is %d", n, quote(x.name), im.opts.maxFile()),
			Hint:   "raise Options.MaxFileBytes", Err: ErrTooLarge,
		}
	}
	return x.read(n)
}

// view returns the bytes of bufferView i.
func (im *importer) view(i int) (loadedView, error) {
	if v, ok := im.views[i]; ok {
		return v, v.err
	}
	v, err := im.readView(i)
	v.err = err
	im.views[i] = v
	return v, err
}

func (im *importer) readView(i int) (loadedView, error) {
	bv, err := im.doc.views.get(i)
	if err != nil {
		return loadedView{}, err
	}
	place, raw := im.doc.views.place(i), im.doc.views.raw[i]
	im.observe(place, onView, raw)
	if strideFault(bv.ByteStride) {
		im.notes.warn("byte-stride", place, "byteStride is not a multiple of 4 within 4 to 252; it was used as it is")
	}
	if ext, name := meshoptOf(raw); ext != nil {
		return im.expandView(bv, place, ext, name)
	}
	return im.plainView(bv, place)
}

// plainView returns the bytes of a bufferView that is not compressed.
func (im *importer) plainView(bv *gltf.BufferView, place string) (loadedView, error) {
	data, err := im.buffer(bv.Buffer)
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
