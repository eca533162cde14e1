//go:build cgo && !nopreview

package surface

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/go-gl/gl/v4.1-core/gl"
	"github.com/go-gl/glfw/v3.3/glfw"
)

func openHeadless(t *testing.T, w, h int) Surface {
	t.Helper()
	s, err := OpenHeadless(w, h)
	if errors.Is(err, ErrContext) {
		t.Skipf("no OpenGL here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fill clears the surface with a colour and reads one pixel back.
func fill(s Surface, v float32) uint8 {
	gl.BindFramebuffer(gl.FRAMEBUFFER, s.Framebuffer())
	gl.ClearColor(v, v, v, 1)
	gl.Clear(gl.COLOR_BUFFER_BIT)
	var p [4]uint8
	gl.ReadPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, gl.Ptr(&p[0]))
	return p[0]
}

func TestHeadless(t *testing.T) {
	s := openHeadless(t, 64, 48)
	defer s.Close()
	if w, h := s.Size(); w != 64 || h != 48 || s.Scale() != 1 || s.Framebuffer() == 0 {
		t.Errorf("%d x %d, scale %v, framebuffer %d", w, h, s.Scale(), s.Framebuffer())
	}
	if got := fill(s, 1); got != 255 {
		t.Errorf("white reads as %d", got)
	}
	if err := s.Present(); err != nil {
		t.Error(err)
	}
	if err := s.Resize(33, 21); err != nil {
		t.Fatal(err)
	}
	if e := s.Events(nil); len(e) != 1 || e[0].Kind != EventResize || e[0].Width != 33 || e[0].Height != 21 {
		t.Errorf("events %+v", e)
	}
	if e := s.Events(nil); len(e) != 0 {
		t.Errorf("events again: %+v", e)
	}
	if got := fill(s, 0); got != 0 {
		t.Errorf("black reads as %d", got)
	}
	if err := s.Resize(0, 1); err == nil {
		t.Error("a width of 0 is accepted")
	}
	if _, err := OpenHeadless(1<<20, 1); err == nil || errors.Is(err, ErrContext) {
		t.Errorf("a width of a million: %v", err)
	}
}

func TestDescribe(t *testing.T) {
	openHeadless(t, 1, 1).Close()
	d, err := Describe()
	if err != nil || d.Renderer == "" || d.Vendor == "" || d.Version < "4.1" {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestHeadlessTwice: contexts come one after the other and beside each other.
func TestHeadlessTwice(t *testing.T) {
	openHeadless(t, 8, 8).Close()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			s, err := OpenHeadless(8, 8)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if got := fill(s, 1); got != 255 {
				t.Errorf("white reads as %d", got)
			}
		})
	}
	wg.Wait()
}

// display starts an X server without a screen, unless there is one.
func display(t *testing.T) {
	t.Helper()
	if os.Getenv("DISPLAY") != "" {
		return
	}
	path, err := exec.LookPath("Xvfb")
	if err != nil {
		t.Skip("neither DISPLAY nor Xvfb: apt-get install xvfb")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	x := exec.Command(path, "-displayfd", "3", "-screen", "0", "320x240x24", "-nolisten", "tcp")
	x.ExtraFiles = []*os.File{w}
	if err := x.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		x.Process.Kill()
		x.Wait()
	})
	w.Close()
	number, err := bufio.NewReader(r).ReadString('\n')
	r.Close()
	if err != nil {
		t.Skipf("Xvfb does not start: %v", err)
	}
	t.Setenv("DISPLAY", ":"+strings.TrimSpace(number))
}

func TestWindow(t *testing.T) {
	display(t)
	s, err := OpenWindow("test", 200, 100)
	if errors.Is(err, ErrContext) {
		t.Skipf("no OpenGL in a window here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if w, h := s.Size(); w != 200 || h != 100 || s.Framebuffer() != 0 || s.Scale() != 1 {
		t.Errorf("%d x %d, framebuffer %d, scale %v", w, h, s.Framebuffer(), s.Scale())
	}
	s.SetVSync(false)
	s.SetTitle("another")
	s.SetCursorCaptured(true)
	s.SetCursorCaptured(false)
	if got := fill(s, 1); got != 255 {
		t.Errorf("white reads as %d", got)
	}
	if err := s.Present(); err != nil {
		t.Error(err)
	}
	if err := s.Resize(150, 80); err != nil {
		t.Fatal(err)
	}
	for { // the event comes when the server has got to it
		for _, e := range s.Events(nil) {
			if e.Kind == EventResize {
				if w, h := s.Size(); w != e.Width || h != e.Height || w != 150 || h != 80 {
					t.Errorf("resized to %d x %d, the event says %d x %d", w, h, e.Width, e.Height)
				}
				return
			}
		}
		if err := s.Present(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWindowWithoutDisplay(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	if s, err := OpenWindow("test", 10, 10); !errors.Is(err, ErrNoDisplay) {
		if err == nil {
			s.Close()
		}
		t.Errorf("got %v", err)
	}
	t.Setenv("DISPLAY", "no display") // a name has a colon and a number
	if s, err := OpenWindow("test", 10, 10); err == nil {
		s.Close()
		t.Error("a window on a display that is not there")
	} else if !errors.Is(err, ErrContext) {
		t.Errorf("a display that is not there: %v", err)
	}
}

func TestKeyOf(t *testing.T) {
	for k, want := range map[glfw.Key]Key{
		glfw.KeyW: 'W', glfw.Key1: '1', glfw.KeySpace: ' ', glfw.KeySlash: '/', glfw.KeyF5: KeyF5, glfw.KeyKP7: '7',
		glfw.KeyEscape: KeyEscape, glfw.KeyKPEnter: KeyEnter, glfw.KeyKPAdd: '+', glfw.KeyUnknown: KeyUnknown, glfw.KeyWorld1: KeyUnknown,
	} {
		if got := keyOf(k); got != want {
			t.Errorf("key %d is %d, want %d", k, got, want)
		}
	}
	if got := modsOf(glfw.ModShift | glfw.ModAlt); got != ModShift|ModAlt {
		t.Errorf("mods %b", got)
	}
}
