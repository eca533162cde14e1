package report

import (
	"image"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/vector"
)

// haloWidth is how far the halo of a text reaches, in pixels.
const haloWidth = 1.5

// writePNG writes the drawing as a PNG.
func (d *drawing) writePNG(w io.Writer) error { return png.Encode(w, d.render()) }

// render draws in software, the same pixels on every machine.
func (d *drawing) render() *image.RGBA {
	c := &canvas{img: image.NewRGBA(image.Rect(0, 0, d.w, d.h)), types: newTypesetter(), raster: &vector.Rasterizer{}}
	draw.Draw(c.img, c.img.Bounds(), image.NewUniform(paperColor.nrgba()), image.Point{}, draw.Src)
	for i := range d.elements {
		e := &d.elements[i]
		c.clip = c.img.Bounds()
		if e.clip >= 0 {
			c.clip = c.clip.Intersect(pixels(d.clips[e.clip]))
		}
		c.element(e)
	}
	return c.img
}

// canvas draws elements on an image.
type canvas struct {
	img    *image.RGBA
	clip   image.Rectangle
	types  *typesetter
	raster *vector.Rasterizer
}

// pixels rounds a rectangle to whole pixels, so that neighbours share their
// edge and lines are sharp; it is at least one pixel wide and high.
func pixels(r rect) image.Rectangle {
	x0, y0, x1, y1 := whole(r.x0), whole(r.y0), whole(r.x1), whole(r.y1)
	return image.Rect(x0, y0, max(x1, x0+1), max(y1, y0+1))
}

// whole rounds a coordinate, which may lie far outside of the picture.
func whole(v float64) int { return int(math.Floor(min(max(v, -1e6), 1e6) + 0.5)) }

func (c *canvas) element(e *element) {
	switch e.kind {
	case kindRect:
		c.rect(e)
	case kindLines:
		c.stroke(e.paths, false, &e.style)
	case kindText:
		c.text(e)
	}
}

func (c *canvas) fill(r image.Rectangle, p paint) {
	if r = r.Intersect(c.clip); p.a > 0 && !r.Empty() {
		draw.Draw(c.img, r, image.NewUniform(p.nrgba()), image.Point{}, draw.Over)
	}
}

func (c *canvas) rect(e *element) {
	s := &e.style
	if e.radius > 0 {
		outline := roundedPath(e.box, e.radius)
		c.polygon(outline, s.fill)
		c.stroke([][]point{outline}, true, s)
		return
	}
	r := pixels(e.box)
	c.fill(r, s.fill)
	if s.line.a == 0 {
		return
	}
	if s.dashed() {
		m := 0.5 // the middle of the pixels at the edge
		x0, y0, x1, y1 := float64(r.Min.X)+m, float64(r.Min.Y)+m, float64(r.Max.X)-m, float64(r.Max.Y)-m
		c.stroke([][]point{{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}}, true, s)
		return
	}
	// The line lies inside, so that neighbours do not blend.
	w := min(max(whole(s.width), 1), max(r.Dx()/2, 1), max(r.Dy()/2, 1))
	c.fill(image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+w), s.line)
	c.fill(image.Rect(r.Min.X, max(r.Max.Y-w, r.Min.Y+w), r.Max.X, r.Max.Y), s.line)
	c.fill(image.Rect(r.Min.X, r.Min.Y+w, r.Min.X+w, r.Max.Y-w), s.line)
	c.fill(image.Rect(max(r.Max.X-w, r.Min.X+w), r.Min.Y+w, r.Max.X, r.Max.Y-w), s.line)
}

