package report

import (
	"math"
	"strings"

	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest"
)

// draw makes the drawing.
func (p *Map) draw() *drawing {
	legend := p.legend()
	l := p.place(legend.height)
	d := newDrawing(l.w, l.h, p.title()+", seen from above")
	d.rect(rect{0, 0, float64(l.w), float64(l.h)}, style{fill: paperColor})
	p.drawHeader(d, l)
	for i := range p.panels {
		p.drawPanel(d, l, i)
	}
	legend.draw(d, l, p.types)
	return d
}

// title names the scene.
func (p *Map) title() string {
	if s := p.m.SourceSceneName; s != nil && *s != "" {
		return clean(*s)
	}
	return "Scene without a name"
}

func (p *Map) drawHeader(d *drawing, l *layout) {
	u := l.u
	x, width := marginSize*u, float64(l.w)-float64(2*marginSize*u)
	y := float64(marginSize * u)
	d.text(x, y+float64(16*u), label{text: p.types.fit(p.title(), width, titleSize*u, true), size: titleSize * u, bold: true, color: inkColor})
	for i, line := range p.subtitle() {
		d.text(x, y+float64((36+float64(16*float64(i)))*u), label{text: p.types.fit(line, width, textSize*u, false), size: textSize * u, color: dimColor})
	}
}

// subtitle says in two lines what the manifest is.
func (p *Map) subtitle() []string {
	m := p.m
	mode := m.PartitioningMode
	if mode == "" {
		mode = "unknown partition"
	}
	what := []string{mode + ", manifest version " + human.Count(int64(m.Version)), human.Plural(len(m.Tiles), "tile")}
	var triangles, bytes int64
	for i := range m.Tiles {
		triangles += int64(m.Tiles[i].TriangleCount)
		bytes += m.Tiles[i].FileSizeBytes
	}
	if triangles > 0 {
		what = append(what, shortCount(triangles)+" triangles in tiles")
	}
	if bytes > 0 {
		what = append(what, bytesText(bytes)+" of tiles")
	}
	if m.DryRun {
		what = append(what, "dry run")
	}
	var where []string
	if b := m.SceneBounds; b != nil && groundOf(*b) != nil {
		s := b.Box().Size()
		where = append(where, "scene "+decimal(s[0], 1)+" x "+decimal(s[2], 1)+" m, "+decimal(s[1], 1)+" m high")
	}
	if t := m.TileSize; t != nil {
		where = append(where, "tile size "+decimal(t.X, 2)+" x "+decimal(t.Z, 2)+" m")
	}
	if m.Generator != "" {
		where = append(where, "by "+m.Generator)
	}
	return []string{clean(strings.Join(what, ", ")), clean(strings.Join(where, ", "))}
}

func (p *Map) drawPanel(d *drawing, l *layout, i int) {
	a, r := &p.panels[i], l.panels[i]
	d.rect(r, style{fill: panelColor})
	d.clipTo(r)
	p.drawBucket(d, l, r, true)
	boxes := p.drawTiles(d, l, a, r)
	p.drawBucket(d, l, r, false)
	p.drawZone(d, l, r)
	p.drawPyramid(d, l, a, r)
	taken := p.drawChosen(d, l, i)
	p.drawLabels(d, l, a, r, boxes, taken)
	d.unclip()
	d.rect(r, style{line: frameColor, width: 1})
	if len(a.tiles) == 0 {
		d.text((r.x0+r.x1)/2, (r.y0+r.y1)/2, label{text: "no tiles", size: textSize * l.u, anchor: anchorMiddle, color: dimColor, halo: panelColor})
	}
	if l.ticks {
		p.drawTicks(d, l, r)
	}
	p.drawCaption(d, l, a, r)
}

func (p *Map) drawCaption(d *drawing, l *layout, a *panel, r rect) {
	y, size := r.y0-float64(6*l.u), textSize*l.u
	x := r.x0
	if len(p.panels) > maxTickPanel {
		y, size = r.y0-float64(4*l.u), smallText*l.u
	}
	if a.title != "" {
		title := p.types.fit(a.title, r.w(), size, true)
		d.text(x, y, label{text: title, size: size, bold: true, color: inkColor})
		x += p.types.room(title, size, true) + float64(8*l.u)
	}
	note := a.note
	if p.types.room(note, size, false) > r.x1-x {
		note, _, _ = strings.Cut(note, ",")
	}
	if p.types.room(note, size, false) <= r.x1-x {
		d.text(x, y, label{text: note, size: size, color: dimColor})
	}
}

