package report

import (
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/human"
)

// legend is a column of rows beside the panels.
type legend struct {
	rows  []legendRow
	types *typesetter
}

// legendRow is one row: a heading, a sample with a text, or a text alone.
type legendRow struct {
	heading bool
	sample  style // drawn when it has a fill or a line
	hatch   bool
	line    bool // the sample is a line
	text    string
	value   string // at the right end
	part    float64
	note    bool // small, over several lines
	wide    bool // a note from the left end on
}

// legend gathers the rows.
func (p *Map) legend() *legend {
	g := &legend{types: p.types}
	switch {
	case len(p.m.Tiles) == 0:
	case p.color == ColorTier:
		g.head(colorHeading(p.color))
		p.tierRows(g)
	default:
		g.head(colorHeading(p.color))
		p.classRows(g)
	}
	p.outlineRows(g)
	p.pyramidRows(g)
	p.chosenRows(g)
	if list := p.remarks(); len(list) > 0 {
		g.head("Not in the picture")
		for _, n := range list {
			g.rows = append(g.rows, legendRow{text: n, note: true, wide: true})
		}
	}
	return g
}

func colorHeading(c ColorBy) string {
	switch c {
	case ColorTier:
		return "Semantic tier"
	case ColorTriangles:
		return "Triangles per tile"
	}
	return "Bytes per tile"
}

func (g *legend) head(text string) { g.rows = append(g.rows, legendRow{heading: true, text: text}) }

func (g *legend) note(text string) {
	g.rows = append(g.rows, legendRow{text: text, note: true})
}

// tierRows lists the tiers that occur.
func (p *Map) tierRows(g *legend) {
	count := map[string]int{}
	var names []string
	for i := range p.m.Tiles {
		tier := p.m.Tiles[i].SemanticTier
		if _, known := tierColors[tier]; !known {
			tier = ""
		}
		count[tier]++
	}
	for _, t := range tierNames {
		if count[t] > 0 {
			names = append(names, t)
		}
	}
	if count[""] > 0 || len(names) == 0 {
		names = append(names, "")
	}
	most := 0
	for _, t := range names {
		most = max(most, count[t])
	}
	for _, t := range names {
		c, text := tierColor(t), t
		if t == "" {
			text = "no or other tier"
		}
		fill := c
		if p.m.HasFloors() {
			fill = c.tint()
		}
		g.rows = append(g.rows, legendRow{
			sample: style{fill: fill, line: c, width: 1}, text: text,
			value: human.Count(int64(count[t])), part: share(float64(count[t]), float64(most)),
		})
	}
}

// classRows lists the classes of the scale, with how many tiles are in each.
func (p *Map) classRows(g *legend) {
	unit := bytesText
	if p.color == ColorTriangles {
		unit = shortCount
	}
	count, none := make([]int, p.scale.classes()), 0
	var only int64
	for _, v := range p.values() {
		if v > 0 {
			count[p.scale.class(v)]++
			only = v
		} else {
			none++
		}
	}
	most := none
	for _, n := range count {
		most = max(most, n)
	}
	for i, n := range count {
		text := p.scale.label(i, unit)
		if len(count) == 1 {
			if only == 0 {
				break
			}
			text = unit(only)
		}
		g.rows = append(g.rows, legendRow{
			sample: style{fill: ramp(i, len(count))}, text: text, value: human.Count(int64(n)), part: share(float64(n), float64(most)),
		})
	}
	if none > 0 {
		text := "nothing or unknown"
		if p.m.DryRun && p.color == ColorBytes {
			text = "planned, no size yet"
		}
		g.rows = append(g.rows, legendRow{
			sample: style{fill: emptyColor}, text: text, value: human.Count(int64(none)), part: share(float64(none), float64(most)),
		})
	}
}

// outlineRows explains the lines that are not tiles.
func (p *Map) outlineRows(g *legend) {
	if p.sharedBox == nil && p.zone == nil {
		return
	}
	g.head("Outlines")
	if b := p.m.SharedBucket; b != nil && p.sharedBox != nil {
		s := bucketStyle(1)
		g.rows = append(g.rows, legendRow{sample: s, hatch: true, text: "shared bucket"})
		n, _ := counts(&b.Tile)
		if b.ObjectCount == nil {
			n = len(b.Members)
		}
		text := human.Plural(n, "object")
		if b.TriangleCount > 0 {
			text += ", " + shortCount(int64(b.TriangleCount)) + " triangles"
		}
		if b.FileSizeBytes > 0 {
			text += ", " + bytesText(b.FileSizeBytes)
		}
		g.note(text)
		if b.StreamingRadius != nil && b.UnloadRadius != nil {
			g.note("streams at " + tenthText(*b.StreamingRadius) + ", unloads at " + tenthText(*b.UnloadRadius))
		}
	}
	if p.zone != nil {
		g.rows = append(g.rows, legendRow{sample: zoneStyle(1), text: "interior zone"})
	}
}

