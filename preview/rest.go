package preview

import (
	"time"

	"github.com/untoldkit/untold/runtime"
)

// A window in which nothing has moved for so many frames draws a few a second: it
// waits for what happens next, at most so long.
const (
	restFrames = 30
	restStep   = 100 * time.Millisecond
)

// rest is what a window knows of its standing still.
type rest struct {
	camera runtime.Camera // of the last frame
	frames int            // in which nothing has moved
}

// wait lets a window rest while nothing moves and nothing is on its way.
func (a *app) wait() {
	r := &a.rest
	if len(a.input.events) > 0 || a.input.held != [len(a.input.held)]bool{} || a.cam.draw != r.camera || a.ending.quiet == 0 || a.fading() {
		r.frames = 0
	} else {
		r.frames++
	}
	r.camera = a.cam.draw
	if a.o.Headless || a.o.Frames > 0 || a.cam.following || a.cam.flight != nil || a.cam.recording != nil || r.frames < restFrames {
		return
	}
	a.surf.Wait(restStep)
	a.pacer.handed = time.Now() // the frame is not late
}

// fading reports whether something fades.
func (a *app) fading() bool {
	for i := range a.drawn {
		if a.drawn[i].Fade < 1 {
			return true
		}
	}
	return false
}