// The outlines that are not tiles.
func zoneStyle(u float64) style {
	return style{line: interiorColor, width: max(1, 1.5*u), dash: [4]float64{2 * u, 3 * u, 8 * u, 3 * u}}
}

func bucketStyle(u float64) style {
	return style{line: sharedColor, width: max(1, 1.75*u), dash: [4]float64{8 * u, 5 * u}}
}

func bucketHatch(u float64) style { return style{line: sharedColor.fade(60), width: max(1, u)} }

// drawBucket hatches the bucket's ground under the tiles, and outlines it over
// them.
func (p *Map) drawBucket(d *drawing, l *layout, r rect, under bool) {
	if p.sharedBox == nil {
		return
	}
	b := l.project(r, p.view, *p.sharedBox)
	if !under {
		d.rect(b, bucketStyle(l.u))
		return
	}
	d.hatch(b.cut(r), 10*l.u, bucketHatch(l.u))
}

// drawZone outlines the interior zone, inside the bucket where both have the
// same box.
func (p *Map) drawZone(d *drawing, l *layout, r rect) {
	if p.zone == nil {
		return
	}
	b := l.project(r, p.view, *p.zone)
	if p.sharedBox != nil {
		if s := l.project(r, p.view, *p.sharedBox); b.inside(s.grow(3*l.u)) && s.inside(b.grow(3*l.u)) {
			b = b.grow(-min(4*l.u, b.w()/3, b.h()/3))
		}
	}
	d.rect(b, zoneStyle(l.u))
}

// mosaicSize is from which size on, in pixels, cells have joints.
const mosaicSize = 6

// drawTiles draws the tiles of a panel and returns where each one is.
func (p *Map) drawTiles(d *drawing, l *layout, a *panel, r rect) []rect {
	floors := p.m.HasFloors()
	if floors {
		p.drawCells(d, l, a, r)
	}
	boxes := make([]rect, len(a.tiles))
	seen := map[rect]int{}
	for i := range a.tiles {
		t := &p.m.Tiles[a.tiles[i].index]
		b := l.project(r, p.view, a.tiles[i].box)
		if floors {
			// Tiers of one node often have the same box; they lie inside
			// each other then.
			k := rect{math.Round(b.x0), math.Round(b.y0), math.Round(b.x1), math.Round(b.y1)}
			inset := min(float64(seen[k])*2.5*l.u, b.w()/3, b.h()/3)
			seen[k]++
			b = b.grow(-inset)
		}
		b = atLeast(b, 3)
		if !floors && min(b.w(), b.h()) >= mosaicSize {
			b.x1, b.y1 = b.x1-1, b.y1-1 // a joint between the cells
		}
		boxes[i] = b
		s := p.tileStyle(t, l.u)
		d.add(element{kind: kindRect, box: b, style: s, title: p.tooltip(t)})
	}
	if floors {
		// Once more the outlines: tiles overlap.
		for i := range a.tiles {
			s := p.tileStyle(&p.m.Tiles[a.tiles[i].index], l.u)
			d.rect(boxes[i], style{line: s.line, width: s.width})
		}
	}
	return boxes
}

// tileStyle returns the look of a tile: grids as mosaics, the overlapping
// tiles of floors with an outline.
func (p *Map) tileStyle(t *manifest.Tile, u float64) style {
	c := p.colorOf(t)
	switch {
	case p.m.HasFloors() && p.color == ColorTier:
		return style{fill: c.tint(), line: c, width: max(1, u)}
	case p.m.HasFloors():
		return style{fill: c, line: inkColor.fade(110), width: 1}
	}
	return style{fill: c}
}

// atLeast widens a rectangle around its middle until it can be seen.
func atLeast(r rect, size float64) rect {
	if d := size - r.w(); d > 0 {
		r.x0, r.x1 = r.x0-float64(d/2), r.x1+float64(d/2)
	}
	if d := size - r.h(); d > 0 {
		r.y0, r.y1 = r.y0-float64(d/2), r.y1+float64(d/2)
	}
	return r
}

// drawCells draws the nodes' rectangles faintly, each once.
func (p *Map) drawCells(d *drawing, l *layout, a *panel, r rect) {
	seen := map[worldRect]bool{}
	for i := range a.tiles {
		c := a.tiles[i].cell
		if seen[c] || c == a.tiles[i].box {
			continue
		}
		seen[c] = true
		d.rect(l.project(r, p.view, c), style{line: cellColor.fade(110), width: 1})
	}
}

