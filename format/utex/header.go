package utex

import (
	"encoding/binary"
	"math/bits"
)

// Sizes and limits of the file format.
const (
	HeaderSize = 64
	EntrySize  = 16
	Alignment  = 16 // of each level
	Version    = 1
	// MaxEdge is the largest width and height that is accepted; no GPU takes
	// more.
	MaxEdge = 1 << 16
)

// Magic is at the start of every file.
const Magic = "UTEX\x00\x00\x00\x00"

// Flags describe what the texels mean.
type Flags uint32

// The flags.
const (
	HasAlpha      Flags = 1 << iota // some texel is not opaque
	Premultiplied                   // colours are multiplied by alpha
	NormalPacked                    // a normal map with X in red, green and blue, and Y in alpha
)

const knownFlags = HasAlpha | Premultiplied | NormalPacked

// Info describes a texture.
type Info struct {
	Width, Height int // texels of the first level
	Format        PixelFormat
	Flags         Flags
	Levels        []Level // from large to small, wherever they lie in the file
}

// Level is one level of the mip chain.
type Level struct {
	Width, Height int   // texels
	Offset        int64 // in the file
	Size          int64 // bytes
}

// FullChain returns how many levels lead from w x h down to 1 x 1.
func FullChain(w, h int) int { return bits.Len(uint(max(w, h))) }

// levelSize returns the texels of level i along an edge of n texels.
func levelSize(n, i int) int { return max(1, n>>i) }

// StartLevel returns the first level whose longer edge is at most maxSize
// texels, the last one when all are longer, and 0 when maxSize is 0 or less.
func (i *Info) StartLevel(maxSize int) int {
	if maxSize <= 0 {
		return 0
	}
	for k, l := range i.Levels {
		if max(l.Width, l.Height) <= maxSize {
			return k
		}
	}
	return max(0, len(i.Levels)-1)
}

// Bytes returns the size of the levels from first on, which is what they take
// in GPU memory.
func (i *Info) Bytes(first int) int64 {
	var n int64
	for _, l := range i.Levels[min(max(first, 0), len(i.Levels)):] {
		n += l.Size
	}
	return n
}

// Prefix returns how many bytes of the file have the header, the table and the levels
// from first on. Where the smallest level comes first in the file, as the Writer puts
// them, that is no more than it has to be.
func (i *Info) Prefix(first int) int64 {
	n := int64(HeaderSize + EntrySize*len(i.Levels))
	for _, l := range i.Levels[min(max(first, 0), len(i.Levels)):] {
		n = max(n, l.Offset+l.Size)
	}
	return n
}

// NewInfo lays out a texture of w x h texels with a full mip chain, the smallest level
// first in the file.
func NewInfo(w, h int, f PixelFormat, flags Flags) Info {
	return layout(w, h, f, flags, FullChain(w, h))
}

// layout places the levels behind the table, the smallest one first and each aligned.
func layout(w, h int, f PixelFormat, flags Flags, levels int) Info {
	info := Info{Width: w, Height: h, Format: f, Flags: flags, Levels: make([]Level, levels)}
	b, _ := f.Block()
	if b == (Block{}) {
		b = Block{1, 1, 0}
	}
	at := int64(HeaderSize + EntrySize*levels)
	for k := levels - 1; k >= 0; k-- {
		l := Level{Width: levelSize(w, k), Height: levelSize(h, k), Offset: at}
		l.Size = b.Size(l.Width, l.Height)
		info.Levels[k] = l
		at = align(at + l.Size)
	}
	return info
}

func align(n int64) int64 { return (n + Alignment - 1) &^ (Alignment - 1) }

// end returns the length of the file.
func (i *Info) end() int64 { return i.Prefix(0) }

// appendHeader appends the header and the table.
func (i *Info) appendHeader(b []byte) []byte {
	le := binary.LittleEndian
	block, _ := i.Format.Block()
	start := int64(HeaderSize + EntrySize*len(i.Levels))
	b = append(b, Magic...)
	for _, v := range [...]uint32{
		Version, uint32(i.Flags), uint32(i.Width), uint32(i.Height), uint32(len(i.Levels)), uint32(i.Format),
		uint32(block.Width) | uint32(block.Height)<<8, uint32(start), uint32(i.end() - start), 0, 0, 0, 0, 0,
	} {
		b = le.AppendUint32(b, v)
	}
	for _, l := range i.Levels {
		for _, v := range [...]int64{l.Offset - start, l.Size, int64(l.Width), int64(l.Height)} {
			b = le.AppendUint32(b, uint32(v))
		}
	}
	return b
}
