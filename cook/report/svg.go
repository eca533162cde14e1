package report

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// svgFont names fonts that most systems have, close in width to the one that
// texts are measured with.
const svgFont = `"Helvetica Neue", Arial, "Liberation Sans", sans-serif`

// writeSVG writes the drawing as a self-contained SVG 1.1 document: no style
// sheet, script, id, font or picture, so that several can stand in one page.
func (d *drawing) writeSVG(w io.Writer) error {
	b := bufio.NewWriterSize(w, 64<<10)
	s := &svgWriter{Writer: b, clip: -1}
	s.open(d)
	for i := range d.elements {
		s.element(d, &d.elements[i])
	}
	s.endGroup()
	s.endClip()
	b.WriteString("</svg>\n")
	return b.Flush()
}

// svgWriter joins neighbours of one style into groups. Errors stay in the
// bufio.Writer until Flush.
type svgWriter struct {
	*bufio.Writer
	clip  int
	group string // attributes of the open group
	buf   []byte
}

func (s *svgWriter) open(d *drawing) {
	w, h := strconv.Itoa(d.w), strconv.Itoa(d.h)
	s.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" width="` + w + `" height="` + h + `" viewBox="0 0 ` + w + " " + h +
		`" role="img" font-family="` + escape(svgFont) + `">` + "\n<title>" + escape(d.title) + "</title>\n")
}

func (s *svgWriter) element(d *drawing, e *element) {
	if e.clip != s.clip {
		s.endGroup()
		s.endClip()
		if s.clip = e.clip; e.clip >= 0 {
			c := d.clips[e.clip]
			n := s.attrs("x", c.x0, "y", c.y0, "width", c.w(), "height", c.h())
			s.WriteString("<svg" + n + ` viewBox="` + s.numbers(c.x0, c.y0, c.w(), c.h()) + `">` + "\n")
		}
	}
	if g := groupOf(e); g != s.group {
		s.endGroup()
		s.group = g
		s.WriteString("<g" + g + ">\n")
	}
	switch e.kind {
	case kindRect:
		s.box(e)
	case kindLines:
		s.path(e)
	case kindText:
		s.WriteString("<text" + s.attrs("x", e.box.x0, "y", e.box.y0) + ">" + escape(e.text) + "</text>\n")
	}
}

func (s *svgWriter) box(e *element) {
	r := e.box
	s.WriteString("<rect" + s.attrs("x", r.x0, "y", r.y0, "width", r.w(), "height", r.h()))
	if e.radius > 0 {
		s.WriteString(s.attrs("rx", e.radius))
	}
	if e.title == "" {
		s.WriteString("/>\n")
		return
	}
	s.WriteString("><title>" + escape(e.title) + "</title></rect>\n")
}

func (s *svgWriter) path(e *element) {
	s.WriteString(`<path d="`)
	for _, p := range e.paths {
		for i, q := range p {
			s.WriteByte("ML"[min(i, 1)])
			s.WriteString(s.numbers(q.x, q.y))
		}
	}
	s.WriteString("\"/>\n")
}

func (s *svgWriter) endGroup() {
	if s.group != "" {
		s.WriteString("</g>\n")
		s.group = ""
	}
}

func (s *svgWriter) endClip() {
	if s.clip >= 0 {
		s.WriteString("</svg>\n")
		s.clip = -1
	}
}

// groupOf returns what neighbours can share.
func groupOf(e *element) string {
	var b strings.Builder
	set := func(name, value string) { b.WriteString(" " + name + `="` + value + `"`) }
	st := &e.style
	colour := func(name string, p paint) {
		if p.a == 0 {
			set(name, "none")
			return
		}
		if set(name, p.hex()); p.a < 255 {
			set(name+"-opacity", decimal(float64(p.a)/255, 3))
		}
	}
	if e.kind == kindText {
		colour("fill", st.fill)
		set("font-size", decimal(e.size, 2))
		if e.bold {
			set("font-weight", "bold")
		}
		if e.anchor != anchorStart {
			set("text-anchor", [...]string{anchorMiddle: "middle", anchorEnd: "end"}[e.anchor])
		}
		if st.line.a > 0 {
			colour("stroke", st.line)
			set("stroke-width", decimal(2*haloWidth, 2))
			set("stroke-linejoin", "round")
			set("paint-order", "stroke")
		}
		return b.String()
	}
	colour("fill", st.fill)
	if colour("stroke", st.line); st.line.a == 0 {
		return b.String()
	}
	set("stroke-width", decimal(st.width, 2))
	if st.dashed() {
		set("stroke-dasharray", dashText(st.dash))
	}
	return b.String()
}

func dashText(dash [4]float64) string {
	var parts []string
	for _, v := range dash {
		if v > 0 {
			parts = append(parts, decimal(v, 2))
		}
	}
	return strings.Join(parts, " ")
}

// attrs formats pairs of name and number.
func (s *svgWriter) attrs(pairs ...any) string {
	b := s.buf[:0]
	for i := 0; i < len(pairs); i += 2 {
		b = append(append(append(b, ' '), pairs[i].(string)...), `="`...)
		b = append(append(b, decimal(pairs[i+1].(float64), 2)...), '"')
	}
	s.buf = b
	return string(b)
}

// numbers formats numbers with spaces between them.
func (s *svgWriter) numbers(values ...float64) string {
	b := s.buf[:0]
	for i, v := range values {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, decimal(v, 2)...)
	}
	s.buf = b
	return string(b)
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

// escape makes a text safe as content and as a quoted attribute of XML.
func escape(s string) string { return escaper.Replace(clean(s)) }
