package preview

import (
	"errors"
	"fmt"
	"io"
)

// writeHTML is not there: templates would make the program of a page larger by a
// tenth, which has nowhere to write one to.
func (s *sheet) writeHTML(io.Writer) error {
	return fmt.Errorf("a page of pictures: %w", errors.ErrUnsupported)
}

// writePNG is not there, either: it needs a font.
func (s *sheet) writePNG(io.Writer) error {
	return fmt.Errorf("a sheet of pictures: %w", errors.ErrUnsupported)
}
