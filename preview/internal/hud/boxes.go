package hud

import (
	"strings"

	"github.com/untoldkit/untold/runtime/payload"
)

// floor is where the picture ends that is seen from x on to the right: above what others
// show in the lower left corner, but never in the upper half.
func floor(m *Model, x float32) float32 {
	if x >= float32(m.Covered.Width) {
		return float32(m.Height)
	}
	return float32(max(m.Height-m.Covered.Height, m.Height/2))
}

// view names an unusual view at the bottom right, with its legend.
func (h *HUD) view(m *Model) {
	if m.View == "" {
		return
	}
	c, pad, lh := h.canvas, h.pad(), float32(h.canvas.font.Height)
	room := (m.Width - int(4*pad)) / c.font.Advance
	lines := wrap(m.Note, min(room, 56))
	if h.compact(m) && len(lines) > 2 {
		lines = nil
	}
	w := c.Width(m.View)
	for _, l := range lines {
		w = max(w, c.Width(l))
	}
	const gap = 2
	legend := 0
	for _, e := range m.Legend {
		legend += 2 + len([]rune(e.Text)) + gap
	}
	rows := 1 + len(lines)
	withLegend := len(m.Legend) > 0 && legend <= room
	if withLegend {
		w = max(w, float32((legend-gap)*c.font.Advance))
		rows++
	}
	height := float32(rows)*lh + 2*pad
	x := float32(m.Width) - w - 3*pad
	y := floor(m, x) - height - pad
	if m.Cursor != nil && x < h.cursorWidth(m)+2*pad {
		y -= cursorRows*lh + 3*pad // above the line about the tile under the pointer
	}
	c.Rect(x, y, w+2*pad, height, paper)
	x, y = x+pad, y+pad
	c.Text(x, y, m.View, accent)
	for _, l := range lines {
		y += lh
		c.Text(x, y, l, ink)
	}
	if !withLegend {
		return
	}
	y += lh
	for _, e := range m.Legend {
		c.Rect(x, y+lh*0.2, float32(c.font.Advance)*1.5, lh*0.6, e.Color.alpha(255))
		x += float32(2 * c.font.Advance)
		c.Text(x, y, e.Text, ink)
		x += c.Width(e.Text) + gap*float32(c.font.Advance)
	}
}

