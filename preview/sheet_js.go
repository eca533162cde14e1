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
