package meshopt

import (
	"testing"
)

func benchmark(b *testing.B, l Layout, src []byte) {
	b.Helper()
	size, err := l.Size(src)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(src, l); err != nil {
			b.Fatal(err)
		}
	}
}

// blocks repeats one block of 256 elements of 16 bytes; every plane has the
// header and the groups given.
func blocks(version byte, header byte, group []byte) (Layout, []byte) {
	const n, stride = 200, 16
	src := []byte{0xA0 | version}
	for range n {
		if version == 1 {
			src = append(src, 0x55, 0x55, 0x55, 0x55) // control mode 1
		}
		for range stride {
			src = append(src, header, header, header, header)
			for range 16 {
				src = append(src, group...)
			}
		}
	}
	src = append(src, make([]byte, vertexTail(stride, int(version)))...)
	return Layout{Count: 256 * n, Stride: stride}, src
}

func BenchmarkAttributes(b *testing.B) {
	for _, bb := range []struct {
		name            string
		version, header byte
		group           []byte
	}{
		{"v0-zero", 0, 0x00, nil},
		{"v0-4bit", 0, 0xAA, []byte{0x12, 0x34, 0x56, 0x71, 0x23, 0x45, 0x67, 0x89}},
		{"v0-4bit-escapes", 0, 0xAA, []byte{0x1F, 0x34, 0xF6, 0x71, 0x2F, 0x45, 0x67, 0xF9, 20, 30, 40, 50}},
		{"v0-8bit", 0, 0xFF, make([]byte, 16)},
		{"v1-2bit-escapes", 1, 0x55, []byte{0x1B, 0x1B, 0x1B, 0x1B, 9, 8, 7, 6}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			l, src := blocks(bb.version, bb.header, bb.group)
			benchmark(b, l, src)
		})
	}
}

func BenchmarkTriangles(b *testing.B) {
	const n = 100000
	codes := []byte{0xF0}
	for len(codes) < n {
		codes = append(codes, 0x00, 0x10)
	}
	codes = codes[:n]
	benchmark(b, Layout{Mode: Triangles, Count: 3 * n, Stride: 4}, stream(codes, nil))
}

func BenchmarkIndices(b *testing.B) {
	src := []byte{0xD1}
	for range 100000 {
		src = append(src, 4)
	}
	benchmark(b, Layout{Mode: Indices, Count: 100000, Stride: 4}, append(src, 0, 0, 0, 0))
}
