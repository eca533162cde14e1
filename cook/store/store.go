// Package store keeps results of cooks in a place that several cooks share: a folder of a
// team, the cache of a build system, a bucket.
//
// A result is a record under a key, which the cook derives from all that decides the
// result's bytes, and files under the hashes of their content:
//
//	v1/results/ab/<key>   a record, behind a line with its hash
//	v1/files/ab/<hash>    the bytes of a file
//
// Files come before the records that name them, objects never change, and what is read is
// checked against its hash: a store that was damaged costs time alone. Who may write to it
// is trusted, since a result is not known by its own hash but by its key. Many cooks may
// use one at the same time.
package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/untoldkit/untold/internal/blob"
)

// Store is results in a place. Its methods may be called from many goroutines.
type Store struct {
	place blob.Place
	now   func() time.Time
}

// New returns the store in a place. Nothing is read or written yet. With now, a result
// that is used a day or more after it was put is put again, so that GC sees it is in use.
func New(place blob.Place, now func() time.Time) *Store { return &Store{place, now} }

// useDay is how old a result is that is put again when it is used.
const useDay = 24 * time.Hour

// String is the address of the place.
func (s *Store) String() string { return s.place.String() }

// ErrNone says that the store has no such result, or that what it has is damaged.
var ErrNone = errors.New("the store has no such result")

// The folders of the layout.
const (
	resultsFolder = "v1/results/"
	filesFolder   = "v1/files/"
)

// maxRecord bounds a record that is read, bytes.
const maxRecord = 64 << 20

func isHash(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size && s == strings.ToLower(s)
}

func under(folder, hash string) string { return folder + hash[:2] + "/" + hash }

// Record returns the record of a key. The error matches ErrNone when there is none.
func (s *Store) Record(ctx context.Context, key string) ([]byte, error) {
	if !isHash(key) {
		return nil, fmt.Errorf("%.80q is no key", key)
	}
	record, err := s.look(ctx, key)
	if err != nil || s.now == nil {
		return record, err
	}
	if info, err := s.place.Stat(ctx, under(resultsFolder, key)); err == nil && s.now().Sub(info.ModTime) >= useDay {
		_ = s.PutRecord(ctx, key, record) // a reader alone may not; GC is then earlier
	}
	return record, nil
}

// look reads a record, which does not count as a use.
func (s *Store) look(ctx context.Context, key string) ([]byte, error) {
	text, err := blob.Read(ctx, s.place, under(resultsFolder, key), maxRecord)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	return open(key, text)
}

// seal puts a line before a record that shows whether it is whole, and whose it is.
func seal(key string, record []byte) []byte {
	return append([]byte(sealOf(key, record)+"\n"), record...)
}

func sealOf(key string, record []byte) string {
	h := sha256.New()
	io.WriteString(h, key+"\n")
	h.Write(record)
	return hex.EncodeToString(h.Sum(nil))
}

func open(key string, text []byte) ([]byte, error) {
	line, record, ok := bytes.Cut(text, []byte("\n"))
	if !ok || string(line) != sealOf(key, record) {
		return nil, ErrNone
	}
	return record, nil
}

// Has reports whether there is a record of a key.
func (s *Store) Has(ctx context.Context, key string) (bool, error) {
	if !isHash(key) {
		return false, fmt.Errorf("%.80q is no key", key)
	}
	return s.has(ctx, under(resultsFolder, key))
}

func (s *Store) has(ctx context.Context, name string) (bool, error) {
	_, err := s.place.Stat(ctx, name)
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// PutRecord keeps a record. The files that it names come before.
func (s *Store) PutRecord(ctx context.Context, key string, record []byte) error {
	if !isHash(key) {
		return fmt.Errorf("%.80q is no key", key)
	}
	text := seal(key, record)
	return s.place.Put(ctx, under(resultsFolder, key), bytes.NewReader(text), int64(len(text)), blob.PutOptions{})
}

// PutFile keeps the content of a file with its SHA-256, unless it is there.
func (s *Store) PutFile(ctx context.Context, hash string, content io.ReaderAt, size int64) error {
	if !isHash(hash) {
		return fmt.Errorf("%.80q is no hash", hash)
	}
	name := under(filesFolder, hash)
	if there, err := s.has(ctx, name); there || err != nil {
		return err
	}
	err := s.place.Put(ctx, name, content, size, blob.PutOptions{IfAbsent: true, ContentType: "application/octet-stream"})
	if errors.Is(err, blob.ErrExists) {
		return nil
	}
	return err
}

// ReplaceFile keeps the content of a file in the place of what is there, which is damaged.
func (s *Store) ReplaceFile(ctx context.Context, hash string, content io.ReaderAt, size int64) error {
	if !isHash(hash) {
		return fmt.Errorf("%.80q is no hash", hash)
	}
	return s.place.Put(ctx, under(filesFolder, hash), content, size, blob.PutOptions{ContentType: "application/octet-stream"})
}

// File opens the content of a file. Reading it to the end fails with ErrNone if it is not
// what its hash says. The error matches ErrNone when it is not there.
func (s *Store) File(ctx context.Context, hash string, size int64) (io.ReadCloser, error) {
	if !isHash(hash) {
		return nil, fmt.Errorf("%.80q is no hash", hash)
	}
	r, info, err := s.place.Get(ctx, under(filesFolder, hash))
	if errors.Is(err, blob.ErrNotFound) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	if info.Size != size {
		r.Close()
		return nil, ErrNone
	}
	return &checked{r: r, left: size, hash: hash}, nil
}

// Path returns where the content of a file lies on this machine, if the store has it; "" for
// a store elsewhere. Who reads it there compares it with its hash, and does not write to it.
func (s *Store) Path(hash string) string {
	f, ok := s.place.(blob.Filer)
	if !ok || !isHash(hash) {
		return ""
	}
	path, err := f.File(under(filesFolder, hash))
	if err != nil {
		return ""
	}
	return path
}

// checked compares what was read with its hash at the end.
type checked struct {
	r    io.ReadCloser
	left int64
	hash string
	h    interface {
		io.Writer
		Sum([]byte) []byte
	}
}

func (c *checked) Read(p []byte) (int, error) {
	if c.h == nil {
		c.h = sha256.New()
	}
	if int64(len(p)) > c.left+1 {
		p = p[:c.left+1]
	}
	n, err := c.r.Read(p)
	c.h.Write(p[:n])
	if c.left -= int64(n); c.left < 0 {
		return n, ErrNone
	}
	if err == io.EOF && (c.left > 0 || hex.EncodeToString(c.h.Sum(nil)) != c.hash) {
		return n, ErrNone
	}
	return n, err
}

func (c *checked) Close() error { return c.r.Close() }
