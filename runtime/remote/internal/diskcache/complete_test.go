package diskcache

import (
	"io"
	"os"
	"slices"
	"testing"

	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

// A complete file is read once to be given its final name, and readers of its blocks
// do not wait meanwhile. The disk stands still in the middle of the file, and it can
// be read once only.
func TestCompletionOnTheSide(t *testing.T) {
	c, data := openCache(t, t.TempDir(), newClock(), 0), remotetest.Body(100*BlockSize+7)
	p := storePartial(t, c, 1, data)
	p.mu.Lock()
	for b, sum := range checksums(data) {
		p.m.add(int64(b), sum)
	}
	p.mu.Unlock()
	content, w := io.Pipe()
	if err := os.WriteFile(c.Path(p.name), data, 0o600); err != nil {
		t.Fatal(err)
	}
	c.root.Disk = &standing{Disk: c.root.Disk, name: p.name, content: content}
	done := make(chan error, 1)
	go func() { done <- p.Complete() }()
	_, err := w.Write(data[:len(data)/2]) // returns when somebody has read it
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
	if e, ok := c.Peek(name(1)); !ok || e.SHA256 != remotetest.HashOf(data) || e.Size != int64(len(data)) {
		t.Errorf("%+v, %v", e, ok)
	}
	if list := remotetest.Files(t, c.Dir()); slices.Contains(list, p.name) {
		t.Errorf("%q", list)
	}
}

// standing is a disk on which one file, opened once, is read as fast as it comes.
type standing struct {
	Disk
	name    string
	content io.Reader
}

func (s *standing) Open(name string) (File, error) {
	f, err := s.Disk.Open(name)
	if err == nil && name == s.name && s.content != nil {
		f, s.content = standingFile{f, s.content}, nil
	}
	return f, err
}

type standingFile struct {
	File
	content io.Reader
}

func (f standingFile) Read(p []byte) (int, error) { return f.content.Read(p) }
