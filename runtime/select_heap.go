package runtime

// Candidates are taken in their order until the slots are used up: mostly a few
// of many, but all of them when memory refuses each. A binary heap is cheap both
// ways.

// heapOf makes a heap of a list.
func heapOf(list []candidate) {
	for at := len(list)/2 - 1; at >= 0; at-- {
		sift(list, at)
	}
}

// popBest takes the first in order off a heap that is not empty. It lies behind
// the rest until the list changes.
func popBest(heap []candidate) (best *candidate, rest []candidate) {
	last := len(heap) - 1
	heap[0], heap[last] = heap[last], heap[0]
	sift(heap[:last], 0)
	return &heap[last], heap[:last]
}

// sift moves an element down to its place.
func sift(heap []candidate, at int) {
	for {
		next := 2*at + 1
		if next >= len(heap) {
			return
		}
		if right := next + 1; right < len(heap) && heap[right].before(&heap[next]) {
			next = right
		}
		if !heap[next].before(&heap[at]) {
			return
		}
		heap[at], heap[next] = heap[next], heap[at]
		at = next
	}
}
