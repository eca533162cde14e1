package decoder

import (
	"context"
	"errors"
	"io/fs"

	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// kinds are the errors that callers look for; a failure on the wire has a bit of each
// that it matches. The order is part of the form.
var kinds = [...]error{
	fs.ErrNotExist, fs.ErrPermission, context.Canceled, context.DeadlineExceeded,
	payload.ErrPayload, payload.ErrMismatch, payload.ErrReplaced, payload.ErrClosed,
	texfile.ErrURI, texfile.ErrFormat, texfile.ErrTooLarge, texfile.ErrDamaged, texfile.ErrChain,
	ErrWire,
}

// failure is an error that came over the wire: the text of the original, which says
// what, where and what to do, and what it matches.
type failure struct {
	text string
	bits uint32 // of kinds
}

func (f *failure) Error() string { return f.text }

// Is is for errors.Is.
func (f *failure) Is(target error) bool {
	for i, kind := range kinds {
		if f.bits>>i&1 != 0 && kind == target {
			return true
		}
	}
	return false
}

func writeFailure(token uint64, err error) *writer {
	w := newWriter(kindFailure, token)
	bits := uint32(0)
	for i, kind := range kinds {
		if errors.Is(err, kind) {
			bits |= 1 << i
		}
	}
	w.u32(bits)
	w.text(err.Error())
	return w
}

// readFailure returns the failure of a message, or in err why there is none.
func readFailure(r *reader) (failed, err error) {
	f := &failure{bits: r.u32(), text: r.text()}
	if f.bits>>len(kinds) != 0 {
		r.fail("kinds %x of an error", f.bits)
	}
	return f, r.end()
}
