//go:build cgo && !nopreview

package surface

import (
	"fmt"
	"unsafe"

	"github.com/go-gl/gl/v4.1-core/gl"
)

// loadGL loads the functions of OpenGL for the current context and checks its
// version.
func loadGL(address func(string) unsafe.Pointer) error {
	if err := gl.InitWithProcAddrFunc(address); err != nil {
		return fmt.Errorf("%w: %w", ErrContext, err)
	}
	var major, minor int32
	gl.GetIntegerv(gl.MAJOR_VERSION, &major)
	gl.GetIntegerv(gl.MINOR_VERSION, &minor)
	if major < 4 || major == 4 && minor < 1 {
		return fmt.Errorf("%w: the driver has OpenGL %d.%d (%s)", ErrContext, major, minor, gl.GoStr(gl.GetString(gl.RENDERER)))
	}
	return nil
}
