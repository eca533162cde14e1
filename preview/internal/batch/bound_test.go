package batch

import (
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
)

// TestBoundMoves: a bound that is lowered takes batches back, those out of view
// first, and one that is raised lets them come again.
func TestBoundMoves(t *testing.T) {
	const one = 6*vertex.Size + 6*2
	r := newRig(t)
	keys := r.threeCells()
	r.draw(keys...)
	r.ticks(4)
	r.expect("1[0+6] 2[0+6] 3[0+6] alone 0")
	r.hidden = func(b records.Bounds) bool { return b.Min[0] < 10 } // the first cell
	r.ticks(2)
	for _, tc := range []struct {
		bound int64
		want  string
		bytes int64
	}{
		{3 * one, "1[0+6] 2[0+6] 3[0+6] alone 0", 3 * one},
		{3*one - 1, "2[0+6] 3[0+6] alone 2", 2 * one},
		{one, "2[0+6] alone 4", one},
		{1, "alone 6", 0},
	} {
		r.b.SetMaxBytes(tc.bound)
		r.ticks(1)
		r.expect(tc.want)
		r.ticks(10) // does not come back
		r.expect(tc.want)
		if s := r.b.Stats(); s.Bytes != tc.bytes || r.b.retiring != 0 {
			t.Errorf("bound %d: %d bytes, want %d", tc.bound, s.Bytes, tc.bytes)
		}
	}
	r.b.SetMaxBytes(0)
	r.ticks(4)
	r.expect("4[0+6] 5[0+6] 6[0+6] alone 0")
	r.finish()
}
