package mailbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

type note struct {
	token uint64
	text  string
}

func (n note) Order() uint64 { return n.token }

func rung[M Message](b *Mailbox[M]) bool {
	select {
	case <-b.Ready():
		return true
	default:
		return false
	}
}

func TestBox(t *testing.T) {
	b := New[note]()
	if rung(&b) {
		t.Error("it rings for nothing")
	}
	for _, n := range []note{{3, "c"}, {1, "a"}, {3, "d"}, {2, "b"}} {
		if !b.Push(n) {
			t.Error("refused")
		}
	}
	got := b.Drain(nil)
	if fmt.Sprint(got) != "[{1 a} {2 b} {3 c} {3 d}]" {
		t.Error(got)
	}
	if rung(&b) {
		t.Error("it rings after everything was taken")
	}
	b.Push(note{5, "e"})
	if !rung(&b) {
		t.Error("it does not ring")
	}
	if got = b.Drain(got); fmt.Sprint(got) != "[{5 e}]" {
		t.Error(got)
	}
	b.Push(note{6, "f"})
	if left := b.Close(); fmt.Sprint(left) != "[{6 f}]" || b.Push(note{7, "g"}) || len(b.Drain(nil)) != 0 || b.Close() != nil {
		t.Error("what comes after Close is kept")
	}
}

func TestZeroMailbox(t *testing.T) {
	var b Mailbox[note]
	b.Push(note{1, "a"})
	b.Notify()
	if got := b.Drain(nil); len(got) != 1 || b.Ready() != nil {
		t.Error(got)
	}
}

func TestAwait(t *testing.T) {
	b := New[note]()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Await(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() { b.Push(note{uint64(i), ""}) })
	}
	if err := b.Await(t.Context(), 8); err != nil {
		t.Error(err)
	}
	group.Wait()
	if !rung(&b) || len(b.Drain(nil)) != 8 {
		t.Error("what has come is not announced")
	}
	if err := b.Await(t.Context(), 8); err != nil || rung(&b) {
		t.Error("taken messages count, and ring no more", err)
	}
}

// An Await that gives up leaves Ready as it was: something waits.
func TestAwaitGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 64 { // it may look at Ready first, or at ctx
		b := New[note]()
		b.Push(note{1, "a"})
		if err := b.Await(ctx, 2); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if !rung(&b) {
			t.Fatal("what has come is not announced")
		}
	}
}
