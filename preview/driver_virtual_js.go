package preview

import (
	"errors"
	"fmt"

	"github.com/untoldkit/untold/runtime/config"
)

// openVirtual is not there: a page follows the clock on the wall, and the model would make
// its program larger.
func (a *app) openVirtual(*Loaded, config.Config) (driver, error) {
	return nil, fmt.Errorf("preview: virtual time: %w", errors.ErrUnsupported)
}
