package basisu

import "github.com/untoldkit/untold/internal/astc"

// TranscodeASTC turns UASTC blocks into ASTC blocks of 4 x 4 pixels, which mean the same:
// nothing is lost. dst has the length of data. The error matches ErrDamaged.
func TranscodeASTC(dst, data []byte) error {
	return transcode(dst, data, func(out *[uastcBlock]byte, s *symbols) { s.astc(out) })
}

// astc writes the block as one of ASTC.
func (s *symbols) astc(out *[uastcBlock]byte) {
	m := s.m
	if m.components == 0 {
		*out = astc.Constant([4]uint8{uint8(s.color), uint8(s.color >> 8), uint8(s.color >> 16), uint8(s.color >> 24)})
		return
	}
	b := astc.Block4x4{
		Components: m.components, Partitions: m.subsets, Numbers: s.ends, Levels: len(m.endpoints.values),
		WeightBits: m.weightBits, Weights: s.weights, Dual: m.dual, Channel: int(s.plane),
	}
	if m.patterns != nil {
		b.Seed = int(s.shape().seed)
	}
	// ASTC takes another colour where the second one is darker: the two are exchanged.
	for part := range m.subsets {
		ends := b.Numbers[2*m.components*part:][:2*m.components]
		if m.components > 2 && m.darker(ends) {
			s.exchange(ends, part, &b.Weights)
		}
	}
	*out = b.Bytes()
}

// darker reports whether the high end has less red, green and blue together.
func (m *mode) darker(ends []uint8) bool {
	sum := 0
	for c := range 3 {
		sum += int(m.endpoints.values[ends[2*c+1]]) - int(m.endpoints.values[ends[2*c]])
	}
	return sum < 0
}

// exchange exchanges the ends of a subset and turns its weights round.
func (s *symbols) exchange(ends []uint8, part int, weights *[2][16]uint8) {
	for c := 0; c < len(ends); c += 2 {
		ends[c], ends[c+1] = ends[c+1], ends[c]
	}
	top := uint8(1)<<s.m.weightBits - 1
	for i, k := range s.shape().subset {
		if int(k) == part {
			weights[0][i] = top - weights[0][i]
			weights[1][i] = top - weights[1][i]
		}
	}
}
