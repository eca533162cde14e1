package preview

import (
	"fmt"
	"path/filepath"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/internal/camera"
	"github.com/untoldkit/untold/preview/internal/hud"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/preview/surface"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// input is the state of keys and mouse.
type input struct {
	held   [surface.KeyLast]bool
	drag   [3]bool // buttons
	x, y   float64
	inside bool // the pointer has been seen
	look   [2]float64
	pan    [2]float64
	zoom   float64
	pace   float64
	shot   bool // a picture is wanted
	events []surface.Event
}

// steering are the keys that move the camera while they are held.
var steering = [...]struct {
	key  surface.Key
	axis int
	by   float64
}{
	{'D', 0, 1},
	{'A', 0, -1},
	{'E', 1, 1},
	{'Q', 1, -1},
	{'W', 2, 1},
	{'S', 2, -1},
	{surface.KeyRight, 0, 1},
	{surface.KeyLeft, 0, -1},
	{surface.KeyUp, 2, 1},
	{surface.KeyDown, 2, -1},
}

// moves reports whether a person wants to move the camera.
func (in *input) moves() bool {
	for _, s := range steering {
		if in.held[s.key] {
			return true
		}
	}
	return in.look != [2]float64{} || in.pan != [2]float64{} || in.zoom != 0 || in.pace != 0
}

// take returns what happened since the last frame.
// The picture has so many lines.
func (in *input) take(lines int) camera.Input {
	height := float64(max(lines, 1))
	out := camera.Input{
		Look: [2]float64{in.look[0] / height, in.look[1] / height},
		Pan:  [2]float64{in.pan[0] / height, in.pan[1] / height},
		Zoom: in.zoom,
		Pace: in.pace,
		Fast: in.held[surface.KeyLeftShift] || in.held[surface.KeyRightShift],
		Slow: in.held[surface.KeyLeftControl] || in.held[surface.KeyRightControl],
	}
	for _, k := range steering {
		if in.held[k.key] {
			out.Move[k.axis] += k.by
		}
	}
	out.Move = geom.Vec3{max(-1, min(1, out.Move[0])), max(-1, min(1, out.Move[1])), max(-1, min(1, out.Move[2]))}
	in.look, in.pan, in.zoom, in.pace = [2]float64{}, [2]float64{}, 0, 0
	return out
}

// handle reads what happened to the window.
func (a *app) handle() {
	in := &a.input
	in.events = a.surf.Events(in.events[:0])
	for i := range in.events {
		e := &in.events[i]
		switch e.Kind {
		case surface.EventClose:
			a.ended = true
		case surface.EventFocus:
			if !e.Pressed {
				in.held = [surface.KeyLast]bool{}
			}
		case surface.EventResize:
			a.resize(e.Width, e.Height)
		case surface.EventDrop:
			a.drop(e.Files)
		case surface.EventScroll:
			if in.held[surface.KeyLeftControl] || in.held[surface.KeyRightControl] {
				in.pace += e.DY
			} else {
				in.zoom += e.DY
			}
		case surface.EventMotion:
			in.motion(e)
		case surface.EventButton:
			in.button(e, a.surf)
		case surface.EventKey:
			if e.Key < surface.KeyLast {
				in.held[e.Key] = e.Pressed
			}
			if e.Pressed {
				a.key(e)
			}
		}
	}
}

func (in *input) motion(e *surface.Event) {
	dx, dy := e.X-in.x, e.Y-in.y
	in.x, in.y = e.X, e.Y
	if !in.inside {
		in.inside = true
		return
	}
	switch {
	case in.drag[surface.ButtonLeft] && !in.held[surface.KeyLeftAlt]:
		in.look[0] += dx
		in.look[1] += dy
	case in.drag[surface.ButtonRight], in.drag[surface.ButtonMiddle], in.drag[surface.ButtonLeft]:
		in.pan[0] += dx
		in.pan[1] += dy
	}
}

func (in *input) button(e *surface.Event, s surface.Surface) {
	if int(e.Button) >= len(in.drag) {
		return
	}
	in.drag[e.Button] = e.Pressed
	if !in.inside {
		// Otherwise the last motion tells the place: that of the button is asked
		// for late when frames are slow.
		in.x, in.y, in.inside = e.X, e.Y, true
	}
	s.SetCursorCaptured(in.drag != [3]bool{})
}

func (a *app) resize(w, h int) {
	if w < 1 || h < 1 {
		return // minimised
	}
	if err := a.r.Resize(w, h); err != nil {
		a.messages.reportError(err.Error())
		return
	}
	if err := a.overlay.font(a.surf.Scale(), h); err != nil {
		a.messages.reportError(err.Error())
	}
}

// drop opens what was dropped onto the window and shows the first of it.
func (a *app) drop(files []string) {
	first := len(a.scenes.list)
	for _, path := range files {
		list, err := a.o.Open(path)
		if err != nil {
			a.messages.reportError(err.Error())
			continue
		}
		a.scenes.list = append(a.scenes.list[:len(a.scenes.list):len(a.scenes.list)], list...)
	}
	if len(a.scenes.list) > first {
		a.change(first)
	}
}

// change shows another scene, or says why not.
func (a *app) change(i int) {
	if err := a.choose(i); err != nil {
		a.messages.reportError(fmt.Sprintf("%s: %v", a.scenes.list[i].Name, err))
		return
	}
	a.cam.endFlight(false)
	a.cam.following = false
	a.messages.warning = ""
	a.messages.notify("scene: " + a.scenes.list[i].Name)
}

// binding is a key that does something when it is pressed.
type binding struct {
	key   surface.Key
	group string // of the help
	label string // of the key; "" is left out of the help
	text  string
	do    func(*app, surface.Mods)
}

// toggle returns what switches a part of the overlay.
func toggle(name string, flag func(*Show) *bool) func(*app, surface.Mods) {
	return func(a *app, _ surface.Mods) { a.display.toggle(name, flag(&a.display.show)) }
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

const (
	groupMove  = "Camera"
	groupView  = "View"
	groupDebug = "Debug views"
	groupMore  = "More"
)

// bindings are all keys but those that steer and the digits.
var bindings []binding

func init() { // the help is one of them
	bindings = []binding{
		{'F', groupMove, "F", "frame the scene", func(a *app, _ surface.Mods) {
			a.cam.endFlight(false)
			a.cam.frameScene(a.aspect())
			a.messages.notify("framed")
		}},
		{'O', groupMove, "O", "orbit or fly", (*app).switchMode},
		{'P', groupMove, "P", "record the path, for simulate", (*app).togglePath},
		{'V', groupView, "V, Shift V", "next view, the one before", func(a *app, m surface.Mods) { a.display.next(m) }},
		{'L', groupView, "L", "levels of detail", func(a *app, _ surface.Mods) { a.display.flip(render.ViewLOD) }},
		{'X', groupView, "X", "wireframe over the picture", toggle("wireframe", func(s *Show) *bool { return &s.Wireframe })},
		{'=', groupView, "+ -", "brighter, darker", func(a *app, _ surface.Mods) { a.display.expose(0.25) }},
		{'-', groupView, "", "", func(a *app, _ surface.Mods) { a.display.expose(-0.25) }},
		{'I', groupView, "I", "the author's lights, the preview's, both", func(a *app, _ surface.Mods) { a.display.relight() }},
		{'G', groupView, "G", "the scene's grading", func(a *app, _ surface.Mods) { a.display.regrade(a.shown.open.Grade != nil) }},
		{'B', groupDebug, "B", "boxes of tiles by state", toggle("tile boxes", func(s *Show) *bool { return &s.Boxes })},
		{'T', groupDebug, "T", "leaves of the octree", toggle("octree", func(s *Show) *bool { return &s.Octree })},
		{'M', groupDebug, "M", "occlusion mask", toggle("occlusion mask", func(s *Show) *bool { return &s.Occlusion })},
		{'R', groupDebug, "R", "radii around the camera", toggle("radii", func(s *Show) *bool { return &s.Rings })},
		{'C', groupDebug, "C", "freeze culling", func(a *app, _ surface.Mods) { a.messages.notify("culling frozen: " + onOff(a.cam.freeze())) }},
		{surface.KeySpace, groupDebug, "Space", "pause streaming", func(a *app, _ surface.Mods) {
			a.paused = !a.paused
			a.messages.notify("streaming paused: " + onOff(a.paused))
		}},
		{'K', groupDebug, "K, Shift K", "static batches, their cells", (*app).showBatches},
		{surface.KeyF1, groupMore, "F1, H", "this help", toggle("help", func(s *Show) *bool { return &s.Help })},
		{'H', groupMore, "", "", toggle("help", func(s *Show) *bool { return &s.Help })},
		{surface.KeyF2, groupMore, "F2", "figures", toggle("figures", func(s *Show) *bool { return &s.Panel })},
		{surface.KeyF3, groupMore, "F3, N", "mini map", toggle("map", func(s *Show) *bool { return &s.Map })},
		{'N', groupMore, "", "", toggle("map", func(s *Show) *bool { return &s.Map })},
		{surface.KeyTab, groupMore, "Tab", "choose a scene", (*app).toggleChooser},
		{surface.KeyF5, groupMore, "F5", "reload the scene", func(a *app, _ surface.Mods) {
			if err := a.reload(); err != nil {
				a.messages.reportError(err.Error())
			} else {
				a.messages.notify("reloaded")
			}
		}},
		{surface.KeyF12, groupMore, "F12", "picture", func(a *app, _ surface.Mods) { a.input.shot = true }},
		{surface.KeyEscape, groupMore, "Esc", "close this, end", (*app).escape},
	}
}

// helpGroups lists the keys.
func helpGroups() []hud.HelpGroup {
	groups := []hud.HelpGroup{{Title: groupMove, Keys: [][2]string{
		{"W A S D", "ahead, left, back, right"},
		{"Q E", "down, up"},
		{"Shift, Ctrl", "fast, slow"},
		{"left drag", "look around, or turn around"},
		{"right drag", "shift sideways"},
		{"wheel", "nearer, farther"},
		{"Ctrl wheel", "speed"},
		{"1 - 9, 0", "authored cameras, the start"},
	}}}
	for _, b := range bindings {
		if b.label == "" {
			continue
		}
		if groups[len(groups)-1].Title != b.group {
			groups = append(groups, hud.HelpGroup{Title: b.group})
		}
		g := &groups[len(groups)-1]
		g.Keys = append(g.Keys, [2]string{b.label, b.text})
	}
	groups[len(groups)-1].Keys = append(groups[len(groups)-1].Keys, [2]string{"drop a file", "open it"})
	return groups
}

// key does what a key is for.
func (a *app) key(e *surface.Event) {
	if a.display.chooser != nil && a.chooserKey(e.Key) {
		return
	}
	if e.Repeat {
		return
	}
	if e.Key >= '0' && e.Key <= '9' {
		a.jump(int(e.Key - '0'))
		return
	}
	for i := range bindings {
		if bindings[i].key == e.Key {
			bindings[i].do(a, e.Mods)
			return
		}
	}
}

// jump goes to an authored camera, counted from 1; 0 is the start.
func (a *app) jump(n int) {
	a.cam.endFlight(false)
	a.cam.following = false
	switch {
	case n == 0:
		a.cam.start(a.shown.open, a.aspect(), a.messages.notify)
		a.messages.notify("start")
	case n <= len(a.cam.scene.Authored):
		c := &a.cam.scene.Authored[n-1]
		a.cam.rig.Jump(camera.Authored(c))
		name := c.Name
		if name == "" {
			name = fmt.Sprint(n)
		}
		a.messages.notify("camera: " + name)
	case len(a.cam.scene.Authored) == 0:
		a.messages.notify("the scene has no cameras of its own")
	default:
		a.messages.notify(fmt.Sprintf("the scene has only %d cameras", len(a.cam.scene.Authored)))
	}
}

func (a *app) switchMode(surface.Mods) {
	mode := camera.Orbit
	if a.cam.rig.Mode() == camera.Orbit {
		mode = camera.Fly
	}
	a.cam.rig.SetMode(mode)
	a.messages.notify("camera: " + mode.String())
}

func (a *app) togglePath(surface.Mods) {
	if a.cam.recording != nil {
		a.savePath()
		return
	}
	a.cam.recording, a.cam.recordedFrom = &camera.Recorder{}, a.clock.elapsed()
	a.messages.notify("recording the path: on")
}

func (a *app) escape(surface.Mods) {
	if a.display.show.Help {
		a.display.show.Help = false
		return
	}
	a.ended = !a.o.KeepOpen
}

func (a *app) toggleChooser(surface.Mods) {
	if a.display.chooser != nil {
		a.display.chooser = nil
		return
	}
	a.display.chooser = &hud.Chooser{Current: a.scenes.current, Selected: a.scenes.current}
	for i := range a.scenes.list {
		a.display.chooser.Names = append(a.display.chooser.Names, a.scenes.list[i].Name)
	}
	a.messages.notify("scenes: " + fmt.Sprint(len(a.scenes.list)))
}

// chooserKey moves through the list; other keys are left to the bindings.
func (a *app) chooserKey(k surface.Key) bool {
	n := len(a.display.chooser.Names)
	switch k {
	case surface.KeyUp:
		a.display.chooser.Selected = (a.display.chooser.Selected + n - 1) % n
	case surface.KeyDown:
		a.display.chooser.Selected = (a.display.chooser.Selected + 1) % n
	case surface.KeyEnter:
		i := a.display.chooser.Selected
		a.display.chooser = nil
		if i != a.scenes.current {
			a.change(i)
		}
	case surface.KeyEscape:
		a.display.chooser = nil
	default:
		return false
	}
	a.input.held[k] = false // it does not move the camera as well
	return true
}

// sceneName shortens a path for people.
func sceneName(path string) string {
	return filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))
}

// tileOf returns the status of a tile, a plain one when it is idle.
func tileOf(tiles []runtime.TileStatus, id payload.SceneID, tile int32) runtime.TileStatus {
	for i := range tiles {
		if tiles[i].Scene == id && tiles[i].Tile == tile {
			return tiles[i]
		}
	}
	return runtime.TileStatus{Scene: id, Tile: tile}
}
