package simulate

import (
	"cmp"
	"math"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// sight is what a camera sees of a scene, and how large.
type sight struct {
	frustum runtime.Frustum
	root    geom.Mat4 // of the scene
	placed  bool      // it is not the identity
	pixels  float64   // that a metre covers at a distance of one
	height  float64   // of the picture
}

func sightOf(c *runtime.Camera, root [16]float64, height float64) sight {
	v := sight{frustum: c.Frustum(), root: root, placed: root != geom.Identity(), height: height}
	fovY := c.FovYDegrees
	if !(fovY > 0 && fovY < 180) {
		fovY = 60 // no lens: as the runtime takes it
	}
	v.pixels = band.ScreenError(1, 1, fovY, height)
	return v
}

// sees reports whether a box of the scene is in view.
func (v *sight) sees(box geom.Box) bool {
	if v.placed {
		box = box.Transform(&v.root)
	}
	return v.frustum.Sees(box.Min, box.Max)
}

// errorAt returns how many pixels an error of so many metres covers in a box, seen
// from eye: at most the picture's height. It is in steps of 1/1000.
func (v *sight) errorAt(size float64, box geom.Box, eye geom.Vec3) float64 {
	if !(size > 0) || !v.sees(box) {
		return 0
	}
	px := v.height
	if d := box.Distance(eye); d > 0 {
		px = min(px, float64(size*v.pixels)/d)
	}
	return math.Round(px*1000) / 1000
}

// errorsOf returns the visual errors of a tile's levels, else their geometric ones:
// of the HLOD, then of the LODs, the finest first; 0 for what the manifest does not
// know.
func errorsOf(t *manifest.Tile) []float64 {
	of := func(l *manifest.Level) float64 { return band.LevelError(l.VisualError, l.GeometricError, 0) }
	out := make([]float64, 1, 1+len(t.LODLevels))
	if len(t.HLODLevels) > 0 {
		out[0] = of(&t.HLODLevels[0])
	}
	lods := slices.Clone(t.LODLevels)
	slices.SortStableFunc(lods, func(a, b manifest.Level) int { return cmp.Compare(a.SwitchDistance, b.SwitchDistance) })
	for i := range lods {
		out = append(out, of(&lods[i]))
	}
	return out
}

// levelError returns how many pixels the error of a tile's representation covers.
func (m *Meter) levelError(t *measured, d *runtime.Drawn, eye geom.Vec3) float64 {
	at := 0 // the HLOD's
	if level, ok := d.Rep.Level(); ok {
		at = 1 + level
	} else if d.Rep != payload.RepHLOD {
		return 0
	}
	if at >= len(t.errors) || !(d.Fade > 0) {
		return 0
	}
	return m.sight.errorAt(t.errors[at], t.box, eye)
}

// nodeError returns how many pixels the error of a node covers where it is drawn: in
// the nearest of its children that are in view.
func (m *Meter) nodeError(n *measuredNode, d *runtime.Drawn, eye geom.Vec3) (most float64) {
	if !(d.Fade > 0) {
		return 0
	}
	for bit, child := range n.children {
		if d.Parts>>bit&1 == 0 {
			continue
		}
		most = max(most, m.sight.errorAt(n.error, m.boxOf(child), eye))
	}
	return most
}

// boxOf returns the box of a tile or node as Drawn names it.
func (m *Meter) boxOf(row int32) geom.Box {
	if row >= m.base {
		return m.nodes[row-m.base].box
	}
	return m.tiles[row].box
}

// ErrorPixels returns how many pixels the greatest error of what was drawn in the
// latest frame covers.
func (m *Meter) ErrorPixels() float64 {
	if len(m.errors) == 0 {
		return 0
	}
	return thousandths(m.errors[len(m.errors)-1])
}

// errorQuantiles returns the errors that half of the frames, 99 % of them and none
// exceed.
func (m *Meter) errorQuantiles() (p50, p99, most float64) {
	list := make([]float64, len(m.errors))
	for i, v := range m.errors {
		list[i] = thousandths(v)
	}
	slices.Sort(list)
	return quantile(list, 0.5), quantile(list, 0.99), quantile(list, 1)
}

// thousandths undoes the rounding of a number that is kept in few bits.
func thousandths(v float32) float64 { return math.Round(float64(v)*1000) / 1000 }
