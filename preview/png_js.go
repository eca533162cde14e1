package preview

import (
	"errors"
	"fmt"
	"image"
)

// writePNG is not there: a page has nowhere to write to.
func writePNG(string, *image.NRGBA) error {
	return fmt.Errorf("pictures in a browser: %w", errors.ErrUnsupported)
}
