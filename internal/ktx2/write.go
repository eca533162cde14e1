package ktx2

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Content is what Write makes a file of.
type Content struct {
	Format        Format // Undefined: UASTC
	Width, Height int    // pixels of level 0
	Transfer      Transfer
	// Channel is what UASTC blocks hold; of no meaning to other formats.
	Channel Channel
	Scheme  Scheme // None, Zstandard or ZLIB
	// Quick takes a fifth or less of the time for Zstandard, and a few percent more bytes.
	Quick    bool
	Metadata map[string]string
	// Levels are the blocks or pixels, from the full size on.
	Levels [][]byte
}

// Write writes a file whose levels lie smallest first, so that a reader of ranges
// shows something early. The same content gives the same bytes.
func Write(w io.Writer, c Content) error {
	if err := c.check(); err != nil {
		return err
	}
	stored := make([][]byte, len(c.Levels))
	for i, data := range c.Levels {
		var err error
		if stored[i], err = compress(data, c.Scheme, c.Quick); err != nil {
			return err
		}
	}
	descriptor := c.descriptor()
	metadata := appendMetadata(nil, c.Metadata)
	le := binary.LittleEndian
	const entry = 24
	descriptorAt := headerSize + entry*len(stored)
	metadataAt := descriptorAt + len(descriptor)
	at := metadataAt + len(metadata)

	out := []byte(Identifier)
	for _, v := range [...]uint32{
		uint32(c.Format), 1, uint32(c.Width), uint32(c.Height), 0, 0, 1, uint32(len(stored)), uint32(c.Scheme),
		uint32(descriptorAt), uint32(len(descriptor)), uint32(metadataAt) * uint32(min(1, len(metadata))), uint32(len(metadata)),
		0, 0, 0, 0, // no global data
	} {
		out = le.AppendUint32(out, v)
	}
	index := make([]byte, entry*len(stored))
	body := append(slices.Clone(descriptor), metadata...)
	for i := len(stored) - 1; i >= 0; i-- {
		pad := (c.align() - at%c.align()) % c.align()
		body = append(body, make([]byte, pad)...)
		at += pad
		e := index[entry*i:]
		le.PutUint64(e, uint64(at))
		le.PutUint64(e[8:], uint64(len(stored[i])))
		le.PutUint64(e[16:], uint64(len(c.Levels[i])))
		body = append(body, stored[i]...)
		at += len(stored[i])
	}
	_, err := w.Write(slices.Concat(out, index, body))
	return err
}

// check says what Write cannot make a file of.
func (c *Content) check() error {
	l, ok := c.layout()
	switch {
	case !ok:
		return fmt.Errorf("ktx2: cannot write %v", c.Format)
	case c.Width < 1 || c.Height < 1 || c.Width > MaxEdge || c.Height > MaxEdge || len(c.Levels) < 1:
		return fmt.Errorf("ktx2: cannot write %d levels of %d x %d pixels", len(c.Levels), c.Width, c.Height)
	case c.Scheme != None && c.Scheme != Zstandard && c.Scheme != ZLIB:
		return fmt.Errorf("ktx2: cannot write supercompression scheme %d", c.Scheme)
	}
	for i, data := range c.Levels {
		if w, h := max(1, c.Width>>i), max(1, c.Height>>i); int64(len(data)) != l.size(w, h) {
			return fmt.Errorf("ktx2: level %d of %s has %d bytes, %d x %d pixels have %d", i, l.name, len(data), w, h, l.size(w, h))
		}
	}
	return nil
}

func (c *Content) layout() (layout, bool) {
	f := File{Format: c.Format, Descriptor: Descriptor{Model: ModelUASTC}}
	return f.layout()
}

// align is what the levels begin at a multiple of.
func (c *Content) align() int {
	l, _ := c.layout()
	switch {
	case c.Scheme != None:
		return 1
	case l.bytes == 3:
		return 12
	}
	return max(4, l.bytes)
}

