package basisu

// bc7Pattern is one of BC7's patterns: its number, the subsets of the pixels in two bits
// each from the lowest on, and bits of the pixels whose weights lack their highest bit.
type bc7Pattern struct {
	number  uint8
	subsets uint32
	anchors uint16
}

// BC7's patterns of those of UASTC, by their numbers. Of mergedSubsets they have three
// subsets, of which two lie in the same one of UASTC.
var (
	bc7Two = [30]bc7Pattern{
		{0, 0x50505050, 0x8001},
		{1, 0x40404040, 0x8001},
		{2, 0x54545454, 0x8001},
		{3, 0x54505040, 0x8001},
		{4, 0x50404000, 0x8001},
		{5, 0x55545450, 0x8001},
		{6, 0x55545040, 0x8001},
		{7, 0x54504000, 0x8001},
		{8, 0x50400000, 0x8001},
		{9, 0x55555450, 0x8001},
		{10, 0x55544000, 0x8001},
		{11, 0x54400000, 0x8001},
		{12, 0x55555440, 0x8001},
		{13, 0x55550000, 0x8001},
		{14, 0x55555500, 0x8001},
		{15, 0x55000000, 0x8001},
		{17, 0x00004054, 0x0005},
		{18, 0x15010000, 0x0101},
		{19, 0x00405054, 0x0005},
		{20, 0x00004050, 0x0005},
		{21, 0x15050100, 0x0101},
		{22, 0x05010000, 0x0101},
		{23, 0x40505054, 0x8001},
		{24, 0x00404050, 0x0005},
		{25, 0x05010100, 0x0101},
		{26, 0x14141414, 0x0005},
		{29, 0x00555500, 0x0101},
		{32, 0x44444444, 0x8001},
		{33, 0x55005500, 0x8001},
		{52, 0x50410514, 0x8001},
	}
	bc7Three = [11]bc7Pattern{
		{4, 0xa5a50000, 0x8101},
		{8, 0xaa550000, 0x8101},
		{9, 0xaa555500, 0x8101},
		{10, 0xaaaa5500, 0x8041},
		{11, 0x90909090, 0x8041},
		{12, 0x94949494, 0x8041},
		{13, 0xa4a4a4a4, 0x8021},
		{20, 0xa8a85454, 0x8009},
		{35, 0x24242424, 0x0421},
		{36, 0x00aa5500, 0x0441},
		{57, 0xa05050a0, 0x8401},
	}
	bc7Merged = [19]bc7Pattern{
		{10, 0xaaaa5500, 0x8041},
		{11, 0x90909090, 0x8041},
		{0, 0xaa685050, 0x8009},
		{2, 0x5a5a4200, 0x8101},
		{8, 0xaa550000, 0x8101},
		{13, 0xa4a4a4a4, 0x8021},
		{1, 0x6a5a5040, 0x0109},
		{33, 0x5090a0a8, 0x8009},
		{40, 0x500aa550, 0x8041},
		{20, 0xa8a85454, 0x8009},
		{21, 0x6a6a4040, 0x0109},
		{58, 0xa0a5a5a0, 0x8101},
		{3, 0x5450a0a8, 0x8009},
		{32, 0xa9a58000, 0x8101},
		{59, 0x96000000, 0xa001},
		{34, 0xa8a09050, 0x8009},
		{20, 0xa8a85454, 0x8009},
		{14, 0xa9a59450, 0x8009},
		{31, 0x6a5a0200, 0x8101},
	}
	bc7One = bc7Pattern{anchors: 1}
)

// bc7Mode is one of BC7's ways to lay out a block.
type bc7Mode struct {
	number                  uint
	subsets, channels       int
	patternBits             uint
	endBits                 uint // of a channel
	lowBits                 int  // shared by the channels: one to an end (2), to a subset (1), or none
	weightBits              uint
	apart                   bool // alpha has weights of its own
	alphaBits, rotationBits uint // with apart
}

