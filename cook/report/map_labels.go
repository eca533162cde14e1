package report

import (
	"math"
	"strings"
)

// drawLabels writes the ids of tiles where they fit and hide nothing. Small
// tiles, which lie on top, choose first.
func (p *Map) drawLabels(d *drawing, l *layout, a *panel, panel rect, boxes, taken []rect) {
	if len(a.tiles) > maxLabelTiles {
		return
	}
	floors := p.m.HasFloors()
	margin := 2.5 * l.u
	name, size := p.nameForm(a, boxes, smallText*l.u, margin)
	for i := len(a.tiles) - 1; i >= 0; i-- {
		t := &p.m.Tiles[a.tiles[i].index]
		if p.chosen != nil && t.ID == p.chosen.id {
			continue
		}
		c := p.colorOf(t)
		look := label{size: size, color: inkColor}
		switch {
		case floors:
			look.halo = paperColor.fade(200)
		case !c.light():
			look.color = paperColor
		}
		text := name(t.ID)
		w := p.types.room(text, size, false)
		at, ok := spot(boxes[i].cut(panel), w, size, margin, floors, func(r rect) bool {
			return free(r, boxes[i+1:]) && free(r, taken) && !p.onRing(l, panel, r)
		})
		if ok {
			look.text = text
			d.text(at.x0, at.y1-float64(size*0.25), look)
			taken = append(taken, at.grow(1))
		}
	}
}

// nameForm returns how the ids of a panel are written: in full, or in grids
// without the common start, and smaller, when not all of them would fit.
func (p *Map) nameForm(a *panel, boxes []rect, size, margin float64) (func(string) string, float64) {
	if p.m.HasFloors() {
		return clean, size
	}
	short := func(id string) string { return strings.TrimPrefix(clean(id), "tile_") }
	least := func(form func(string) string) float64 {
		part := 1.0
		for i := range a.tiles {
			w := p.types.room(form(p.m.Tiles[a.tiles[i].index].ID), size, false)
			part = min(part, (boxes[i].w()-2*margin)/max(w, 1))
		}
		return part
	}
	if least(clean) >= 1 {
		return clean, size
	}
	return short, size * max(0.995*least(short), 0.8)
}

// spot looks for room for a text in a tile: in the middle, and with corners
// in its corners and at the middles of its sides.
func spot(box rect, w, size, margin float64, corners bool, ok func(rect) bool) (rect, bool) {
	h := float64(size * 1.15)
	in := box.grow(-margin)
	if in.w() < w || in.h() < h {
		return rect{}, false
	}
	midX, midY := (in.x0+in.x1-w)/2, (in.y0+in.y1-h)/2
	places := []point{{midX, midY}}
	if corners {
		places = []point{
			{in.x0, in.y0},
			{in.x1 - w, in.y0},
			{in.x0, in.y1 - h},
			{in.x1 - w, in.y1 - h},
			{midX, in.y0},
			{midX, in.y1 - h},
			{in.x0, midY},
			{in.x1 - w, midY},
			{midX, midY},
		}
	}
	for _, q := range places {
		if r := (rect{q.x, q.y, q.x + w, q.y + h}); ok(r) {
			return r, true
		}
	}
	return rect{}, false
}

// onRing reports whether the line of a distance crosses a rectangle, near
// enough for text.
func (p *Map) onRing(l *layout, panel, r rect) bool {
	if p.chosen == nil {
		return false
	}
	b := l.project(panel, p.view, p.chosen.box)
	lo, hi := math.Inf(1), 0.0
	midX, midY := (r.x0+r.x1)/2, (r.y0+r.y1)/2
	for _, q := range [5]point{{r.x0, r.y0}, {r.x1, r.y0}, {r.x0, r.y1}, {r.x1, r.y1}, {midX, midY}} {
		dx, dy := max(b.x0-q.x, 0, q.x-b.x1), max(b.y0-q.y, 0, q.y-b.y1)
		d := math.Sqrt(float64(dx*dx) + float64(dy*dy))
		lo, hi = min(lo, d), max(hi, d)
	}
	for _, c := range p.chosen.rings {
		if d := float64(c.distance * l.scale); lo-float64(3*l.u) <= d && d <= hi+float64(3*l.u) {
			return true
		}
	}
	return false
}

func free(r rect, others []rect) bool {
	for _, o := range others {
		if r.overlaps(o) {
			return false
		}
	}
	return true
}
