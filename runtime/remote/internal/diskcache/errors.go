package diskcache

import (
	"errors"
	"fmt"
	"io/fs"
)

var (
	// ErrCache: the folder could not be read or written. Every error of the disk is
	// one; trying again would only repeat it.
	ErrCache = errors.New("remote: cache")
	// ErrForeign: the folder holds files that are not a cache's. Nothing in it has been
	// changed.
	ErrForeign = errors.New("remote: the folder is no cache of untold's")
	// ErrClosed: the Cache is closed.
	ErrClosed = errors.New("remote: closed")

	// ErrNotHere: a Partial does not have some of the bytes that were asked for, or
	// not any more.
	ErrNotHere = errors.New("remote: that part of the file has not been brought")
	// ErrGone: a Partial was evicted, completed or replaced since it was opened.
	ErrGone = errors.New("the partial file was removed meanwhile")
	// ErrOtherVersion: another process has put another version in a Partial's place.
	ErrOtherVersion = errors.New("another program has begun to read another version")
)

// MismatchError: a complete Partial does not have the hash that its Entry declares.
type MismatchError struct{ Got, Declared string }

// Error returns one line.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("its SHA-256 is %s, the manifest declares %s", e.Got, e.Declared)
}

func cacheError(what string, err error) error { return fmt.Errorf("%w: %s: %w", ErrCache, what, err) }

// failure is the error of something that the cache could not do, and says where and how to
// help it.
func (r folder) failure(what string, err error) error {
	if errors.Is(err, ErrClosed) {
		return cacheError(what, err)
	}
	return cacheError(what, fmt.Errorf("%w: check the disk of %s, or use another folder (--cache-dir, Options.CacheDir)", err, r.dir))
}

// missing reports whether an error says that there is no such file.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
