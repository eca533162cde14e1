package basisu

import "encoding/binary"

// uastcBlock is the size of a block in bytes.
const uastcBlock = 16

// UASTCSize returns the size of a picture's blocks in bytes.
func UASTCSize(width, height int) int { return uastcBlock * blocks(width) * blocks(height) }

// DecodeUASTC decodes the blocks of a picture into dst, RGBA of 4 x width x height
// bytes with rows from the first in the file on. The error matches ErrDamaged.
func DecodeUASTC(dst, data []byte, width, height int) error {
	if err := checkTarget(dst, width, height); err != nil {
		return err
	}
	if len(data) != UASTCSize(width, height) {
		return damaged("%d bytes of UASTC blocks, %d x %d pixels have %d", len(data), width, height, UASTCSize(width, height))
	}
	var pixels [16]uint32
	for y := 0; y < height; y += BlockSize {
		for x := 0; x < width; x += BlockSize {
			if !decodeBlock(&pixels, (*[uastcBlock]byte)(data)) {
				return damaged("the UASTC block at pixel %d, %d has a mode or a pattern that does not exist", x, y)
			}
			data = data[uastcBlock:]
			for k := range min(BlockSize, height-y) {
				at := 4 * (width*(y+k) + x)
				putRow(dst[at:at+4*min(BlockSize, width-x)], pixels[BlockSize*k:][:BlockSize])
			}
		}
	}
	return nil
}

func putRow(dst []byte, row []uint32) {
	for i := 0; len(dst) >= 4; i++ {
		binary.LittleEndian.PutUint32(dst, row[i])
		dst = dst[4:]
	}
}

// block128 reads the bits of a block from the lowest on.
type block128 struct{ lo, hi uint64 }

// take reads n bits, 1 to 32.
func (b *block128) take(n uint) uint32 {
	v := uint32(b.lo & (1<<n - 1))
	b.skip(n)
	return v
}

// skip drops n bits, 1 to 63.
func (b *block128) skip(n uint) {
	b.lo = b.lo>>n | b.hi<<(64-n)
	b.hi >>= n
}

// decodeBlock decodes one block, red in the lowest byte of each pixel. It is false
// for modes and patterns that are not defined.
func decodeBlock(pixels *[16]uint32, data *[uastcBlock]byte) bool {
	var s symbols
	if !s.read(data) {
		return false
	}
	m := s.m
	if m.components == 0 { // one colour
		for i := range pixels {
			pixels[i] = s.color
		}
		return true
	}
	var colors [3][32]uint32
	for part := range m.subsets {
		m.interpolate(&colors[part], s.ends[2*m.components*part:])
	}
	if m.dual {
		second := uint32(0xff) << (8 * s.plane)
		for i := range pixels {
			pixels[i] = colors[0][s.weights[0][i]&31]&^second | colors[0][s.weights[1][i]&31]&second
		}
		return true
	}
	subset := &s.shape().subset
	for i := range pixels {
		pixels[i] = colors[subset[i]][s.weights[0][i]&31]
	}
	return true
}

// interpolate fills in the colours of one subset by weight.
func (m *mode) interpolate(colors *[32]uint32, values []uint8) {
	unquantized := m.endpoints.values
	for w := range 1 << m.weightBits {
		weight := uint32(m.weights[w])
		var out uint32
		for c := range m.components {
			low, high := uint32(unquantized[values[2*c]]), uint32(unquantized[values[2*c+1]])
			v := (low*0x101*(64-weight) + high*0x101*weight + 32) >> 14
			out |= v << (8 * c)
		}
		switch m.components {
		case 2: // luminance and alpha
			out = out&0xff*0x010101 | out>>8<<24
		case 3:
			out |= 0xff << 24
		}
		colors[w] = out
	}
}
