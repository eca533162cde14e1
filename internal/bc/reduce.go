package bc

import (
	"encoding/binary"
	"fmt"
	"image"
)

// Reduction says how Reduce weighs errors against bytes.
type Reduction struct {
	// Bit is what a bit of the compressed blocks is worth: sixteenths of a squared error of a
	// channel, up to MaxBit. Of a block with contrast the sum of squares grows by less than
	// 8 times that, of a smooth one by less than 2 times.
	Bit int
	// Cutoff, where it is not 0, is the alpha from which on a texel is there: no change moves a
	// texel across it.
	Cutoff uint8
}

// MaxBit is the largest Reduction.Bit.
const MaxBit = 1 << 16

// So many distinct blocks and halves of mode 6 are looked at, which bounds memory and time
// whatever the picture's size is. Twice as many of either save about a hundredth of the bytes, and
// take a quarter more time.
const (
	recentBlocks = 256
	recentHalves = 32
)

// Reduce changes the blocks that Encode has made of an image with the same options, so that
// they compress better: it gives blocks the bytes of earlier ones, all or half of them, where
// the error that this adds is worth less than the bits that it saves. Errors are those against
// the image. Blocks remain valid, and opaque ones opaque.
func Reduce(blocks []byte, img *image.NRGBA, o Options, how Reduction) error {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	if w < 1 || h < 1 || len(blocks) < Size(w, h) {
		return fmt.Errorf("bc: %d bytes for %d x %d texels", len(blocks), w, h)
	}
	if how.Bit < 0 || how.Bit > MaxBit {
		return fmt.Errorf("bc: a bit cannot be worth %d; use 0 to %d", how.Bit, MaxBit)
	}
	if how.Bit == 0 {
		return nil
	}
	r := newReducer(o, how)
	for y := 0; y < h; y += 4 {
		for x := 0; x < w; x += 4 {
			r.from.take(img, x, y)
			if block := (*[BlockBytes]byte)(blocks[r.at:]); o.Format == BC5 {
				r.two(block)
			} else {
				r.block(block)
			}
		}
	}
	return nil
}

// reducer goes through the blocks of an image.
type reducer struct {
	rate
	bargain
	floor  uint8 // the least alpha of an opaque block
	cutoff uint8
	from   source
	at     int // where the block lies

	wholes   recent[whole]
	faces    []face // of wholes
	prefixes recent[prefix]
	suffixes recent[suffix]
	channels recent[channel] // of BC5
}

func newReducer(o Options, how Reduction) *reducer {
	r := &reducer{floor: 255, cutoff: how.Cutoff}
	r.bit = int32(how.Bit)
	if o.AlphaUnused {
		r.floor = 254
	}
	return r
}

// source is what a block was made of.
type source struct {
	px     texels
	sum    [4]int32
	square [4]int32
	opaque bool
}

// take takes the texels at a place.
func (s *source) take(img *image.NRGBA, x, y int) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	s.sum, s.square, s.opaque = [4]int32{}, [4]int32{}, true
	for k := range 4 {
		line := img.Pix[min(y+k, h-1)*img.Stride:]
		for i := range 4 {
			p := [4]uint8(line[4*min(x+i, w-1):])
			s.px[4*k+i] = p
			for c, v := range p {
				s.sum[c] += int32(v)
				s.square[c] += int32(v) * int32(v)
			}
			s.opaque = s.opaque && p[3] == 255
		}
	}
}

// contrast returns the sum of squares around the mean of a channel.
func (s *source) contrast(c int) int32 { return s.square[c] - s.sum[c]*s.sum[c]/16 }

func square(v int32) int32 { return v * v }

// miss returns the sum of squared errors; from most on it may be less than all.
func (s *source) miss(px *texels, most int32) (sum int32) {
	for k := 0; k < len(px); k += 4 {
		for i := k; i < k+4; i++ {
			p, q := &s.px[i&15], &px[i&15]
			sum += square(int32(p[0])-int32(q[0])) + square(int32(p[1])-int32(q[1])) + square(int32(p[2])-int32(q[2]))
			if !s.opaque {
				sum += square(int32(p[3]) - int32(q[3]))
			}
		}
		if sum >= most {
			break
		}
	}
	return sum
}

