//go:build cgo && !nopreview

package surface

import "github.com/go-gl/glfw/v3.3/glfw"

// listen turns GLFW's callbacks into events.
func (s *window) listen() {
	add := func(e Event) { s.events = append(s.events, e) }
	s.w.SetKeyCallback(func(_ *glfw.Window, key glfw.Key, _ int, a glfw.Action, m glfw.ModifierKey) {
		add(Event{Kind: EventKey, Key: keyOf(key), Pressed: a != glfw.Release, Repeat: a == glfw.Repeat, Mods: modsOf(m)})
	})
	s.w.SetCharCallback(func(_ *glfw.Window, c rune) { add(Event{Kind: EventChar, Char: c}) })
	s.w.SetMouseButtonCallback(func(_ *glfw.Window, b glfw.MouseButton, a glfw.Action, m glfw.ModifierKey) {
		if b <= glfw.MouseButtonMiddle {
			x, y := s.cursor()
			add(Event{Kind: EventButton, Button: buttonOf(b), Pressed: a == glfw.Press, Mods: modsOf(m), X: x, Y: y})
		}
	})
	s.w.SetCursorPosCallback(func(_ *glfw.Window, x, y float64) {
		x, y = s.pixels(x, y)
		add(Event{Kind: EventMotion, X: x, Y: y})
	})
	s.w.SetScrollCallback(func(_ *glfw.Window, dx, dy float64) {
		x, y := s.cursor()
		add(Event{Kind: EventScroll, DX: dx, DY: dy, X: x, Y: y})
	})
	s.w.SetDropCallback(func(_ *glfw.Window, files []string) { add(Event{Kind: EventDrop, Files: files}) })
	s.w.SetFramebufferSizeCallback(func(_ *glfw.Window, w, h int) {
		s.width, s.height = w, h
		if w > 0 && h > 0 { // 0 x 0 while it is minimised
			add(Event{Kind: EventResize, Width: w, Height: h})
		}
	})
	s.w.SetCloseCallback(func(*glfw.Window) { add(Event{Kind: EventClose}) })
	s.w.SetFocusCallback(func(_ *glfw.Window, on bool) { add(Event{Kind: EventFocus, Pressed: on}) })
}

func (s *window) cursor() (x, y float64) { return s.pixels(s.w.GetCursorPos()) }

// pixels converts a position in units of the layout.
func (s *window) pixels(x, y float64) (px, py float64) {
	w, h := s.w.GetSize()
	return x * float64(s.width) / float64(max(1, w)), y * float64(s.height) / float64(max(1, h))
}

func buttonOf(b glfw.MouseButton) Button {
	switch b {
	case glfw.MouseButtonRight:
		return ButtonRight
	case glfw.MouseButtonMiddle:
		return ButtonMiddle
	}
	return ButtonLeft
}

func modsOf(m glfw.ModifierKey) (out Mods) {
	for i, bit := range [...]glfw.ModifierKey{glfw.ModShift, glfw.ModControl, glfw.ModAlt, glfw.ModSuper} {
		if m&bit != 0 {
			out |= 1 << i
		}
	}
	return out
}

var keys = map[glfw.Key]Key{
	glfw.KeyEscape: KeyEscape, glfw.KeyEnter: KeyEnter, glfw.KeyKPEnter: KeyEnter, glfw.KeyTab: KeyTab,
	glfw.KeyBackspace: KeyBackspace, glfw.KeyInsert: KeyInsert, glfw.KeyDelete: KeyDelete,
	glfw.KeyRight: KeyRight, glfw.KeyLeft: KeyLeft, glfw.KeyDown: KeyDown, glfw.KeyUp: KeyUp,
	glfw.KeyPageUp: KeyPageUp, glfw.KeyPageDown: KeyPageDown, glfw.KeyHome: KeyHome, glfw.KeyEnd: KeyEnd,
	glfw.KeyLeftShift: KeyLeftShift, glfw.KeyRightShift: KeyRightShift,
	glfw.KeyLeftControl: KeyLeftControl, glfw.KeyRightControl: KeyRightControl,
	glfw.KeyLeftAlt: KeyLeftAlt, glfw.KeyRightAlt: KeyRightAlt,
	glfw.KeyLeftSuper: KeyLeftSuper, glfw.KeyRightSuper: KeyRightSuper,
	glfw.KeyKPDecimal: '.', glfw.KeyKPDivide: '/', glfw.KeyKPMultiply: '*',
	glfw.KeyKPSubtract: '-', glfw.KeyKPAdd: '+', glfw.KeyKPEqual: '=',
}

// keyOf maps GLFW's keys; those with a character have their ASCII codes there
// too.
func keyOf(k glfw.Key) Key {
	switch {
	case k >= glfw.KeySpace && k <= glfw.KeyGraveAccent:
		return Key(k)
	case k >= glfw.KeyF1 && k <= glfw.KeyF12:
		return KeyF1 + Key(k-glfw.KeyF1)
	case k >= glfw.KeyKP0 && k <= glfw.KeyKP9:
		return '0' + Key(k-glfw.KeyKP0)
	}
	return keys[k]
}
