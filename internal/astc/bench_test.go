package astc

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// grain returns w x h texels that are like a photo: slow gradients, edges and a
// little noise.
func grain(w, h int) []byte {
	pix := make([]byte, 4*w*h)
	state := uint32(1)
	for i := range w * h {
		x, y := float64(i%w), float64(i/w)
		base := 110 + 60*math.Sin(x/37)*math.Cos(y/29)
		if math.Mod(x+2*y, 90) < 30 {
			base -= 50
		}
		for c, tint := range [3]float64{1.1, 0.9, 0.6} {
			state = state*1664525 + 1013904223
			v := base*tint + float64(c)*8*math.Sin(y/11) + float64(state>>28) - 8
			pix[4*i+c] = byte(min(max(v, 0), 255))
		}
		pix[4*i+3] = 255
	}
	return pix
}

// BenchmarkEncode compresses a quarter of a megapixel; the decoder is the
// baseline of the same run.
func BenchmarkEncode(b *testing.B) {
	const w, h = 512, 512
	pix := grain(w, h)
	for _, f := range []Footprint{{4, 4}, {5, 5}, {6, 6}, {8, 8}} {
		for q := range High + 1 {
			b.Run(fmt.Sprintf("%v-%d", f, q), func(b *testing.B) {
				out := make([]byte, f.Size(w, h))
				var encode, decode time.Duration
				for b.Loop() {
					start := time.Now()
					if _, err := Encode(out, f, Options{SRGB: true, Quality: q}, pix, 4*w, w, h); err != nil {
						b.Fatal(err)
					}
					middle := time.Now()
					if _, err := Decode(f, true, out, w, h); err != nil {
						b.Fatal(err)
					}
					encode += middle.Sub(start)
					decode += time.Since(middle)
				}
				pixels := float64(b.N) * w * h / 1e6
				b.ReportMetric(pixels/encode.Seconds(), "Mpix/s")
				b.ReportMetric(pixels/decode.Seconds(), "decode-Mpix/s")
				b.ReportMetric(encode.Seconds()/decode.Seconds(), "encode/decode")
			})
		}
	}
}
