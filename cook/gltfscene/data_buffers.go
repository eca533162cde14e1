package gltfscene

import (
	"fmt"
	"maps"
	"os"

	"github.com/qmuntal/gltf"
)

// dataReader knows where the bytes of a load lie: its buffers, their views and accessors,
// each found once, and it counts the memory that decoded geometry takes. It hands out
// nothing that lies outside a buffer, and opens no file that is not named by a buffer in
// use.
type dataReader struct {
	*session
	box         container
	cache       *cache
	buffers     map[int]loadedBuffer
	views       map[int]loadedView
	accessors   map[int]memo[accessor]
	said        struct{ views, accessors []bool } // what notes have been made of
	spills      []*os.File                        // decoded views that the cache has no room for
	bufferBytes int64                             // of the file and all buffers in use
	decoded     int64                             // bytes that decoding will allocate
}

func newDataReader(se *session, fileBytes int64, c *cache) dataReader {
	return dataReader{
		session: se, bufferBytes: fileBytes, cache: c,
		buffers: make(map[int]loadedBuffer), views: make(map[int]loadedView), accessors: make(map[int]memo[accessor]),
	}
}

// mostKnown is how many accessors are known before they are forgotten: a scene may have
// millions, of which hardly any are named by meshes far from each other.
const mostKnown = 1 << 16

// forgetMany lets go of views and accessors, which can be found again, when there are
// many. Compressed views stay: what they hold is counted.
func (dr *dataReader) forgetMany() {
	if len(dr.accessors) < mostKnown {
		return
	}
	clear(dr.accessors)
	maps.DeleteFunc(dr.views, func(i int, _ loadedView) bool {
		if dr.doc.views.check(i) != nil {
			return true
		}
		ext, _ := meshoptOf(dr.doc.views.raw[i])
		return ext == nil
	})
	dr.doc.accessors.forget()
	dr.doc.views.forget()
	dr.doc.meshes.forget()
}

// firstTime reports, once for each of n things, that nothing has been said of it.
func firstTime(said *[]bool, i, n int) bool {
	if *said == nil {
		*said = make([]bool, n)
	}
	first := !(*said)[i]
	(*said)[i] = true
	return first
}

// loadedBuffer is where a buffer's bytes lie, exactly byteLength of them, or why they
// cannot be had.
type loadedBuffer struct {
	at  extent
	err error
}

// loadedView is where a bufferView's bytes lie.
type loadedView struct {
	at     extent
	stride int // 0: tightly packed
	err    error
}

// buffer finds buffer i, once.
func (dr *dataReader) buffer(i int) (extent, error) {
	if b, ok := dr.buffers[i]; ok {
		return b.at, b.err
	}
	at, err := dr.findBuffer(i)
	dr.buffers[i] = loadedBuffer{at, err}
	return at, err
}

func (dr *dataReader) findBuffer(i int) (found extent, err error) {
	t := &dr.doc.buffers
	if err := t.check(i); err != nil {
		return found, err
	}
	b, err := t.get(i)
	if err != nil {
		return found, err
	}
	dr.observe(t.place(i), onBuffer, t.raw[i])
	uri := uriOf(t.raw[i])
	switch {
	case uri == nil:
		found, err = dr.embedded(i, t.raw[i])
	case isDataURI(uri):
		var data []byte
		data, err = decodeDataURI(uri)
		found = memoryExtent(data)
		dr.bufferBytes += int64(found.n)
	default:
		found, err = dr.external(string(uri), int64(b.ByteLength))
		dr.bufferBytes += int64(found.n)
	}
	if err != nil {
		return extent{}, at(t.place(i), err)
	}
	if found.n < b.ByteLength {
		return extent{}, malformed(t.place(i), "holds %d bytes, its byteLength is %d", found.n, b.ByteLength)
	}
	return found.part(0, b.ByteLength), nil
}

// embedded returns the BIN chunk for the first buffer of a .glb.
func (dr *dataReader) embedded(i int, raw []byte) (extent, error) {
	if i == 0 && dr.box.hasBin {
		return dr.box.bin, nil
	}
	if isPlaceholder(raw) {
		return extent{}, malformed("", "is a placeholder for compressed data and holds none: only compressed bufferViews may refer to it")
	}
	reason := "has no uri, and the file has no BIN chunk"
	if i != 0 {
		reason = "has no uri; only the first buffer of a .glb may lack one"
	}
	return extent{}, &Error{Reason: reason, Hint: "the geometry is not in this file; export it again", Err: ErrMissingFile}
}

// external finds the first n bytes of the file that uri names.
func (dr *dataReader) external(uri string, n int64) (extent, error) {
	dr.noteBackslash(uri)
	x, err := find(dr.src, uri, dr.opts.AllowParentPaths)
	if err != nil {
		return extent{}, err
	}
	if n > dr.opts.maxFile() {
		return extent{}, &Error{
			Reason: fmt.Sprintf("needs %d bytes of file %s, the limit is %d", n, quote(x.name), dr.opts.maxFile()),
			Hint:   "raise Options.MaxFileBytes", Err: ErrTooLarge,
		}
	}
	dr.scene.Files = append(dr.scene.Files, x.src.path(x.name))
	return x.extent(n)
}

// view finds bufferView i.
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
	first := firstTime(&dr.said.views, i, len(dr.doc.views.raw))
	if first {
		dr.observe(place, onView, raw)
	}
	if first && strideFault(bv.ByteStride) {
		dr.notes.warn("byte-stride", place, "byteStride is not a multiple of 4 within 4 to 252; it was used as it is")
	}
	if ext, name := meshoptOf(raw); ext != nil {
		return dr.expandView(bv, place, ext, name)
	}
	return dr.plainView(bv, place)
}

// plainView finds a bufferView that is not compressed.
func (dr *dataReader) plainView(bv *gltf.BufferView, place string) (loadedView, error) {
	buffer, err := dr.buffer(bv.Buffer)
	if err != nil {
		return loadedView{}, at(place, err)
	}
	if err := viewFits(bv, buffer.n); err != nil {
		return loadedView{}, at(place, err)
	}
	return loadedView{at: buffer.part(bv.ByteOffset, bv.ByteLength), stride: bv.ByteStride}, nil
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
