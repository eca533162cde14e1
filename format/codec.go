package format

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/untoldkit/untold/format/vertex"
)

// minLZ4Gain is how much smaller an LZ4 block has to be before mode auto
// stores it: below 3 % the decode time buys nothing.
const minLZ4Gain = 0.03

// Codecs are pooled: a zstd decoder with concurrency 1 keeps its tables and
// runs on the caller's goroutine, so a pool serves any number of workers.
var (
	zstdDecoders = sync.Pool{New: func() any {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
			zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(math.MaxInt64))
		if err != nil {
			panic(fmt.Sprintf("untold: zstd decoder options: %v", err))
		}
		return d
	}}
	zstdEncoders   = encodersOf(zstd.SpeedDefault)
	deltaEncoders  = encodersOf(zstd.SpeedBestCompression, zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true)) // 37 MB each
	lz4Compressors = sync.Pool{New: func() any { return new(lz4.Compressor) }}
)

func encodersOf(l zstd.EncoderLevel, more ...zstd.EOption) *sync.Pool {
	opts := append([]zstd.EOption{zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(l), zstd.WithEncoderCRC(false)}, more...)
	return &sync.Pool{New: func() any {
		e, err := zstd.NewWriter(nil, opts...)
		if err != nil {
			panic(fmt.Sprintf("untold: zstd encoder options: %v", err))
		}
		return e
	}}
}

// Limits bound what reading a file may allocate beyond the file's own size.
type Limits struct {
	// MaxChunk is the most bytes that a compressed chunk may take while it is decoded:
	// its decoded size, and with delta as much again and a sixteenth, for what it is made of.
	// 0 means 1 GiB.
	MaxChunk uint64
	// MaxRatio is the largest ratio of decoded to stored bytes of a chunk of
	// more than 16 MiB; 0 means 1024. (LZ4 cannot exceed 255.)
	MaxRatio uint64
}

const (
	defaultMaxChunk = 1 << 30
	defaultMaxRatio = 1024
	ratioFreeBytes  = 16 << 20
	// deltaVertexBytes is what decoding takes of a vertex: itself, its planes and references.
	deltaVertexBytes = 2*vertex.Size + refGroups
)

// check tells whether a compressed chunk may be decoded, before anything is
// allocated for it.
func (l Limits) check(c *Chunk) error {
	maxChunk, maxRatio := l.MaxChunk, l.MaxRatio
	if maxChunk == 0 {
		maxChunk = defaultMaxChunk
	}
	if maxRatio == 0 {
		maxRatio = defaultMaxRatio
	}
	if c.Compression == CompressDelta {
		maxChunk = maxChunk / deltaVertexBytes * vertex.Size
	}
	if c.UncompressedSize > maxChunk || c.UncompressedSize > math.MaxInt32*256 {
		return fmt.Errorf("declares %d decoded bytes, the limit of %s is %d", c.UncompressedSize, c.Compression, maxChunk)
	}
	if c.Compression == CompressLZ4 {
		maxRatio = min(maxRatio, 255)
	}
	// Stored bytes are backed by the file, so this product cannot overflow.
	if c.UncompressedSize > ratioFreeBytes && c.UncompressedSize/maxRatio > c.CompressedSize {
		return fmt.Errorf("declares %d decoded bytes for %d stored ones, the limit is 1 to %d",
			c.UncompressedSize, c.CompressedSize, maxRatio)
	}
	return nil
}

var errDecodedSize = errors.New("decoded size differs")

// decode expands src into dst[:0], which is grown to exactly size bytes. The
// caller has checked size against Limits.
func decode(dst, src []byte, c Compression, size int) ([]byte, error) {
	dst = slices.Grow(dst[:0], size)[:size]
	switch c {
	case CompressLZ4:
		out := dst
		if size == 0 {
			// The decoder needs a place to write to, also when a block that
			// claims to be empty is not.
			out = make([]byte, 1)
		}
		n, err := lz4.UncompressBlock(src, out)
		if err != nil {
			return dst[:0], fmt.Errorf("lz4: %w", err)
		}
		if n != size {
			return dst[:0], fmt.Errorf("%w: %d instead of %d bytes", errDecodedSize, n, size)
		}
		return dst, nil
	case CompressZstd:
		if err := decodeZstd(dst, src); err != nil {
			return dst[:0], err
		}
		return dst, nil
	case CompressDelta:
		if err := decodeDelta(dst, src); err != nil {
			return dst[:0], err
		}
		return dst, nil
	}
	return dst[:0], fmt.Errorf("compression %d", c)
}

