//go:build cgo && !nopreview && !linux

package surface

import (
	"fmt"
	"unsafe"

	"github.com/go-gl/glfw/v3.3/glfw"
)

// eglContext stands for a hidden window where there is no EGL.
type eglContext struct{ window *glfw.Window }

func openContext() (*eglContext, error) {
	if err := glfw.Init(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrContext, err)
	}
	contextHints()
	glfw.WindowHint(glfw.Visible, glfw.False)
	w, err := glfw.CreateWindow(16, 16, "", nil, nil)
	if err != nil {
		glfw.Terminate()
		return nil, fmt.Errorf("%w: %w", ErrContext, err)
	}
	w.MakeContextCurrent()
	return &eglContext{w}, nil
}

func (c *eglContext) close() {
	c.window.Destroy()
	glfw.Terminate()
}

func (c *eglContext) procAddress(name string) unsafe.Pointer { return glfw.GetProcAddress(name) }