// chosenRows lists the distances of the chosen tile.
func (p *Map) chosenRows(g *legend) {
	c := p.chosen
	if c == nil {
		return
	}
	g.head("Distances of the tile")
	g.rows = append(g.rows, legendRow{sample: style{line: inkColor, width: 2.5}, text: clean(c.id)})
	for _, r := range c.rings {
		g.rows = append(g.rows, legendRow{sample: r.style, line: true, text: r.name, value: metresText(geom.Round(r.distance, 2))})
	}
	for _, n := range c.notes {
		g.note(n)
	}
}

// remarks says what the picture leaves out.
func (p *Map) remarks() []string {
	var out []string
	if p.undrawn > 0 {
		out = append(out, human.Plural(p.undrawn, "tile")+" with coordinates beyond 1e30 not drawn.")
	}
	if p.hidden > 0 && p.others == 0 {
		out = append(out, human.Plural(p.hidden, "higher floor")+" not drawn.")
	}
	if p.others > 0 {
		out = append(out, human.Plural(p.others+p.hidden, "other floor")+" not drawn.")
	}
	beyond := 0
	for i := range p.panels {
		for k := range p.panels[i].tiles {
			if !p.view.contains(p.panels[i].tiles[k].box) {
				beyond++
			}
		}
	}
	switch {
	case beyond == 1:
		out = append(out, "1 tile reaches beyond the picture.")
	case beyond > 1:
		out = append(out, human.Plural(beyond, "tile")+" reach beyond the picture.")
	}
	if b := p.sharedBox; b != nil && !p.view.contains(*b) {
		out = append(out, "The shared bucket reaches beyond the picture: x "+rangeText(b.x0, b.x1)+", z "+rangeText(b.z0, b.z1)+".")
	}
	if c := p.chosen; c != nil {
		for _, r := range c.rings {
			if !p.view.contains(c.box.grow(r.distance)) {
				out = append(out, "Some distances reach beyond the picture.")
				break
			}
		}
	}
	return out
}

// rangeText writes an interval of coordinates.
func rangeText(lo, hi float64) string {
	return coordText(lo, 0.1) + " to " + coordText(hi, 0.1) + " m"
}

// The sizes of a legend, in pixels of the design.
const (
	rowSize     = 20
	headSize    = 26
	headGap     = 10
	noteLine    = 14
	sampleWidth = 26
	valueWidth  = 76 // with the bar
	compassSize = 86 // the axes and the scale bar
)

// height is what the legend needs.
func (g *legend) height(u float64) float64 {
	y := 0.0
	for i := range g.rows {
		y += g.rowHeight(i, u)
	}
	return y + float64(compassSize*u)
}

func (g *legend) rowHeight(i int, u float64) float64 {
	r := &g.rows[i]
	switch {
	case r.heading && i == 0:
		return headSize * u
	case r.heading:
		return (headSize + headGap) * u
	case r.note:
		gap := 6.0
		if i+1 < len(g.rows) && g.rows[i+1].note {
			gap = 0
		}
		return (float64(float64(len(g.noteLines(r, u)))*noteLine) + gap) * u
	}
	return rowSize * u
}

// indent is where the text of a row begins.
func (r *legendRow) indent() float64 {
	if r.wide {
		return 0
	}
	return sampleWidth + 8
}

func (g *legend) noteLines(r *legendRow, u float64) []string {
	return g.types.wrap(r.text, (legendSize-r.indent())*u, smallText*u, false)
}

// draw draws the rows from the top, and the axes with the scale bar at the
// bottom.
func (g *legend) draw(d *drawing, l *layout, types *typesetter) {
	x, y, u := l.legend.x0, l.legend.y0, l.u
	for i := range g.rows {
		r, h := &g.rows[i], g.rowHeight(i, l.u)
		switch {
		case r.heading:
			base := y + h - float64(12*u)
			d.text(x, base, label{text: r.text, size: textSize * u, bold: true, color: inkColor})
		case r.note:
			for k, line := range g.noteLines(r, u) {
				d.text(x+float64(r.indent()*u), y+float64((float64(noteLine*float64(k))+10)*u), label{text: line, size: smallText * u, color: dimColor})
			}
		default:
			g.drawRow(d, r, x, y, u)
		}
		y += h
	}
	drawCompass(d, l, types, rect{x, l.legend.y1 - float64(compassSize*u), l.legend.x1, l.legend.y1})
}