func compress(data []byte, scheme Scheme, quick bool) ([]byte, error) {
	switch scheme {
	case Zstandard:
		spare, level := &thorough, zstd.SpeedBestCompression
		if quick {
			spare, level = &hasty, zstd.SpeedDefault
		}
		e, ok := spare.Get().(*zstd.Encoder)
		if !ok {
			var err error
			if e, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(level)); err != nil {
				return nil, err
			}
		}
		defer spare.Put(e)
		return e.EncodeAll(data, nil), nil
	case ZLIB:
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		if _, err := z.Write(data); err != nil {
			return nil, err
		}
		err := z.Close()
		return b.Bytes(), err
	}
	return data, nil
}

// thorough and hasty are encoders that nobody uses: a thorough one has tables of 34 MB, which
// take longer to clear than a small level.
var thorough, hasty sync.Pool

// appendMetadata writes keys, in order, and values with a NUL at the end.
func appendMetadata(b []byte, m map[string]string) []byte {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		entry := key + "\x00" + m[key] + "\x00"
		b = binary.LittleEndian.AppendUint32(b, uint32(len(entry)))
		b = append(b, entry...)
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
	}
	return b
}

// sample is a sample of the descriptor.
type sample struct {
	offset, bits int
	channel      uint8
	linear       bool // even where colours are sRGB
	upper        uint32
}

// The channel of alpha, in all colour models that have one of its own.
const alphaChannel = 15

// samples returns the colour model and the samples of the format.
func (c *Content) samples() (ColorModel, []sample) {
	const whole = 1<<32 - 1
	one := func(m ColorModel, bits int, channel uint8) (ColorModel, []sample) {
		return m, []sample{{bits: bits, channel: channel, upper: whole}}
	}
	two := func(m ColorModel, first, second uint8) (ColorModel, []sample) {
		return m, []sample{{0, 64, first, first == alphaChannel, whole}, {64, 64, second, false, whole}}
	}
	const modelBC1 = 128 // those of BC2 to BC7 follow
	switch c.Format {
	case Undefined:
		return one(ModelUASTC, 128, uint8(c.Channel))
	case BC1RGB, BC1RGBSRGB:
		return one(modelBC1, 64, 0)
	case BC1, BC1SRGB:
		return one(modelBC1, 64, 1)
	case BC2, BC2SRGB:
		return two(modelBC1+1, alphaChannel, 0)
	case BC3, BC3SRGB:
		return two(modelBC1+2, alphaChannel, 0)
	case BC4:
		return one(modelBC1+3, 64, 0)
	case BC5:
		return two(modelBC1+4, 0, 1)
	case BC7, BC7SRGB:
		return one(modelBC1+6, 128, 0)
	}
	l, _ := c.layout()
	var out []sample
	for i, k := range []byte(l.order) {
		channel := map[byte]uint8{'r': 0, 'g': 1, 'b': 2, 'a': alphaChannel}[k]
		out = append(out, sample{8 * i, 8, channel, k == 'a', 255})
	}
	return ModelRGB, out
}

// descriptor writes a data format descriptor of one basic block.
func (c *Content) descriptor() []byte {
	const version, primariesBT709, qualifierLinear = 2, 1, 0x10
	primaries := byte(0) // of numbers
	if c.Transfer == TransferSRGB {
		primaries = primariesBT709
	}
	l, _ := c.layout()
	model, samples := c.samples()
	size := basicSize + sampleSize*len(samples)
	le := binary.LittleEndian
	b := le.AppendUint32(nil, uint32(4+size))
	b = le.AppendUint32(b, 0) // a basic block of Khronos
	b = le.AppendUint16(b, version)
	b = le.AppendUint16(b, uint16(size))
	b = append(b, byte(model), primaries, byte(c.Transfer), 0, byte(l.edge-1), byte(l.edge-1), 0, 0, byte(l.bytes), 0, 0, 0, 0, 0, 0, 0)
	for _, s := range samples {
		channel := s.channel
		if s.linear && c.Transfer == TransferSRGB {
			channel |= qualifierLinear
		}
		b = le.AppendUint16(b, uint16(s.offset))
		b = append(b, byte(s.bits-1), channel, 0, 0, 0, 0)
		b = le.AppendUint32(b, 0)
		b = le.AppendUint32(b, s.upper)
	}
	return b
}
