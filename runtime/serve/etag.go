package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// racy is how recent a modification makes size and time unfit to tell whether a
// file is still the same: another write could leave both as they are.
const racy = 2 * time.Second

// maxTags bounds the memory for entity tags; beyond, they are made anew.
const maxTags = 1 << 16

// tags remembers the entity tags of files by path, and by the file that is there, its size and
// time: one that takes another's place may have the other's time, when it was linked.
type tags struct {
	clock Clock

	mu    sync.Mutex
	known map[string]*tag
}

// tag is the tag of one file. The lock makes concurrent first requests hash it
// once.
type tag struct {
	mu   sync.Mutex
	seen fs.FileInfo
	text string // "" before the first hash
}

// of returns the strong entity tag of an open file: half of the SHA-256 of its
// content, in quotes. It is empty when the file is being written.
func (t *tags) of(ctx context.Context, name string, f *os.File, st fs.FileInfo) (string, error) {
	t.mu.Lock()
	if len(t.known) >= maxTags {
		clear(t.known)
	}
	e := t.known[name]
	if e == nil {
		e = &tag{}
		t.known[name] = e
	}
	t.mu.Unlock()

	e.mu.Lock()
	defer e.mu.Unlock()
	if e.text != "" && os.SameFile(e.seen, st) && e.seen.Size() == st.Size() && e.seen.ModTime().Equal(st.ModTime()) {
		return e.text, nil
	}
	text, err := hashFile(ctx, f)
	if err != nil {
		return "", err
	}
	now, err := f.Stat()
	if err != nil {
		return "", err
	}
	if now.Size() != st.Size() || !now.ModTime().Equal(st.ModTime()) {
		return "", nil
	}
	if t.clock.Now().Sub(st.ModTime()).Abs() > racy {
		e.seen, e.text = st, text
	}
	return text, nil
}

// hashFile reads a file from the start and leaves it there.
func hashFile(ctx context.Context, f *os.File) (string, error) {
	h := sha256.New()
	buf := make([]byte, 256<<10)
	// The wrappers hide ReadFrom and WriteTo, so that buf is used.
	if _, err := io.CopyBuffer(struct{ io.Writer }{h}, cancellable{ctx, f}, buf); err != nil {
		return "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	return tagOf(h), nil
}

// tagOf returns the tag of what a SHA-256 has seen.
func tagOf(h hash.Hash) string { return `"` + hex.EncodeToString(h.Sum(nil)[:sha256.Size/2]) + `"` }

// cancellable is a reader that ends with a context.
type cancellable struct {
	ctx context.Context
	r   io.Reader
}

func (c cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
