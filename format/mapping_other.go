//go:build !unix

package format

import (
	"errors"
	"os"
)

// mapFile is not implemented here; files are read instead.
func mapFile(*os.File, int64) ([]byte, func() error, error) { return nil, nil, errors.ErrUnsupported }

// Lend is not to be had here: files are read.
func Lend(*os.File, int64, int64) ([]byte, func(), error) { return nil, nil, errors.ErrUnsupported }
