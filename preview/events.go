package preview

import (
	"fmt"

	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/simulate"
	"github.com/untoldkit/untold/runtime/texture"
)

// takeEvents passes on what the runtime reports in real time.
func (a *app) takeEvents() error {
	events := a.s.Events()
	a.cost.Events += len(events)
	for i := range events {
		e := &events[i]
		if e.Kind == runtime.EventSceneReload {
			a.succeeded(e.Scene)
		}
		a.judge.Event(e)
		r := simulate.NewRecord(e, origin)
		if err := a.record(&r); err != nil {
			return err
		}
		a.alarmOf(e)
	}
	return a.failed
}

// noticed is told of an event in virtual time.
func (a *app) noticed(e *runtime.Event) {
	a.cost.Events++
	if e.Kind == runtime.EventSceneReload {
		a.succeeded(e.Scene)
	}
	a.alarmOf(e)
}

// alarmOf tells the person of a load that went wrong.
func (a *app) alarmOf(e *runtime.Event) {
	a.lost(e)
	a.leaves(e)
	if isFailure(e.Kind) && e.Err != nil {
		a.news.alarm(a.clock.elapsed(), fmt.Sprintf("tile %s: %v", e.Tile, e.Err))
	}
}

// textureEvent passes on what happens to a texture in real time.
func (a *app) textureEvent(e *texture.Event, slot texture.Slot) {
	if a.o.OnRecord == nil || a.failed != nil {
		return
	}
	r := simulate.NewTextureRecord(e, slot, a.clock.elapsed(), max(1, a.updates)-1)
	a.failed = a.o.OnRecord(&r)
}

// relief is the runtime.TextureRelief of real time: what has happened so far
// comes before what it does to textures.
type relief struct{ *app }

// Shed makes textures smaller.
func (f relief) Shed(n int) int {
	if err := f.takeEvents(); err != nil {
		f.failed = err
	}
	return f.r.Shed(n)
}

// isFailure reports whether an event is a load that went wrong.
func isFailure(k runtime.Kind) bool {
	switch k {
	case runtime.EventTileFailed, runtime.EventTileTimeout, runtime.EventHLODFailed, runtime.EventLODFailed:
		return true
	}
	return false
}