// tooltip tells all about a tile in lines.
func (p *Map) tooltip(t *manifest.Tile) string {
	bands := p.m.BandsOf(t)
	parts := []string{t.ID}
	if t.SemanticTier != "" {
		parts = append(parts, t.SemanticTier)
	}
	if n, _ := counts(t); n > 0 {
		parts = append(parts, human.Plural(n, "object"))
	}
	if t.TriangleCount > 0 {
		parts = append(parts, human.Count(int64(t.TriangleCount))+" triangles")
	}
	if t.FileSizeBytes > 0 {
		parts = append(parts, bytesText(t.FileSizeBytes))
	}
	return strings.Join(append(parts, "streaming "+metresText(bands.Streaming)+", unload "+metresText(bands.Unload)), ", ")
}

// drawChosen outlines the chosen tile and its distances; it returns where its
// label is.
func (p *Map) drawChosen(d *drawing, l *layout, i int) []rect {
	c := p.chosen
	if c == nil || c.panel >= 0 && c.panel != i {
		return nil
	}
	r := l.panels[i]
	for _, ring := range c.rings {
		b := l.project(r, p.view, c.box.grow(ring.distance))
		s := ring.style
		s.width *= max(l.u, 0.8)
		for k := range s.dash {
			s.dash[k] *= max(l.u, 0.8)
		}
		radius := float64(ring.distance * l.scale)
		d.rounded(b, radius, style{line: casingColor, width: s.width + float64(3*max(l.u, 0.8))})
		d.rounded(b, radius, s)
	}
	b := atLeast(l.project(r, p.view, c.box), 5)
	d.rect(b.grow(1.5*l.u), style{line: paperColor, width: max(1, 1.5*l.u)})
	d.rect(b, style{line: inkColor, width: max(2, 2.5*l.u)})
	size := float64(textSize * l.u)
	text := p.types.fit(clean(c.id), r.w()-float64(8*l.u), size, true)
	w := p.types.width(text, size, true)
	x := min(max(float64((b.x0+b.x1)/2)-float64(w/2), r.x0+float64(4*l.u)), r.x1-w-float64(4*l.u))
	y := b.y0 - float64(6*l.u) // above the tile, else below it
	if y-size < r.y0 {
		y = min(b.y1+size+float64(4*l.u), r.y1-float64(4*l.u))
	}
	d.text(x, y, label{text: text, size: size, bold: true, color: inkColor, halo: paperColor})
	return []rect{{x - 2, y - size, x + w + 2, y + float64(size*0.3)}}
}

// drawTicks marks the coordinates below and left of a panel.
func (p *Map) drawTicks(d *drawing, l *layout, r rect) {
	u, line := l.u, style{line: cellColor, width: 1}
	var marks [][]point
	size := float64(smallText * u)
	last := math.Inf(-1)
	for _, v := range steps(p.view.x0, p.view.x1, l.step) {
		x := l.x(r, p.view, v)
		marks = append(marks, []point{{x, r.y1}, {x, r.y1 + float64(4*u)}})
		text := coordText(v, l.step)
		w := p.types.width(text, size, false)
		if x-float64(w/2) < max(last+float64(6*u), r.x0-float64(4*u)) || x+float64(w/2) > r.x1+float64(4*u) {
			continue
		}
		last = x + float64(w/2)
		d.text(x, r.y1+float64(15*u), label{text: text, size: size, anchor: anchorMiddle, color: dimColor})
	}
	for _, v := range steps(p.view.z0, p.view.z1, l.step) {
		y := l.y(r, p.view, v)
		marks = append(marks, []point{{r.x0 - float64(4*u), y}, {r.x0, y}})
		d.text(r.x0-float64(7*u), y+float64(size*0.35), label{text: coordText(v, l.step), size: size, anchor: anchorEnd, color: dimColor})
	}
	d.lines(line, marks...)
}

// steps returns the multiples of a step in an interval, at most 64.
func steps(lo, hi, step float64) []float64 {
	var out []float64
	first := math.Ceil(lo / step)
	for k := 0.0; k < 64; k++ {
		v := float64((first + k) * step)
		if !(v <= hi) {
			break
		}
		if len(out) > 0 && v == out[len(out)-1] {
			break // the step is below the precision of such large numbers
		}
		out = append(out, v)
	}
	return out
}
