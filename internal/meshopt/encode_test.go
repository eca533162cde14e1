package meshopt

import (
	"encoding/binary"
	"math/bits"

	"pgregory.net/rapid"
)

// The encoders here write every form that the formats have, chosen at
// random, so that the decoders meet more than what real encoders prefer.

// encodeVertices encodes data with random widths, control and channel modes.
func encodeVertices(t *rapid.T, data []byte, stride, version int) []byte {
	var modes, first []byte
	for range stride / 4 {
		mode := byte(0)
		if version == 1 {
			mode = rapid.SampledFrom([]byte{0, 1, 2, 0x12, 0x82, 0xF2}).Draw(t, "channel mode")
		}
		modes = append(modes, mode)
	}
	first = rapid.SliceOfN(rapid.Byte(), stride, stride).Draw(t, "first element")
	deltas := toDeltas(data, first, modes, stride)
	out := []byte{0xA0 | byte(version)}
	step := blockElements(stride) * stride
	for at := 0; at < len(data); at += step {
		out = append(out, encodeBlock(t, deltas[at:min(at+step, len(data))], stride, version)...)
	}
	tail := append([]byte(nil), first...)
	if version == 1 {
		tail = append(tail, modes...)
	}
	out = append(out, make([]byte, vertexTail(stride, version)-len(tail))...)
	return append(out, tail...)
}

// toDeltas is the inverse of the channel modes.
func toDeltas(data, first, modes []byte, stride int) []byte {
	out := make([]byte, len(data))
	prev := first
	for at := 0; at < len(data); at += stride {
		cur := data[at : at+stride]
		for c, mode := range modes {
			p, v := prev[4*c:4*c+4], cur[4*c:4*c+4]
			o := out[at+4*c : at+4*c+4]
			switch mode & 15 {
			case 0:
				for k := range o {
					d := int8(v[k] - p[k])
					o[k] = byte(d<<1 ^ d>>7)
				}
			case 1:
				for k := 0; k < 4; k += 2 {
					d := int16(binary.LittleEndian.Uint16(v[k:]) - binary.LittleEndian.Uint16(p[k:]))
					binary.LittleEndian.PutUint16(o[k:], uint16(d<<1^d>>15))
				}
			default:
				x := binary.LittleEndian.Uint32(v) ^ binary.LittleEndian.Uint32(p)
				binary.LittleEndian.PutUint32(o, bits.RotateLeft32(x, int(mode>>4)))
			}
		}
		prev = cur
	}
	return out
}

// encodeBlock writes the deltas of one block.
func encodeBlock(t *rapid.T, deltas []byte, stride, version int) (out []byte) {
	n := len(deltas) / stride
	var control []byte
	if version == 1 {
		control = make([]byte, stride/4)
	}
	for k := range stride {
		plane := make([]byte, (n+groupSize-1)/groupSize*groupSize)
		zero := true
		for i := range n {
			plane[i] = deltas[i*stride+k]
			zero = zero && plane[i] == 0
		}
		row := byte(version0)
		if version == 1 {
			row = rapid.SampledFrom([]byte{0, 1, controlZero, controlLiteral}).Draw(t, "control")
			if row == controlZero && !zero {
				row = controlLiteral
			}
			control[k/4] |= row << (2 * (k % 4))
		}
		switch {
		case version == 1 && row == controlZero:
		case version == 1 && row == controlLiteral:
			out = append(out, plane[:n]...)
		default:
			out = append(out, encodePlane(t, plane, widths[row])...)
		}
	}
	return append(control, out...)
}

// encodePlane writes whole groups.
func encodePlane(t *rapid.T, plane []byte, widths [4]uint8) []byte {
	groups := len(plane) / groupSize
	header := make([]byte, (groups+3)/4)
	var body []byte
	for g := range groups {
		list := plane[g*groupSize:][:groupSize]
		choice := rapid.IntRange(0, 3).Draw(t, "width")
		for _, v := range list {
			if v != 0 && widths[choice] == 0 {
				choice = 3
			}
		}
		header[g/4] |= byte(choice << (2 * (g % 4)))
		body = append(body, encodeGroup(list, int(widths[choice]))...)
	}
	return append(header, body...)
}

func encodeGroup(list []byte, width int) []byte {
	switch width {
	case 0:
		return nil
	case 8:
		return list
	}
	packed, extra := make([]byte, 2*width), []byte(nil)
	most := byte(1<<width - 1)
	per := 8 / width
	for i, v := range list {
		code := min(v, most)
		if v >= most {
			extra = append(extra, v)
		}
		shift := width * (per - 1 - i%per)
		if width == 1 {
			shift = i % 8
		}
		packed[i/per] |= code << shift
	}
	return append(packed, extra...)
}

// encodeTriangles writes every index in full, and new ones in short.
func encodeTriangles(t *rapid.T, list []uint32, version int) []byte {
	out := []byte{0xE0 | byte(version)}
	var data []byte
	var last, next uint32
	explicit := func(v uint32) {
		d := int32(v - last)
		data = binary.AppendUvarint(data, uint64(uint32(d<<1^d>>31)))
		last = v
	}
	for i := 0; i < len(list); i += 3 {
		code, codes := byte(0xFF), byte(0xFF)
		if list[i] == next && rapid.Bool().Draw(t, "short") {
			code = 0xFE
		}
		out, data = append(out, code), append(data, codes)
		if code == 0xFE {
			next++
		} else {
			explicit(list[i])
		}
		explicit(list[i+1])
		explicit(list[i+2])
	}
	return append(append(out, data...), make([]byte, triangleTail)...)
}

// encodeSequence writes differences to a base line chosen at random. They
// have 31 bits: larger ones are out of reach.
func encodeSequence(t *rapid.T, list []uint32) []byte {
	out := []byte{0xD1}
	var last [2]uint32
	for _, v := range list {
		base := uint32(rapid.IntRange(0, 1).Draw(t, "base line"))
		d := int32(v - last[base])
		out = binary.AppendUvarint(out, uint64(uint32(d<<1^d>>31)<<1|base))
		last[base] = v
	}
	return append(out, make([]byte, sequenceTail)...)
}
