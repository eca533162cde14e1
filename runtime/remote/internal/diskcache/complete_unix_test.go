//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package diskcache

import (
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// A complete file is read once to be given its final name, and readers of its blocks
// do not wait meanwhile. A pipe in the file's place stands still in the middle, and
// can be read once only.
func TestCompletionOnTheSide(t *testing.T) {
	c, data := openCache(t, t.TempDir(), newClock(), 0), body(100*BlockSize+7)
	p := storePartial(t, c, 1, data)
	p.mu.Lock()
	for b, sum := range checksums(data) {
		p.m.add(int64(b), sum)
	}
	p.mu.Unlock()
	file := c.Path(p.name)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(file, 0o600); err != nil {
		t.Skip("no pipes here: ", err)
	}
	done := make(chan error, 1)
	go func() { done <- p.Complete() }()
	w, err := os.OpenFile(file, os.O_WRONLY, 0) // returns when somebody reads
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(data[:len(data)/2])
	if p.mu.TryLock() {
		p.mu.Unlock()
	} else {
		t.Error("readers wait until the file is hashed")
	}
	if err == nil {
		_, err = w.Write(data[len(data)/2:])
	}
	if e := w.Close(); err != nil || e != nil {
		t.Error(err, e)
	}
	if err := <-done; err != nil || !p.whole {
		t.Errorf("%v, whole: %v", err, p.whole)
	}
	if e, ok := c.Peek(name(1)); !ok || e.SHA256 != hashOf(data) || e.Size != int64(len(data)) {
		t.Errorf("%+v, %v", e, ok)
	}
	if list := files(t, c.Dir()); slices.Contains(list, p.name) {
		t.Errorf("%q", list)
	}
}
