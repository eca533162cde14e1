package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// Errors that callers may want to tell apart, by errors.Is.
var (
	// ErrInsecure: plain http to another machine, or a redirect to it. Typically
	// the scene should be asked for with https.
	ErrInsecure = errors.New("remote: plain http is for this machine only")
	// ErrAddress: an address that is no http(s) URL, or a redirect to where none
	// may lead.
	ErrAddress = weburl.ErrInvalid
	// ErrStatus: the server answered with a status other than the expected ones.
	// The error is a *StatusError.
	ErrStatus = errors.New("remote: unexpected status")
	// ErrMismatch: the bytes are not those that the manifest or the answer's own
	// header declares. Typically the scene was cooked again while it was
	// streamed, the server has a mixture of two cooks, or the connection broke.
	ErrMismatch = errors.New("remote: the file is not what was declared")
	// ErrTooLarge: a body beyond the limit.
	ErrTooLarge = errors.New("remote: the file is too large")
	// ErrChanged: a remote file that is read in parts was replaced. It matches
	// payload.ErrReplaced too.
	ErrChanged = fmt.Errorf("remote: reading a file in parts: %w", payload.ErrReplaced)
	// ErrTimeout: the server sent nothing for too long, or took too long in all.
	ErrTimeout = errors.New("remote: the server takes too long")
	// ErrWait: the server has asked not to be asked for a while.
	ErrWait = errors.New("remote: the server wants to be left alone for a while")
	// ErrCache: the disk cache could not be read or written.
	ErrCache = diskcache.ErrCache
	// ErrForeign: a folder that is to be the cache holds files that are not a cache's.
	// Nothing in it has been changed.
	ErrForeign = diskcache.ErrForeign
	// ErrClosed: the Fetcher, Cache or RangeReader is closed.
	ErrClosed = diskcache.ErrClosed
)

// errDeclared is an ErrMismatch of a file that is not as the manifest declares it. It
// matches payload.ErrMismatch too, as the manifest may be older than the file.
var errDeclared error = declaredError{}

type declaredError struct{}

func (declaredError) Error() string   { return ErrMismatch.Error() }
func (declaredError) Unwrap() []error { return []error{ErrMismatch, payload.ErrMismatch} }

// StatusError is an answer with a status other than the expected ones.
// errors.Is matches ErrStatus, and fs.ErrNotExist when the file is not there.
type StatusError struct {
	URL    string
	Status int // such as 404
}

// Error returns one line.
func (e *StatusError) Error() string {
	return fmt.Sprintf("%v %d %s from %s", ErrStatus, e.Status, http.StatusText(e.Status), e.URL)
}

// Unwrap returns ErrStatus.
func (e *StatusError) Unwrap() error { return ErrStatus }

// Is reports whether the answer says that there is no such file.
func (e *StatusError) Is(target error) bool {
	return target == fs.ErrNotExist && (e.Status == http.StatusNotFound || e.Status == http.StatusGone)
}

// final marks an error that another attempt would only repeat.
type final struct{ error }

// Unwrap returns the error.
func (e final) Unwrap() error { return e.error }
