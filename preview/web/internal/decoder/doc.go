// Package decoder reads and decodes tiles and textures beside the program that draws:
// in workers of a browser, which run the same program with another entry. A Pool is the
// payload.Loader and the texture.Reader of the one side, a Server the other side. What
// they say to each other are messages of bytes (wire.go), so that neither needs to know
// what carries them: in a browser that is postMessage (port_js.go).
package decoder

import "errors"

// ErrWire is matched by errors about messages that make no sense. Both sides are the
// same build: whoever sent one has a defect, or is something else.
var ErrWire = errors.New("decoder: the message makes no sense")

// ErrDied is matched by the errors of what a worker has died of, twice.
var ErrDied = errors.New("the decoder has died of it, twice")
