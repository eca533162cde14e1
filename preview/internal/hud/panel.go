package hud

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/memory"
)

// Layout: margins and the width of a column in characters.
const (
	panelColumns = 54
	graphFrames  = 120
)

// HUD draws a Model. It keeps buffers between frames.
type HUD struct {
	canvas *Canvas
	line   []byte
	sorted []time.Duration
}

// New returns a HUD that writes with a font.
func New(f *Font) *HUD { return &HUD{canvas: NewCanvas(f)} }

// Draw lays out a model; the canvas is valid until the next call.
func (h *HUD) Draw(m *Model) *Canvas {
	c := h.canvas
	c.Reset()
	if m.Occlusion != nil {
		h.occlusion(m)
	}
	if m.Panel != nil {
		h.panel(m)
	}
	if m.Map != nil {
		h.miniMap(m)
	}
	h.view(m)
	if m.Cursor != nil {
		h.cursor(m)
	}
	h.news(m)
	if m.Missing > 0 {
		h.loading(m)
	}
	if m.Chooser != nil {
		h.chooser(m)
	}
	if m.Help != nil {
		h.help(m)
	}
	return c
}

// loading is the bar of what is resident.
func (h *HUD) loading(m *Model) {
	height := max(2, float32(h.canvas.font.Height)/5)
	width := float32(m.Width)
	h.canvas.Rect(0, 0, width, height, paper)
	h.canvas.Rect(0, 0, width*float32(1-m.Missing), height, accent)
}

// compact reports whether there is no room for all there is to say.
func (h *HUD) compact(m *Model) bool {
	return m.Height < 26*h.canvas.font.Height || m.Width < (panelColumns+24)*h.canvas.font.Advance
}

// short reports whether all figures would cover too much of the picture: more
// than about a third of its height or width.
func (h *HUD) short(m *Model) bool {
	return m.Height < 43*h.canvas.font.Height || 5*m.Width < 14*panelColumns*h.canvas.font.Advance
}

// pad is the distance between things.
func (h *HUD) pad() float32 { return float32(h.canvas.font.Height) / 3 }

