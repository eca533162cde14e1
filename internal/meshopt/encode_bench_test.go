package meshopt

import (
	"encoding/binary"
	"testing"
)

// BenchmarkEncode tells bytes of geometry a second, and how long decoding takes beside it.
func BenchmarkEncode(b *testing.B) {
	list := indexBytes(sheet(300), 4)
	triangles := Layout{Mode: Triangles, Count: len(list) / 4, Stride: 4}
	var points []byte
	for i := range 301 * 301 {
		x, y := i%301, i/301
		for _, v := range []int{210 * x, 30*x + x*y%50, 210 * y, 0} {
			points = binary.LittleEndian.AppendUint16(points, uint16(v))
		}
	}
	for _, c := range []struct {
		name    string
		l       Layout
		data    []byte
		version int
	}{
		{"triangles", triangles, list, 1},
		{"attributes0", Layout{Count: len(points) / 8, Stride: 8}, points, 0},
		{"attributes1", Layout{Count: len(points) / 8, Stride: 8}, points, 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.data)))
			var out []byte
			for b.Loop() {
				var err error
				if out, err = Encode(out[:0], c.data, c.l, c.version); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(c.data))/float64(len(out)), "ratio")
		})
	}
}
