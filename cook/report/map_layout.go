package report

import (
	"math"
	"strconv"
)

// layout says where everything on a map is, in pixels.
type layout struct {
	u       float64 // what a pixel of the design is
	w, h    int
	scale   float64 // pixels a metre
	panels  []rect  // the pictures, without captions and ticks
	legend  rect
	caption float64 // height over a panel
	ticks   bool
	step    float64 // metres between ticks
}

// The design, in its own pixels; a map of designSize pixels has these sizes.
const (
	designSize   = 1400
	marginSize   = 26
	headerSize   = 66
	legendSize   = 244
	legendGap    = 26
	captionSize  = 22
	tickSize     = 20
	panelGap     = 18
	textSize     = 12
	smallText    = 10.5
	titleSize    = 20
	maxTickPanel = 9 // more panels go without ticks
)

// place lays the panels out in the number of columns that shows them largest,
// beside a legend of a known height.
func (p *Map) place(legendHeight func(u float64) float64) *layout {
	l := &layout{u: min(max(float64(p.size)/designSize, 0.7), 4)}
	u, n := l.u, len(p.panels)
	l.ticks = n <= maxTickPanel && p.size >= 640
	l.caption = captionSize * u
	gap := panelGap * u
	if n > maxTickPanel {
		gap, l.caption = 8*u, 16*u
	}
	availW := float64(p.size) - float64((2*marginSize+legendSize+legendGap)*u)
	availH := float64(p.size) - float64((2*marginSize+headerSize)*u)
	cols, left, bottom := 1, 0.0, 0.0
	if l.ticks {
		left, bottom = p.tickWidth(u), tickSize*u
	}
	for c := 1; c <= n; c++ {
		rows := float64((n + c - 1) / c)
		w := (availW-float64(gap*float64(c-1)))/float64(c) - left
		h := (availH-float64(gap*(rows-1)))/rows - bottom - l.caption
		if s := min(w/p.view.w(), h/p.view.h()); s > l.scale {
			l.scale, cols = s, c
		}
	}
	if !(l.scale > 0) {
		l.scale = 4 / max(p.view.w(), p.view.h())
	}
	pw, ph := float64(p.view.w()*l.scale), float64(p.view.h()*l.scale)
	x0, y0 := float64(marginSize*u), float64((marginSize+headerSize)*u)
	right, low := x0, y0
	for i := range n {
		x := x0 + float64(float64(i%cols)*(pw+left+gap)) + left
		y := y0 + float64(float64(i/cols)*(ph+l.caption+bottom+gap)) + l.caption
		l.panels = append(l.panels, rect{x, y, x + pw, y + ph})
		right, low = max(right, x+pw), max(low, y+ph+bottom)
	}
	l.legend = rect{right + float64(legendGap*u), y0 + l.caption, right + float64((legendGap+legendSize)*u), 0}
	low = max(low, l.legend.y0+legendHeight(u))
	l.legend.y1 = low
	l.w = min(int(math.Ceil(l.legend.x1+float64(marginSize*u)-1e-6)), p.size)
	l.h = min(int(math.Ceil(low+float64(marginSize*u)-1e-6)), p.size)
	l.step = niceStep(70 * u / l.scale)
	return l
}

// tickWidth is the room for the coordinates beside a panel.
func (p *Map) tickWidth(u float64) float64 {
	w := 0.0
	for _, v := range [2]float64{p.view.z0, p.view.z1} {
		w = max(w, p.types.width(coordText(v, max(p.view.h(), p.view.w())/20), smallText*u, false))
	}
	return min(w+float64(10*u), 110*u)
}

// niceStep returns the smallest of 1, 2, 5 times a power of ten that is at
// least v.
func niceStep(v float64) float64 {
	if !(v > 0 && v <= 1e300) {
		return 1
	}
	// Parsing gives the nearest number to the decimal one on every machine.
	for e := -30; ; e++ {
		for _, digit := range []string{"1", "2", "5"} {
			s, err := strconv.ParseFloat(digit+"e"+strconv.Itoa(e), 64)
			if err != nil || s >= v {
				return s
			}
		}
	}
}

// coordText writes a coordinate at the precision of a step.
func coordText(v, step float64) string {
	if math.Abs(v) >= 1e9 {
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	decimals := 0
	for s := step; s < 1 && decimals < 6; s *= 10 {
		decimals++
	}
	return decimal(v, decimals)
}

// x and y project the ground into a panel.
func (l *layout) x(panel rect, view worldRect, x float64) float64 {
	return panel.x0 + float64((x-view.x0)*l.scale)
}

func (l *layout) y(panel rect, view worldRect, z float64) float64 {
	return panel.y0 + float64((z-view.z0)*l.scale)
}

// project places a rectangle of the ground, cut a little outside of the panel
// so that no back end meets absurd numbers.
func (l *layout) project(panel rect, view worldRect, r worldRect) rect {
	far := panel.grow(max(panel.w(), panel.h(), 100) * 4)
	clampTo := func(v, lo, hi float64) float64 { return min(max(v, lo), hi) }
	return rect{
		clampTo(l.x(panel, view, r.x0), far.x0, far.x1), clampTo(l.y(panel, view, r.z0), far.y0, far.y1),
		clampTo(l.x(panel, view, r.x1), far.x0, far.x1), clampTo(l.y(panel, view, r.z1), far.y0, far.y1),
	}
}
