package runtime

import (
	"cmp"
	"slices"
)

// meshCandidate is a stub that could be loaded now.
type meshCandidate struct {
	record     *record
	stub       int32
	low        bool // only for slots that nothing else needs
	near       bool // in the near band
	priority   int32
	distance   float64
	importance float64
}

// compare orders candidates: those that are wanted for themselves, priority,
// size over distance, distance, id. It is a strict total order.
func (c meshCandidate) compare(o meshCandidate) int {
	switch {
	case c.low != o.low:
		if o.low {
			return -1
		}
		return 1
	case c.priority != o.priority:
		return cmp.Compare(o.priority, c.priority)
	case c.importance != o.importance:
		return cmp.Compare(o.importance, c.importance)
	case c.distance != o.distance:
		return cmp.Compare(c.distance, o.distance)
	}
	return compareStubs(c.record, c.stub, o.record, o.stub)
}

// compareStubs orders stubs by scene, tile and place.
func compareStubs(a *record, i int32, b *record, j int32) int {
	switch {
	case a.scene != b.scene:
		return cmp.Compare(a.scene.id, b.scene.id)
	case a.tile != b.tile:
		return cmp.Compare(a.tile, b.tile)
	}
	return cmp.Compare(i, j)
}

// meshLeaver is a stub beyond its unload radius.
type meshLeaver struct {
	record   *record
	stub     int32
	distance float64
}

// compare puts the farthest first.
func (l meshLeaver) compare(o meshLeaver) int {
	if l.distance != o.distance {
		return cmp.Compare(o.distance, l.distance)
	}
	return compareStubs(l.record, l.stub, o.record, o.stub)
}

// selectFirst moves the first n elements to the front, in order.
func selectFirst[T any](list []T, n int, compare func(a, b T) int) {
	if n <= 0 {
		return
	}
	if n > 32 { // then sorting all is the cheaper way
		slices.SortFunc(list, compare)
		return
	}
	for i := range list {
		x := list[i]
		at := i
		if i >= n {
			if compare(x, list[n-1]) >= 0 {
				continue
			}
			list[i], at = list[n-1], n-1
		}
		for at > 0 && compare(x, list[at-1]) < 0 {
			list[at] = list[at-1]
			at--
		}
		list[at] = x
	}
}

// moveFirst moves the elements that meet a condition to the front and returns
// how many they are.
func moveFirst[T any](list []T, is func(T) bool) int {
	n := 0
	for i := range list {
		if is(list[i]) {
			if n != i {
				list[n], list[i] = list[i], list[n]
			}
			n++
		}
	}
	return n
}
