package ktx2

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/untoldkit/untold/internal/basisu"
)

// inflate returns the blocks or pixels of a level without the scheme.
func (f *File) inflate(i int) ([]byte, error) {
	l := f.levels[i]
	switch f.Scheme {
	case None:
		return l.data, nil
	case Zstandard:
		r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		data, err := r.DecodeAll(l.data, make([]byte, 0, l.inflated))
		if err != nil {
			return nil, damaged("level %d: %v", i, err)
		}
		return data, wrongSize(i, len(data), l.inflated)
	case ZLIB:
		r, err := zlib.NewReader(bytes.NewReader(l.data))
		if err != nil {
			return nil, damaged("level %d: %v", i, err)
		}
		return readLevel(r, i, l.inflated)
	}
	return nil, unsupported("supercompression scheme %d of %s", f.Scheme, f.Kind())
}

// maxWindow is the most that zstd may look back: 128 MiB, as its own tool allows
// without being asked.
const maxWindow = 128 << 20

// readLevel reads a level of a known size.
func readLevel(r io.Reader, i int, size int64) ([]byte, error) {
	data := make([]byte, size+1)
	n, err := io.ReadFull(r, data)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, damaged("level %d: %v", i, err)
	}
	return data[:n], wrongSize(i, n, size)
}

func wrongSize(i, size int, want int64) error {
	if int64(size) != want {
		return damaged("level %d inflates to another size than the %d bytes of its pixels", i, want)
	}
	return nil
}

// pieces are where the picture of a level lies in BasisLZ.
type pieces struct{ rgb, alpha []byte }

const (
	globalHeader = 20
	imageSize    = 20 // of the description of a picture
	partialFrame = 2  // a flag: the picture is told by its difference from another
)

// basisLZ reads the global data: the codebooks and the slices of all levels.
func (f *File) basisLZ() (*basisu.Codebooks, []pieces, error) {
	g := f.global
	if f.Descriptor.Model != ModelETC1S || len(g) < globalHeader+imageSize*len(f.levels) {
		return nil, nil, damaged("BasisLZ over %s, with %d bytes of global data", f.Kind(), len(g))
	}
	le := binary.LittleEndian
	b := basisu.Global{EndpointCount: int(le.Uint16(g)), SelectorCount: int(le.Uint16(g[2:]))}
	images := g[globalHeader:][:imageSize*len(f.levels)]
	rest := g[globalHeader+len(images):]
	for k, part := range [...]*[]byte{&b.Endpoints, &b.Selectors, &b.Tables} {
		n := le.Uint32(g[4+4*k:])
		if uint64(n) > uint64(len(rest)) {
			return nil, nil, damaged("the global data of BasisLZ are cut off")
		}
		*part, rest = rest[:n], rest[n:]
	}
	out := make([]pieces, len(f.levels))
	for i := range out {
		d := images[imageSize*i:]
		if le.Uint32(d)&partialFrame != 0 {
			return nil, nil, unsupported("a picture of an animation")
		}
		var err error
		if out[i].rgb, err = section(f.levels[i].data, "colour slice", uint64(le.Uint32(d[4:])), uint64(le.Uint32(d[8:]))); err != nil {
			return nil, nil, err
		}
		if out[i].alpha, err = section(f.levels[i].data, "alpha slice", uint64(le.Uint32(d[12:])), uint64(le.Uint32(d[16:]))); err != nil {
			return nil, nil, err
		}
	}
	books, err := basisu.NewCodebooks(b)
	if err != nil {
		return nil, nil, damaged("%v", err)
	}
	return books, out, nil
}