func (g *legend) drawRow(d *drawing, r *legendRow, x, y, u float64) {
	box := rect{x, y + float64(3*u), x + float64(sampleWidth*u), y + float64(16*u)}
	s := r.sample
	s.width *= max(u, 0.8)
	for k := range s.dash {
		s.dash[k] *= max(u, 0.8)
	}
	switch {
	case r.line:
		m := (box.y0 + box.y1) / 2
		d.lines(s, []point{{box.x0, m}, {box.x1, m}})
	default:
		if r.hatch {
			d.hatch(box, 6*u, bucketHatch(u))
		}
		d.rect(box, s)
	}
	right := x + float64(legendSize*u)
	width := float64(legendSize*u) - float64((sampleWidth+8)*u)
	if r.value != "" {
		if r.part > 0 {
			// The bar stands between the text and the number.
			most := float64(34 * u)
			left := right - float64(36*u) - most
			d.rect(rect{left, y + float64(6*u), left + max(1, float64(most*r.part)), y + float64(13*u)}, style{fill: frameColor})
			width -= float64(valueWidth * u)
		} else {
			width -= g.types.width(r.value, textSize*u, false) + float64(6*u)
		}
		d.text(right, y+float64(14*u), label{text: r.value, size: textSize * u, anchor: anchorEnd, color: dimColor})
	}
	text := g.types.fit(r.text, width, textSize*u, false)
	d.text(x+float64((sampleWidth+8)*u), y+float64(14*u), label{text: text, size: textSize * u, color: inkColor})
}

// drawCompass draws the axes of the ground, and the scale bar beside them.
func drawCompass(d *drawing, l *layout, types *typesetter, r rect) {
	u := l.u
	ink := style{line: inkColor, width: max(1, 1.25*u)}
	o := point{r.x0 + float64(6*u), r.y1 - float64(58*u)}
	tip := func(p, dir point) []point {
		// The two strokes of an arrow's head.
		back := point{p.x - float64(6*u*dir.x), p.y - float64(6*u*dir.y)}
		side := point{float64(3.5 * u * dir.y), float64(3.5 * u * dir.x)}
		return []point{{back.x + side.x, back.y + side.y}, p, {back.x - side.x, back.y - side.y}}
	}
	ex, ez := point{o.x + float64(36*u), o.y}, point{o.x, o.y + float64(36*u)}
	d.lines(ink, []point{o, ex}, tip(ex, point{1, 0}), []point{o, ez}, tip(ez, point{0, 1}))
	d.text(ex.x+float64(6*u), ex.y+float64(4*u), label{text: "+X", size: smallText * u, color: inkColor})
	d.text(ez.x-float64(6*u), ez.y+float64(14*u), label{text: "+Z", size: smallText * u, color: inkColor})

	longest := 130 * u
	length := niceStep(longest / l.scale / 2.5)
	for _, f := range []float64{2.5, 2} {
		if v := niceStep(length * f * 0.999); float64(v*l.scale) <= longest {
			length = v
			break
		}
	}
	px := float64(length * l.scale)
	x1, y := r.x1, o.y+float64(36*u)
	d.lines(style{line: inkColor, width: max(1, 1.75*u)}, []point{{x1 - px, y}, {x1, y}})
	d.lines(ink, []point{{x1 - px, y - float64(4*u)}, {x1 - px, y + float64(4*u)}}, []point{{x1, y - float64(4*u)}, {x1, y + float64(4*u)}})
	d.text(x1-float64(px/2), y-float64(7*u), label{text: lengthText(length), size: textSize * u, anchor: anchorMiddle, color: inkColor})
}

// lengthText writes the length of the scale bar.
func lengthText(metres float64) string {
	switch {
	case metres >= 1e9:
		return coordText(metres, 1) + " m"
	case metres >= 1000:
		return decimal(metres/1000, 0) + " km"
	case metres < 0.01:
		return decimal(metres*1000, 3) + " mm"
	}
	return decimal(metres, 2) + " m"
}
