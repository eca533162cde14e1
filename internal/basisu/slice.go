package basisu

import "encoding/binary"

// DecodeRGB decodes the colour slice of a picture into dst, RGBA of 4 x width x
// height bytes with rows from the first in the file on; alpha becomes 255. The
// error matches ErrDamaged.
func (c *Codebooks) DecodeRGB(dst, slice []byte, width, height int) error {
	return c.decode(dst, slice, width, height, putColor)
}

// DecodeAlpha decodes a second slice into the alpha of dst and leaves the colours
// alone. The error matches ErrDamaged.
func (c *Codebooks) DecodeAlpha(dst, slice []byte, width, height int) error {
	return c.decode(dst, slice, width, height, putAlpha)
}

// decode has put draw four pixels, or fewer at the border, of the selectors.
func (c *Codebooks) decode(dst, slice []byte, width, height int, put func(dst []byte, colors *[4]uint32, selectors uint32)) error {
	if err := checkTarget(dst, width, height); err != nil {
		return err
	}
	d := newSliceReader(c, slice, blocks(width), blocks(height))
	for y := 0; y < height; y += BlockSize {
		if err := d.row(); err != nil {
			return err
		}
		for i, b := range d.blocks {
			x := BlockSize * i
			colors, selectors := &c.colors[b.endpoint], c.selectors[b.selector]
			for k := range min(BlockSize, height-y) {
				at := 4 * (width*(y+k) + x)
				put(dst[at:at+4*min(BlockSize, width-x)], colors, selectors>>(8*k))
			}
		}
	}
	return nil
}

func putColor(dst []byte, colors *[4]uint32, selectors uint32) {
	le := binary.LittleEndian
	if len(dst) == 4*BlockSize {
		le.PutUint64(dst, uint64(colors[selectors&3])|uint64(colors[selectors>>2&3])<<32)
		le.PutUint64(dst[8:], uint64(colors[selectors>>4&3])|uint64(colors[selectors>>6&3])<<32)
		return
	}
	for ; len(dst) >= 4; selectors >>= 2 {
		le.PutUint32(dst, colors[selectors&3])
		dst = dst[4:]
	}
}

func putAlpha(dst []byte, colors *[4]uint32, selectors uint32) {
	for ; len(dst) >= 4; selectors >>= 2 {
		dst[3] = byte(colors[selectors&3] >> 8)
		dst = dst[4:]
	}
}

// block names the parts of a block in the codebooks.
type block struct{ endpoint, selector uint16 }

// Of the codes of a slice.
const (
	fromLeft      = 0 // the endpoint of the block to the left
	fromAbove     = 1
	fromAboveLeft = 2

	repeatPredictors = 256 // the symbol that repeats the last one
	minPredictors    = 3   // of the repetitions
	minRun           = 3   // of selectors that repeat the first of the history
	longRun          = 63  // the symbol of runs whose length follows
)

// sliceReader reads a slice row by row.
type sliceReader struct {
	bitReader
	books  *Codebooks
	blocks []block // of the last row
	lower  []uint8 // predictors of the odd row, by pairs of blocks
	y      int

	predictors, repeats int // the last symbol, and how often it is still to be taken
	endpoint            int // of the last block
	history             history
	run                 int // selectors that are still taken from the history
	total               int // blocks of the slice
}

func newSliceReader(c *Codebooks, data []byte, width, height int) *sliceReader {
	return &sliceReader{
		bitReader: bitReader{data: data}, books: c, blocks: make([]block, width), lower: make([]uint8, (width+1)/2),
		history: history{values: make([]uint16, c.history), rover: c.history / 2}, total: width * height,
	}
}

// row reads the next row into blocks.
func (d *sliceReader) row() error {
	predictors := 0
	above := uint16(0) // endpoint of the block above to the left
	for x := range d.blocks {
		if x&1 == 0 {
			predictors = d.predictorsAt(x / 2)
		}
		here := &d.blocks[x]
		old := here.endpoint
		switch how := predictors & 3; {
		case how == fromLeft && x > 0:
		case how == fromAbove && d.y > 0:
			d.endpoint = int(old)
		case how == fromAboveLeft && x > 0 && d.y > 0:
			d.endpoint = int(above)
		case how > fromAboveLeft:
			d.endpoint += d.symbol(&d.books.delta)
			if d.endpoint >= len(d.books.colors) {
				d.endpoint -= len(d.books.colors)
			}
		default:
			return damaged("a block takes its endpoint from beyond the border")
		}
		predictors >>= 2
		above = old
		selector := d.nextSelector()
		if d.wrong || d.endpoint >= len(d.books.colors) || selector >= len(d.books.selectors) {
			return damaged("a block names what the codebooks do not have")
		}
		*here = block{uint16(d.endpoint), uint16(selector)}
	}
	d.y++
	if d.over() {
		return damaged("a slice is cut off in row %d of its blocks", d.y)
	}
	return nil
}

// predictorsAt returns how the blocks of a pair get their endpoints: even rows
// read it for the row below as well.
func (d *sliceReader) predictorsAt(pair int) int {
	if d.y&1 == 1 {
		return int(d.lower[pair])
	}
	if d.repeats > 0 {
		d.repeats--
	} else if s := d.symbol(&d.books.predictor); s == repeatPredictors {
		d.repeats = d.vlc(4) + minPredictors - 1
	} else {
		d.predictors = s
	}
	d.lower[pair] = uint8(d.predictors >> 4)
	return d.predictors
}

// nextSelector reads the selector of a block.
func (d *sliceReader) nextSelector() int {
	first := len(d.books.selectors) // of the history
	symbol := first
	if d.run > 0 {
		d.run--
	} else if symbol = d.symbol(&d.books.selector); symbol == first+len(d.history.values) {
		run := d.symbol(&d.books.run)
		if run == longRun {
			run = d.vlc(7)
		}
		if d.run = run + minRun - 1; d.run >= d.total {
			d.wrong = true
		}
		symbol = first
	}
	if symbol < first {
		d.history.add(uint16(symbol))
		return symbol
	}
	if symbol -= first; symbol >= len(d.history.values) {
		d.wrong = true
		return 0
	}
	return int(d.history.use(symbol))
}

// history is a list that values move towards the front of as they are used; new
// ones come into its second half.
type history struct {
	values []uint16
	rover  int // where the next one comes
}

func (h *history) add(v uint16) {
	if len(h.values) == 0 {
		return
	}
	h.values[h.rover] = v
	if h.rover++; h.rover == len(h.values) {
		h.rover = len(h.values) / 2
	}
}

// use returns a value and swaps it with the one at half its place.
func (h *history) use(i int) uint16 {
	v := h.values[i]
	h.values[i], h.values[i/2] = h.values[i/2], v
	return v
}