// roundedPath returns the outline of a rectangle with round corners, from the
// left end of its upper side, clockwise. A corner is a cubic curve.
func roundedPath(r rect, radius float64) []point {
	radius = min(radius, r.w()/2, r.h()/2)
	const steps, k = 48, 0.4477152498 // 1 - 4/3 (sqrt(2) - 1)
	var out []point
	corner := func(c point, ax, ay, bx, by float64) {
		// From c + a to c + b, both of them radius away from the corner c.
		for i := range steps + 1 {
			t := float64(i) / steps
			u := 1 - t
			fa := float64(u*u*u) + float64(3*k*u*u*t)
			fb := float64(t*t*t) + float64(3*k*u*t*t)
			out = append(out, point{c.x + float64(ax*fa) + float64(bx*fb), c.y + float64(ay*fa) + float64(by*fb)})
		}
	}
	d := radius
	corner(point{r.x1, r.y0}, -d, 0, 0, d)
	corner(point{r.x1, r.y1}, 0, -d, -d, 0)
	corner(point{r.x0, r.y1}, d, 0, 0, -d)
	corner(point{r.x0, r.y0}, 0, d, d, 0)
	return out
}

// polygon fills an outline that lies near the picture.
func (c *canvas) polygon(p []point, fill paint) {
	if fill.a == 0 || len(p) < 3 {
		return
	}
	c.cover([][]point{p}, fill)
}

// rasterBlock is the side of the squares that are drawn at a time. Up to this
// size the rasterizer counts in integers, beyond it in floats whose sums differ
// between machines.
const rasterBlock = 512

// cover fills outlines of equal turning direction, with holes that turn the
// other way; what overlaps is filled once.
func (c *canvas) cover(outlines [][]point, fill paint) {
	boxes := make([]image.Rectangle, len(outlines))
	var all image.Rectangle
	for i, o := range outlines {
		lo, hi := o[0], o[0]
		for _, q := range o {
			lo, hi = point{min(lo.x, q.x), min(lo.y, q.y)}, point{max(hi.x, q.x), max(hi.y, q.y)}
		}
		boxes[i] = image.Rect(whole(lo.x)-1, whole(lo.y)-1, whole(hi.x)+2, whole(hi.y)+2)
		all = all.Union(boxes[i])
	}
	all = all.Intersect(c.clip)
	for y := all.Min.Y; y < all.Max.Y; y += rasterBlock {
		for x := all.Min.X; x < all.Max.X; x += rasterBlock {
			c.coverBlock(image.Rect(x, y, x+rasterBlock, y+rasterBlock).Intersect(all), outlines, boxes, fill)
		}
	}
}

func (c *canvas) coverBlock(r image.Rectangle, outlines [][]point, boxes []image.Rectangle, fill paint) {
	c.raster.Reset(r.Dx(), r.Dy())
	dx, dy := float64(r.Min.X), float64(r.Min.Y)
	seen := false
	for i, o := range outlines {
		if !boxes[i].Overlaps(r) {
			continue
		}
		seen = true
		c.raster.MoveTo(float32(o[0].x-dx), float32(o[0].y-dy))
		for _, q := range o[1:] {
			c.raster.LineTo(float32(q.x-dx), float32(q.y-dy))
		}
		c.raster.ClosePath()
	}
	if seen {
		c.raster.Draw(c.img, r, image.NewUniform(fill.nrgba()), image.Point{})
	}
}

// stroke draws lines along points, dashed or not, all at once: what overlaps
// is drawn once.
func (c *canvas) stroke(paths [][]point, closed bool, s *style) {
	if s.line.a == 0 {
		return
	}
	var quads [][]point
	for _, p := range paths {
		quads = append(quads, c.outline(p, closed, s)...)
	}
	if len(quads) > 0 {
		c.cover(quads, s.line)
	}
}

// outline returns the quadrangles that a line fills.
func (c *canvas) outline(p []point, closed bool, s *style) [][]point {
	near := rect{float64(c.clip.Min.X), float64(c.clip.Min.Y), float64(c.clip.Max.X), float64(c.clip.Max.Y)}.grow(2*s.width + 2)
	st := stroker{width: max(s.width, 1), near: near, closed: closed && !s.dashed()}
	for _, v := range s.dash {
		if v > 0 {
			st.dash = append(st.dash, v)
			st.period += v
		}
	}
	for i := range len(p) - 1 {
		st.segment(p[i], p[i+1])
	}
	if closed {
		st.segment(p[len(p)-1], p[0])
	}
	return st.quads
}