// whole is an earlier block.
type whole struct {
	block [BlockBytes]byte
	px    texels
}

// face is what most blocks are told from others by.
type face struct {
	at    int
	sum   [3]int32
	alpha uint8 // the least
}

// change is what becomes of a block.
type change struct {
	lo, hi       uint64
	first, other int // how far back its halves match; 0 is not
}

// block chooses what becomes of a block of BC7.
func (r *reducer) block(block *[BlockBytes]byte) {
	s := &r.from
	w := whole{block: *block}
	decodeBC7(block[:], &w.px)
	least := s.miss(&w.px, nothing)
	r.scale = scaleOf(s.contrast(0)+s.contrast(1)+s.contrast(2), 3)
	r.best = r.cost(least, 2*literalBits)
	c := change{lo: binary.LittleEndian.Uint64(block[:8]), hi: binary.LittleEndian.Uint64(block[8:])}
	lo, hi := c.lo, c.hi
	r.repeat(&c, &w.px)
	if s.opaque {
		r.keepPrefix(&c, lo, hi, least)
		r.keepSuffix(&c, lo, hi, least)
	}
	binary.LittleEndian.PutUint64(block[:8], c.lo)
	binary.LittleEndian.PutUint64(block[8:], c.hi)
	r.use(c.first)
	r.use(c.other)
	r.remember(&w, block, c.lo, c.hi)
	r.at += BlockBytes
}

// repeat looks for an earlier block to take as a whole. Texels whose alpha mattered stay on the
// side of the cutoff where they are in was.
func (r *reducer) repeat(c *change, was *texels) {
	s := &r.from
	found := -1
	for i := range r.faces {
		f := &r.faces[i]
		// The squares cannot be less than those of the means.
		far := (square(f.sum[0]-s.sum[0]) + square(f.sum[1]-s.sum[1]) + square(f.sum[2]-s.sum[2])) / 16
		if r.scale*far >= r.best || s.opaque && f.alpha < r.floor {
			continue
		}
		n := r.match(r.at - f.at)
		limit := r.limit(n)
		if far >= limit {
			continue
		}
		px := &r.wholes.list[i].px
		m := s.miss(px, limit)
		if m >= limit || !s.opaque && r.cutoff > 0 && !alike(px, was, r.cutoff) {
			continue
		}
		r.best, found = r.cost(m, n), i
		c.first, c.other = r.at-f.at, r.at-f.at
	}
	if found >= 0 {
		b := &r.wholes.list[found].block
		c.lo, c.hi = binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])
	}
}

// alike reports whether two blocks have the same texels at or above a cutoff.
func alike(a, b *texels, cutoff uint8) bool {
	for i := range a {
		if (a[i][3] >= cutoff) != (b[i][3] >= cutoff) {
			return false
		}
	}
	return true
}

// remember keeps a block for those that follow; w is what it was before.
func (r *reducer) remember(w *whole, block *[BlockBytes]byte, lo, hi uint64) {
	key := lo ^ hi
	i, known := r.wholes.find(key, func(p *whole) bool { return p.block == *block })
	if !known {
		if w.block != *block {
			w.block = *block
			decodeBC7(block[:], &w.px)
		}
		i = r.wholes.next
		*r.wholes.add(key, recentBlocks) = *w
		f := face{alpha: 255}
		for _, p := range w.px {
			for c := range f.sum {
				f.sum[c] += int32(p[c])
			}
			f.alpha = min(f.alpha, p[3])
		}
		if len(r.faces) < len(r.wholes.list) {
			r.faces, i = append(r.faces, f), len(r.faces)
		}
		r.faces[i] = f
	}
	r.faces[i].at = r.at
	if lo&(1<<7-1) == 1<<6 {
		r.rememberHalves(lo, hi)
	}
}
