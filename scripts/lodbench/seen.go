package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/scripts/lodbench/model"
)

// How large models are looked at: pixels along the diagonal of the box. A level
// that could begin nearer than the first is judged there, one that begins
// farther than the last as well.
const (
	mostAcross  = 720.0
	leastAcross = mostAcross / 32 / math.Sqrt2
)

// rungs are the sizes that the results of other simplifiers are looked at with,
// from mostAcross to leastAcross, each smaller by the square root of 2.
const rungs = 12

// viewer compares levels of a model with it as they are seen. Pictures are drawn
// two to four times as large, or more, and made smaller.
type viewer struct {
	reference *appearance.Reference
	materials int
	diagonal  float64
}

func newViewer(m *model.Mesh, diagonal float64) *viewer {
	return &viewer{appearance.New(asSeen(m), m.Materials), len(m.Materials), diagonal}
}

func asSeen(m *model.Mesh) *appearance.Mesh {
	return &appearance.Mesh{Positions: m.Positions, Normals: m.Normals, UV: m.UV, Colors: m.Colors, Indices: m.Indices, Materials: m.Groups}
}

func levelAsSeen(m *simplify.Mesh) *appearance.Mesh {
	return &appearance.Mesh{Positions: m.Positions, Normals: m.Normals, UV: m.UV[0], Colors: m.Colors, Indices: m.Indices, Materials: m.Groups}
}

// see measures where a level begins, and how different it looks there.
func (s *subject) see(c *cell, level *simplify.Mesh) error {
	m := levelAsSeen(level)
	// Where the visual error is two pixels high the level may take over.
	across := s.diagonal / (s.viewer.reference.Error(m) / 2)
	c.Across = round(min(max(across, leastAcross), mostAcross), 1)
	seen, err := s.viewer.flip(m, c.Across)
	c.Seen = round(seen, 5)
	return err
}

// seenDecimals are those of what is seen, in tables.
const seenDecimals = 4

// seen returns what was measured, nil if nothing was.
func (c *cell) seen() *float64 {
	if c.Across == 0 {
		return nil
	}
	return &c.Seen
}

// sights returns the model and a level as they are seen from a side.
func (v *viewer) sights(m *appearance.Mesh, side int, across float64) (full, level *appearance.Picture) {
	halves := min(1+int(math.Log2(mostAcross/across)), appearance.MaxHalves)
	pixel := v.diagonal / across / float64(int(1)<<halves)
	a, b := v.reference.Draw(nil, side, pixel), v.reference.Draw(m, side, pixel)
	for range halves {
		a.Half()
		b.Half()
	}
	return a, b
}

// flip returns how different a level looks when the diagonal of the model is
// across pixels long: FLIP of the pixels that either covers, the mean of those
// of each side, and of all sides.
func (v *viewer) flip(m *appearance.Mesh, across float64) (float64, error) {
	var d appearance.Difference
	for side := range appearance.Views {
		full, level := v.sights(m, side, across)
		if err := d.Add(full, level); err != nil {
			return 0, err
		}
	}
	return d.FLIP(), nil
}

// ladder returns the same for all rungs.
func (v *viewer) ladder(m *appearance.Mesh) ([]float64, error) {
	if err := v.check(m); err != nil {
		return nil, err
	}
	all := make([]int, rungs)
	for k := range all {
		all[k] = k
	}
	return v.rungs(m, all)
}

// rungs returns the same for some rungs, whose pictures are made of one another.
func (v *viewer) rungs(m *appearance.Mesh, list []int) ([]float64, error) {
	sums := make([]appearance.Difference, len(list))
	for side := range appearance.Views {
		for first := range 2 {
			pixel := v.diagonal / (2 * rung(first))
			a, b := v.reference.Draw(nil, side, pixel), v.reference.Draw(m, side, pixel)
			for k := first; k < rungs; k += 2 {
				a.Half()
				b.Half()
				i := slices.Index(list, k)
				if i < 0 {
					continue
				}
				if err := sums[i].Add(a, b); err != nil {
					return nil, err
				}
			}
		}
	}
	out := make([]float64, len(list))
	for i := range out {
		out[i] = round(sums[i].FLIP(), 5)
	}
	return out, nil
}

// check refuses results of other programs that cannot be drawn.
func (v *viewer) check(m *appearance.Mesh) error {
	if len(m.Materials) != len(m.Indices)/3 {
		return fmt.Errorf("the triangles have no groups: it was made by an older scripts/lodpeers")
	}
	for t, g := range m.Materials {
		if g < 0 || int(g) >= v.materials {
			return fmt.Errorf("triangle %d is of group %d, of %d", t, g, v.materials)
		}
	}
	return nil
}

// rung returns how many pixels the diagonal has there.
func rung(k int) float64 { return mostAcross / math.Pow(2, float64(k)/2) }

// between returns the value of a ladder at a size.
func between(ladder []float64, across float64) float64 {
	at := min(max(2*math.Log2(mostAcross/across), 0), rungs-1)
	k := min(int(at), rungs-2)
	t := at - float64(k)
	return ladder[k] + float64(t*(ladder[k+1]-ladder[k]))
}
