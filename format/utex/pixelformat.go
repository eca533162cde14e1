package utex

import "fmt"

// PixelFormat is a number of Metal's MTLPixelFormat.
type PixelFormat uint32

// The pixel formats with a name here. A file may also hold the other LDR
// formats of ASTC, 186 to 200 (sRGB) and 204 to 218 (linear).
const (
	R16Unorm    PixelFormat = 20
	RGBA16Float PixelFormat = 115
	BC5         PixelFormat = 142 // two linear channels
	BC7         PixelFormat = 152 // linear RGBA
	BC7SRGB     PixelFormat = 153 // sRGB colour, linear alpha
	ASTC4x4SRGB PixelFormat = 186
	ASTC6x6SRGB PixelFormat = 190
	ASTC4x4     PixelFormat = 204
	ASTC6x6     PixelFormat = 208
)

// Block is the unit in which a format stores texels.
type Block struct {
	Width, Height int // texels
	Bytes         int
}

// The blocks of ASTC in the order of their numbers; 191 and 209 are not in use.
var astcBlocks = [...][2]int{
	{4, 4},
	{5, 4},
	{5, 5},
	{6, 5},
	{6, 6},
	{},
	{8, 5},
	{8, 6},
	{8, 8},
	{10, 5},
	{10, 6},
	{10, 8},
	{10, 10},
	{12, 10},
	{12, 12},
}

const astcBytes = 16

// Block returns how f stores texels; ok is false for formats that a .utex file
// cannot hold.
func (f PixelFormat) Block() (b Block, ok bool) {
	switch f {
	case R16Unorm:
		return Block{1, 1, 2}, true
	case RGBA16Float:
		return Block{1, 1, 8}, true
	case BC5, BC7, BC7SRGB:
		return Block{4, 4, 16}, true
	}
	i := f - ASTC4x4SRGB
	if f >= ASTC4x4 {
		i = f - ASTC4x4
	}
	if i >= PixelFormat(len(astcBlocks)) || astcBlocks[i] == [2]int{} {
		return Block{}, false
	}
	return Block{astcBlocks[i][0], astcBlocks[i][1], astcBytes}, true
}

// ASTC reports whether the format is one of ASTC.
func (f PixelFormat) ASTC() bool {
	_, ok := f.Block()
	return ok && f >= ASTC4x4SRGB
}

// ASTCFormat returns the format of ASTC with blocks of w x h texels; ok is false
// for sizes that ASTC has not.
func ASTCFormat(w, h int, sRGB bool) (f PixelFormat, ok bool) {
	first := ASTC4x4
	if sRGB {
		first = ASTC4x4SRGB
	}
	for i, b := range astcBlocks {
		if w > 0 && b == [2]int{w, h} {
			return first + PixelFormat(i), true
		}
	}
	return 0, false
}

// SRGB reports whether the GPU turns the format's colours into linear light.
func (f PixelFormat) SRGB() bool {
	return f == BC7SRGB || f >= ASTC4x4SRGB && f < ASTC4x4SRGB+PixelFormat(len(astcBlocks))
}

// EngineReads reports whether the reference engine loads the format.
func (f PixelFormat) EngineReads() bool {
	_, ok := f.Block()
	return ok && f != BC5 && f != BC7 && f != BC7SRGB
}

// String returns a name such as BC7-sRGB or ASTC-6x6.
func (f PixelFormat) String() string {
	switch f {
	case R16Unorm:
		return "R16Unorm"
	case RGBA16Float:
		return "RGBA16Float"
	case BC5:
		return "BC5"
	case BC7:
		return "BC7"
	case BC7SRGB:
		return "BC7-sRGB"
	}
	b, ok := f.Block()
	if !ok {
		return fmt.Sprintf("PixelFormat(%d)", uint32(f))
	}
	s := fmt.Sprintf("ASTC-%dx%d", b.Width, b.Height)
	if f.SRGB() {
		s += "-sRGB"
	}
	return s
}

// Size returns the bytes of a level of w x h texels. It cannot overflow for
// edges up to MaxEdge.
func (b Block) Size(w, h int) int64 {
	across := (int64(w) + int64(b.Width) - 1) / int64(b.Width)
	down := (int64(h) + int64(b.Height) - 1) / int64(b.Height)
	return across * down * int64(b.Bytes)
}
