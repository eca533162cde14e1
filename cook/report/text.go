package report

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// The Go fonts draw the text of PNGs, and measure that of SVGs, where the
// viewer's font draws it.
var parsedFonts = sync.OnceValue(func() [2]*sfnt.Font {
	var out [2]*sfnt.Font
	for i, data := range [][]byte{goregular.TTF, gobold.TTF} {
		f, err := sfnt.Parse(data)
		if err != nil {
			panic("report: a font of golang.org/x/image is broken: " + err.Error())
		}
		out[i] = f
	}
	return out
})

// typesetter measures and outlines text. It is for one goroutine.
type typesetter struct {
	glyphs [2]map[rune]*glyph // regular, bold
	buf    sfnt.Buffer
}

// glyph is the shape of a character, in ems from its place on the base line,
// y down.
type glyph struct {
	advance  float64
	contours [][]point
}

func newTypesetter() *typesetter {
	return &typesetter{glyphs: [2]map[rune]*glyph{{}, {}}}
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// glyph loads a character; those that the fonts lack are an empty box.
func (t *typesetter) glyph(r rune, bold bool) *glyph {
	cache := t.glyphs[index(bold)]
	if g, ok := cache[r]; ok {
		return g
	}
	f := parsedFonts()[index(bold)]
	em := f.UnitsPerEm()
	// At this size fixed-point coordinates are exactly those of the font.
	ppem := fixed.I(int(em))
	scale := 1 / (float64(em) * 64)
	g := &glyph{}
	cache[r] = g
	// The built-in fonts have no glyph that fails to load, and what fails
	// stays empty.
	i, _ := f.GlyphIndex(&t.buf, r)
	if a, err := f.GlyphAdvance(&t.buf, i, ppem, font.HintingNone); err == nil {
		g.advance = float64(a) * scale
	}
	segments, _ := f.LoadGlyph(&t.buf, i, ppem, nil)
	for _, s := range segments {
		g.add(s, func(p fixed.Point26_6) point { return point{float64(p.X) * scale, float64(p.Y) * scale} })
	}
	return g
}

// add appends a segment of an outline. Curves become a few lines each: text is
// small.
func (g *glyph) add(s sfnt.Segment, at func(fixed.Point26_6) point) {
	if s.Op == sfnt.SegmentOpMoveTo {
		g.contours = append(g.contours, []point{at(s.Args[0])})
		return
	}
	n := len(g.contours) - 1
	c := g.contours[n]
	a := c[len(c)-1]
	switch s.Op {
	case sfnt.SegmentOpLineTo:
		c = append(c, at(s.Args[0]))
	case sfnt.SegmentOpQuadTo:
		const steps = 5
		b, e := at(s.Args[0]), at(s.Args[1])
		for k := 1; k <= steps; k++ {
			v := float64(k) / steps
			u := 1 - v
			p, q, r := float64(u*u), float64(2*u*v), float64(v*v)
			c = append(c, point{
				float64(p*a.x) + float64(q*b.x) + float64(r*e.x),
				float64(p*a.y) + float64(q*b.y) + float64(r*e.y),
			})
		}
	case sfnt.SegmentOpCubeTo: // TrueType fonts have none
		c = append(c, at(s.Args[2]))
	}
	g.contours[n] = c
}

// outline returns the contours of a text that begins at a place on the base
// line.
func (t *typesetter) outline(s string, at point, size float64, bold bool) [][]point {
	var out [][]point
	for _, r := range s {
		g := t.glyph(r, bold)
		for _, c := range g.contours {
			moved := make([]point, len(c))
			for i, q := range c {
				moved[i] = point{at.x + float64(q.x*size), at.y + float64(q.y*size)}
			}
			out = append(out, moved)
		}
		at.x += float64(g.advance * size)
	}
	return out
}

// width measures a text in pixels.
func (t *typesetter) width(s string, size float64, bold bool) float64 {
	sum := 0.0
	for _, r := range s {
		sum += t.glyph(r, bold).advance
	}
	return float64(sum * size)
}

// reserve is what a viewer's font may be wider than ours.
const reserve = 1.1

// room is the width to keep free for a text.
func (t *typesetter) room(s string, size float64, bold bool) float64 {
	return float64(t.width(s, size, bold) * reserve)
}

// fit shortens a text in its middle until it is at most width wide.
func (t *typesetter) fit(s string, width, size float64, bold bool) string {
	if t.room(s, size, bold) <= width {
		return s
	}
	runes := []rune(s)
	for keep := min(len(runes)-1, int(width)); keep > 0; keep-- {
		head := (keep + 1) / 2
		short := string(runes[:head]) + "..." + string(runes[len(runes)-(keep-head):])
		if t.room(short, size, bold) <= width {
			return short
		}
	}
	return ""
}

// wrap breaks a text at spaces into lines of at most width; longer words are
// shortened.
func (t *typesetter) wrap(s string, width, size float64, bold bool) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		word = t.fit(word, width, size, bold)
		if joined := line + " " + word; line != "" && t.room(joined, size, bold) <= width {
			line = joined
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		line = word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// maxText is how many characters of a name are shown anywhere.
const maxText = 512

// clean makes a text of foreign origin fit to be shown on one line: what is
// no character, controls the terminal, the direction of text or the line
// becomes U+FFFD. XML has no way to write most of these.
func clean(s string) string {
	bad := func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Cs) || r == 0xfffe || r == 0xffff
	}
	if len(s) <= maxText && utf8.ValidString(s) && !strings.ContainsFunc(s, bad) {
		return s
	}
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > maxText {
			b.WriteString("...")
			break
		}
		if bad(r) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
	}
	return b.String()
}
