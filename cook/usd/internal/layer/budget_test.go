package layer

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// sharing is a dictionary of so many levels, each of which holds the next one twice; around
// makes the last one hold the first.
type sharing struct {
	levels int
	around bool
}

// shared writes it and returns its rep.
func (w *crateWriter) shared(s sharing) valueRep {
	first := uint64(len(w.out))
	at := len(w.out)
	for i := range s.levels {
		r := rep(typeInt, 1) | isInline
		size := 8 + 2*20
		switch {
		case i < s.levels-1:
			r = rep(typeDict, uint64(at+size))
		case s.around:
			r = rep(typeDict, first)
		}
		w.u64(2)
		for _, key := range []string{"a", "b"} {
			w.out = binary.LittleEndian.AppendUint32(w.out, w.text(key))
			w.u64(8)
			w.u64(uint64(r))
		}
		at += size
	}
	return rep(typeDict, first)
}

// TestShared: what a small crate shares may stand for little more than the crate has, and a
// dictionary is not within itself.
func TestShared(t *testing.T) {
	open := func(ctx context.Context, s sharing) (*Layer, error) {
		l := &Layer{Meta: map[string]Value{}, Root: &Prim{}}
		l.Root.Children = []*Prim{{Name: "a", Meta: map[string]Value{"customData": s}}}
		data := writeCrate(t, l, 8)
		return OpenCrate(ctx, bytes.NewReader(data), int64(len(data)), 1<<28)
	}
	l, err := open(context.Background(), sharing{levels: 5})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(l.Root.Children[0].Meta["customData"]); strings.Count(got, "1") != 32 {
		t.Errorf("%s", got)
	}
	_, err = open(context.Background(), sharing{levels: 100})
	if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "prim a: customData: its values take more than 16777216 bytes") {
		t.Errorf("%v", err)
	}
	_, err = open(context.Background(), sharing{levels: 3, around: true})
	if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "a dictionary is within itself") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err = open(ctx, sharing{levels: 100}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	text := "#usda 1.0\n" + strings.Repeat("def \"a\" {}\n", checkEvery)
	if _, err := ParseText(ctx, []byte(text), 1<<30); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestFieldSets: fields that all specs share count for each of them, and none is there
// twice in a set.
func TestFieldSets(t *testing.T) {
	c := &crate{budget: newBudget(context.Background(), 100, 1<<16)}
	for i := range 1000 {
		c.tokens = append(c.tokens, fmt.Sprint("f", i))
		c.fields = append(c.fields, field{uint32(i), rep(typeInt, 1) | isInline})
		c.fieldSets = append(c.fieldSets, uint32(i))
	}
	n := 0
	var err error
	for n = 0; n < 100 && err == nil; n++ {
		err = c.each(&spec{}, func(string, valueRep) error { return nil })
	}
	if !errors.Is(err, ErrTooLarge) || n != 9 {
		t.Errorf("after %d: %v", n, err)
	}
	c.budget = newBudget(context.Background(), 100, 1<<16)
	c.fieldSets = []uint32{3, 4, 3}
	err = c.each(&spec{}, func(string, valueRep) error { return nil })
	if !errors.Is(err, ErrMalformed) || err.Error() != `FIELDSETS: field "f3" is there twice` {
		t.Errorf("%v", err)
	}
}

// TestHugeNumbers: whole numbers without signs beyond 2^63 are about what they were.
func TestHugeNumbers(t *testing.T) {
	b := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 3), 1<<63+1<<62)
	if n := decode(b, element{'U', 1, false}); n.At(0) != 3 || n.At(1) != 1<<63+1<<62 {
		t.Errorf("%v", n)
	}
	if n := decode(b, element{'I', 1, false}); n.IntAt(1) != -1<<62 {
		t.Errorf("%v", n)
	}
}
