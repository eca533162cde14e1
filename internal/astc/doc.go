// Package astc decodes and encodes the blocks of ASTC in two dimensions with
// low dynamic range, as the Khronos Data Format Specification describes them.
//
// A block is 16 bytes whatever its size in texels. It holds a grid of weights
// at most as large as the block, one or two to a grid point, and pairs of
// colours for one to four sets of texels (partitions), between which the
// weights choose. How many of the bits go to weights and how many to colours is
// up to every block.
//
// [Decode] gives the bytes that astcenc does, and an Encoder the same bytes on
// every machine: it calculates with integers, and with single-precision numbers
// whose products do not fuse.
package astc

import "fmt"

// BlockBytes is the size of every block.
const BlockBytes = 16

// maxTexels are those of the largest block, 12 x 12.
const maxTexels = 144

// Footprint is the size of blocks in texels.
type Footprint struct{ Width, Height int }

// Footprints are those of the format, from fine to coarse.
var Footprints = []Footprint{
	{4, 4},
	{5, 4},
	{5, 5},
	{6, 5},
	{6, 6},
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

// String returns a name such as 4x4.
func (f Footprint) String() string { return fmt.Sprintf("%dx%d", f.Width, f.Height) }

// texels returns how many a block has.
func (f Footprint) texels() int { return f.Width * f.Height }

// blocks returns how many blocks w x h texels take along and down.
func (f Footprint) blocks(w, h int) (across, down int) {
	return (w + f.Width - 1) / f.Width, (h + f.Height - 1) / f.Height
}

// Size returns the bytes of an image of w x h texels.
func (f Footprint) Size(w, h int) int64 {
	across, down := f.blocks(w, h)
	return int64(across) * int64(down) * BlockBytes
}

// index returns the place of a footprint in Footprints, or -1.
func (f Footprint) index() int {
	for i, g := range Footprints {
		if f == g {
			return i
		}
	}
	return -1
}
