package payload

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/format"
)

// ErrMismatch is matched by errors about a payload file that is not the one that
// the manifest declares: another size, or another SHA-256. Typically the scene
// was cooked again since the manifest was read. It matches ErrPayload too.
var ErrMismatch = fmt.Errorf("%w", ErrPayload)

// checked is what is known of a file that was looked at: as long as it is the
// same file, unchanged, it need not be hashed again.
type checked struct {
	info    os.FileInfo
	sha256  string // of all bytes, "": not worked out
	content bool   // the container's own hash is right
}

// fits reports whether a file is still the one that was checked.
func (c *checked) fits(info os.FileInfo) bool {
	return c.info != nil && os.SameFile(c.info, info) && c.info.Size() == info.Size() && c.info.ModTime().Equal(info.ModTime())
}

// File returns the path of the payload on the local disk.
func (req *Request) File() string {
	if req.Local.File != "" {
		return req.Local.File
	}
	return filepath.Join(req.Dir, req.Path)
}

func (l *FileLoader) checkedBefore(key string, info os.FileInfo) checked {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.sound[key]; c.fits(info) {
		return c
	}
	return checked{info: info}
}

func (l *FileLoader) remember(key string, c checked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sound[key] = c
}

// verifyFile compares an open file with what the manifest declares of it. All of
// it is hashed, once for as long as it stays the same file: what is read of it
// afterwards comes from the same open file.
func (l *FileLoader) verifyFile(req *Request, f *os.File, info os.FileInfo) error {
	if req.Size > 0 && info.Size() != req.Size {
		return fmt.Errorf("%w: %s has %d bytes, %d are declared: cook the scene again", ErrMismatch, f.Name(), info.Size(), req.Size)
	}
	if req.SHA256 == "" {
		return nil
	}
	key := req.File()
	c := l.checkedBefore(key, info)
	if c.sha256 == "" {
		sum, err := l.sum(cancellable{req.Context, f}, info.Size())
		if err != nil {
			return err
		}
		c.sha256 = sum
		l.remember(key, c)
	}
	if !strings.EqualFold(c.sha256, req.SHA256) {
		return fmt.Errorf("%w: the SHA-256 of %s is %s, %s is declared: cook the scene again", ErrMismatch, f.Name(), c.sha256, req.SHA256)
	}
	return nil
}

// sum returns the SHA-256 of a file.
func (l *FileLoader) sum(r io.ReaderAt, size int64) (string, error) {
	buf, _ := l.blocks.Get().(*[]byte)
	if buf == nil {
		b := make([]byte, 128<<10)
		buf = &b
	}
	defer l.blocks.Put(buf)
	h := sha256.New()
	for at := int64(0); at < size; {
		n, err := r.ReadAt((*buf)[:min(int64(len(*buf)), size-at)], at)
		h.Write((*buf)[:n])
		if at += int64(n); err != nil && (err != io.EOF || at < size) {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// verifyContent checks the hash that a container carries, once for as long as it
// stays the same file.
func (l *FileLoader) verifyContent(req *Request, info os.FileInfo, r *format.Reader) error {
	key := req.File()
	c := l.checkedBefore(key, info)
	if c.content {
		return nil
	}
	if err := r.VerifyHash(); err != nil {
		return err
	}
	c.content = true
	l.remember(key, c)
	return nil
}
