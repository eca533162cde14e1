package simulate

import (
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/runtime/payload"
)

// The measures of the plot in pixels.
const (
	plotWidth  = 1200
	plotLeft   = 150
	plotRight  = 24
	panelGap   = 34
	laneHeight = 7
	rowHeight  = 3*laneHeight + 9
	plotTiles  = 24 // rows at most
)

// WritePlot draws a run as an SVG picture: the distance to the tiles; for each
// tile the wanted, resident and drawn representation over time; geometry and
// textures in use; loads under way. Of a large scene it shows tiles that were the nearest
// at some time.
func WritePlot(w io.Writer, p *Series) error {
	g := &plot{p: p, tiles: p.pick(plotTiles), y: 58}
	g.last = max(p.time(p.frames()-1).Seconds(), p.s.DT.Seconds())
	g.head()
	g.distances()
	g.rows()
	if slices.Max(p.memory) > 0 {
		g.curves("geometry in use", byteText, curve{"in use", "#00695c", func(k int) float64 { return float64(p.memory[k]) }},
			curve{"budget", "#b71c1c", func(k int) float64 { return budgetOf(p.budget[k]) }})
	}
	if slices.Max(p.texture) > 0 {
		g.curves("textures in use", byteText, curve{"in use", "#6a1b9a", func(k int) float64 { return float64(p.texture[k]) }},
			curve{"budget", "#b71c1c", func(k int) float64 { return budgetOf(p.texCap[k]) }})
	}
	g.curves("queue", countText, curve{"under way", "#1565c0", func(k int) float64 { return float64(p.active[k]) }},
		curve{"no slot free", "#ef6c00", func(k int) float64 { return float64(p.backlog[k]) }})
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">
<rect width="100%%" height="100%%" fill="#ffffff"/>
%s</svg>
`, plotWidth, g.y, plotWidth, g.y, g.b.String())
	return err
}

// budgetOf leaves out budgets that mean no limit.
func budgetOf(v int64) float64 {
	if v <= 0 || v > 1<<60 {
		return math.NaN()
	}
	return float64(v)
}

type plot struct {
	p     *Series
	b     strings.Builder
	tiles []int32
	last  float64 // seconds at the right border
	y     int
}

func (g *plot) printf(format string, args ...any) { fmt.Fprintf(&g.b, format+"\n", args...) }

// x is the place of a time in seconds.
func (g *plot) x(t float64) float64 {
	return plotLeft + float64(t/g.last*(plotWidth-plotLeft-plotRight))
}

// px writes a coordinate.
func px(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

func (g *plot) text(x, y float64, attributes, s string) {
	g.printf(`<text x="%s" y="%s"%s>%s</text>`, px(x), px(y), attributes, html.EscapeString(s))
}

// colors of the representations. Levels go from blue to light blue.
func repColor(r payload.Rep) string {
	level, lod := r.Level()
	switch {
	case r == payload.RepFull:
		return "#2e7d32"
	case r == payload.RepHLOD:
		return "#f9a825"
	case lod:
		return [...]string{"#1565c0", "#42a5f5", "#90caf9", "#bbdefb"}[min(level, 3)]
	}
	return "#eeeeee"
}

// head writes the title and the legend.
func (g *plot) head() {
	name := g.p.s.Name
	if name == "" {
		name = "simulation"
	}
	if n := len(g.p.s.Manifest.Tiles); n > len(g.tiles) {
		name += fmt.Sprintf(" (%d of %d tiles)", len(g.tiles), n)
	}
	g.text(16, 22, ` font-size="15" font-weight="bold"`, name)
	x := 16.0
	legend := []payload.Rep{payload.RepFull, payload.LOD(0), payload.LOD(1), payload.LOD(2), payload.RepHLOD, payload.RepNone}
	for _, r := range legend {
		label := r.String()
		if r == payload.LOD(2) {
			label = "lod2 ..."
		}
		g.printf(`<rect x="%s" y="34" width="12" height="9" fill="%s"/>`, px(x), repColor(r))
		g.text(x+16, 42, "", label)
		x += 70
	}
	g.printf(`<rect x="%s" y="34" width="12" height="9" fill="none" stroke="#7b1fa2"/>`, px(x))
	g.text(x+16, 42, "", "full geometry under way")
}

// panel draws a frame with a time axis, and returns its top.
func (g *plot) panel(title string, height int) (top float64) {
	g.y += 16
	top = float64(g.y)
	g.text(plotLeft, top-5, ` font-weight="bold"`, title)
	g.printf(`<rect x="%d" y="%s" width="%d" height="%d" fill="none" stroke="#bdbdbd"/>`, plotLeft, px(top), plotWidth-plotLeft-plotRight, height)
	step := niceStep(g.last, 12)
	for i := 0; float64(i)*step <= g.last+1e-9; i++ {
		t := float64(i) * step
		g.printf(`<line x1="%s" x2="%s" y1="%s" y2="%s" stroke="#e0e0e0"/>`, px(g.x(t)), px(g.x(t)), px(top), px(top+float64(height)))
		g.text(g.x(t), top+float64(height)+13, ` text-anchor="middle" fill="#616161"`, strconv.FormatFloat(math.Round(t*1e6)/1e6, 'f', -1, 64)+" s")
	}
	g.y += height + panelGap
	return top
}

// niceStep is 1, 2 or 5 times a power of ten, for at most n steps.
func niceStep(span float64, n int) float64 {
	if !(span > 0) {
		return 1
	}
	base := math.Pow(10, math.Floor(math.Log10(span/float64(n))))
	for _, k := range [...]float64{1, 2, 5} {
		if span/(base*k) <= float64(n) {
			return base * k
		}
	}
	return base * 10
}

// curve is one line of a panel; NaN leaves a gap.
type curve struct {
	name, color string
	at          func(frame int) float64
}

// exists reports whether the curve has a value at all.
func (c *curve) exists(frames int) bool {
	for k := range frames {
		if !math.IsNaN(c.at(k)) {
			return true
		}
	}
	return false
}

// curves draws a panel with lines over time, from 0 up.
func (g *plot) curves(title string, label func(float64) string, list ...curve) {
	const height = 110
	top := g.panel(title, height)
	peak := 0.0
	for _, c := range list {
		for k := range g.p.frames() {
			if v := c.at(k); v > peak {
				peak = v
			}
		}
	}
	step := niceStep(max(peak, 1), 4)
	limit := step * math.Ceil(max(peak, 1)/step)
	for i := 0; float64(i)*step <= limit; i++ {
		v := float64(i) * step
		y := top + float64(height*(1-v/limit))
		g.printf(`<line x1="%d" x2="%d" y1="%s" y2="%s" stroke="#eeeeee"/>`, plotLeft, plotWidth-plotRight, px(y), px(y))
		g.text(plotLeft-6, y+4, ` text-anchor="end" fill="#616161"`, label(v))
	}
	for i, c := range list {
		g.line(c, func(v float64) float64 { return top + float64(height*(1-v/limit)) })
		if c.exists(g.p.frames()) {
			g.text(plotWidth-plotRight-float64(110*(len(list)-i)), top-5, fmt.Sprintf(` fill="%s"`, c.color), c.name)
		}
	}
}

// line draws a curve, in steps, with one point a pixel at most: the greatest
// of those that fall together.
func (g *plot) line(c curve, y func(v float64) float64) {
	var path strings.Builder
	pen := false
	flush := func(x, v float64) {
		if math.IsNaN(v) {
			pen = false
			return
		}
		if pen {
			path.WriteString("H" + px(x) + "V" + px(y(v)))
		} else {
			path.WriteString("M" + px(x) + " " + px(y(v)))
		}
		pen = true
	}
	best, lastX := math.NaN(), math.Inf(-1)
	for k := range g.p.frames() {
		x, v := g.x(g.p.time(k).Seconds()), c.at(k)
		if x-lastX >= 1 {
			if !math.IsInf(lastX, 0) {
				flush(lastX, best)
			}
			best, lastX = v, x
		} else if !(best >= v) {
			best = v
		}
	}
	flush(lastX, best)
	g.printf(`<path d="%s" fill="none" stroke="%s" stroke-width="1.4"/>`, path.String(), c.color)
}

// distances draws how far the tiles are, on a square-root scale, which shows
// the near range.
func (g *plot) distances() {
	const height = 190
	top := g.panel("distance to the tiles", height)
	reach := g.p.s.Config.MaxQueryRadius
	peak := 1.0
	list := make([][]float64, len(g.tiles))
	frames := g.p.frames()
	stride := max(1, frames/1000)
	for i, tile := range g.tiles {
		box := g.p.s.Manifest.Tiles[tile].Bounds.Box()
		for k := 0; k < frames; k += stride {
			d := box.Distance(g.p.s.Path.At(g.p.time(k)).Position)
			list[i] = append(list[i], d)
			peak = max(peak, min(d, reach*1.1))
		}
	}
	peak *= 1.15
	y := func(d float64) float64 { return top + float64(height*(1-math.Sqrt(min(d, peak)/peak))) }
	for _, d := range [...]float64{0, 10, 25, 50, 100, 200, 300, 500, 1000} {
		if d <= peak {
			g.printf(`<line x1="%d" x2="%d" y1="%s" y2="%s" stroke="#eeeeee"/>`, plotLeft, plotWidth-plotRight, px(y(d)), px(y(d)))
			g.text(plotLeft-6, y(d)+4, ` text-anchor="end" fill="#616161"`, fmt.Sprintf("%g m", d))
		}
	}
	g.radii(peak, y)
	for i := range g.tiles {
		var points strings.Builder
		for j, d := range list[i] {
			points.WriteString(px(g.x(g.p.time(j*stride).Seconds())) + "," + px(y(d)) + " ")
		}
		g.printf(`<polyline points="%s" fill="none" stroke="%s" stroke-width="1.3"/>`, strings.TrimSpace(points.String()), hue(i, len(g.tiles)))
	}
}

// radii marks the scene's streaming and unload radius.
func (g *plot) radii(peak float64, y func(float64) float64) {
	def := g.p.s.Manifest.StreamingDefaults
	for _, r := range [...]struct {
		name string
		d    float64
	}{{"streaming", def.StreamingRadius}, {"unload", def.UnloadRadius}} {
		if r.d > 0 && r.d <= peak {
			g.printf(`<line x1="%d" x2="%d" y1="%s" y2="%s" stroke="#757575" stroke-dasharray="4 3"/>`, plotLeft, plotWidth-plotRight, px(y(r.d)), px(y(r.d)))
			g.text(plotWidth-plotRight-4, y(r.d)-3, ` text-anchor="end" fill="#757575"`, fmt.Sprintf("%s radius %g m", r.name, r.d))
		}
	}
}

// hue spreads colours over the tiles.
func hue(i, n int) string { return fmt.Sprintf("hsl(%d,65%%,42%%)", 360*i/max(n, 1)) }

// rows draws three lanes per tile: wanted, resident, drawn.
func (g *plot) rows() {
	top := g.panel("representations: wanted, resident, drawn", rowHeight*len(g.tiles)+6)
	for i, tile := range g.tiles {
		y := top + 6 + float64(i*rowHeight)
		id := g.p.s.Manifest.Tiles[tile].ID
		if len(id) > 20 {
			id = strings.ToValidUTF8(id[:19], "") + "..."
		}
		g.printf(`<rect x="6" y="%s" width="4" height="%d" fill="%s"/>`, px(y), 3*laneHeight, hue(i, len(g.tiles)))
		g.text(16, y+float64(laneHeight)+8, "", id)
		r := g.p.rows[tile]
		if r == nil {
			r = &row{}
		}
		for lane, label := range [...]string{"w", "r", "d"} {
			ly := y + float64(lane*laneHeight)
			g.text(plotLeft-6, ly+laneHeight-0.5, ` text-anchor="end" fill="#9e9e9e" font-size="8"`, label)
			g.lane(r.spans, lane, ly)
		}
		g.underway(r.spans, y)
	}
}

// lane draws one lane; the resident one is split among all that is resident.
func (g *plot) lane(spans []span, lane int, y float64) {
	show := func(s span) payload.RepSet {
		switch lane {
		case 0:
			return payload.RepSet(0).With(s.wanted)
		case 1:
			return s.resident
		}
		return payload.RepSet(0).With(s.drawn)
	}
	g.printf(`<rect x="%d" y="%s" width="%d" height="%d" fill="%s"/>`, plotLeft, px(y), plotWidth-plotLeft-plotRight, laneHeight-1, repColor(payload.RepNone))
	g.bars(spans, show, func(x, w float64, set payload.RepSet) {
		reps := members(set)
		h := float64(laneHeight-1) / float64(max(len(reps), 1))
		for i, r := range reps {
			g.printf(`<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`, px(x), px(y+float64(float64(i)*h)), px(w), px(h), repColor(r))
		}
	})
}

// bars joins spans of the same set and skips empty ones.
func (g *plot) bars(spans []span, show func(span) payload.RepSet, draw func(x, w float64, set payload.RepSet)) {
	for i := 0; i < len(spans); {
		set := show(spans[i])
		j := i + 1
		for j < len(spans) && show(spans[j]) == set {
			j++
		}
		from, to := g.p.time(spans[i].from).Seconds(), g.last
		if j < len(spans) {
			to = g.p.time(spans[j].from).Seconds()
		}
		if len(members(set)) > 0 {
			draw(g.x(from), max(g.x(to)-g.x(from), 0.6), set)
		}
		i = j
	}
}

// members lists a set, the finest representation first, without none.
func members(set payload.RepSet) []payload.Rep {
	var list []payload.Rep
	if set.Has(payload.RepFull) {
		list = append(list, payload.RepFull)
	}
	for i := range payload.MaxLODLevels {
		if set.Has(payload.LOD(i)) {
			list = append(list, payload.LOD(i))
		}
	}
	if set.Has(payload.RepHLOD) {
		list = append(list, payload.RepHLOD)
	}
	return list
}

// underway frames the time in which the full geometry is loaded.
func (g *plot) underway(spans []span, y float64) {
	show := func(s span) payload.RepSet {
		if s.loading {
			return payload.RepSet(0).With(payload.RepFull)
		}
		return 0
	}
	g.bars(spans, show, func(x, w float64, _ payload.RepSet) {
		g.printf(`<rect x="%s" y="%s" width="%s" height="%d" fill="none" stroke="#7b1fa2"/>`, px(x), px(y-1), px(w), 3*laneHeight+1)
	})
}

func byteText(v float64) string {
	switch {
	case v >= 1e9:
		return fmt.Sprintf("%g GB", v/1e9)
	case v >= 1e6:
		return fmt.Sprintf("%g MB", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%g kB", v/1e3)
	}
	return fmt.Sprintf("%g B", v)
}

func countText(v float64) string {
	if v != math.Trunc(v) {
		return ""
	}
	return fmt.Sprintf("%g", v)
}
