package workpool

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestFirstFailure(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	echo := fmt.Errorf("x: %w", context.Canceled)
	for i, c := range []struct {
		errs []error
		err  error
		want error
	}{
		{nil, nil, nil},
		{[]error{nil, nil}, nil, nil},
		{[]error{nil, echo, a, b}, b, a},
		{[]error{echo}, echo, echo},
		{[]error{nil, echo}, nil, nil},
	} {
		if got := FirstFailure(c.errs, c.err); got != c.want {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
	}
}
