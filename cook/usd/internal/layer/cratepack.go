package layer

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/pierrec/lz4/v4"
)

// mostRatio is how many bytes a byte of LZ4 can become.
const mostRatio = 256

// backed reports whether packed bytes can hold so many.
func backed(size uint64, packed int64) bool { return size <= uint64(packed)*mostRatio+64 }

// unpack returns the size bytes that were packed.
func unpack(src []byte, size int64) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	out, err := unpackSome(src, size)
	if err == nil && int64(len(out)) != size {
		err = fmt.Errorf("%d bytes of %d", len(out), size)
	}
	return out, err
}

// unpackSome returns what was packed, of at most so many bytes: the number of blocks of LZ4,
// 0 for a single one of which no size is said, and the blocks behind their sizes.
func unpackSome(src []byte, most int64) ([]byte, error) {
	if len(src) == 0 {
		return nil, errors.New("nothing is packed")
	}
	blocks, src := int(src[0]), src[1:]
	out := make([]byte, most)
	if blocks == 0 {
		n, err := lz4.UncompressBlock(src, out)
		if err != nil {
			return nil, fmt.Errorf("damaged LZ4: %w", err)
		}
		return out[:n], nil
	}
	at := 0
	for range blocks {
		if len(src) < 4 {
			return nil, errors.New("a block of LZ4 is cut off")
		}
		n := int64(int32(binary.LittleEndian.Uint32(src)))
		if src = src[4:]; n < 0 || n > int64(len(src)) {
			return nil, errors.New("a block of LZ4 is cut off")
		}
		got, err := lz4.UncompressBlock(src[:n], out[at:])
		if err != nil {
			return nil, fmt.Errorf("damaged LZ4: %w", err)
		}
		at, src = at+got, src[n:]
	}
	return out[:at], nil
}

// packedInts returns n whole numbers of 4 or 8 bytes, sign extended. They are stored as
// differences: the commonest one, two bits for each that say how many bytes its difference
// takes (0 is the commonest), and these bytes.
func (c *cursor) packedInts(n uint64, width int) ([]int64, error) {
	start := c.at
	packed, err := c.count(1)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		c.at += packed
		return nil, nil
	}
	// The codes alone take a quarter of n.
	if n > 1<<40 || !backed(n/4, packed) {
		return nil, malformed(at(start, ""), "states %d numbers in %d bytes", n, packed)
	}
	if int64(n) > c.memory/8 {
		return nil, tooLarge(at(start, ""), int64(n)*8)
	}
	src, err := c.take(packed)
	if err != nil {
		return nil, err
	}
	// As long as what is packed may be; it tells its own size.
	most := int64(width) + int64(n+3)/4 + int64(n)*int64(width)
	if !backed(uint64(most), packed) {
		most = packed*mostRatio + 64
	}
	if most > c.memory {
		return nil, tooLarge(at(start, ""), most)
	}
	data, err := unpackSome(src, most)
	if err != nil {
		return nil, malformed(at(start, ""), "%v", err)
	}
	codes := int(n+3) / 4
	if len(data) < width+codes {
		return nil, malformed(at(start, ""), "%d numbers are cut off after %d bytes", n, len(data))
	}
	number := func(b []byte, size int) int64 {
		switch size {
		case 1:
			return int64(int8(b[0]))
		case 2:
			return int64(int16(binary.LittleEndian.Uint16(b)))
		case 4:
			return int64(int32(binary.LittleEndian.Uint32(b)))
		}
		return int64(binary.LittleEndian.Uint64(b))
	}
	common, code, rest := number(data, width), data[width:width+codes], data[width+codes:]
	sizes := [4]int{0, width / 4, width / 2, width} // of 4 bytes: 1, 2, 4; of 8: 2, 4, 8
	out := make([]int64, n)
	last := int64(0)
	for i := range out {
		d := common
		if size := sizes[code[i/4]>>(2*(i%4))&3]; size > 0 {
			if len(rest) < size {
				return nil, malformed(at(start, ""), "%d numbers are cut off after %d", n, i)
			}
			d, rest = number(rest, size), rest[size:]
		}
		if last += d; width == 4 {
			last = int64(int32(last))
		}
		out[i] = last
	}
	return out, nil
}

// packedU32 returns n indices, of which each takes at least so many bytes of memory in what
// they become.
func (c *cursor) packedU32(n uint64, each int64) ([]uint32, error) {
	if n > uint64(c.memory/each) {
		return nil, tooLarge(at(c.at, ""), int64(min(n, 1<<40))*each)
	}
	list, err := c.packedInts(n, 4)
	if err != nil {
		return nil, err
	}
	out := make([]uint32, len(list))
	for i, v := range list {
		out[i] = uint32(v)
	}
	return out, nil
}
