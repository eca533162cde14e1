package report

import (
	"cmp"
	"slices"
)

// worldRect is a rectangle on the ground, in metres.
type worldRect struct{ x0, z0, x1, z1 float64 }

func (r worldRect) w() float64 { return r.x1 - r.x0 }
func (r worldRect) h() float64 { return r.z1 - r.z0 }

// long is the longer side.
func (r worldRect) long() float64 { return max(r.w(), r.h()) }

func (r worldRect) union(o worldRect) worldRect {
	return worldRect{min(r.x0, o.x0), min(r.z0, o.z0), max(r.x1, o.x1), max(r.z1, o.z1)}
}

func (r worldRect) grow(d float64) worldRect {
	d = float64(d) // a product is rounded
	return worldRect{r.x0 - d, r.z0 - d, r.x1 + d, r.z1 + d}
}

// contains reports whether o lies in r.
func (r worldRect) contains(o worldRect) bool {
	return o.x0 >= r.x0 && o.z0 >= r.z0 && o.x1 <= r.x1 && o.z1 <= r.z1
}

// unionOf joins rectangles; false for none.
func unionOf(list []worldRect) (worldRect, bool) {
	if len(list) == 0 {
		return worldRect{}, false
	}
	all := list[0]
	for _, r := range list[1:] {
		all = all.union(r)
	}
	return all, true
}

// What the crowd of tiles is: all but one in crowdPart, the largest; they set
// the frame when everything else is more than crowdFactor times as long.
const (
	crowdPart   = 20
	crowdFactor = 1.5
	minCrowd    = 4
)

// frame chooses what all panels show: the tiles, the bucket, the zone and the
// distances of the chosen tile, with a margin.
func (p *Map) frame(whole bool) worldRect {
	var boxes []worldRect
	for i := range p.panels {
		for k := range p.panels[i].tiles {
			boxes = append(boxes, p.panels[i].tiles[k].box)
		}
	}
	v, ok := unionOf(boxes)
	if ok && !whole {
		v = crowd(boxes, v)
	}
	for _, r := range []*worldRect{p.zone, p.sharedBox} {
		switch {
		case r == nil:
		case !ok:
			v, ok = *r, true
		case whole || v.union(*r).long() <= crowdFactor*v.long():
			v = v.union(*r)
		}
	}
	if b := p.m.SceneBounds; !ok && b != nil {
		if r := groundOf(*b); r != nil {
			v, ok = *r, true
		}
	}
	if !ok {
		v = worldRect{-5, -5, 5, 5}
	}
	if p.chosen != nil {
		v = p.chosen.frame(v)
	}
	long := v.long()
	if !(long > 0) {
		long = 1
	}
	// A line of tiles is shown with some ground beside it.
	growX, growZ := float64(max(0, float64(long*0.12)-v.w())/2), float64(max(0, float64(long*0.12)-v.h())/2)
	v = worldRect{v.x0 - growX, v.z0 - growZ, v.x1 + growX, v.z1 + growZ}
	return v.grow(long * 0.025)
}

// crowd returns the union of the boxes without the few largest, where that is
// much smaller than all.
func crowd(boxes []worldRect, all worldRect) worldRect {
	if len(boxes) <= minCrowd {
		return all
	}
	sorted := slices.Clone(boxes)
	slices.SortStableFunc(sorted, func(a, b worldRect) int { return cmp.Compare(a.long(), b.long()) })
	most, _ := unionOf(sorted[:len(sorted)-max(1, len(sorted)/crowdPart)])
	if most.long() > 0 && all.long() > crowdFactor*most.long() {
		return most.grow(most.long() * 0.06)
	}
	return all
}
