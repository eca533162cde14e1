package report

// point is a place in a drawing, in pixels from its left top corner.
type point struct{ x, y float64 }

// rect is an axis-aligned rectangle of a drawing, in pixels.
type rect struct{ x0, y0, x1, y1 float64 }

func (r rect) w() float64 { return r.x1 - r.x0 }
func (r rect) h() float64 { return r.y1 - r.y0 }

// grow moves all sides out by d.
func (r rect) grow(d float64) rect {
	d = float64(d) // a product is rounded
	return rect{r.x0 - d, r.y0 - d, r.x1 + d, r.y1 + d}
}

// cut returns the part of r inside o.
func (r rect) cut(o rect) rect {
	return rect{max(r.x0, o.x0), max(r.y0, o.y0), min(r.x1, o.x1), min(r.y1, o.y1)}
}

// overlaps reports whether both have an area in common.
func (r rect) overlaps(o rect) bool { return r.x0 < o.x1 && o.x0 < r.x1 && r.y0 < o.y1 && o.y0 < r.y1 }

// inside reports whether r lies in o.
func (r rect) inside(o rect) bool {
	return r.x0 >= o.x0 && r.y0 >= o.y0 && r.x1 <= o.x1 && r.y1 <= o.y1
}

// style says how a shape is filled and outlined.
type style struct {
	fill, line paint
	width      float64    // of the line
	dash       [4]float64 // lengths of line and gap in turn; zero: solid
}

func (s *style) dashed() bool { return s.dash != [4]float64{} }

type kind uint8

const (
	kindRect  kind = iota // box, with corners of radius
	kindLines             // paths, never filled
	kindText
)

type anchor uint8

const (
	anchorStart anchor = iota
	anchorMiddle
	anchorEnd
)

// element is one thing to draw. It stands for all kinds, so that drawings of
// many tiles are one slice.
type element struct {
	kind  kind
	clip  int // index into drawing.clips, -1 for none
	box   rect
	style style

	radius float64   // kindRect
	paths  [][]point // kindLines

	// kindText: box.x0, box.y0 is the place on the base line; style.fill the
	// colour and style.line the colour of a halo.
	text   string
	size   float64 // pixels
	bold   bool
	anchor anchor

	title string // shown by browsers when pointed at
}

// drawing is a list of shapes in painting order, for both back ends.
type drawing struct {
	w, h     int
	title    string // for screen readers
	elements []element
	clips    []rect
	clip     int // of the elements to come
}

func newDrawing(w, h int, title string) *drawing { return &drawing{w: w, h: h, title: title, clip: -1} }

// clipTo cuts the elements to come; unclip ends that.
func (d *drawing) clipTo(r rect) {
	d.clip = len(d.clips)
	d.clips = append(d.clips, r)
}

func (d *drawing) unclip() { d.clip = -1 }

func (d *drawing) add(e element) {
	e.clip = d.clip
	d.elements = append(d.elements, e)
}

func (d *drawing) rect(r rect, s style) { d.add(element{kind: kindRect, box: r, style: s}) }

func (d *drawing) rounded(r rect, radius float64, s style) {
	d.add(element{kind: kindRect, box: r, radius: radius, style: s})
}

func (d *drawing) lines(s style, paths ...[]point) {
	d.add(element{kind: kindLines, paths: paths, style: s})
}

// label is a text on one line.
type label struct {
	text   string
	size   float64
	bold   bool
	anchor anchor
	color  paint
	halo   paint
}

// text writes at a place on the base line.
func (d *drawing) text(x, y float64, l label) {
	if l.text == "" {
		return
	}
	d.add(element{
		kind: kindText, box: rect{x, y, x, y}, text: l.text, size: l.size, bold: l.bold, anchor: l.anchor,
		style: style{fill: l.color, line: l.halo},
	})
}

// hatch fills a rectangle with diagonal lines.
func (d *drawing) hatch(r rect, gap float64, s style) {
	if !(r.w() > 0 && r.h() > 0) {
		return
	}
	var paths [][]point
	for c := gap; c < r.w()+r.h(); c += gap {
		// The line from left bottom to right top: x - r.x0 + y - r.y0 = c.
		a := point{r.x0 + min(c, r.w()), r.y0 + max(0, c-r.w())}
		b := point{r.x0 + max(0, c-r.h()), r.y0 + min(c, r.h())}
		paths = append(paths, []point{b, a})
	}
	d.lines(s, paths...)
}
