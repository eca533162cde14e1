package ktx2

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/untoldkit/untold/internal/basisu"
)

// inflate returns the blocks or pixels of a level without the scheme.
func (f *File) inflate(i int) ([]byte, error) {
	l := f.levels[i]
	if f.Scheme == Zstandard && l.inflated > l.size/leastFrame*maxBlock {
		return nil, damaged("level %d: %d bytes of Zstandard cannot hold %d", i, l.size, l.inflated)
	}
	stored, err := f.in.read(fmt.Sprintf("level %d", i), l.span)
	if err != nil {
		return nil, err
	}
	switch f.Scheme {
	case None:
		return stored, nil
	case Zstandard:
		r, err := inflater()
		if err != nil {
			return nil, err
		}
		data, err := r.DecodeAll(stored, make([]byte, 0, l.inflated))
		if err != nil {
			return nil, damaged("level %d: %v", i, err)
		}
		return data, wrongSize(i, len(data), l.inflated)
	case ZLIB:
		r, err := zlib.NewReader(bytes.NewReader(stored))
		if err != nil {
			return nil, damaged("level %d: %v", i, err)
		}
		return readLevel(r, i, l.inflated)
	}
	return nil, unsupported("supercompression scheme %d of %s", f.Scheme, f.Kind())
}

// A block of Zstandard gives at most 128 KiB and takes 4 bytes at least.
const (
	maxBlock   = 128 << 10
	leastFrame = 4
)

// inflater is the decoder that all share, each call of DecodeAll with room of its own.
var inflater = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecodeAllCapLimit(true))
})

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

// basisLZ reads the global data: the codebooks and the slices of a level.
func (f *File) basisLZ(level int) (*basisu.Codebooks, *pieces, error) {
	g, err := f.in.read("supercompression's global data", f.global)
	if err != nil {
		return nil, nil, err
	}
	if f.Descriptor.Model != ModelETC1S || len(g) < globalHeader+imageSize*len(f.levels) {
		return nil, nil, damaged("BasisLZ over %s, with %d bytes of global data", f.Kind(), len(g))
	}
	le := binary.LittleEndian
	b := basisu.Global{EndpointCount: int(le.Uint16(g)), SelectorCount: int(le.Uint16(g[2:]))}
	images := g[globalHeader:][:imageSize*len(f.levels)]
	rest := g[globalHeader+len(images):]
	for k, to := range [...]*[]byte{&b.Endpoints, &b.Selectors, &b.Tables} {
		n := le.Uint32(g[4+4*k:])
		if uint64(n) > uint64(len(rest)) {
			return nil, nil, damaged("the global data of BasisLZ are cut off")
		}
		*to, rest = rest[:n], rest[n:]
	}
	d := images[imageSize*level:]
	if le.Uint32(d)&partialFrame != 0 {
		return nil, nil, unsupported("a picture of an animation")
	}
	stored, err := f.in.read(fmt.Sprintf("level %d", level), f.levels[level].span)
	if err != nil {
		return nil, nil, err
	}
	out := &pieces{}
	if out.rgb, err = part(stored, "colour slice", le.Uint32(d[4:]), le.Uint32(d[8:])); err != nil {
		return nil, nil, err
	}
	if out.alpha, err = part(stored, "alpha slice", le.Uint32(d[12:]), le.Uint32(d[16:])); err != nil {
		return nil, nil, err
	}
	books, err := basisu.NewCodebooks(b)
	if err != nil {
		return nil, nil, damaged("%v", err)
	}
	return books, out, nil
}
