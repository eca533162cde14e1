//go:build cgo && !nopreview

package surface

import "github.com/go-gl/gl/v4.1-core/gl"

// Describe opens a headless context and returns what its driver says of itself.
// The error matches ErrContext, or ErrUnavailable in a build without the preview.
func Describe() (Driver, error) {
	s, err := OpenHeadless(1, 1)
	if err != nil {
		return Driver{}, err
	}
	text := func(name uint32) string { return gl.GoStr(gl.GetString(name)) }
	d := Driver{Vendor: text(gl.VENDOR), Renderer: text(gl.RENDERER), Version: text(gl.VERSION)}
	return d, s.Close()
}
