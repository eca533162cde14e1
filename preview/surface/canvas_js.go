package surface

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"syscall/js"
	"time"

	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/preview/internal/gpu/webgl2"
)

// handed is the canvas that the page (package web) has for this program, the object
// untoldCanvas: what happens to it as numbers, its size, and what a program cannot do
// alone. A page with several programs sets it for each one's start.
var handed = js.Global().Get("untoldCanvas")

// canvas is the canvas of a page.
type canvas struct {
	page          js.Value
	shown         js.Func       // called when the browser wants a frame
	happened      js.Func       // called when there is an event
	frames, wakes chan struct{} // of them
	width, height int
	scale         float64
	packed        []byte // events, as they come
}

// eventNumbers is how many numbers of 64 bits an event has: kind, key or button or
// character, mods, pressed, repeat, x, y, dx, dy; those of EventResize are width and
// height in pixels, and the scale.
const eventNumbers = 9

// OpenHeadless returns the canvas of the page, too: a browser has no other place to
// draw. Its frames do not wait for the display.
func OpenHeadless(width, height int) (Surface, error) {
	if handed.IsUndefined() {
		return nil, ErrUnavailable
	}
	handed.Set("unpaced", true)
	return OpenWindow("", width, height)
}

// OpenWindow returns the canvas of the page, which has its own title and size.
func OpenWindow(title string, width, height int) (s Surface, err error) {
	page := handed
	if page.IsUndefined() {
		return nil, errors.New("surface: the page has no canvas")
	}
	defer func() { // what JavaScript throws
		if p := recover(); p != nil {
			s, err = nil, fmt.Errorf("%w: %v", ErrContext, p)
		}
	}()
	c := &canvas{page: page, frames: make(chan struct{}, 1), wakes: make(chan struct{}, 1)}
	tell := func(ch chan struct{}) js.Func {
		return js.FuncOf(func(js.Value, []js.Value) any {
			select {
			case ch <- struct{}{}:
			default:
			}
			return nil
		})
	}
	c.shown, c.happened = tell(c.frames), tell(c.wakes)
	page.Call("open", c.happened)
	c.width, c.height, c.scale = page.Get("width").Int(), page.Get("height").Int(), page.Get("scale").Float()
	return c, nil
}

func (c *canvas) Size() (width, height int)    { return max(1, c.width), max(1, c.height) }
func (c *canvas) Scale() float64               { return max(1, c.scale) }
func (c *canvas) Framebuffer() uint32          { return 0 }
func (c *canvas) Device(plain bool) gpu.Device { return webgl2.New(c.page.Get("gl"), plain) }

// Present returns when the browser wants the next frame.
func (c *canvas) Present() error {
	c.page.Call("present", c.shown)
	<-c.frames
	return nil
}

func (c *canvas) Events(dst []Event) []Event {
	n := c.page.Get("waiting").Int()
	if n == 0 {
		return dst
	}
	if size := 8 * eventNumbers * n; cap(c.packed) < size {
		c.packed = make([]byte, size)
	} else {
		c.packed = c.packed[:size]
	}
	js.CopyBytesToGo(c.packed, c.page.Call("take"))
	for b := c.packed; len(b) > 0; b = b[8*eventNumbers:] {
		var v [eventNumbers]float64
		for i := range v {
			v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
		e := Event{Kind: EventKind(v[0]), Mods: Mods(v[2]), Pressed: v[3] != 0, Repeat: v[4] != 0, X: v[5], Y: v[6], DX: v[7], DY: v[8]}
		switch e.Kind {
		case EventKey:
			e.Key = Key(v[1])
		case EventButton:
			e.Button = Button(v[1])
		case EventChar:
			e.Char = rune(v[1])
		case EventResize:
			e.Width, e.Height = int(v[5]), int(v[6])
			c.width, c.height, c.scale = e.Width, e.Height, v[7]
		}
		dst = append(dst, e)
	}
	return dst
}

func (c *canvas) Wait(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c.wakes:
	case <-t.C:
	}
}

func (c *canvas) SetTitle(string)             {}
func (c *canvas) SetVSync(bool)               {}
func (c *canvas) Resize(int, int) error       { return nil }
func (c *canvas) SetCursorCaptured(held bool) { c.page.Call("capture", held) }

func (c *canvas) Close() error {
	c.page.Call("close")
	c.shown.Release()
	c.happened.Release()
	return nil
}