// decodeZstd expands frames into dst, which has the decoded size.
func decodeZstd(dst, src []byte) error {
	d := zstdDecoders.Get().(*zstd.Decoder)
	if len(dst) <= pooledBytes { // it holds on to what it wrote last
		defer zstdDecoders.Put(d)
	}
	out, err := d.DecodeAll(src, dst[:0:len(dst)])
	if err != nil {
		return fmt.Errorf("zstd: %w", err)
	}
	if len(out) != len(dst) {
		return fmt.Errorf("%w: %d instead of %d bytes", errDecodedSize, len(out), len(dst))
	}
	return nil
}

// CompressMode chooses how geometry chunks are stored.
type CompressMode uint8

// The modes. Auto takes LZ4 where it saves at least 3 % and nothing else, so
// that the reference engine loads the result. LZ4, Zstd and Delta compress a chunk
// whenever that makes it smaller; the reference engine refuses the last two. What readers
// would refuse by the defaults of Limits is stored as the mode before does it.
const (
	ModeAuto CompressMode = iota
	ModeNone
	ModeLZ4
	ModeZstd
	ModeDelta
)

var modeNames = []string{"auto", "none", "lz4", "zstd", "delta"}

// String returns auto, none, lz4, zstd or delta.
func (m CompressMode) String() string { return modeNames[m] }

// Portable reports whether the reference engine reads what the mode writes.
func (m CompressMode) Portable() bool { return m < ModeZstd }

// ParseCompressMode is the inverse of String.
func ParseCompressMode(s string) (CompressMode, error) {
	if i := slices.Index(modeNames, s); i >= 0 {
		return CompressMode(i), nil
	}
	return 0, fmt.Errorf("unknown compression %q (use auto, none, lz4, zstd or delta)", s)
}

// compress returns the bytes to store for a geometry chunk and how they are
// compressed. An empty chunk is never compressed.
func compress(src []byte, t ChunkType, m CompressMode) ([]byte, Compression, error) {
	return compressWithin(src, t, m, Limits{})
}

// compressWithin is compress for readers with such limits. What they would refuse, because it
// is too large or too much smaller, is stored as the next smallest.
func compressWithin(src []byte, t ChunkType, m CompressMode, l Limits) ([]byte, Compression, error) {
	c := Chunk{Type: t, UncompressedSize: uint64(len(src))}
	for ; m > ModeLZ4; m-- {
		c.Compression, c.CompressedSize = compressionOf(m), c.UncompressedSize
		if l.check(&c) != nil {
			continue // that is known without compressing it
		}
		out, is, err := compressAs(src, t, m)
		c.Compression, c.CompressedSize = is, uint64(len(out))
		if err != nil || is == CompressNone || l.check(&c) == nil {
			return out, is, err
		}
	}
	out, is, err := compressAs(src, t, m)
	if c.Compression, c.CompressedSize = is, uint64(len(out)); is != CompressNone && l.check(&c) != nil {
		return src, CompressNone, err
	}
	return out, is, err
}

// compressionOf is what zstd and delta store.
func compressionOf(m CompressMode) Compression {
	if m == ModeDelta {
		return CompressDelta
	}
	return CompressZstd
}

// compressAs is compress without regard to limits.
func compressAs(src []byte, t ChunkType, m CompressMode) ([]byte, Compression, error) {
	if len(src) == 0 || m == ModeNone {
		return src, CompressNone, nil
	}
	if m == ModeDelta {
		if out := compressDelta(src, t); len(out) < len(src) {
			return out, CompressDelta, nil
		}
		return src, CompressNone, nil
	}
	if m == ModeZstd {
		e := zstdEncoders.Get().(*zstd.Encoder)
		defer zstdEncoders.Put(e)
		buf := encodeBuffers.get(e.MaxEncodedSize(len(src)))
		defer encodeBuffers.put(buf)
		if out := e.EncodeAll(src, (*buf)[:0]); len(out) < len(src) {
			return bytes.Clone(out), CompressZstd, nil
		}
		return src, CompressNone, nil
	}
	c := lz4Compressors.Get().(*lz4.Compressor)
	defer lz4Compressors.Put(c)
	buf := encodeBuffers.get(lz4.CompressBlockBound(len(src)))
	defer encodeBuffers.put(buf)
	n, err := c.CompressBlock(src, *buf)
	if err != nil {
		return nil, 0, fmt.Errorf("untold: lz4: %w", err)
	}
	limit := float64(len(src))
	if m == ModeAuto {
		limit *= 1 - minLZ4Gain
	}
	if n > 0 && float64(n) < limit {
		return bytes.Clone((*buf)[:n]), CompressLZ4, nil
	}
	return src, CompressNone, nil
}
