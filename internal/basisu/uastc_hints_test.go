package basisu

import (
	"bytes"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

// toETC1 makes a block of ETC1 of one of UASTC as its hints say.
func toETC1(data []byte) (out [8]byte) {
	var s symbols
	s.read((*[uastcBlock]byte)(data))
	b := block128{binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])}
	b.skip(s.m.codeBits)
	if s.m.components == 0 {
		b.skip(32)
		diff, table, selector := b.take(1), b.take(3), b.take(2)
		for c := range 3 {
			if q := b.take(5); diff == 1 {
				out[c] = byte(q << 3)
			} else {
				out[c] = byte(q * 17)
			}
		}
		out[3] = byte(diff<<1 | table<<5 | table<<2)
		planes := [4][2]byte{{255, 255}, {255, 0}, {0, 0}, {0, 255}}[selector]
		copy(out[4:], []byte{planes[0], planes[0], planes[1], planes[1]})
		return out
	}
	b.skip(2)
	if s.m.hintBits == 17 {
		b = block128{binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])}
		b.skip(s.m.codeBits + 1)
	}
	flip, diff, tables, bias := b.take(1), b.take(1), [2]uint32{b.take(3), b.take(3)}, uint32(noBias)
	if s.m.biased() {
		bias = b.take(5)
	}
	var raw [16]uint32
	decodeBlock(&raw, (*[uastcBlock]byte)(data))
	limit := int32(15)
	if diff == 1 {
		limit = 31
	}
	var q [2][3]int32
	for half, list := range etc1Halves[flip] {
		for c := range 3 {
			sum := int32(0)
			for _, i := range list {
				sum += int32(raw[i] >> (8 * c) & 255)
			}
			q[half][c] = (sum*limit + 1020) / 2040
			if s.m.biased() {
				q[half][c] = move(q[half][c], biases[bias][half][c], limit)
			}
		}
	}
	for c := range 3 {
		if diff == 1 {
			out[c] = byte(q[0][c]<<3 | min(max(q[1][c]-q[0][c], -4), 3)&7)
		} else {
			out[c] = byte(q[0][c]<<4 | q[1][c])
		}
	}
	out[3] = byte(flip | diff<<1 | tables[0]<<5 | tables[1]<<2)
	// Of the four colours of a pixel the nearest.
	var best [16]int32
	for k := range 4 {
		try := out
		var signs, large uint16
		if k>>1 == 1 {
			signs = 0xffff
		}
		if k&1 == 1 {
			large = 0xffff
		}
		binary.BigEndian.PutUint16(try[4:], signs)
		binary.BigEndian.PutUint16(try[6:], large)
		for i, got := range decodeETC1(try[:]) {
			p := color{int32(raw[i] & 255), int32(raw[i] >> 8 & 255), int32(raw[i] >> 16 & 255), 255}
			if d := distance(&p, &got); k == 0 || d < best[i] {
				best[i] = d
				at := uint(4*(i%4) + i/4)
				for n, on := range [2]uint16{signs, large} {
					v := binary.BigEndian.Uint16(out[4+2*n:])&^(1<<at) | on&(1<<at)
					binary.BigEndian.PutUint16(out[4+2*n:], v)
				}
			}
		}
	}
	return out
}

// TestHintsETC1: pictures that became ETC1 as hints say are as good as ETC1 is.
func TestHintsETC1(t *testing.T) {
	const w, h = 128, 128
	for _, c := range []struct {
		kind string
		want float64 // dB
	}{{"color", 25}, {"gray", 38}, {"glass", 25}, {"luminance", 38}} {
		pix := painted(c.kind, w, h)
		blocks := EncodeUASTC(nil, pix, 4*w, w, h)
		got := bytes.Clone(pix)
		for k := range len(blocks) / uastcBlock {
			e := toETC1(blocks[k*uastcBlock:][:uastcBlock])
			for i, p := range decodeETC1(e[:]) {
				at := 4 * (w*(4*(k/(w/4))+i/4) + 4*(k%(w/4)) + i%4)
				got[at], got[at+1], got[at+2] = byte(p[0]), byte(p[1]), byte(p[2])
			}
		}
		p := psnr(pix, got)
		t.Logf("%s: %.2f dB", c.kind, p)
		if p < c.want {
			t.Errorf("%s: %.2f dB, want %v", c.kind, p, c.want)
		}
	}
}