// panel is the block of figures at the top left.
func (h *HUD) panel(m *Model) {
	c, p := h.canvas, m.Panel
	pad, lh := h.pad(), float32(c.font.Height)
	columns := min(panelColumns, (m.Width-int(4*pad))/c.font.Advance)
	graph, rows := 2.5*lh, 11
	if p.Batching {
		rows++
	}
	if p.Stats.PyramidBytes > 0 {
		rows++
	}
	if h.short(m) {
		graph, rows = 1.5*lh, 3
		columns = min(columns, 40)
		if m.Map != nil {
			columns = min(columns, int(float32(m.Width)-h.mapSide(m)-5*pad)/c.font.Advance)
		}
	}
	w := float32(max(columns, 1)*c.font.Advance) + 2*pad
	x, y := pad, pad
	c.Rect(x, y, w, float32(rows)*lh+graph+3*pad, paper)
	c.Clip(x, y, w, float32(m.Height))
	x, y, w = x+pad, y+pad, w-2*pad
	h.frameTimes(p, x, y)
	y += lh
	h.graph(p, x, y+pad/2, w, graph)
	y += graph + pad
	next := func(color Color) {
		c.TextBytes(x, y, h.line, color)
		h.line = h.line[:0]
		y += lh
	}
	if h.short(m) {
		h.text("tiles ").count(p.Tiles.Parsed).text(" +").count(p.Tiles.Parsing).text(" coarse ").count(p.Tiles.Fallback)
		next(ink)
		h.text("tri ").count(p.Render.Triangles).text(" mem ").bytes(p.Stats.GeometryUsed)
		next(faint)
		c.Unclip()
		return
	}
	h.text("draws ").count(p.Render.Draws).text(" in ").count(p.Render.Calls).text(" calls   triangles ").count(p.Render.Triangles)
	next(ink)
	h.text("culled ").count(p.Render.Culled).text("   shadows ").count(p.Render.ShadowTriangles).text(" triangles")
	next(faint)
	if p.Batching {
		r := &p.Render
		h.text("batches: ").count(r.BatchDraws).text(" for ").count(r.BatchedMeshes).text(" meshes (").bytes(r.BatchBytes).text(")")
		if r.BatchWork > 0 {
			h.text("  merging ").count(r.BatchWork)
		}
		next(faint)
	}
	h.tiles(p)
	next(ink)
	h.text("drawn: full ").count(p.Stats.VisibleFull).text("  lod ").count(p.Stats.VisibleLOD).text("  hlod ").count(p.Stats.VisibleHLOD).
		text("  of ").count(p.Stats.TotalStreamingEntities)
	color := ink
	if p.Stats.UncoveredTiles > 0 {
		h.text("  uncovered ").count(p.Stats.UncoveredTiles)
		color = warning
	}
	next(color)
	if p.Stats.PyramidBytes > 0 {
		h.text("pyramid: ").count(p.Stats.PyramidNodes).text(" nodes")
		limit := p.Stats.DetailLimit
		if limit == runtime.LimitNone {
			h.text(" (").bytes(p.Stats.PyramidBytes).text(")")
		}
		h.text("  error ").number(p.ErrorPixels, 1).text(" px")
		if limit != runtime.LimitNone {
			h.text("  short of ").text(limit.String())
		}
		next(faint)
	}
	h.text("queue: loading ").count(p.Stats.ActiveLoads).text("  waiting ").count(p.Stats.PendingLoadBacklog).
		text("  uploads ").count(p.Render.Pending).text(" (").bytes(p.Render.PendingBytes).text(")")
	next(ink)
	h.text("load ").number(p.Stats.AverageAsyncLoadMs, 0).text(" ms  tick ").number(p.Stats.UpdateWorkMs, 2).
		text(" ms  failures ").count(int(p.Stats.Failures)).text("  undrawn ").count(int(p.Stats.Undrawn))
	color = faint
	if p.Stats.UndrawnTiles > 0 || p.Tiles.Failed > 0 {
		color = warning
	}
	next(color)
	reach := 0.0
	if p.Stats.TilesGivenUp > 0 {
		reach = p.Stats.GeometryReach
	}
	y = h.memory("geometry", x, y, w, p.Stats.GeometryUsed, p.Stats.GeometryBudget, reach)
	y = h.memory("textures", x, y, w, p.Render.TextureBytes, p.Stats.TextureBudget, 0)
	h.where(p)
	next(faint)
	h.flags(p)
	color = accent
	if p.Pressure > memory.PressureNone {
		color = warning
	}
	next(color)
	c.Unclip()
}

func (h *HUD) frameTimes(p *Panel, x, y float32) {
	median, worst := h.quantiles(p.Times)
	if median > 0 {
		h.number(1/median.Seconds(), 1)
	} else {
		h.text("-")
	}
	h.text(" fps  ").number(median.Seconds()*1e3, 1).text(" ms  p99 ").number(worst.Seconds()*1e3, 1).text(" ms")
	if p.Render.GPU > 0 {
		h.text("  gpu ").number(p.Render.GPU.Seconds()*1e3, 1)
	}
	h.canvas.TextBytes(x, y, h.line, ink)
	h.line = h.line[:0]
}

// quantiles returns the median and the 99th of a hundred.
func (h *HUD) quantiles(times []time.Duration) (median, worst time.Duration) {
	if len(times) == 0 {
		return 0, 0
	}
	h.sorted = append(h.sorted[:0], times...)
	slices.Sort(h.sorted)
	return h.sorted[len(h.sorted)/2], h.sorted[(len(h.sorted)*99+99)/100-1]
}

// graph draws the latest frame times as bars, the target as a line at half the
// height.
func (h *HUD) graph(p *Panel, x, y, w, height float32) {
	c := h.canvas
	target := p.Target
	if target <= 0 {
		target = time.Second / 60
	}
	c.Rect(x, y, w, height, softFill)
	times := p.Times[max(0, len(p.Times)-graphFrames):]
	bar := w / graphFrames
	for i, t := range times {
		part := min(1, float32(t.Seconds()/(2*target.Seconds())))
		color := ColorResident
		switch {
		case t > 2*target:
			color = alarm
		case t > target*5/4:
			color = warning
		}
		at := x + w - float32(len(times)-i)*bar
		c.Rect(at, y+height*(1-part), max(1, bar-0.5), height*part, color.alpha(200))
	}
	c.Rect(x, y+height/2, w, 1, rule)
}

