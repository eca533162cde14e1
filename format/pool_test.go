package format

import (
	"runtime"
	"testing"

	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/fuzzbound"
	"github.com/untoldkit/untold/internal/race"
)

// TestDeltaWithinLimit: what decoding delta takes beside the decoded bytes counts against the
// limit, and no more than the limit is allocated.
func TestDeltaWithinLimit(t *testing.T) {
	if race.Enabled {
		t.Skip("with the race detector pools drop what they are given; make test counts without it")
	}
	const size = 4 << 20
	src := make([]byte, size)
	stored := compressDelta(src, ChunkVertices)
	c := Chunk{Type: ChunkVertices, Compression: CompressDelta, CompressedSize: uint64(len(stored)), UncompressedSize: size}
	const all = 2*size + size/16 // with planes and references
	for _, limit := range []uint64{size, all - 1} {
		if err := (Limits{MaxChunk: limit}).check(&c); err == nil {
			t.Errorf("%d bytes are decoded within %d", all, limit)
		}
	}
	l := Limits{MaxChunk: all}
	if err := l.check(&c); err != nil {
		t.Fatal(err)
	}
	// The pools are empty after two collections, and a frame with an error allocates as much.
	for _, data := range [][]byte{stored, append(stored[:len(stored)-1:len(stored)-1], 0xff)} {
		runtime.GC()
		runtime.GC()
		n := fuzzbound.Allocated(func() { _, _ = decode(nil, data, CompressDelta, size) })
		if most := l.MaxChunk + 1<<20; n > most {
			t.Errorf("%d bytes allocated, at most %d may be", n, most)
		}
	}
}

// TestDeltaLimitOfWriter: what is written as delta is read within the default limit.
func TestDeltaLimitOfWriter(t *testing.T) {
	const size = 1 << 16
	const all = 2*size + size/16
	for limit, want := range map[uint64]Compression{size - 1: CompressNone, size: CompressZstd, all - 1: CompressZstd, all: CompressDelta} {
		_, got, err := compressWithin(make([]byte, size), ChunkVertices, ModeDelta, Limits{MaxChunk: limit})
		if err != nil || got != want {
			t.Errorf("within %d: %v, %v", limit, got, err)
		}
	}
}

// TestRatioOfWriter: geometry that repeats so much that readers would take its chunk for a
// bomb is stored in a way that they read.
func TestRatioOfWriter(t *testing.T) {
	src := make([]byte, ratioFreeBytes+2)
	for _, m := range []CompressMode{ModeAuto, ModeLZ4, ModeZstd, ModeDelta} {
		for _, l := range []Limits{{}, {MaxRatio: 2}} {
			out, c, err := compressWithin(src, ChunkIndices, m, l)
			if err != nil {
				t.Fatal(err)
			}
			chunk := Chunk{Type: ChunkIndices, Compression: c, CompressedSize: uint64(len(out)), UncompressedSize: uint64(len(src))}
			if c == CompressNone && l.MaxRatio == 0 || c != CompressNone && l.check(&chunk) != nil {
				t.Errorf("%v: %d bytes in %v", m, len(out), c)
			}
		}
	}
}

// TestPoolsKeepNothingLarge: buffers for chunks of unusual size are garbage once they are
// used, those of usual ones stay.
func TestPoolsKeepNothingLarge(t *testing.T) {
	f := gridFile(t, 1, 1100) // 1.2 million vertices
	f.Vertices = f.Vertices[:len(f.Vertices)/vertex.Size*vertex.Size]
	if len(f.Vertices) < 2*pooledBytes {
		t.Fatalf("%d bytes are no large chunk", len(f.Vertices))
	}
	data := mustEncode(t, f, ModeDelta)
	used := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	runtime.GC()
	runtime.GC()
	before := used()
	func() {
		r, err := NewReader(newReaderAt(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.ReadGeometry(Geometry{}); err != nil {
			t.Fatal(err)
		}
	}()
	runtime.GC() // a pool drops what it has after the second one
	if after := used(); after > before+pooledBytes {
		t.Errorf("%d bytes stay", after-before)
	}
	for _, n := range []int{pooledBytes + 1, 4 * pooledBytes} {
		for _, p := range []*bufferPool{&deltaBuffers, &scratch} {
			b := p.get(n)
			p.put(b)
			if got := p.get(1); cap(*got) > pooledBytes {
				t.Errorf("a buffer of %d bytes is kept", cap(*got))
			}
		}
	}
}

func TestBufferPool(t *testing.T) {
	var p bufferPool
	for _, n := range []int{0, 1, 1000, 500, pooledBytes, 2 * pooledBytes} {
		b := p.get(n)
		if len(*b) != n || cap(*b) > max(2*n, 4096, pooledBytes) {
			t.Errorf("%d bytes with room for %d, wanted are %d", len(*b), cap(*b), n)
		}
		p.put(b)
	}
}
