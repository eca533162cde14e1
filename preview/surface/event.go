package surface

// EventKind says what happened.
type EventKind uint8

// The kinds of events and the fields of Event that they use.
const (
	EventKey    EventKind = iota + 1 // Key, Pressed, Repeat, Mods
	EventChar                        // Char
	EventButton                      // Button, Pressed, Mods, X, Y
	EventMotion                      // X, Y
	EventScroll                      // DX, DY, X, Y
	EventDrop                        // Files
	EventResize                      // Width, Height
	EventClose                       // the user asked to close the window
	EventFocus                       // Pressed: whether the window has the focus now
)

// Event is one thing that happened to a window.
type Event struct {
	Kind    EventKind
	Key     Key
	Mods    Mods
	Pressed bool // down or up
	Repeat  bool // a key that is held
	Char    rune
	Button  Button
	X, Y    float64 // pixels from the top left of the framebuffer
	DX, DY  float64 // scroll steps; DY > 0 is away from the user
	Width   int     // pixels
	Height  int
	Files   []string // paths
}

// Button is a button of the mouse.
type Button uint8

// The buttons.
const (
	ButtonLeft Button = iota
	ButtonRight
	ButtonMiddle
)

// Mods is a set of modifier keys.
type Mods uint8

// The modifiers.
const (
	ModShift Mods = 1 << iota
	ModControl
	ModAlt
	ModSuper
)

// Key names a key by its place on a US keyboard. Letters, digits and
// punctuation are their upper-case ASCII codes: Key('W'), Key('1'), Key(' ').
type Key uint16

// Keys without a printable character.
const (
	KeyUnknown Key = 0
	KeySpace   Key = ' '
)

// Keys above the printable ones.
const (
	KeyEscape Key = iota + 256
	KeyEnter
	KeyTab
	KeyBackspace
	KeyInsert
	KeyDelete
	KeyRight
	KeyLeft
	KeyDown
	KeyUp
	KeyPageUp
	KeyPageDown
	KeyHome
	KeyEnd
	KeyF1
	KeyF2
	KeyF3
	KeyF4
	KeyF5
	KeyF6
	KeyF7
	KeyF8
	KeyF9
	KeyF10
	KeyF11
	KeyF12
	KeyLeftShift
	KeyRightShift
	KeyLeftControl
	KeyRightControl
	KeyLeftAlt
	KeyRightAlt
	KeyLeftSuper
	KeyRightSuper

	// KeyLast is one above the largest key, for tables of what is held.
	KeyLast
)
