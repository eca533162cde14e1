package remote

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// unpackedBody is what a body in gzip unpacks to. What is no gzip, or has another checksum, is
// ErrMismatch; errors of the connection stay what they are.
type unpackedBody struct {
	io.ReadCloser // the body as it comes
	z             *gzip.Reader
}

func (b *unpackedBody) Read(p []byte) (n int, err error) {
	if b.z == nil {
		if b.z, err = gzip.NewReader(b.ReadCloser); err != nil {
			return 0, unpackError(err)
		}
	}
	n, err = b.z.Read(p)
	return n, unpackError(err)
}

func unpackError(err error) error {
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt) {
		return fmt.Errorf("%w: the server calls it gzip: %w", ErrMismatch, err)
	}
	return err
}
