//go:build !unix

// Package filemap maps files into memory, not on this system.
package filemap

import (
	"errors"
	"os"
)

// Whole is not implemented here; files are read instead.
func Whole(*os.File, int64) ([]byte, func() error, error) { return nil, nil, errors.ErrUnsupported }

// Range is not implemented here; files are read instead.
func Range(*os.File, int64, int64) ([]byte, func(), error) { return nil, nil, errors.ErrUnsupported }
