package gl41

import "github.com/untoldkit/untold/preview/internal/gpu"

// ring hands out places one after the other and takes them back by frame.
type ring struct {
	size   int
	head   int // next place
	used   int
	frames [gpu.InFlight]int // bytes of the frames in flight
	now    int               // of the frame that is being prepared
}

// ringAlign suits every format of textures.
const ringAlign = 256

// take returns n bytes in a row; false when they are not free.
func (r *ring) take(n int) (at int, ok bool) {
	n = (n + ringAlign - 1) &^ (ringAlign - 1)
	skip := 0
	at = r.head
	if at+n > r.size { // what is left at the end stays unused
		skip, at = r.size-r.head, 0
	}
	if n > r.size-r.used-skip {
		return 0, false
	}
	r.head = at + n
	r.used += skip + n
	r.now += skip + n
	return at, true
}

// submit gives what was taken since the last call to a frame.
func (r *ring) submit(frame int) { r.frames[frame], r.now = r.now, 0 }

// passed takes back what a frame has used.
func (r *ring) passed(frame int) {
	r.used -= r.frames[frame]
	r.frames[frame] = 0
}
