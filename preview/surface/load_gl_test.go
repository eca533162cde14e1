//go:build cgo && !nopreview

package surface

import (
	"errors"
	"sync"
	"testing"
	"unsafe"
)

// driver is a set of function addresses.
func driver(code *[8]byte) addressFunc {
	return func(name string) unsafe.Pointer {
		switch name {
		case "glClear":
			return unsafe.Pointer(&code[1])
		case "glFlush":
			return unsafe.Pointer(&code[2])
		}
		return nil
	}
}

// bindings stands in for the variables of a package in which addresses are kept:
// the race detector watches them.
type bindings struct{ clear, flush, missing unsafe.Pointer }

func (b *bindings) load(address addressFunc) error {
	b.clear, b.flush, b.missing = address("glClear"), address("glFlush"), address("glMissing")
	if b.clear == nil {
		return errors.New("glClear")
	}
	return nil
}

// TestFunctionsAreLoadedOnce: contexts that are opened beside each other, and
// draw, do not write where others read.
func TestFunctionsAreLoadedOnce(t *testing.T) {
	var b bindings
	var code [8]byte
	f := functions{load: b.load}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if err := f.acquire(driver(&code)); err != nil {
					t.Error(err)
					return
				}
				if b.clear != unsafe.Pointer(&code[1]) || b.flush != unsafe.Pointer(&code[2]) {
					t.Error("a function is not that of the driver")
				}
				f.release()
			}
		})
	}
	wg.Wait()
	if f.loading != 1 || f.inUse != 0 {
		t.Errorf("loaded %d times, %d contexts left", f.loading, f.inUse)
	}
}

// TestFunctionsOfAnotherDriver: they take the place of the first one's when no
// context is open any more, and not before.
func TestFunctionsOfAnotherDriver(t *testing.T) {
	var b bindings
	var one, two [8]byte
	f := functions{load: b.load}
	if err := f.acquire(driver(&one)); err != nil {
		t.Fatal(err)
	}
	if err := f.acquire(driver(&two)); !errors.Is(err, errOtherDriver) || b.clear != unsafe.Pointer(&one[1]) {
		t.Errorf("beside an open context: %v", err)
	}
	f.release()
	if err := f.acquire(driver(&two)); err != nil || b.clear != unsafe.Pointer(&two[1]) {
		t.Errorf("after it: %v", err)
	}
	f.release()
	// One without what is needed leaves nothing that a later one could share.
	if err := f.acquire(func(string) unsafe.Pointer { return nil }); err == nil || f.inUse != 0 {
		t.Errorf("a driver without functions: %v, %d contexts", err, f.inUse)
	}
	if err := f.acquire(driver(&two)); err != nil || b.clear != unsafe.Pointer(&two[1]) || f.loading != 4 {
		t.Errorf("after that: %v, loaded %d times", err, f.loading)
	}
}
