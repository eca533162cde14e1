package bc

import "encoding/binary"

// channel is a half of an earlier block of BC5: a channel of it, which either channel can take.
type channel struct {
	at    int
	bytes uint64
	sum   int32
	value [16]uint8
}

// two chooses what becomes of a block of BC5, one half after the other.
func (r *reducer) two(block *[BlockBytes]byte) {
	s := &r.from
	for c := range 2 {
		half := block[8*c:][:8]
		bytes := binary.LittleEndian.Uint64(half)
		var was [16]uint8 // what it was made of
		for i := range was {
			was[i] = s.px[i][c]
		}
		value := decodeBC4(bytes)
		r.scale = scaleOf(s.contrast(c), 1)
		r.best = r.cost(missOfValues(&was, &value, nothing), literalBits)
		found := -1
		for i := range r.channels.list {
			p := &r.channels.list[i]
			far := square(p.sum-s.sum[c]) / 16
			if r.scale*far >= r.best {
				continue
			}
			n := r.match(r.at - p.at)
			limit := r.limit(n)
			if m := missOfValues(&was, &p.value, limit); m < limit {
				r.best, found = r.cost(m, n), i
			}
		}
		if found >= 0 {
			p := &r.channels.list[found]
			r.use(r.at - p.at)
			p.at = r.at
			binary.LittleEndian.PutUint64(half, p.bytes)
		} else {
			r.use(0)
			p := channel{at: r.at, bytes: bytes, value: value}
			for _, v := range value {
				p.sum += int32(v)
			}
			*r.channels.add(bytes, recentBlocks) = p
		}
		r.at += len(half)
	}
}

// missOfValues returns the sum of squared errors; from most on it may be less than all.
func missOfValues(a, b *[16]uint8, most int32) (sum int32) {
	for k := 0; k < len(a) && sum < most; k += 4 {
		for i := k; i < k+4; i++ {
			sum += square(int32(a[i&15]) - int32(b[i&15]))
		}
	}
	return sum
}
