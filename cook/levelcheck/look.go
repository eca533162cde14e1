package levelcheck

import (
	"math"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/internal/geom"
)

// How large tiles are looked at: pixels along the diagonal of the box. What begins
// nearer or farther is looked at there.
const (
	mostAcross  = 720.0
	leastAcross = 16.0
	// drawnAcross is how many pixels there are at least before pictures are made
	// smaller, which is done once at any rate.
	drawnAcross = 720.0
)

// look compares a level with the full tile as they are seen from a distance.
func (c *checker) look(r *appearance.Reference, full, level *appearance.Mesh, distance float64) (*Look, error) {
	box := geom.EmptyBox()
	for _, p := range full.Positions {
		box = box.Extend(p)
	}
	size := box.Size()
	diagonal := size.Len()
	if diagonal == 0 || distance <= 0 {
		return &Look{Coverage: 1}, nil
	}
	across := min(max(diagonal/float64(distance*c.o.pixelAngle()), leastAcross), mostAcross)
	halves := min(1+max(0, int(math.Log2(drawnAcross/across))), appearance.MaxHalves)
	pixel := diagonal / across / float64(int(1)<<halves)
	var d appearance.Difference
	for side := range appearance.Views {
		a, b := r.Draw(nil, side, pixel), r.Draw(level, side, pixel)
		for range halves {
			a.Half()
			b.Half()
		}
		if err := d.Add(a, b); err != nil {
			return nil, err
		}
	}
	return &Look{FLIP: d.FLIP(), Drift: d.Drift(), Coverage: d.Coverage(), Across: across}, nil
}
