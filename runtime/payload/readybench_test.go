package payload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pierrec/lz4/v4"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
)

// gridTile returns a tile of about size bytes of geometry: height fields of
// 200 x 200 vertices with random normals.
func gridTile(b *testing.B, size int, mode format.CompressMode) []byte {
	b.Helper()
	const k = 200
	build := format.NewBuilder(format.FileTile)
	rng := rand.New(rand.NewPCG(1, 2))
	for o := range max(1, size/(k*k*vertex.Size+(k-1)*(k-1)*12)) {
		vertices := make([]vertex.Vertex, 0, k*k)
		for i := range k * k {
			u, v := float32(i%k)/(k-1), float32(i/k)/(k-1)
			n := [3]float32{rng.Float32() - 0.5, 1, rng.Float32() - 0.5}
			vertices = append(vertices, vertex.Vertex{
				Position: [3]float32{u*50 + float32(o)*51, n[0] * 0.3, v * 50}, Normal: vertex.PackNormal(n),
				Tangent: vertex.PackTangent([4]float32{1, 0, 0, 1}), UV0: [2]uint16{vertex.Half(u), vertex.Half(v)}, Color: [4]uint8{255, 255, 255, 255},
			})
		}
		indices := make([]uint32, 0, (k-1)*(k-1)*6)
		for i := range uint32((k - 1) * (k - 1)) {
			a := i/(k-1)*k + i%(k-1)
			indices = append(indices, a, a+k, a+1, a+1, a+k, a+k+1)
		}
		err := build.AddObject(format.Object{Name: fmt.Sprint("o", o), MeshName: "m", Material: records.NoIndex, Vertices: vertex.Append(nil, vertices), Indices: indices})
		if err != nil {
			b.Fatal(err)
		}
	}
	data, err := build.File().Encode(format.WriteOptions{Compress: mode})
	if err != nil {
		b.Fatal(err)
	}
	return data
}

// bareLZ4 returns the decoding of a file's geometry and nothing else: the
// decoder on blocks that are in memory, into buffers that are there. Chunks that
// are stored as they are count as a copy.
func bareLZ4(b *testing.B, data []byte) (decode func(), bytes int) {
	b.Helper()
	r, err := format.NewBytesReader(data)
	if err != nil {
		b.Fatal(err)
	}
	type block struct {
		packed   bool
		src, dst []byte
	}
	var blocks []block
	for _, t := range []format.ChunkType{format.ChunkVertices, format.ChunkIndices} {
		c, _ := r.Chunk(t)
		src := data[c.Offset:][:c.CompressedSize]
		blocks = append(blocks, block{c.Compression == format.CompressLZ4, src, make([]byte, c.UncompressedSize)})
		bytes += int(c.UncompressedSize)
	}
	return func() {
		for _, x := range blocks {
			if !x.packed {
				copy(x.dst, x.src)
			} else if _, err := lz4.UncompressBlock(x.src, x.dst); err != nil {
				b.Fatal(err)
			}
		}
	}, bytes
}

// BenchmarkFileToReady measures bytes from a file, in the page cache, to what a
// Device uploads: what a worker of the FileLoader does for a request. Figures are
// medians, and those of the fastest tenth, which other work disturbs less.
// x-base is the speed over that of the bare decoder on the same blocks; the
// goal is 0.85. The hash of a file is checked once, in "first load" each time.
func BenchmarkFileToReady(b *testing.B) {
	for _, x := range []struct {
		name  string
		size  int
		mode  format.CompressMode
		again bool
	}{
		{"lz4, 15 MB", 15 << 20, format.ModeLZ4, true},
		{"auto, 15 MB", 15 << 20, format.ModeAuto, true},
		{"lz4, 1.5 MB", 3 << 19, format.ModeLZ4, true},
		{"lz4, 15 MB, first load", 15 << 20, format.ModeLZ4, false},
	} {
		b.Run(x.name, func(b *testing.B) {
			data := gridTile(b, x.size, x.mode)
			dir := b.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "t.untold"), data, 0o644); err != nil {
				b.Fatal(err)
			}
			bare, bytes := bareLZ4(b, data)
			l := NewFileLoader(0)
			defer l.Close()
			load := func() {
				if !x.again {
					l.mu.Lock()
					clear(l.sound)
					l.mu.Unlock()
				}
				r := l.load(Request{Dir: dir, Path: "t.untold", Size: int64(len(data)), Key: Key{Rep: RepFull}, Context: context.Background()})
				if r.Err != nil || r.GeometryBytes != int64(bytes) {
					b.Fatal(r.Err)
				}
				r.Asset.Release()
			}
			load()
			bare()
			var ours, base []time.Duration
			b.ReportAllocs()
			for b.Loop() {
				t0 := time.Now()
				load()
				t1 := time.Now()
				bare()
				ours, base = append(ours, t1.Sub(t0)), append(base, time.Since(t1))
			}
			slices.Sort(ours)
			slices.Sort(base)
			median := ours[len(ours)/2].Seconds()
			b.ReportMetric(base[len(base)/2].Seconds()/median, "x-base")
			b.ReportMetric(base[len(base)/10].Seconds()/ours[len(ours)/10].Seconds(), "x-base-p10")
			b.ReportMetric(float64(bytes)/median/1e9, "GB/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}
