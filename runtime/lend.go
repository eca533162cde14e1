package runtime

import (
	"errors"
	"os"

	"github.com/untoldkit/untold/format"
)

// LendAt is the format.Lender: compressed geometry is decoded straight from the
// page cache.
func (c cancellable) LendAt(off, n int64) ([]byte, func(), error) {
	if err := c.ctx.Err(); err != nil {
		return nil, nil, err
	}
	if f, ok := c.ReaderAt.(*os.File); ok {
		return format.Lend(f, off, n)
	}
	return nil, nil, errors.ErrUnsupported
}
