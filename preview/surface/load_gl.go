//go:build cgo && !nopreview

package surface

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/preview/internal/gpu/gl41"
)

// functions are the functions of OpenGL, of which a process has one table: the
// bindings keep their addresses in variables of a package. It is written for the
// first context alone. Contexts of the same driver share it from then on, so
// that nothing is written while another one draws; those of a driver with other
// addresses must wait until the table is not in use.
type functions struct {
	mu      sync.Mutex
	load    func(addressFunc) error // writes the table
	table   map[string]unsafe.Pointer
	inUse   int // contexts that are open
	loading int // how often the table was written
}

// addressFunc returns the address of a function by its name, nil when the driver
// of the current context has none.
type addressFunc func(name string) unsafe.Pointer

var openGL = functions{load: func(address addressFunc) error { return gl41.Load(address) }}

// errOtherDriver is the error of a second context whose functions are others.
var errOtherDriver = errors.New("an open context has another driver, and a process can call the functions of one at a time: close it first")

// acquire makes the functions of the current context's driver callable until
// release. With an error nothing is to be released.
func (f *functions) acquire(address addressFunc) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.same(address) {
		if f.inUse > 0 {
			return errOtherDriver
		}
		table := map[string]unsafe.Pointer{}
		f.table = nil
		f.loading++
		if err := f.load(func(name string) unsafe.Pointer {
			p := address(name)
			table[name] = p
			return p
		}); err != nil {
			return err
		}
		f.table = table
	}
	f.inUse++
	return nil
}

// same reports whether the table holds just these addresses.
func (f *functions) same(address addressFunc) bool {
	for name, p := range f.table {
		if address(name) != p {
			return false
		}
	}
	return f.table != nil
}

// release ends the use by a context.
func (f *functions) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inUse--
}

// loadGL makes the functions of OpenGL callable for the current context, until
// openGL.release, and checks its version.
func loadGL(address addressFunc) error {
	if err := openGL.acquire(address); err != nil {
		return fmt.Errorf("%w: %w", ErrContext, err)
	}
	var major, minor int32
	gl.GetIntegerv(gl.MAJOR_VERSION, &major)
	gl.GetIntegerv(gl.MINOR_VERSION, &minor)
	if major < 4 || major == 4 && minor < 1 {
		defer openGL.release()
		return fmt.Errorf("%w: the driver has OpenGL %d.%d (%s)", ErrContext, major, minor, gl.GoStr(gl.GetString(gl.RENDERER)))
	}
	return nil
}
