package imagediff

import (
	"fmt"
	"image"
	"image/draw"
	"runtime"
	"sync"
)

// planes is a picture channel by channel.
type planes struct {
	w, h  int
	bytes [3][]uint8
	c     [3][]float32
}

// read takes a picture apart.
func read(img image.Image) (*planes, error) {
	size := img.Bounds().Size()
	if size.X < 1 || size.Y < 1 {
		return nil, fmt.Errorf("imagediff: %w: %d x %d", ErrSize, size.X, size.Y)
	}
	p := &planes{w: size.X, h: size.Y}
	n := size.X * size.Y
	for k := range p.c {
		p.bytes[k], p.c[k] = make([]uint8, n), make([]float32, n)
	}
	pix, stride := opaque(img)
	for y := range size.Y {
		row := pix[y*stride:]
		for x := range size.X {
			i := y*size.X + x
			p.bytes[0][i], p.bytes[1][i], p.bytes[2][i] = row[4*x], row[4*x+1], row[4*x+2]
		}
	}
	return p, nil
}

// readPair reads two pictures of one size.
func readPair(a, b image.Image) (*planes, *planes, error) {
	p, err := read(a)
	if err != nil {
		return nil, nil, err
	}
	q, err := read(b)
	if err != nil {
		return nil, nil, err
	}
	if p.w != q.w || p.h != q.h {
		return nil, nil, fmt.Errorf("imagediff: %w: %d x %d and %d x %d", ErrSize, p.w, p.h, q.w, q.h)
	}
	return p, q, nil
}

// opaque returns the picture's colours as RGBA bytes, not multiplied by alpha.
func opaque(img image.Image) (pix []uint8, stride int) {
	b := img.Bounds()
	switch src := img.(type) {
	case *image.RGBA:
		return src.Pix[src.PixOffset(b.Min.X, b.Min.Y):], src.Stride
	case *image.NRGBA:
		return src.Pix[src.PixOffset(b.Min.X, b.Min.Y):], src.Stride
	}
	dst := image.NewNRGBA(image.Rectangle{Max: b.Size()})
	draw.Draw(dst, dst.Bounds(), img, b.Min, draw.Src)
	return dst.Pix, dst.Stride
}

// each calls f for every pixel.
func (p *planes) each(f func(i int)) { eachRow(p.w, p.h, f) }

// eachRow calls f for every pixel of a plane, rows in parallel.
func eachRow(w, h int, f func(i int)) {
	rows(h, func(y int) {
		for i := y * w; i < (y+1)*w; i++ {
			f(i)
		}
	})
}

// rows calls f for every row, on all processors. f writes to its row alone, so
// that results do not depend on the order.
func rows(h int, f func(y int)) {
	workers := min(runtime.GOMAXPROCS(0), h)
	var wg sync.WaitGroup
	for k := range workers {
		wg.Go(func() {
			for y := h * k / workers; y < h*(k+1)/workers; y++ {
				f(y)
			}
		})
	}
	wg.Wait()
}

// convolve filters a plane with one kernel along x and one along y. Beyond its
// border the plane goes on with the value at the border.
func convolve(src []float32, w, h int, alongX, alongY []float32) []float32 {
	mid, out := make([]float32, len(src)), make([]float32, len(src))
	rows(h, func(y int) { filterRow(mid[y*w:(y+1)*w], src[y*w:(y+1)*w], alongX) })
	r := len(alongY) / 2
	rows(h, func(y int) {
		dst := out[y*w : (y+1)*w]
		for k, weight := range alongY {
			from := min(max(y+r-k, 0), h-1)
			for x, v := range mid[from*w : (from+1)*w] {
				dst[x] += float32(weight * v)
			}
		}
	})
	return out
}

// filterRow convolves one row.
func filterRow(dst, src []float32, kernel []float32) {
	r, last := len(kernel)/2, len(src)-1
	for x := range dst {
		sum := float32(0)
		if x >= r && x+r <= last {
			for k, v := range src[x-r : x+r+1] {
				sum += float32(kernel[2*r-k] * v)
			}
		} else {
			for k, weight := range kernel {
				sum += float32(weight * src[min(max(x+r-k, 0), last)])
			}
		}
		dst[x] = sum
	}
}
