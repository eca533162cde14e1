package main

import (
	"encoding/binary"
	"time"

	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/internal/bc"
)

// reach is how far from the extremes of a block searchBC5 looks for its ends.
const reach = 10

// searchBC5 finds the ends of BC5 by trying: in either mode all pairs near the extremes.
func searchBC5(s *sample) ([]byte, time.Duration, error) {
	w, h := s.img.Rect.Dx(), s.img.Rect.Dy()
	var out []byte
	start := processorTime()
	for y := 0; y < h; y += 4 {
		for x := 0; x < w; x += 4 {
			for c := range 2 {
				var v [16]int
				for i := range v {
					v[i] = int(s.img.Pix[s.img.PixOffset(min(x+i%4, w-1), min(y+i/4, h-1))+c])
				}
				out = binary.LittleEndian.AppendUint64(out, searchBC4(&v))
			}
		}
	}
	took := processorTime() - start
	pix, err := utex.Decode(utex.BC5, out[:bc.Size(w, h)], w, h)
	return pix, took, err
}

// searchBC4 returns the block of one channel.
func searchBC4(v *[16]int) uint64 {
	least, found := 1<<30, uint64(0)
	try := func(a, b int) {
		var palette [8]int
		palette[0], palette[1] = a, b
		if a > b {
			for i := 1; i < 7; i++ {
				palette[i+1] = ((7-i)*a + i*b + 3) / 7
			}
		} else {
			for i := 1; i < 5; i++ {
				palette[i+1] = ((5-i)*a + i*b + 2) / 5
			}
			palette[7] = 255
		}
		total, block := 0, uint64(a)|uint64(b)<<8
		for i, x := range v {
			best, at := 1<<30, 0
			for k, p := range palette {
				if d := (x - p) * (x - p); d < best {
					best, at = d, k
				}
			}
			if total += best; total >= least {
				return
			}
			block |= uint64(at) << (16 + 3*i)
		}
		least, found = total, block
	}
	for mode := range 2 {
		lo, hi := 255, 0
		for _, x := range v {
			if mode == 0 || x > 0 && x < 255 {
				lo, hi = min(lo, x), max(hi, x)
			}
		}
		if lo > hi {
			lo, hi = 0, 255
		}
		for a := max(lo-reach, 0); a <= min(lo+reach, 255); a++ {
			for b := max(hi-reach, 0, a); b <= min(hi+reach, 255) && least > 0; b++ {
				if mode == 0 {
					try(b, a)
				} else {
					try(a, b)
				}
			}
		}
	}
	return found
}
