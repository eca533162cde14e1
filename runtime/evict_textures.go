package runtime

import (
	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/memory"
)

// TextureRelief gives texture memory back before geometry goes.
type TextureRelief interface {
	// Shed lowers the textures of up to n entities, the farthest first, and
	// returns how many it has touched. It is called on the owner goroutine.
	Shed(n int) int
}

// shed asks for texture memory and reports what came of it.
func (v *evictor) shed(n int) {
	if v.textures == nil {
		return
	}
	if got := v.textures.Shed(n); got > 0 {
		v.count.texturesShed += uint64(got)
		v.emit(event.Event{Kind: event.EvictShed, Count: got})
	}
}

// lowerTextures asks for texture memory when textures or geometry are short,
// or the system asks.
func (v *evictor) lowerTextures(signal memory.PressureLevel) {
	n := 0
	switch {
	case v.budget.high():
		n = shedGeometry
	case v.budget.textureHigh():
		n = shedTextures
	}
	switch signal {
	case memory.PressureWarning:
		n = max(n, shedWarning)
	case memory.PressureCritical:
		n = max(n, shedCritical)
	}
	if n > 0 {
		v.shed(n)
	}
}