func (h *HUD) tiles(p *Panel) {
	h.text("tiles: loaded ").count(p.Tiles.Parsed).text("  loading ").count(p.Tiles.Parsing).text("  coarse ").count(p.Tiles.Fallback)
	if p.Tiles.Failed > 0 {
		h.text("  failed ").count(p.Tiles.Failed)
	}
}

// memory draws a bar of use against a budget and returns the next line. reach is
// how many metres a budget that is too small goes, 0 for one that is not.
func (h *HUD) memory(name string, x, y, w float32, used, budget int64, reach float64) float32 {
	c := h.canvas
	lh := float32(c.font.Height)
	left := float32(10 * c.font.Advance)
	c.Text(x, y, name, faint)
	bar := (w - left) * 0.45
	if reach > 0 {
		bar = (w - left) * 0.25 // there is more to say
	}
	part, color := float32(0), accent
	if budget > 0 && budget < math.MaxInt64 {
		part = min(1, float32(float64(used)/float64(budget)))
	}
	switch {
	case part >= 0.95:
		color = alarm
	case part >= 0.85:
		color = warning
	}
	c.Rect(x+left, y+lh*0.25, bar, lh*0.5, softFill)
	c.Rect(x+left, y+lh*0.25, bar*part, lh*0.5, color)
	h.bytes(used)
	if budget > 0 && budget < math.MaxInt64 {
		h.text(" of ").bytes(budget)
	} else {
		h.text(", no budget")
	}
	words := ink
	if reach > 0 {
		h.text(": to ").number(reach, 0).text(" m")
		words = warning
	}
	c.TextBytes(x+left+bar+float32(c.font.Advance), y, h.line, words)
	h.line = h.line[:0]
	return y + lh
}

func (h *HUD) where(p *Panel) {
	h.text("at ")
	for i, v := range p.Camera.Position {
		if i > 0 {
			h.text(", ")
		}
		h.number(v, 1)
	}
	if p.Mode != "" {
		h.text("  ").text(p.Mode)
	}
	if p.Speed > 0 {
		digits := 1
		if p.Speed < 1 {
			digits = 3
		}
		h.text(" ").number(p.Speed, digits).text(" m/s")
	}
}

func (h *HUD) flags(p *Panel) {
	if p.Pressure > memory.PressureNone {
		h.text("memory pressure: ").text(p.Pressure.String()).text("  ")
	}
	for _, f := range [...]struct {
		on   bool
		text string
	}{{p.Recording, "recording path  "}, {p.Paused, "streaming paused  "}, {p.Frozen, "culling frozen  "}} {
		if f.on {
			h.text(f.text)
		}
	}
	if len(h.line) == 0 {
		h.text("F1 help")
	}
}

func (h *HUD) text(s string) *HUD { h.line = append(h.line, s...); return h }

// count appends a number with its digits grouped by thousands.
func (h *HUD) count(n int) *HUD {
	start := len(h.line)
	h.line = strconv.AppendInt(h.line, int64(n), 10)
	for i := len(h.line) - 3; i > start && h.line[i-1] != '-'; i -= 3 {
		h.line = slices.Insert(h.line, i, ',')
	}
	return h
}

func (h *HUD) number(v float64, decimals int) *HUD {
	h.line = strconv.AppendFloat(h.line, v, 'f', decimals, 64)
	return h
}

// bytes appends a size with a decimal unit.
func (h *HUD) bytes(n int64) *HUD {
	switch {
	case n < 1000:
		return h.count(int(n)).text(" B")
	case n < 1_000_000:
		return h.number(float64(n)/1e3, 1).text(" kB")
	case n < 1_000_000_000:
		return h.number(float64(n)/1e6, 1).text(" MB")
	}
	return h.number(float64(n)/1e9, 2).text(" GB")
}