// wrap breaks a text into lines of at most so many characters.
func wrap(s string, columns int) (lines []string) {
	if s == "" {
		return nil
	}
	line := ""
	for word := range strings.FieldsSeq(s) {
		switch {
		case line == "":
			line = word
		case len([]rune(line))+1+len([]rune(word)) <= columns:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

const (
	cursorRows    = 4
	cursorColumns = 54
)

func (h *HUD) cursorWidth(m *Model) float32 {
	pad := h.pad()
	columns := min(cursorColumns, (m.Width-int(4*pad))/h.canvas.font.Advance)
	return float32(columns*h.canvas.font.Advance) + 2*pad
}

// cursor describes the tile under the pointer, at the bottom left.
func (h *HUD) cursor(m *Model) {
	c, pad, lh := h.canvas, h.pad(), float32(h.canvas.font.Height)
	t, s := m.Cursor, &m.Cursor.Status
	w := h.cursorWidth(m)
	columns := int((w - 2*pad) / float32(c.font.Advance))
	y := floor(m, pad) - cursorRows*lh - 3*pad
	c.Rect(pad, y, w, cursorRows*lh+2*pad, paper)
	c.Clip(pad, y, w, float32(m.Height))
	x := 2 * pad
	y += pad
	next := func(color Color) {
		c.TextBytes(x, y, h.line, color)
		h.line = h.line[:0]
		y += lh
	}
	c.Rect(x, y+lh*0.2, float32(c.font.Advance), lh*0.6, StateColor(s))
	h.text("  ").text(fitText(t.Info.ID, columns-14, true)).text("  ").text(s.State.String())
	next(ink)
	h.text("draws ").text(s.Drawn.String()).text(", wants ").text(s.Wanted.String()).text(", has ").text(reps(s.Resident))
	next(ink)
	h.text("at ").number(t.Distance, 1).text(" m; full to ").radius(t.Info.Streaming).text(", kept to ").radius(t.Info.Unload)
	next(faint)
	h.text("levels from")
	for _, d := range t.Info.LODs {
		h.text(" ").number(d, 0)
	}
	if t.Info.HLOD > 0 {
		h.text(" hlod ").number(t.Info.HLOD, 0)
	}
	if len(t.Info.LODs) == 0 && t.Info.HLOD == 0 {
		h.line = append(h.line[:0], "no levels"...)
	}
	next(faint)
	c.Unclip()
}

func (h *HUD) radius(v float64) *HUD {
	if v > 1e9 {
		return h.text("anywhere")
	}
	return h.number(v, 1).text(" m")
}

// reps lists a set of representations.
func reps(s payload.RepSet) string {
	var names []string
	for r := payload.RepFull; r < payload.LOD(payload.MaxLODLevels); r++ {
		if s.Has(r) {
			names = append(names, r.String())
		}
	}
	if names == nil {
		return "nothing"
	}
	return strings.Join(names, "+")
}

// news shows messages above the bottom.
func (h *HUD) news(m *Model) {
	c, pad, lh := h.canvas, h.pad(), float32(h.canvas.font.Height)
	columns := (m.Width - int(6*pad)) / c.font.Advance
	message, alert := wrap(m.Message, columns), wrap(m.Alert, columns)
	left := float32(m.Width) / 2
	for _, lines := range [...][]string{message, alert} {
		for _, l := range lines {
			left = min(left, (float32(m.Width)-c.Width(l))/2-pad)
		}
	}
	y := min(float32(m.Height)*0.72, floor(m, left)-float32(len(message)+len(alert))*(lh+pad))
	write := func(lines []string, color Color) {
		for _, l := range lines {
			w := c.Width(l)
			x := (float32(m.Width) - w) / 2
			c.Rect(x-pad, y-pad/2, w+2*pad, lh+pad, paper)
			c.Text(x, y, l, color)
			y += lh + pad
		}
	}
	write(message, ink)
	write(alert, alarm)
}

// chooser lists the scenes in the middle.
func (h *HUD) chooser(m *Model) {
	c, pad, lh := h.canvas, h.pad(), float32(h.canvas.font.Height)
	l := m.Chooser
	columns := min(64, (m.Width-int(6*pad))/c.font.Advance)
	rows := min(len(l.Names), max(1, m.Height/int(lh)-6))
	first := max(0, min(l.Selected-rows/2, len(l.Names)-rows))
	w, height := float32(columns*c.font.Advance)+2*pad, float32(rows+2)*lh+3*pad
	x, y := (float32(m.Width)-w)/2, (float32(m.Height)-height)/2
	c.Rect(x, y, w, height, paper.alpha(238))
	c.Frame(x, y, w, height, rule)
	x, y = x+pad, y+pad
	c.Text(x, y, fitText("Scenes: up, down, Enter; Tab closes", columns, false), accent)
	y += lh + pad
	for i := first; i < first+rows; i++ {
		if i == l.Selected {
			c.Rect(x-pad/2, y, w-pad, lh, accent.alpha(70))
		}
		mark := "  "
		if i == l.Current {
			mark = "\u00b7 "
		}
		c.Text(x, y, mark+fitText(l.Names[i], columns-2, true), ink)
		y += lh
	}
	if rows < len(l.Names) {
		h.count(l.Selected + 1).text(" of ").count(len(l.Names))
		c.TextBytes(x, y, h.line, faint)
		h.line = h.line[:0]
	}
}

// help lists the keys in the middle, in as many columns as fit.
func (h *HUD) help(m *Model) {
	c, pad, lh := h.canvas, h.pad(), float32(h.canvas.font.Height)
	key, text, total := 0, 0, 0
	for _, g := range m.Help {
		total += 2 + len(g.Keys)
		for _, k := range g.Keys {
			key, text = max(key, len([]rune(k[0]))), max(text, len([]rune(k[1])))
		}
	}
	column := key + 2 + text + 3
	fit := max(1, int((float32(m.Width)-4*pad)/float32(column*c.font.Advance)))
	rows := max(6, int((float32(m.Height)-6*pad)/lh))
	columns := min(fit, max(1, (total+rows-1)/rows+1))
	per := (total + columns - 1) / columns
	// Groups are not torn apart.
	var at [][]HelpGroup
	used := per
	for _, g := range m.Help {
		if used+len(g.Keys)+2 > per+2 && len(at) < columns || len(at) == 0 {
			at, used = append(at, nil), 0
		}
		at[len(at)-1] = append(at[len(at)-1], g)
		used += len(g.Keys) + 2
	}
	tallest := 0
	for _, list := range at {
		n := 0
		for _, g := range list {
			n += len(g.Keys) + 2
		}
		tallest = max(tallest, n-1)
	}
	w, height := float32(len(at)*column*c.font.Advance)+pad, float32(tallest)*lh+2*pad
	x, y := max(0, (float32(m.Width)-w)/2), max(0, (float32(m.Height)-height)/2)
	c.Rect(x, y, w, height, paper.alpha(238))
	c.Frame(x, y, w, height, rule)
	c.Clip(x, y, w, height)
	for i, list := range at {
		cx, cy := x+pad*2+float32(i*column*c.font.Advance), y+pad
		for _, g := range list {
			c.Text(cx, cy, g.Title, accent)
			cy += lh
			for _, k := range g.Keys {
				c.Text(cx, cy, k[0], ink)
				c.Text(cx+float32((key+2)*c.font.Advance), cy, k[1], faint)
				cy += lh
			}
			cy += lh
		}
	}
	c.Unclip()
}

// occlusion tints the part of the picture that loaded tiles cover.
func (h *HUD) occlusion(m *Model) {
	c := h.canvas
	w, height := float32(m.Width)/8, float32(m.Height)/8
	for row := range 8 {
		for col := range 8 {
			x, y := float32(col)*w, float32(7-row)*height
			if m.Occlusion.Covered>>(8*row+col)&1 != 0 {
				c.Rect(x, y, w, height, Color{77, 153, 255, 60})
			}
			c.Rect(x, y, w, 1, rule)
			c.Rect(x, y, 1, height, rule)
		}
	}
}
