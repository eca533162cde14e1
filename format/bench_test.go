package format

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/untoldkit/untold/format/records"

	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/testfile"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// The benchmarks carry their baseline: each runs ours and the bare operation
// in turn and reports the ratio, since absolute figures say little on a noisy
// machine. BENCH goals are in docs/performance.md.

// bigFile is a tile of about size bytes, two triangles a vertex, 16-bit
// indices, with positions that are not trivially compressible.
func bigFile(tb testing.TB, size int) *File {
	tb.Helper()
	const k = 200 // vertices along an edge of one object
	b := NewBuilder(FileTile)
	rng := rand.New(rand.NewPCG(1, 2))
	per := k*k*vertex.Size + (k-1)*(k-1)*6*2
	for o := range max(1, size/per) {
		vs := make([]vertex.Vertex, 0, k*k)
		for y := range k {
			for x := range k {
				u, v := float32(x)/(k-1), float32(y)/(k-1)
				n := [3]float32{rng.Float32() - 0.5, 1, rng.Float32() - 0.5}
				vs = append(vs, vertex.Vertex{
					Position: [3]float32{u*50 + float32(o)*51, n[0] * 0.3, v * 50},
					Normal:   vertex.PackNormal(n), Tangent: vertex.PackTangent([4]float32{1, 0, 0, 1}),
					UV0: [2]uint16{vertex.Half(u), vertex.Half(v)}, Color: [4]uint8{255, 255, 255, 255},
				})
			}
		}
		idx := make([]uint32, 0, (k-1)*(k-1)*6)
		for y := range uint32(k - 1) {
			for x := range uint32(k - 1) {
				a := y*k + x
				idx = append(idx, a, a+k, a+1, a+1, a+k, a+k+1)
			}
		}
		err := b.AddObject(Object{Name: "o", MeshName: "m", Material: records.NoIndex, Vertices: vertex.Append(nil, vs), Indices: idx})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return b.File()
}

// ratio runs ours and base in turn and reports base time / our time as
// "x-base": above 1 ours is faster.
func ratio(b *testing.B, bytes int, ours, base func()) {
	b.Helper()
	ours()
	base()
	var to, tb time.Duration
	for b.Loop() {
		t0 := time.Now()
		ours()
		t1 := time.Now()
		base()
		to += t1.Sub(t0)
		tb += time.Since(t1)
	}
	n := float64(b.N)
	b.ReportMetric(float64(tb)/float64(to), "x-base")
	b.ReportMetric(float64(bytes)*n/to.Seconds()/1e9, "GB/s")
	b.ReportMetric(float64(bytes)*n/tb.Seconds()/1e9, "base-GB/s")
	b.ReportMetric(0, "ns/op")
}

func tempFile(b *testing.B, data []byte) string {
	path := testfile.Write(b, filepath.Join(b.TempDir(), "tile.untold"), data)
	return path
}

func check(b *testing.B, err error) {
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkOpenMapped opens a 64 MiB uncompressed tile to GPU-ready bytes, the
// indices checked, against os.ReadFile.
func BenchmarkOpenMapped(b *testing.B) {
	path := tempFile(b, mustEncode(b, bigFile(b, 64<<20), ModeNone))
	ratio(b, 64<<20, func() {
		r, err := Open(path, WithMapping())
		check(b, err)
		_, err = r.ReadGeometry(Geometry{})
		check(b, err)
		check(b, r.Close())
	}, func() {
		_, err := os.ReadFile(path)
		check(b, err)
	})
}

// BenchmarkOpenRead does the same without mapping, into reused buffers,
// against ReadAt of the file into a reused buffer.
func BenchmarkOpenRead(b *testing.B) {
	data := mustEncode(b, bigFile(b, 64<<20), ModeNone)
	path := tempFile(b, data)
	var g Geometry
	ratio(b, len(data), func() {
		r, err := Open(path)
		check(b, err)
		g, err = r.ReadGeometry(g)
		check(b, err)
		check(b, r.Close())
	}, func() {
		f, err := os.Open(path)
		check(b, err)
		_, err = f.ReadAt(data, 0)
		check(b, err)
		check(b, f.Close())
	})
}

// BenchmarkLZ4 opens an LZ4 tile in memory against the bare decoder.
func BenchmarkLZ4(b *testing.B) {
	data := mustEncode(b, bigFile(b, 15<<20), ModeLZ4)
	benchDecode(b, data, func(dst, src []byte) {
		_, err := lz4.UncompressBlock(src, dst)
		check(b, err)
	})
}

// BenchmarkZstd opens a 15 MB zstd tile in memory against the bare decoder.
func BenchmarkZstd(b *testing.B) {
	data := mustEncode(b, bigFile(b, 15<<20), ModeZstd)
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	check(b, err)
	benchDecode(b, data, func(dst, src []byte) {
		_, err := d.DecodeAll(src, dst[:0])
		check(b, err)
	})
}

// BenchmarkDelta opens a tile of 15 MB with differences in memory against the bare decoder
// of Zstandard on frames of the plain bytes.
func BenchmarkDelta(b *testing.B) {
	f := bigFile(b, 15<<20)
	e, err := zstd.NewWriter(nil)
	check(b, err)
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	check(b, err)
	plain := map[int][]byte{}
	for _, chunk := range [][]byte{f.Vertices, f.Indices} {
		plain[len(chunk)] = e.EncodeAll(chunk, nil)
	}
	benchDecode(b, mustEncode(b, f, ModeDelta), func(dst, _ []byte) {
		_, err := d.DecodeAll(plain[len(dst)], dst[:0])
		check(b, err)
	})
}

func benchDecode(b *testing.B, data []byte, bare func(dst, src []byte)) {
	r, err := NewBytesReader(data)
	check(b, err)
	type job struct {
		c        Chunk
		src, dst []byte
	}
	var jobs []job
	total := 0
	for _, t := range []ChunkType{ChunkVertices, ChunkIndices} {
		c, _ := r.Chunk(t)
		src := data[c.Offset:][:c.CompressedSize]
		jobs = append(jobs, job{c, src, make([]byte, c.UncompressedSize)})
		total += int(c.UncompressedSize)
	}
	var g Geometry
	ratio(b, total, func() {
		r, err := NewBytesReader(data)
		check(b, err)
		g, err = r.ReadGeometry(g)
		check(b, err)
	}, func() {
		for _, j := range jobs {
			if j.c.Compression == CompressNone {
				copy(j.dst, j.src)
			} else {
				bare(j.dst, j.src)
			}
		}
	})
}

// BenchmarkDiskToReady reads a 15 MB zstd tile from the page cache to
// CPU-ready bytes on one thread; the goal is about 20 ms.
func BenchmarkDiskToReady(b *testing.B) {
	path := tempFile(b, mustEncode(b, bigFile(b, 15<<20), ModeZstd))
	var g Geometry
	for b.Loop() {
		r, err := Open(path)
		check(b, err)
		g, err = r.ReadGeometry(g)
		check(b, err)
		check(b, r.Close())
	}
	b.SetBytes(15 << 20)
}

// BenchmarkVerifyHash is the row that the others leave out.
func BenchmarkVerifyHash(b *testing.B) {
	data := mustEncode(b, bigFile(b, 15<<20), ModeNone)
	r, err := NewBytesReader(data)
	check(b, err)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		check(b, r.VerifyHash())
	}
}

// BenchmarkEncodeVertices packs structs field by field against a plain copy.
func BenchmarkEncodeVertices(b *testing.B) {
	vs := make([]vertex.Vertex, 1<<16)
	for i := range vs {
		vs[i].Position[0] = float32(i)
	}
	dst := make([]byte, 0, len(vs)*vertex.Size)
	src := make([]byte, len(vs)*vertex.Size)
	ratio(b, len(src), func() { dst = vertex.Append(dst[:0], vs) }, func() { copy(dst[:len(src)], src) })
}

// BenchmarkDecodeVertices reads fields back.
func BenchmarkDecodeVertices(b *testing.B) {
	src := bytes.Repeat([]byte{1, 2, 3, 4}, 1<<16*8)
	b.SetBytes(int64(len(src)))
	var sum float32
	for b.Loop() {
		for i := 0; i < len(src); i += vertex.Size {
			v := vertex.Get(src[i:])
			sum += v.Position[1]
		}
	}
	_ = sum
}

// BenchmarkValidate judges a tile with everything on.
func BenchmarkValidate(b *testing.B) {
	data := mustEncode(b, bigFile(b, 15<<20), ModeNone)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if r := validateBytes(data, ValidateOptions{}); len(r.Findings) > 0 {
			b.Fatal(r.Findings)
		}
	}
}
