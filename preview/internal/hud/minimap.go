package hud

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// widest is how many times the largest ring the map shows of a scene; larger
// scenes move under the camera.
const widest = 2.6

// miniMap draws the map at the top right.
func (h *HUD) miniMap(m *Model) {
	c, p, pad := h.canvas, m.Map, h.pad()
	side := h.mapSide(m)
	x, y := float32(m.Width)-side-pad, pad
	c.Rect(x, y, side, side, paper)
	c.Frame(x, y, side, side, rule)
	if p.Bounds.IsEmpty() {
		return
	}
	c.Clip(x+1, y+1, side-2, side-2)
	v := p.window(x+side/2, y+side/2, side)
	for i := range p.Tiles {
		t := &p.Tiles[i]
		x0, y0 := v.at(t.Box.Min)
		x1, y1 := v.at(t.Box.Max)
		w, height := max(1, x1-x0), max(1, y1-y0)
		if t.Fill {
			c.Rect(x0, y0, w, height, t.Color.alpha(150))
		}
		if w > 4 && height > 4 || !t.Fill {
			c.Frame(x0, y0, w, height, t.Color.alpha(110))
		}
	}
	cx, cy := v.at(p.Camera.Position)
	for _, r := range p.Rings {
		if px := float32(r.Radius) * v.scale; px > 2 && px < 4*side {
			c.Ring(cx, cy, px, 1, r.Color.alpha(170))
		}
	}
	h.arrow(p, cx, cy, side)
	c.Unclip()
}

// mapSide returns the edge of the map in pixels.
func (h *HUD) mapSide(m *Model) float32 {
	part := float32(0.30)
	if h.compact(m) {
		part = 0.38
	}
	return float32(min(m.Width, m.Height)) * part
}

// arrow draws the camera and the edges of its view.
func (h *HUD) arrow(p *Map, x, y, side float32) {
	c := h.canvas
	f := geom.Vec3{p.Camera.Forward[0], 0, p.Camera.Forward[2]}.Normalize(1e-6, geom.Vec3{0, 0, -1})
	half := math.Atan(math.Tan(p.Camera.FovYDegrees*math.Pi/360) * max(p.Camera.Aspect, 1e-3))
	heading := math.Atan2(f[2], f[0])
	for _, a := range [...]float64{heading - half, heading + half} {
		sin, cos := math.Sincos(a)
		c.Line(x, y, x+side*0.22*float32(cos), y+side*0.22*float32(sin), 1, ink.alpha(160))
	}
	if x < c.clip[0]+2 || x > c.clip[2]-2 || y < c.clip[1]+2 || y > c.clip[3]-2 {
		return
	}
	fx, fy := float32(f[0]), float32(f[2])
	size := max(4, side/24)
	c.Triangle([3][2]float32{
		{x + fx*size, y + fy*size},
		{x - fx*size*0.7 - fy*size*0.7, y - fy*size*0.7 + fx*size*0.7},
		{x - fx*size*0.7 + fy*size*0.7, y - fy*size*0.7 - fx*size*0.7},
	}, ink)
}

// window maps the world to the map.
type window struct {
	middle geom.Vec3
	x, y   float32 // pixels of the middle
	scale  float32 // pixels per metre
}

func (w *window) at(p geom.Vec3) (x, y float32) {
	return w.x + float32(p[0]-w.middle[0])*w.scale, w.y + float32(p[2]-w.middle[2])*w.scale
}

// window shows the whole scene, or the surroundings of the camera when the
// scene is much larger than the rings.
func (p *Map) window(x, y, side float32) window {
	size := p.Bounds.Size()
	span := max(size[0], size[2], 1e-3)
	w := window{middle: p.Bounds.Center(), x: x, y: y}
	reach := 0.0
	for _, r := range p.Rings {
		if !math.IsInf(r.Radius, 0) {
			reach = max(reach, r.Radius)
		}
	}
	if reach > 0 && span > 2*widest*reach {
		span, w.middle = widest*reach, p.Camera.Position
	}
	w.scale = side * 0.92 / float32(span)
	return w
}
