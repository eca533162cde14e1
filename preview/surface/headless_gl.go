//go:build cgo && !nopreview

package surface

import (
	"fmt"
	goruntime "runtime"
	"time"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/preview/internal/gpu/gl41"
)

// maxSize bounds pictures; drivers have limits of their own below.
const maxSize = 16384

// headless is a context without a window. The picture lives in a framebuffer
// object.
type headless struct {
	context       *eglContext
	width, height int
	resized       bool
	loaded        bool // the functions of OpenGL
	fbo, color    uint32
}

// OpenHeadless makes an OpenGL context that needs no display server (EGL on
// Linux) with a picture of the given size in pixels. The error matches
// ErrContext.
func OpenHeadless(width, height int) (Surface, error) {
	if err := checkSize(width, height); err != nil {
		return nil, err
	}
	goruntime.LockOSThread()
	s := &headless{width: width, height: height}
	if err := s.open(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func checkSize(width, height int) error {
	if width < 1 || height < 1 || width > maxSize || height > maxSize {
		return fmt.Errorf("surface: a size of %d x %d pixels is not possible: give 1 to %d", width, height, maxSize)
	}
	return nil
}

func (s *headless) open() error {
	c, err := openContext()
	if err != nil {
		return err
	}
	s.context = c
	if err := loadGL(c.procAddress); err != nil {
		return err
	}
	s.loaded = true
	gl.GenFramebuffers(1, &s.fbo)
	gl.GenRenderbuffers(1, &s.color)
	return s.allocate()
}

func (s *headless) allocate() error {
	gl.BindRenderbuffer(gl.RENDERBUFFER, s.color)
	gl.RenderbufferStorage(gl.RENDERBUFFER, gl.SRGB8_ALPHA8, int32(s.width), int32(s.height))
	gl.BindFramebuffer(gl.FRAMEBUFFER, s.fbo)
	gl.FramebufferRenderbuffer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, s.color)
	if status := gl.CheckFramebufferStatus(gl.FRAMEBUFFER); status != gl.FRAMEBUFFER_COMPLETE {
		return fmt.Errorf("surface: no framebuffer of %d x %d pixels (status 0x%x)", s.width, s.height, status)
	}
	return nil
}

func (s *headless) Size() (width, height int)    { return s.width, s.height }
func (s *headless) Scale() float64               { return 1 }
func (s *headless) Framebuffer() uint32          { return s.fbo }
func (s *headless) Device(plain bool) gpu.Device { return gl41.New(plain) }
func (s *headless) Wait(time.Duration)           {}
func (s *headless) SetTitle(string)              {}
func (s *headless) SetCursorCaptured(bool)       {}
func (s *headless) SetVSync(bool)                {}

func (s *headless) Present() error {
	gl.Flush()
	return nil
}

func (s *headless) Events(dst []Event) []Event {
	if s.resized {
		s.resized = false
		dst = append(dst, Event{Kind: EventResize, Width: s.width, Height: s.height})
	}
	return dst
}

func (s *headless) Resize(width, height int) error {
	if err := checkSize(width, height); err != nil {
		return err
	}
	if width == s.width && height == s.height {
		return nil
	}
	s.width, s.height, s.resized = width, height, true
	return s.allocate()
}

func (s *headless) Close() error {
	if s.context != nil {
		if s.fbo != 0 {
			gl.DeleteFramebuffers(1, &s.fbo)
			gl.DeleteRenderbuffers(1, &s.color)
		}
		s.context.close()
		s.context = nil
	}
	if s.loaded {
		openGL.release()
		s.loaded = false
	}
	goruntime.UnlockOSThread()
	return nil
}
