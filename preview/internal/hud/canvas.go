package hud

import (
	"math"
	"unicode/utf8"

	"github.com/untoldkit/untold/preview/render"
)

// Color is sRGB with straight alpha.
type Color [4]uint8

// Canvas collects the triangles of an overlay. Positions are pixels from the
// top left of the picture. It keeps its memory between frames.
type Canvas struct {
	font    *Font
	overlay render.Overlay
	clip    [4]float32 // left, top, right, bottom
	solidU  float32
	solidV  float32
	atlasW  float32
	atlasH  float32
}

// NewCanvas returns a canvas that writes with a font.
func NewCanvas(f *Font) *Canvas {
	c := &Canvas{font: f, atlasW: float32(f.atlas.Rect.Dx()), atlasH: float32(f.atlas.Rect.Dy())}
	c.solidU, c.solidV = float32(f.Advance)/2/c.atlasW, float32(f.Height)/2/c.atlasH
	c.overlay.Atlas = f.atlas
	c.Reset()
	return c
}

// Reset forgets what was drawn.
func (c *Canvas) Reset() {
	c.overlay.Vertices, c.overlay.Indices = c.overlay.Vertices[:0], c.overlay.Indices[:0]
	c.Unclip()
}

// Overlay returns what was drawn since Reset, valid until the next one.
func (c *Canvas) Overlay() *render.Overlay { return &c.overlay }

// Clip limits rectangles, lines and text to a rectangle until Unclip.
func (c *Canvas) Clip(x, y, w, h float32) { c.clip = [4]float32{x, y, x + w, y + h} }

// Unclip ends Clip.
func (c *Canvas) Unclip() { c.clip = [4]float32{-1e6, -1e6, 1e6, 1e6} }

// Rect fills a rectangle.
func (c *Canvas) Rect(x, y, w, h float32, color Color) {
	x1, y1 := min(x+w, c.clip[2]), min(y+h, c.clip[3])
	x, y = max(x, c.clip[0]), max(y, c.clip[1])
	if !(x < x1 && y < y1) {
		return
	}
	c.quad(x, y, x1, y1, c.solidU, c.solidV, c.solidU, c.solidV, color)
}

// Frame draws the outline of a rectangle, its lines inside and a pixel wide.
func (c *Canvas) Frame(x, y, w, h float32, color Color) {
	c.Rect(x, y, w, 1, color)
	c.Rect(x, y+h-1, w, 1, color)
	c.Rect(x, y+1, 1, h-2, color)
	c.Rect(x+w-1, y+1, 1, h-2, color)
}

func (c *Canvas) quad(x0, y0, x1, y1, u0, v0, u1, v1 float32, color Color) {
	n := uint32(len(c.overlay.Vertices))
	c.overlay.Vertices = append(c.overlay.Vertices,
		render.OverlayVertex{X: x0, Y: y0, U: u0, V: v0, Color: color},
		render.OverlayVertex{X: x1, Y: y0, U: u1, V: v0, Color: color},
		render.OverlayVertex{X: x1, Y: y1, U: u1, V: v1, Color: color},
		render.OverlayVertex{X: x0, Y: y1, U: u0, V: v1, Color: color})
	c.overlay.Indices = append(c.overlay.Indices, n, n+1, n+2, n, n+2, n+3)
}

// Triangle fills a triangle; it is not clipped.
func (c *Canvas) Triangle(p [3][2]float32, color Color) {
	n := uint32(len(c.overlay.Vertices))
	for _, q := range p {
		c.overlay.Vertices = append(c.overlay.Vertices, render.OverlayVertex{X: q[0], Y: q[1], U: c.solidU, V: c.solidV, Color: color})
	}
	c.overlay.Indices = append(c.overlay.Indices, n, n+1, n+2)
}

// Line draws a line of a width in pixels.
func (c *Canvas) Line(x0, y0, x1, y1, width float32, color Color) {
	if !c.clipLine(&x0, &y0, &x1, &y1) {
		return
	}
	dx, dy := x1-x0, y1-y0
	l := float32(math.Hypot(float64(dx), float64(dy)))
	if !(l > 0) {
		return
	}
	nx, ny := -dy/l*width/2, dx/l*width/2
	c.Triangle([3][2]float32{{x0 + nx, y0 + ny}, {x1 + nx, y1 + ny}, {x1 - nx, y1 - ny}}, color)
	c.Triangle([3][2]float32{{x0 + nx, y0 + ny}, {x1 - nx, y1 - ny}, {x0 - nx, y0 - ny}}, color)
}

// clipLine cuts a line to the clip rectangle (Liang and Barsky 1984).
func (c *Canvas) clipLine(x0, y0, x1, y1 *float32) bool {
	from, to := float32(0), float32(1)
	dx, dy := *x1-*x0, *y1-*y0
	for _, e := range [...][2]float32{
		{-dx, *x0 - c.clip[0]}, {dx, c.clip[2] - *x0}, {-dy, *y0 - c.clip[1]}, {dy, c.clip[3] - *y0},
	} {
		switch p, q := e[0], e[1]; {
		case p == 0 && q < 0:
			return false
		case p < 0:
			from = max(from, q/p)
		case p > 0:
			to = min(to, q/p)
		}
	}
	if !(from <= to) {
		return false
	}
	*x0, *y0, *x1, *y1 = *x0+from*dx, *y0+from*dy, *x0+to*dx, *y0+to*dy
	return true
}

// Ring draws a circle.
func (c *Canvas) Ring(x, y, radius, width float32, color Color) {
	const steps = 48
	px, py := x+radius, y
	for i := 1; i <= steps; i++ {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / steps)
		qx, qy := x+radius*float32(cos), y+radius*float32(sin)
		c.Line(px, py, qx, qy, width, color)
		px, py = qx, qy
	}
}

// Text writes a line with its top left corner at x, y. Characters outside the
// clip rectangle are left out whole.
func (c *Canvas) Text(x, y float32, s string, color Color) {
	for _, r := range s {
		c.rune(x, y, r, color)
		x += float32(c.font.Advance)
	}
}

// TextBytes is Text for bytes, without an allocation.
func (c *Canvas) TextBytes(x, y float32, s []byte, color Color) {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		c.rune(x, y, r, color)
		x += float32(c.font.Advance)
		s = s[n:]
	}
}

func (c *Canvas) rune(x, y float32, r rune, color Color) {
	f := c.font
	w, h := float32(f.Advance), float32(f.Height)
	if r == ' ' || x < c.clip[0] || y < c.clip[1] || x+w > c.clip[2] || y+h > c.clip[3] {
		return
	}
	x, y = float32(math.Round(float64(x))), float32(math.Round(float64(y))) // pixels stay sharp
	gx, gy := f.cell(f.glyph(r))
	u, v := float32(gx)/c.atlasW, float32(gy)/c.atlasH
	c.quad(x, y, x+w, y+h, u, v, u+w/c.atlasW, v+h/c.atlasH, color)
}

// Width returns the width of a text in pixels.
func (c *Canvas) Width(s string) float32 { return float32(utf8.RuneCountInString(s) * c.font.Advance) }

// fitText shortens a text to so many characters, with an ellipsis at its end,
// or at its start where the end tells more, as that of a path does.
func fitText(s string, room int, keepEnd bool) string {
	n := utf8.RuneCountInString(s)
	if n <= room {
		return s
	}
	if room < 2 {
		return ""
	}
	r := []rune(s)
	if keepEnd {
		return "\u2026" + string(r[n-room+1:])
	}
	return string(r[:room-1]) + "\u2026"
}
