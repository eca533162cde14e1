//go:build (!cgo || nopreview) && !js

package surface

// OpenHeadless returns ErrUnavailable in this build.
func OpenHeadless(width, height int) (Surface, error) { return nil, ErrUnavailable }

// OpenWindow returns ErrUnavailable in this build.
func OpenWindow(title string, width, height int) (Surface, error) { return nil, ErrUnavailable }

// Describe returns ErrUnavailable in this build.
func Describe() (Driver, error) { return Driver{}, ErrUnavailable }
