package runtime

import (
	"math"
	"math/bits"
	"slices"

	"github.com/untoldkit/untold/internal/geom"
)

// minScreenArea is the smallest footprint, in square units of normalised device
// coordinates, that is considered at all.
const minScreenArea = 1e-6

// rect is a footprint on the screen in normalised device coordinates.
type rect struct{ x0, y0, x1, y1 float64 }

// footprint returns the part of the screen that a box covers. A box with
// corners behind the camera counts, as an occluder, as covering nothing and, as
// a candidate, as covering the whole screen.
func (v *view) footprint(b *geom.Box, candidate bool) (r rect, ok bool) {
	r = rect{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	behind := 0
	m := &v.viewProj
	for _, p := range b.Corners() {
		w := float64(m[3]*p[0]) + float64(m[7]*p[1]) + float64(m[11]*p[2]) + m[15]
		if !(w > 1e-6) {
			behind++
			continue
		}
		q := m.Point(p)
		x, y := q[0]/w, q[1]/w
		r = rect{min(r.x0, x), min(r.y0, y), max(r.x1, x), max(r.y1, y)}
	}
	switch {
	case behind == 8, behind > 0 && !candidate:
		return rect{}, false
	case behind > 0:
		r = rect{min(r.x0, -1), min(r.y0, -1), max(r.x1, 1), max(r.y1, 1)}
	}
	r = rect{max(r.x0, -1), max(r.y0, -1), min(r.x1, 1), min(r.y1, 1)}
	return r, r.x1 > r.x0 && r.y1 > r.y0 && (r.x1-r.x0)*(r.y1-r.y0) > minScreenArea
}

// mask rasterises a footprint onto the 8x8 grid, every touched cell inclusive.
func (r rect) mask() uint64 {
	if !(r.x1 > r.x0 && r.y1 > r.y0 && (r.x1-r.x0)*(r.y1-r.y0) > minScreenArea) {
		return 0
	}
	cell := func(v float64) int { return max(0, min(7, int(math.Floor((v+1)*4)))) }
	c0, c1 := cell(r.x0), cell(r.x1)
	row := (uint64(1)<<(c1-c0+1) - 1) << c0
	var m uint64
	for y := cell(r.y0); y <= cell(r.y1); y++ {
		m |= row << (8 * y)
	}
	return m
}

// occluder is a loaded tile that may hide others.
type occluder struct {
	distance float64
	tile     int32
	mask     uint64
}

// occlusion judges candidates against the loaded tiles of one scene.
type occlusion struct {
	list           []occluder // by distance
	full, minimum  float64    // Config.OcclusionFullThreshold, OcclusionMinWeight
	view           *view
	regions        *hierarchy
	regionsPenalty float64
	tick           uint32
}

// sort puts the occluders in order of distance.
func (o *occlusion) sort() {
	slices.SortFunc(o.list, func(a, b occluder) int {
		switch {
		case a.distance < b.distance:
			return -1
		case a.distance > b.distance:
			return 1
		}
		return int(a.tile) - int(b.tile)
	})
}

// score returns the part of a footprint that nearer occluders leave free, at
// least the minimum weight; 1 for what has no footprint.
func (o *occlusion) score(footprint uint64, distance float64) float64 {
	cells := bits.OnesCount64(footprint)
	if cells == 0 {
		return 1
	}
	need := int(math.Ceil(float64(cells) * o.full))
	var union uint64
	covered := 0
	for i := range o.list {
		if !(o.list[i].distance < distance) {
			break
		}
		union |= o.list[i].mask
		covered = bits.OnesCount64(union & footprint)
		if covered >= need {
			return o.minimum
		}
	}
	return max(o.minimum, 1-float64(covered)/float64(cells))
}

// weight returns the factor of a candidate, and whether one of its parent
// regions is hidden as a whole.
func (o *occlusion) weight(b *geom.Box, node int32, distance float64) (w float64, hidden bool) {
	if len(o.list) == 0 || !o.view.lens {
		return 1, false
	}
	w = 1
	if r, ok := o.view.footprint(b, true); ok {
		w = o.score(r.mask(), distance)
	}
	for ; node >= 0; node = o.regions.parent[node] {
		if o.regionHidden(node) {
			return w * o.regionsPenalty, true
		}
	}
	return w, false
}

// regionHidden judges a region once per tick, and only regions that candidates
// ask for: scenes have more regions than fit into a tick.
func (o *occlusion) regionHidden(node int32) bool {
	h := o.regions
	if h.judged[node] == o.tick {
		return h.hidden[node]
	}
	h.judged[node] = o.tick
	h.hidden[node] = false
	if r, ok := o.view.footprint(&h.box[node], false); ok {
		h.hidden[node] = o.score(r.mask(), h.box[node].Distance(o.view.pos)) <= o.minimum
	}
	return h.hidden[node]
}
