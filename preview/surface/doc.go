// Package surface opens something that OpenGL can draw to: a window, or a
// headless context that needs no display server.
//
// Both give an OpenGL 4.1 core context (or later) that is current on the
// calling goroutine, which is locked to its operating system thread until
// Close. Every method of a Surface belongs to that goroutine. Contexts may be
// open beside each other as long as they share a driver: a process has one table
// of the functions of OpenGL. One of another driver fails with ErrContext while
// they are.
//
// In a build without cgo, or with the tag nopreview, opening fails with
// ErrUnavailable; the types are there, so that callers compile either way.
package surface

import (
	"errors"
	"time"

	"github.com/untoldkit/untold/preview/internal/gpu"
)

// ErrUnavailable is matched by the error of a program that was built without
// the preview.
var ErrUnavailable = errors.New("this program was built without the preview: build it with cgo (CGO_ENABLED=1, a C compiler, the OpenGL and X11 headers that scripts/install-deps.sh names) and without the tag nopreview")

// ErrNoDisplay is matched when there is no display for a window.
var ErrNoDisplay = errors.New("there is no display: DISPLAY and WAYLAND_DISPLAY are not set; run headless, or under xvfb-run")

// ErrContext is matched when no OpenGL 4.1 core context can be had.
var ErrContext = errors.New("no OpenGL 4.1 core context")

// Surface is a place to draw.
type Surface interface {
	// Size returns the size in pixels of the framebuffer, at least 1 x 1.
	Size() (width, height int)
	// Scale returns how many pixels make one unit of the desktop's layout: 1 as
	// a rule, 2 on dense displays. Text should grow with it.
	Scale() float64
	// Framebuffer returns the OpenGL name of the framebuffer to draw into: 0 for
	// a window.
	Framebuffer() uint32
	// Device returns a new device for the surface's context, for a
	// render.Renderer; plain keeps it to what OpenGL 4.1 core has. It is closed
	// before the surface is.
	Device(plain bool) gpu.Device
	// Present shows what was drawn and, for a window, waits for the display as
	// SetVSync says. A headless surface only flushes.
	Present() error
	// Events appends what happened since the last call, oldest first.
	Events(dst []Event) []Event
	// Wait returns when something happens to a window, or after d. A headless
	// surface, to which nothing happens, returns at once.
	Wait(d time.Duration)
	// SetTitle sets the title of a window.
	SetTitle(title string)
	// SetCursorCaptured hides the cursor and lets it move without bounds, or
	// gives it back. While it is captured, positions of Motion events have no
	// meaning but their differences.
	SetCursorCaptured(captured bool)
	// SetVSync says whether Present waits for the display; a window starts with
	// true.
	SetVSync(on bool)
	// Resize asks for another size in pixels; a window manager may refuse. A
	// Resize event follows when the size has changed.
	Resize(width, height int) error
	// Close gives everything back and unlocks the thread. The surface must not
	// be used afterwards.
	Close() error
}
