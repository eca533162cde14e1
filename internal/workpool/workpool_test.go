package workpool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
)

func TestPool(t *testing.T) {
	gate, begun := make(chan bool), make(chan int, 4)
	var mu sync.Mutex
	var done, dropped []int
	p := New(2, func(n int) {
		begun <- n
		<-gate
		mu.Lock()
		done = append(done, n)
		mu.Unlock()
	})
	for n := range 4 {
		if !p.Start(n) {
			t.Fatalf("%d was refused", n)
		}
	}
	<-begun
	<-begun
	beside := make(chan bool)
	if !p.Beside(func() { <-gate; close(beside) }) { // though both places are taken
		t.Error("an open pool refuses")
	}
	closed := make(chan bool)
	go func() {
		p.Close(func(n int) {
			dropped = append(dropped, n)
			if n == 3 {
				close(gate)
			}
		})
		close(closed)
	}()
	<-closed
	select {
	case <-beside:
	default:
		t.Error("Close does not wait for what runs beside")
	}
	slices.Sort(done)
	if !slices.Equal(done, []int{0, 1}) || !slices.Equal(dropped, []int{2, 3}) {
		t.Errorf("done %v, dropped %v", done, dropped)
	}
	if p.Start(4) || p.Beside(func() {}) {
		t.Error("a closed pool takes work")
	}
	p.Close(func(int) { t.Error("nothing was queued") })
}

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
