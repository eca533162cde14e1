package webgl2

import (
	"math"
	"unsafe"
)

// op is a command of the browser's side (webgl.js of package web), which replays
// them: a word, and as many further ones as it has arguments. Memory is named by
// its address.
type op uint32

// The commands. webgl.js has the same numbers; a test holds the two together.
const (
	opEnd           op = iota
	opNewBuffer        // id, size
	opWriteBuffer      // id, offset, address, bytes
	opSmallBuffer      // id, offset, bytes, the bytes themselves
	opDelete           // id
	opNewArray         // id, vertices, indices, bytes of indices, attributes of five words each
	opBindArray        // id
	opNewGeometry      // id, attributes
	opWriteGeometry    // id, place, vertices: address, bytes; indices: address, bytes
	opNewUniforms      // id
	opWriteUniforms    // id, place, address, bytes
	opNewRecords       // id, 1: of integers, unit
	opWriteRecords     // id, place, address, bytes
	opNewTable         // id, unit
	opGrowTable        // id, rows
	opWriteTable       // id, row, rows, address
	opBindTable        // id
	opCommands         // count, address: counts, offsets in bytes, instances
	opUseProgram       // id
	opUniform1f        // location, value
	opUniform4f        // location, four values
	opUniformMatrix    // location, 16 values
	opNewTexture       // id, internal format, compressed, levels, width, height, layers, anisotropy
	opNewAtlas         // id, width, height, address
	opWriteTexture     // id, layer, level, y, width, height, address, bytes
	opBindTexture      // unit, id
	opNewMaps          // id, edge, layers, unit, first framebuffer
	opBindMaps         // unit, id
	opBindFrame        // framebuffer
	opNewTarget        // id, width, height, samples
	opBindScene        // id
	opBindPicture      // id
	opResolve          // id
	opPresent          // id
	opViewport         // width, height
	opClear            // 1: colour, four values, 1: depth
	opDepthTest        // 1: on
	opDepthWrite       // 1: on
	opDepthFar         // 1: reversed
	opDepthClamp       // 1: on
	opDepthOffset      // slope, constant
	opBlend            // mode
	opCull             // mode
	opMirrored         // 1: on
	opCoverage         // 1: on
	opWireframe        // 1: on, slope, constant
	opDrawTriangle
	opDrawLines     // first, count
	opDrawTriangles // count
	opDrawCommands  // first, count
	ops
)

// commandBuffer is what was asked for since the last replay.
type commandBuffer struct {
	words []uint32
	keep  []unsafe.Pointer // memory that words name
}

// put appends a command.
func (b *commandBuffer) put(o op, args ...uint32) {
	b.words = append(append(b.words, uint32(o)), args...)
}

// address returns the name of memory, which stays until the replay. Go's heap does
// not move.
func (b *commandBuffer) address(data []byte) uint32 {
	if len(data) == 0 {
		return 0
	}
	p := unsafe.Pointer(unsafe.SliceData(data))
	b.keep = append(b.keep, p)
	return uint32(uintptr(p))
}

// bytes appends bytes themselves, as words.
func (b *commandBuffer) bytes(data []byte) {
	for ; len(data) >= 4; data = data[4:] {
		b.words = append(b.words, uint32(data[0])|uint32(data[1])<<8|uint32(data[2])<<16|uint32(data[3])<<24)
	}
	if len(data) > 0 {
		var rest [4]byte
		copy(rest[:], data)
		b.words = append(b.words, uint32(rest[0])|uint32(rest[1])<<8|uint32(rest[2])<<16)
	}
}

// reset forgets what was replayed.
func (b *commandBuffer) reset() {
	clear(b.keep)
	b.words, b.keep = b.words[:0], b.keep[:0]
}

func bit(on bool) uint32 {
	if on {
		return 1
	}
	return 0
}

func float(v float32) uint32 { return math.Float32bits(v) }
