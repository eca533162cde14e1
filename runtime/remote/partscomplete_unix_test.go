//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package remote

import (
	"bytes"
	"hash/crc32"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// A complete file is read once to be given its final name, and who reads parts of
// it meanwhile does not wait. A pipe in the file's place stands still in the
// middle, and can be read once only.
func TestPartsAreCompletedOnTheSide(t *testing.T) {
	r, data := newPartsRig(t)
	x := r.openParts(partsRequest(data)).(*parts)
	x.mu.Lock()
	b := int64(0)
	for block := range slices.Chunk(data, blockSize) {
		x.have.add(b, crc32.Checksum(block, castagnoli))
		b++
	}
	x.mu.Unlock()
	file := r.Cache().path(x.file)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(file, 0o600); err != nil {
		t.Skip("no pipes here: ", err)
	}
	done := async(x.complete)
	w, err := os.OpenFile(file, os.O_WRONLY, 0) // returns when somebody reads
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(data[:len(data)/2])
	if x.mu.TryLock() {
		x.mu.Unlock()
	} else {
		t.Error("readers wait until the file is hashed")
	}
	if err == nil {
		_, err = w.Write(data[len(data)/2:])
	}
	if e := w.Close(); err != nil || e != nil {
		t.Error(err, e)
	}
	if err := <-done; err != nil || !x.whole {
		t.Errorf("%v, whole: %v", err, x.whole)
	}
	if e, ok := r.Cache().peek(wholeName(x.file)); !ok || e.SHA256 != hashOf(data) || e.Size != int64(len(data)) {
		t.Errorf("%+v, %v", e, ok)
	}
}

// Who wants all of a file waits for the one that is giving it its final name.
func TestWholeFileWaitsForItsCompletion(t *testing.T) {
	r, data := newPartsRig(t)
	x := r.openParts(partsRequest(data)).(*parts)
	mustRead(t, x, data, 0, len(data)/2)
	x.mu.Lock()
	x.finishing = make(chan struct{})
	x.mu.Unlock()
	mustRead(t, x, data, 0, len(data)) // needs no final name
	got := async(func() error {
		file, err := r.Local(t.Context(), partsURL, Want{int64(len(data)), hashOf(data)})
		if err != nil {
			return err
		}
		if all, err := os.ReadFile(file); err != nil || !bytes.Equal(all, data) {
			t.Errorf("another file: %v", err)
		}
		return nil
	})
	x.mu.Lock()
	close(x.finishing)
	x.finishing = nil
	x.mu.Unlock()
	if err := <-got; err != nil {
		t.Error(err)
	}
	if n := len(r.origin.requests()); n != 3 {
		t.Errorf("%d requests", n)
	}
}