var (
	bc7Mode1 = bc7Mode{number: 1, subsets: 2, channels: 3, patternBits: 6, endBits: 6, lowBits: 1, weightBits: 3}
	bc7Mode2 = bc7Mode{number: 2, subsets: 3, channels: 3, patternBits: 6, endBits: 5, weightBits: 2}
	bc7Mode3 = bc7Mode{number: 3, subsets: 2, channels: 3, patternBits: 6, endBits: 7, lowBits: 2, weightBits: 2}
	bc7Mode5 = bc7Mode{number: 5, subsets: 1, channels: 4, endBits: 7, weightBits: 2, apart: true, alphaBits: 8, rotationBits: 2}
	bc7Mode6 = bc7Mode{number: 6, subsets: 1, channels: 4, endBits: 7, lowBits: 2, weightBits: 4}
	bc7Mode7 = bc7Mode{number: 7, subsets: 2, channels: 4, patternBits: 6, endBits: 5, lowBits: 2, weightBits: 2}
)

// bc7Modes are the modes that UASTC's become. Those of one colour go elsewhere.
var bc7Modes = [19]*bc7Mode{
	0: &bc7Mode6, 1: &bc7Mode3, 2: &bc7Mode1, 3: &bc7Mode2, 4: &bc7Mode3, 5: &bc7Mode6, 6: &bc7Mode5, 7: &bc7Mode2,
	8: &bc7Mode5, 9: &bc7Mode7, 10: &bc7Mode6, 11: &bc7Mode5, 12: &bc7Mode6, 13: &bc7Mode5, 14: &bc7Mode6,
	15: &bc7Mode6, 16: &bc7Mode7, 17: &bc7Mode5, 18: &bc7Mode6,
}

// bc7Weights are BC7's weights by their bits, 0 to 64.
var bc7Weights = [5][]uint8{
	2: {0, 21, 43, 64},
	3: {0, 9, 18, 27, 37, 46, 55, 64},
	4: {0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64},
}

// bc7Weight are the nearest of BC7's weights by UASTC's bits, BC7's bits, and UASTC's
// weight as it is stored.
var bc7Weight = func() (t [6][5][32]uint8) {
	for from := uint(1); from <= 5; from++ {
		for to, list := range bc7Weights {
			for i, w := range weights(from) {
				best := 65
				for k, x := range list {
					if d := max(int(w)-int(x), int(x)-int(w)); d < best {
						best, t[from][to][i] = d, uint8(k)
					}
				}
			}
		}
	}
	return t
}()

// bc7End are the nearest stored values of ends, by their bits, whether and which lowest
// bit the channels share (0 and 1; 2: none), and the value that is meant.
var bc7End = func() (t [8][3][256]uint8) {
	for n := range t {
		if n < 5 {
			continue
		}
		for low := range 3 {
			for v := range 256 {
				best := 256
				for q := range 1 << n {
					x := int(bc7Value(uint8(q), uint(n), low))
					if d := max(x-v, v-x); d < best {
						best, t[n][low][v] = d, uint8(q)
					}
				}
			}
		}
	}
	return t
}()

// bc7Value returns what a stored end means.
func bc7Value(q uint8, n uint, low int) uint8 {
	v := uint32(q)
	if low < 2 {
		v, n = v<<1|uint32(low), n+1
	}
	v <<= 8 - n
	return uint8(v | v>>n)
}

// bc7Solid are ends of 7 bits whose colour with the weight 21 is the value, exactly.
var bc7Solid = func() (t [256][2]uint8) {
	for v := range t {
		best := 256
		for lo := range 128 {
			a := int(bc7Value(uint8(lo), 7, 2))
			// The other end that would make it so, and its neighbours.
			want := min(max((64*v-43*a)/21, 0), 255)
			for hi := max(want>>1-1, 0); hi <= min(want>>1+1, 127); hi++ {
				x := (43*a + 21*int(bc7Value(uint8(hi), 7, 2)) + 32) >> 6
				if d := max(x-v, v-x); d < best {
					best, t[v] = d, [2]uint8{uint8(lo), uint8(hi)}
				}
			}
		}
	}
	return t
}()
