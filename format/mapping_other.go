//go:build !unix

package format

import (
	"errors"
	"os"
)

// mapFile is not implemented here; files are read instead.
func mapFile(*os.File, int64) ([]byte, func() error, error) { return nil, nil, errors.ErrUnsupported }
