package tune

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// The measures of the plot in pixels.
const (
	width, height            = 1000, 640
	left, right, top, bottom = 80, 30, 60, 60
	ground                   = 40 // below an error of 0

	clipped = 4 // times the error of the defaults that are shown
)

// WritePlot draws the trade-off as an SVG picture: for each trial the bytes that it takes,
// to the right, and how coarse the picture is, upwards; what is worse than allowed is
// hollow. The line joins what nothing beats in both, the ring is the best one.
func (r *Result) WritePlot(w io.Writer, title string) error {
	var most, coarse float64
	for i := range r.Trials {
		if t := &r.Trials[i]; t.Failed == "" {
			most, coarse = max(most, float64(t.Bytes)), max(coarse, t.ErrorP50)
		}
	}
	// Round scales, with room above the highest point; what is far coarser than the
	// defaults stands at the upper edge.
	coarse = min(coarse, clipped*max(r.Trials[0].ErrorP50, unseen))
	most, coarse = ceil(most*1.05/1e6), max(ceil(coarse*1.1), 1)
	x := func(bytes int64) float64 {
		return left + float64(float64(bytes)/1e6/most*(width-left-right))
	}
	y := func(pixels float64) float64 {
		return height - bottom - ground - float64(min(pixels/coarse, 1)*(height-top-bottom-ground))
	}

	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p(`<text x="16" y="26" font-size="15" font-weight="bold">%s</text>`, html.EscapeString(title))
	p(`<text x="16" y="44" fill="#555555">bytes of all camera paths against the median error in pixels; hollow: worse than the defaults in some way</text>`)
	for k := range 6 {
		at := float64(k) / 5
		gx, gy := left+float64(at*(width-left-right)), y(at*coarse)
		p(`<path d="M%.1f %d V%d M%d %.1f H%d" stroke="#e0e0e0"/>`, gx, top, height-bottom, left, gy, width-right)
		p(`<text x="%.1f" y="%d" text-anchor="middle">%s MB</text>`, gx, height-bottom+18, short(at*most))
		p(`<text x="%d" y="%.1f" text-anchor="end">%s px</text>`, left-8, gy+4, short(at*coarse))
	}
	var line []string
	for _, t := range r.front() {
		line = append(line, fmt.Sprintf("%.1f,%.1f", x(t.Bytes), y(t.ErrorP50)))
	}
	p(`<polyline points="%s" fill="none" stroke="#90caf9" stroke-width="2"/>`, strings.Join(line, " "))
	for i := range r.Trials {
		t := &r.Trials[i]
		if t.Failed != "" {
			continue
		}
		fill := "#1565c0"
		if t.Wanting != "" {
			fill = "#ffffff"
		}
		tip := Text(t.Settings)
		if t.Wanting != "" {
			tip += ": " + t.Wanting
		}
		p(`<circle cx="%.1f" cy="%.1f" r="4" fill="%s" stroke="#1565c0"><title>%d: %s</title></circle>`,
			x(t.Bytes), y(t.ErrorP50), fill, i, html.EscapeString(tip))
		p(`<text x="%.1f" y="%.1f" font-size="9" fill="#555555">%d</text>`, x(t.Bytes)+6, y(t.ErrorP50)-5, i)
	}
	mark := func(at int, color, label string, above float64) {
		cx, cy := x(r.Trials[at].Bytes), y(r.Trials[at].ErrorP50)
		anchor := "start"
		if cx > width/2 {
			anchor = "end"
		}
		p(`<path d="M%.1f %.1f V%.1f" stroke="%s"/>`, cx, cy-9, cy-above, color)
		p(`<circle cx="%.1f" cy="%.1f" r="9" fill="none" stroke="%s" stroke-width="2"/>`, cx, cy, color)
		p(`<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>`, cx, cy-above-4, anchor, color, html.EscapeString(label))
	}
	mark(0, "#ef6c00", "defaults", 26)
	if r.Best > 0 {
		mark(r.Best, "#2e7d32", "best: "+Text(r.Trials[r.Best].Settings), 46)
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">
<rect width="100%%" height="100%%" fill="#ffffff"/>
%s</svg>
`, width, height, width, height, b.String())
	return err
}

// front returns the trials that none beats in both bytes and error, by bytes.
func (r *Result) front() []*Trial {
	var out []*Trial
	for {
		var next *Trial
		for i := range r.Trials {
			t := &r.Trials[i]
			if t.Failed != "" || len(out) > 0 && !(t.ErrorP50 < out[len(out)-1].ErrorP50) {
				continue
			}
			if next == nil || t.Bytes < next.Bytes || t.Bytes == next.Bytes && t.ErrorP50 < next.ErrorP50 {
				next = t
			}
		}
		if next == nil {
			return out
		}
		out = append(out, next)
	}
}

// ceil rounds up to a number of one digit, or 1.5 or 2.5, times a power of ten.
func ceil(v float64) float64 {
	if !(v > 0) {
		return 1
	}
	unit := 1e-9
	for unit*10 < v {
		unit *= 10
	}
	for _, m := range []float64{1, 1.5, 2, 2.5, 3, 4, 5, 6, 8} {
		if unit*m >= v {
			return unit * m
		}
	}
	return unit * 10
}

// short writes a number with at most two digits behind the point.
func short(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", math.Abs(v)), "0"), ".")
}
