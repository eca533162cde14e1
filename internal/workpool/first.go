package workpool

import (
	"context"
	"errors"
)

// FirstFailure returns the first of the errors of several pieces of work, in their
// order and not that of the workers. A cancellation is only the echo of another
// failure; err, which may be nil, is returned if there is nothing else.
func FirstFailure(errs []error, err error) error {
	for _, e := range errs {
		if e != nil && !errors.Is(e, context.Canceled) {
			return e
		}
	}
	return err
}
