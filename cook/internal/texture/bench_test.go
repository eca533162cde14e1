package texture

import (
	"fmt"
	"image"
	"io"
	"testing"
	"time"
)

// photo is a picture with smooth parts, edges and grain.
func photo(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	seed := uint32(1)
	for y := range h {
		for x := range w {
			seed = seed*1664525 + 1013904223
			grain := int(seed>>28) - 8
			p := img.Pix[y*img.Stride+4*x:]
			base := 60 + 100*x/w + 60*((x/37+y/53)%2)
			for k := range 3 {
				p[k] = uint8(min(255, max(0, base+grain+10*k)))
			}
			p[3] = 255
		}
	}
	return img
}

// BenchmarkBlocks makes the mip chain of a megapixel without and with the
// encoder: filter/chain is the filter's share of the whole.
func BenchmarkBlocks(b *testing.B) {
	img := photo(1024, 1024)
	for i, r := range []Role{{Use: Color}, {Use: Color, Alpha: AlphaMasked, Cutoff: 0.5}, {Use: Data}, {Use: Normal}, {Use: Color}, {Use: Data}, {Use: Normal}} {
		m := ModeBC
		if i >= 4 {
			m = ModeASTC
		}
		b.Run(fmt.Sprintf("%v-%v-%d", m, r.Use, r.Alpha), func(b *testing.B) {
			c := newWorkers(1)
			c.join()
			b.SetBytes(int64(len(img.Pix)))
			var filter, chain time.Duration
			for b.Loop() {
				start := time.Now()
				if err := levels(c, img, r, func(*image.NRGBA) error { return nil }); err != nil {
					b.Fatal(err)
				}
				middle := time.Now()
				if _, err := writeBlocks(io.Discard, c, img, r, m.coding(r, ASTC{})); err != nil {
					b.Fatal(err)
				}
				filter += middle.Sub(start)
				chain += time.Since(middle)
			}
			b.ReportMetric(filter.Seconds()/chain.Seconds(), "filter/chain")
			b.ReportMetric(float64(chain.Milliseconds())/float64(b.N), "chain-ms/megapixel")
		})
	}
}
