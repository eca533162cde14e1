package preview

import (
	"fmt"

	"github.com/untoldkit/untold/preview/internal/hud"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/preview/surface"
)

// display owns how a person wants to see the scene, and tells of every change.
type display struct {
	notify   func(string)
	view     render.ViewMode
	show     Show
	exposure float64 // in stops
	lighting Lighting
	ungraded bool         // although there is a colour table
	chooser  *hud.Chooser // of scenes, nil: closed
}

// next changes to the next view, with Shift to the one before.
func (d *display) next(m surface.Mods) {
	views := render.ViewModes()
	by := 1
	if m&surface.ModShift != 0 {
		by = len(views) - 1
	}
	d.set(views[(int(d.view)+by)%len(views)])
}

// flip changes to a view, or back from it.
func (d *display) flip(v render.ViewMode) {
	if d.view == v {
		v = render.ViewLit
	}
	d.set(v)
}

func (d *display) set(v render.ViewMode) {
	d.view = v
	d.notify("view: " + v.String())
}

func (d *display) expose(by float64) {
	d.exposure = max(-8, min(8, d.exposure+by))
	d.notify(fmt.Sprintf("exposure: %+.2f stops", d.exposure))
}

// relight changes whose light it is.
func (d *display) relight() {
	d.lighting = (d.lighting + 1) % lightings
	d.notify("lights: " + d.lighting.String())
}

// regrade switches the colour table.
func (d *display) regrade(have bool) {
	if !have {
		d.notify("the scene has no colour table")
		return
	}
	d.ungraded = !d.ungraded
	d.notify("grading: " + onOff(!d.ungraded))
}

// toggle switches a part of the overlay.
func (d *display) toggle(name string, flag *bool) {
	*flag = !*flag
	d.notify(name + ": " + onOff(*flag))
}
