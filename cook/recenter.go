package cook

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/geom"
)

// Recenter says what is taken off all coordinates of a scene before they are
// rounded to single precision. The manifest names it as its origin_offset. The
// zero value takes nothing off.
type Recenter struct {
	// Auto chooses an offset where coordinates lie farther than FarCoordinate
	// from the origin: on these axes the middle of the scene's triangles, in
	// whole metres.
	Auto bool
	// Offset is taken off otherwise, in metres.
	Offset geom.Vec3
}

// FarCoordinate is the distance from the origin, in metres, beyond which single
// precision steps by a millimetre and more: stored positions jump by as much.
const FarCoordinate = 10_000

// check refuses offsets that leave nothing of positions.
func (r *Recenter) check() error {
	for i, v := range r.Offset {
		if !(math.Abs(v) <= maxOffset) {
			return fmt.Errorf("cook: the offset %v of axis %c is not between -1e9 and 1e9 metres", v, "xyz"[i])
		}
	}
	return nil
}

// maxOffset is beyond all that is on Earth; double precision steps by a tenth of
// a micrometre there.
const maxOffset = 1e9

// recenter moves a scene and its objects' boxes, and returns what it has taken
// off.
func (o *Options) recenter(s *gltfscene.Scene, v *survey, objects []object, ns *notes) geom.Vec3 {
	all := geom.EmptyBox()
	for i := range objects {
		all = all.Union(objects[i].box)
	}
	offset := o.Recenter.Offset
	if o.Recenter.Auto {
		offset = farOffset(objects)
	}
	if offset == (geom.Vec3{}) {
		if far := reachOf(all); far > FarCoordinate && !o.Recenter.Auto {
			ns.add("coordinates-far", 1, 0, fmt.Sprintf("%.0f m, where positions step by %s", far, millimetres(stepAt(far))))
		}
		return offset
	}
	ns.add("recentred", 1, 0, fmt.Sprintf("(%s), in metres", coordinates(offset)))
	for i := range s.Nodes {
		shift(&s.Nodes[i].World, offset)
	}
	for i := range s.Lights {
		shift(&s.Lights[i].World, offset)
	}
	for i := range s.Cameras {
		shift(&s.Cameras[i].World, offset)
	}
	measureObjects(s, v, objects)
	return offset
}

// shift takes an offset off what a matrix leads to, in double precision.
func shift(m *geom.Mat4, offset geom.Vec3) {
	for i, v := range offset {
		m[12+i] -= v
	}
}

// farOffset is what Recenter.Auto takes off a scene: on axes with coordinates
// beyond FarCoordinate the middle of its triangles, unless that is near the
// origin, as it is where something stray lies far away.
func farOffset(objects []object) (out geom.Vec3) {
	all := geom.EmptyBox()
	for i := range objects {
		all = all.Union(objects[i].box)
	}
	type part struct {
		at        float64
		triangles int
	}
	for i := range out {
		if !(math.Max(math.Abs(all.Min[i]), math.Abs(all.Max[i])) > FarCoordinate) {
			continue
		}
		parts, total := make([]part, len(objects)), 0
		for k := range objects {
			parts[k] = part{objects[k].box.Center()[i], objects[k].triangles}
			total += objects[k].triangles
		}
		slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.at, b.at) })
		for _, p := range parts {
			if total -= 2 * p.triangles; total <= 0 {
				if math.Abs(p.at) > nearOrigin {
					out[i] = math.Round(p.at)
				}
				break
			}
		}
	}
	return out
}

// nearOrigin is how far the middle of a scene that lies around the origin is from
// it at most, in metres.
const nearOrigin = FarCoordinate / 10

// reachOf is the greatest coordinate of a box.
func reachOf(b geom.Box) float64 {
	far := 0.0
	for i := range 3 {
		far = math.Max(far, math.Max(math.Abs(b.Min[i]), math.Abs(b.Max[i])))
	}
	return far
}

// stepAt is how far apart single precision numbers are at a coordinate.
func stepAt(x float64) float64 {
	v := float32(x)
	return float64(math.Nextafter32(v, math.MaxFloat32)) - float64(v)
}

// millimetres writes a small length for people.
func millimetres(m float64) string { return fmt.Sprintf("%.3g mm", m*1e3) }

// coordinates writes a point in plain digits: an offset has many before the
// point.
func coordinates(p geom.Vec3) string {
	text := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return text(p[0]) + ", " + text(p[1]) + ", " + text(p[2])
}
