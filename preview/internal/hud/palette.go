package hud

import (
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// The colours of states (failed is ours).
var (
	ColorResident = Color{64, 242, 89, 255}
	ColorLoading  = Color{255, 217, 51, 255}
	ColorUnloaded = Color{255, 64, 64, 255}
	ColorMixed    = Color{255, 140, 38, 255}
	ColorNone     = Color{255, 255, 255, 255}
	ColorFailed   = Color{255, 64, 220, 255}
)

// The colours of the panels.
var (
	paper    = Color{12, 14, 18, 200}
	ink      = Color{232, 236, 242, 255}
	faint    = Color{150, 158, 170, 255}
	rule     = Color{255, 255, 255, 40}
	accent   = Color{90, 170, 255, 255}
	warning  = Color{255, 170, 60, 255}
	alarm    = Color{255, 90, 80, 255}
	softFill = Color{255, 255, 255, 26}
)

// LevelColor returns the colour of a representation in the view of levels.
func LevelColor(r payload.Rep) Color {
	if r == payload.RepNone {
		return ColorNone
	}
	c := render.LODColor(r)
	return Color{c[0], c[1], c[2], 255}
}

// StateColor returns the colour of a tile's residency: a tile whose full
// geometry is on its way is yellow, one that shows a coarser level instead of
// it is orange.
func StateColor(t *runtime.TileStatus) Color {
	switch t.State {
	case runtime.TileParsed:
		return ColorResident
	case runtime.TileParsing, runtime.TileUnloading:
		return ColorLoading
	case runtime.TileFailed:
		return ColorFailed
	}
	if t.Resident != 0 {
		return ColorMixed
	}
	return ColorUnloaded
}

// alpha returns a colour with another alpha.
func (c Color) alpha(a uint8) Color { return Color{c[0], c[1], c[2], a} }
