package astc

const partitionings = 1024 // of two, three and four partitions each

// scramble is the hash of a partitioning's number.
func scramble(p uint32) uint32 {
	p ^= p >> 15
	p -= p << 17
	p += p << 7
	p += p << 4
	p ^= p >> 5
	p += p << 16
	p ^= p >> 7
	p ^= p >> 3
	p ^= p << 6
	p ^= p >> 17
	return p
}

// partition fills in which of count partitions, 2 to 4, texels belong to.
func (f Footprint) partition(seed, count int, out []uint8) {
	s := seed + (count-1)*1024
	h := scramble(uint32(s))
	first, second := uint(5), uint(5)
	if count == 3 {
		second = 6
	}
	if s&2 != 0 {
		first = 4
	}
	if s&1 == 0 {
		first, second = second, first
	}
	var k [8]uint32
	for i := range k {
		v := h >> (4 * i) & 15
		k[i] = v * v
		if i&1 == 0 {
			k[i] >>= first
		} else {
			k[i] >>= second
		}
	}
	scale := uint32(1)
	if f.texels() < 31 {
		scale = 2
	}
	i := 0
	for y := range uint32(f.Height) {
		for x := range uint32(f.Width) {
			x, y := x*scale, y*scale
			a := (k[0]*x + k[1]*y + h>>14) & 63
			b := (k[2]*x + k[3]*y + h>>10) & 63
			var c, d uint32
			if count > 2 {
				c = (k[4]*x + k[5]*y + h>>6) & 63
			}
			if count > 3 {
				d = (k[6]*x + k[7]*y + h>>2) & 63
			}
			switch {
			case a >= b && a >= c && a >= d:
				out[i] = 0
			case b >= c && b >= d:
				out[i] = 1
			case c >= d:
				out[i] = 2
			default:
				out[i] = 3
			}
			i++
		}
	}
}
