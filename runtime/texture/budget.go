package texture

import "math"

// budget owns the count of the device's bytes: those that it has, those kept free
// for what is on its way, and those that running downgrades will give back. What
// is on the device and what is kept free stay within the limit together, unless
// the limit is lowered. It does not know for whom it counts.
type budget struct {
	limit          int64 // 0: none
	used, reserved int64
	freeing        int64
	owed           int64 // to what has nothing yet, as of the last look

	peakUsed, peakReserved int64
}

// room returns how many bytes are free, less than none when the limit was
// lowered.
func (b *budget) room() int64 {
	if b.limit == 0 {
		return math.MaxInt64
	}
	return b.limit - b.used - b.reserved
}

// reserve keeps n bytes free and reports whether there were so many.
func (b *budget) reserve(n int64) bool {
	if b.limit > 0 && n > b.room() {
		return false
	}
	b.reserved += n
	b.peakReserved = max(b.peakReserved, b.reserved)
	return true
}

// reserveMore is reserve for what has something already: what is owed stays free.
func (b *budget) reserveMore(n int64) bool {
	if b.limit > 0 && n > b.room()-b.owed {
		return false
	}
	return b.reserve(n)
}

// settle ends what a load has reserved and would have given back.
func (b *budget) settle(l *load) {
	b.reserved -= l.reserve
	b.freeing -= l.frees
	l.reserve, l.frees = 0, 0
}

// use counts that a texture has grown by n bytes, or shrunk by -n.
func (b *budget) use(n int64) {
	b.used += n
	b.peakUsed = max(b.peakUsed, b.used)
}

// over returns the bytes beyond a limit that was lowered which nothing under way
// gives back; none are 0 or less.
func (b *budget) over() int64 {
	if b.limit == 0 {
		return 0
	}
	return -b.room() - b.freeing
}