// TestHintsSolid: one colour comes near, and the hints fit its block.
func TestHintsSolid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := color{255, 255, 255, 255}
		for k := range c {
			c[k] = int32(rapid.Byte().Draw(t, "channel"))
		}
		b := appendSolid(nil, c)
		e := toETC1(b)
		for _, p := range decodeETC1(e[:]) {
			if p[3] = c[3]; distance(&p, &c) > 3*8*8 {
				t.Fatalf("%v became %v", c, p)
			}
		}
		var pixels [16]uint32
		if !decodeBlock(&pixels, (*[uastcBlock]byte)(b)) || pixels[9] != uint32(c[0])|uint32(c[1])<<8|uint32(c[2])<<16|uint32(c[3])<<24 {
			t.Fatalf("%v is %x", c, pixels[9])
		}
	})
}

// TestHintsAlpha: the table and the multiplier of EAC keep alpha, and the multiplier is never
// 0, which readers take for damage.
func TestHintsAlpha(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pixels [16]color
		low, high := int32(255), int32(0)
		from, spread := rapid.IntRange(0, 255).Draw(t, "from"), rapid.IntRange(0, 255).Draw(t, "spread")
		for i := range pixels {
			a := int32(min(from+rapid.IntRange(0, spread).Draw(t, "a"), 255))
			pixels[i][3] = a
			low, high = min(low, a), max(high, a)
		}
		hint := eacHint(&pixels)
		if hint>>4 == 0 || hint > 255 {
			t.Fatalf("hint %#x", hint)
		}
		// A reader puts the middle where the table's ends meet the extremes.
		steps, by := &eacTables[hint&15], int32(hint>>4)
		center := (2*(low*steps[7]-high*steps[3]) + steps[7] - steps[3]) / (2 * (steps[7] - steps[3]))
		if low == high {
			return
		}
		for _, p := range pixels {
			d := int32(255)
			for _, s := range steps {
				v := min(max(center+s*by, 0), 255)
				d = min(d, max(v-p[3], p[3]-v))
			}
			if d > (high-low)/4+4 {
				t.Fatalf("alpha %d of %d to %d is off by %d with hint %#x", p[3], low, high, d, hint)
			}
		}
	})
}

// decodeETC1 decodes a block of ETC1.
func decodeETC1(b []byte) (out [16]color) {
	flip, diff := b[3]&1, b[3]>>1&1
	var base [2]color
	for c := range 3 {
		if diff == 1 {
			q, d := int32(b[c]>>3), int32(b[c]&7)
			if d > 3 {
				d -= 8
			}
			base[0][c], base[1][c] = q<<3|q>>2, (q+d)<<3|(q+d)>>2
		} else {
			base[0][c], base[1][c] = int32(b[c]>>4)*17, int32(b[c]&15)*17
		}
	}
	signs, large := binary.BigEndian.Uint16(b[4:]), binary.BigEndian.Uint16(b[6:])
	for i := range out {
		x, y := i%4, i/4
		half := x / 2
		if flip == 1 {
			half = y / 2
		}
		table := b[3] >> 5
		if half == 1 {
			table = b[3] >> 2 & 7
		}
		k := 4*x + y
		step := etc1Tables[table][large>>k&1]
		if signs>>k&1 == 1 {
			step = -step
		}
		for c := range 3 {
			out[i][c] = min(max(base[half][c]+step, 0), 255)
		}
		out[i][3] = 255
	}
	return out
}
