package octree

import "slices"

const (
	digitBits = 11
	digits    = 1 << digitBits
)

// sortIDs sorts list[from:] and returns list. Long lists are sorted by digits,
// least significant first, in the room behind them: several times faster than
// by comparison, and queries with large radii spend most of their time here.
func sortIDs(list []int32, from int) []int32 {
	if len(list)-from < 256 {
		slices.Sort(list[from:])
		return list
	}
	list = slices.Grow(list, len(list)-from)
	ids := list[from:]
	spare := list[len(list):cap(list)]
	src, dst := ids, spare[:len(ids)]
	top := slices.Max(ids)
	for shift := 0; top>>shift > 0; shift += digitBits {
		var at [digits]int32
		for _, id := range src {
			at[id>>shift&(digits-1)]++
		}
		var sum int32
		for d := range at {
			at[d], sum = sum, sum+at[d]
		}
		for _, id := range src {
			d := id >> shift & (digits - 1)
			dst[at[d]] = id
			at[d]++
		}
		src, dst = dst, src
	}
	if &src[0] != &ids[0] {
		copy(ids, src)
	}
	return list
}
