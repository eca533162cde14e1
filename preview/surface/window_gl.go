//go:build cgo && !nopreview

package surface

import (
	"fmt"
	"os"
	goruntime "runtime"
	"time"

	"github.com/go-gl/gl/v4.1-core/gl"
	"github.com/go-gl/glfw/v3.3/glfw"

	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/preview/internal/gpu/gl41"
)

// window is a window of the desktop.
type window struct {
	w             *glfw.Window
	width, height int // of the framebuffer
	events        []Event
	vsync         bool
}

// OpenWindow opens a window; width and height are in units of the desktop's
// layout, so that the framebuffer may be larger (Scale). On macOS it must be
// called on the main thread. Without a display the error matches ErrNoDisplay,
// without OpenGL 4.1 ErrContext.
func OpenWindow(title string, width, height int) (Surface, error) {
	if err := checkSize(width, height); err != nil {
		return nil, err
	}
	if err := checkDisplay(os.Getenv, goruntime.GOOS); err != nil {
		return nil, err
	}
	goruntime.LockOSThread()
	s, err := openWindow(title, width, height)
	if err != nil {
		goruntime.UnlockOSThread()
		return nil, err
	}
	return s, nil
}

func openWindow(title string, width, height int) (s *window, err error) {
	// GLFW's Go binding panics about conditions that it did not foresee.
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("%w: %v", ErrContext, r)
		}
	}()
	if err := glfw.Init(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrContext, err)
	}
	contextHints()
	w, err := glfw.CreateWindow(width, height, title, nil, nil)
	if err != nil {
		glfw.Terminate()
		return nil, fmt.Errorf("%w: %w", ErrContext, err)
	}
	w.MakeContextCurrent()
	if err := loadGL(glfw.GetProcAddress); err != nil {
		w.Destroy()
		glfw.Terminate()
		return nil, err
	}
	s = &window{w: w, vsync: true}
	glfw.SwapInterval(1)
	s.width, s.height = w.GetFramebufferSize()
	s.listen()
	return s, nil
}

// contextHints asks for what the renderer needs. The picture comes by a blit
// from a framebuffer of the renderer, so the window needs neither depth nor
// samples.
func contextHints() {
	glfw.DefaultWindowHints()
	glfw.WindowHint(glfw.ContextVersionMajor, 4)
	glfw.WindowHint(glfw.ContextVersionMinor, 1)
	glfw.WindowHint(glfw.OpenGLProfile, glfw.OpenGLCoreProfile)
	glfw.WindowHint(glfw.OpenGLForwardCompatible, glfw.True)
	glfw.WindowHint(glfw.DepthBits, 0)
	glfw.WindowHint(glfw.StencilBits, 0)
	glfw.WindowHint(glfw.ScaleToMonitor, glfw.True)
}

func (s *window) Size() (width, height int) { return max(1, s.width), max(1, s.height) }

func (s *window) Scale() float64 {
	x, y := s.w.GetContentScale()
	return max(1, float64(min(x, y)))
}

func (s *window) Framebuffer() uint32 { return 0 }

func (s *window) Device(plain bool) gpu.Device { return gl41.New(plain) }

func (s *window) Present() error {
	s.w.SwapBuffers()
	return nil
}

func (s *window) Events(dst []Event) []Event {
	glfw.PollEvents()
	dst = append(dst, s.events...)
	s.events = s.events[:0]
	return dst
}

func (s *window) Wait(d time.Duration) {
	if len(s.events) == 0 {
		glfw.WaitEventsTimeout(d.Seconds())
	}
}

func (s *window) SetTitle(title string) { s.w.SetTitle(title) }

func (s *window) SetCursorCaptured(captured bool) {
	if !captured {
		s.w.SetInputMode(glfw.CursorMode, glfw.CursorNormal)
		return
	}
	s.w.SetInputMode(glfw.CursorMode, glfw.CursorDisabled)
	if glfw.RawMouseMotionSupported() {
		s.w.SetInputMode(glfw.RawMouseMotion, glfw.True)
	}
}

func (s *window) SetVSync(on bool) {
	if on == s.vsync {
		return
	}
	s.vsync = on
	interval := 0
	if on {
		interval = 1
	}
	glfw.SwapInterval(interval)
}

func (s *window) Resize(width, height int) error {
	if err := checkSize(width, height); err != nil {
		return err
	}
	// Sizes of windows are in units of the layout, those of framebuffers in
	// pixels.
	ww, wh := s.w.GetSize()
	fw, fh := s.w.GetFramebufferSize()
	s.w.SetSize(width*max(1, ww)/max(1, fw), height*max(1, wh)/max(1, fh))
	return nil
}

func (s *window) Close() error {
	gl.Finish()
	s.w.Destroy()
	glfw.Terminate()
	openGL.release()
	goruntime.UnlockOSThread()
	return nil
}