// stroker turns lines into quadrangles.
type stroker struct {
	width  float64
	near   rect // what lies outside is left out
	closed bool // segments reach over corners
	dash   []float64
	period float64
	at     float64 // length of the line so far
	quads  [][]point
}

func (s *stroker) segment(a, b point) {
	dx, dy := b.x-a.x, b.y-a.y
	length := math.Sqrt(float64(dx*dx) + float64(dy*dy))
	if !(length > 0) || math.IsInf(length, 0) {
		return
	}
	dx, dy = dx/length, dy/length
	start, end := clipSegment(a, dx, dy, length, s.near)
	defer func() { s.at += length }()
	if start >= end {
		return
	}
	along := func(t float64) point { return point{a.x + float64(dx*t), a.y + float64(dy*t)} }
	if len(s.dash) == 0 {
		if s.closed && (dx == 0 || dy == 0) {
			// Straight sides fill the corners between them.
			start, end = start-float64(s.width/2), end+float64(s.width/2)
		}
		s.quad(along(start), along(end), dx, dy)
		return
	}
	for t := start; t < end; {
		on, left := s.phase(s.at + t)
		stop := min(t+left, end)
		if on {
			s.quad(along(t), along(stop), dx, dy)
		}
		t = max(stop, t+1e-6)
	}
}

// phase tells whether the pattern draws at a length, and for how much longer
// it stays so.
func (s *stroker) phase(at float64) (on bool, left float64) {
	at = math.Mod(at, s.period)
	for i, v := range s.dash {
		if at < v {
			return i%2 == 0, v - at
		}
		at -= v
	}
	return true, s.dash[0]
}

func (s *stroker) quad(a, b point, dx, dy float64) {
	nx, ny := float64(-dy*s.width/2), float64(dx*s.width/2)
	s.quads = append(s.quads, []point{{a.x + nx, a.y + ny}, {b.x + nx, b.y + ny}, {b.x - nx, b.y - ny}, {a.x - nx, a.y - ny}})
}

// clipSegment returns the part of a line inside a rectangle, as lengths along
// it (Liang and Barsky 1984).
func clipSegment(a point, dx, dy, length float64, r rect) (start, end float64) {
	start, end = 0, length
	for _, side := range [4][2]float64{{-dx, a.x - r.x0}, {dx, r.x1 - a.x}, {-dy, a.y - r.y0}, {dy, r.y1 - a.y}} {
		p, q := side[0], side[1]
		switch {
		case p == 0 && q < 0:
			return 0, 0
		case p < 0:
			start = max(start, q/p)
		case p > 0:
			end = min(end, q/p)
		}
	}
	return start, end
}

// text draws a label, under it the halo.
func (c *canvas) text(e *element) {
	x := e.box.x0
	if e.anchor != anchorStart {
		w := c.types.width(e.text, e.size, e.bold)
		x -= w / float64(3-int(e.anchor))
	}
	if halo := e.style.line; halo.a > 0 {
		const d, o = haloWidth, haloWidth * 0.7
		var copies [][]point
		for _, v := range [8]point{{-d, 0}, {d, 0}, {0, -d}, {0, d}, {-o, -o}, {-o, o}, {o, -o}, {o, o}} {
			copies = append(copies, c.types.outline(e.text, point{x + v.x, e.box.y0 + v.y}, e.size, e.bold)...)
		}
		c.coverText(copies, halo)
	}
	c.coverText(c.types.outline(e.text, point{x, e.box.y0}, e.size, e.bold), e.style.fill)
}

func (c *canvas) coverText(outlines [][]point, fill paint) {
	if len(outlines) > 0 && fill.a > 0 {
		c.cover(outlines, fill)
	}
}
