package layer

import (
	"context"
	"fmt"
)

// What decoded things count as, in bytes.
const (
	fieldCost   = 8  // of a spec
	valueCost   = 16 // beside its numbers
	entryCost   = 64 // of a dictionary
	elementCost = 16 // of a list of texts
	// Prims and properties with what finds them again.
	primCost     = 1024
	propertyCost = 512
)

// A crate's values may be shared, so that a small file could stand for any number of them:
// they may take budgetPerByte bytes for each of the file, and at least leastBudget.
const (
	leastBudget   = 16 << 20
	budgetPerByte = 256
)

// checkEvery is how many values are read between two looks at whether to go on.
const checkEvery = 4096

// budget is what the values of a crate may still take.
type budget struct {
	ctx   context.Context
	left  int64
	limit int64
	fault error // kind of what is wrong where nothing is left
	work  int
	visit uint32  // number of the spec whose fields are read
	dicts []int64 // places of the dictionaries that are being read
}

func newBudget(ctx context.Context, size, memory int64) budget {
	b := budget{ctx: ctx, limit: memory, fault: ErrTooLarge}
	if size < memory/budgetPerByte {
		if n := max(leastBudget, budgetPerByte*size); n < memory {
			b.limit, b.fault = n, ErrMalformed
		}
	}
	b.left = b.limit
	return b
}

// charge counts bytes that a value takes. The error is an *Error, or that of the context.
func (b *budget) charge(n int64) error {
	if b.work++; b.work%checkEvery == 0 {
		if err := b.ctx.Err(); err != nil {
			return err
		}
	}
	if n > b.left {
		return &Error{Reason: fmt.Sprintf("its values take more than %d bytes", b.limit), Err: b.fault}
	}
	b.left -= n
	return nil
}

// anew returns the crate for a value that is read later and not kept, which may take all
// that the memory allows.
func (c *crate) anew() *crate {
	out := *c
	out.dicts = nil
	out.limit, out.left, out.fault = c.memory, c.memory, ErrTooLarge
	return &out
}
