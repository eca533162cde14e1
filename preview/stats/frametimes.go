package stats

import "slices"

// paceFrames is how many frames before and after a frame say what frames take
// at that place: what the camera sees changes slowly, hitches do not.
const paceFrames = 30

// paces returns how many times as long as the frames around it each frame took:
// its time over the median of theirs.
func paces(times []float32) []float32 {
	out := make([]float32, len(times))
	near := make([]float32, 0, 2*paceFrames+1)
	for i, t := range times {
		near = append(near[:0], times[max(0, i-paceFrames):min(len(times), i+paceFrames+1)]...)
		slices.Sort(near)
		if m := near[len(near)/2]; m > 0 {
			out[i] = t / m
		}
	}
	return out
}

// hitch is how many times as long as those around it a frame may take before it
// is felt.
const hitch = 2

// hitches counts the frames that are felt.
func hitches(paces []float32) (n int) {
	for _, p := range paces {
		if p > hitch {
			n++
		}
	}
	return n
}
