// Package blob is the flat places that files are sent to and taken from: a key with
// slashes leads to bytes. [Folder] is a folder of this machine, package blob/s3 a
// bucket of an S3 server.
//
// Objects appear whole or not at all, and are replaced whole. Nothing orders puts of
// different keys: who needs an order waits for one Put before the next. All methods
// of places may be called from many goroutines.
//
// Package blob/s3 alone knows the client library, and the commands alone know
// package blob/s3: what uses places takes a [Place].
package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/human"
)

// Place holds objects under keys. Errors are of type *[Error]; what kind they are
// says errors.Is with the sentinels of this package. When a context ends, its error
// is returned, wrapped.
type Place interface {
	// Get opens an object. Who calls it closes the reader.
	Get(ctx context.Context, key string) (io.ReadCloser, Info, error)
	// GetRange opens length bytes of an object from offset on, fewer where the
	// object ends before. The offset is below the object's size, the length above 0.
	GetRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)
	// Put stores the size bytes of content. It may read them from several
	// goroutines, and more than once.
	Put(ctx context.Context, key string, content io.ReaderAt, size int64, o PutOptions) error
	// Stat looks at an object.
	Stat(ctx context.Context, key string) (Info, error)
	// List yields the objects whose keys begin with a prefix, in byte order of the
	// keys, as they come. After an error nothing follows.
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]
	// Delete removes an object. That there is none is no error.
	Delete(ctx context.Context, key string) error
	// String is the place's address, for messages.
	String() string
}

// Filer is a Place whose objects are files of this machine, so that they can be
// linked or mapped in the place of being copied.
type Filer interface {
	// File returns the path of the file that holds an object, or will.
	File(key string) (string, error)
}

// Copier is a Place that copies by itself, so that bytes that it has need not be sent.
type Copier interface {
	// Copy stores the content of one key under another, as Put does, with the
	// headers of the options; IfAbsent is not looked at.
	Copy(ctx context.Context, from, to string, o PutOptions) error
}

// Info is what a place knows about an object.
type Info struct {
	Key     string
	Size    int64     // bytes
	ModTime time.Time // when it was put, by the clock of the place
	ETag    string    // changes with the content; opaque, "" when unknown
}

// PutOptions say how an object is stored. The zero value replaces what is there.
type PutOptions struct {
	// IfAbsent makes Put fail with ErrExists when there is an object, also when
	// several put at the same moment: one of them wins.
	IfAbsent bool
	// ContentType and CacheControl are headers with which a bucket's server hands
	// the object out. Folders have no place for them.
	ContentType, CacheControl string
}

// The limits of keys: those of S3 for the whole, and of file systems for a name.
const (
	maxKey  = 1024
	maxName = 200
)

// CheckKey says whether a key is one that all places can hold: plain names with
// slashes between them. The error matches ErrKey.
func CheckKey(key string) error {
	reason := ""
	switch {
	case key == "":
		reason = "is empty"
	case len(key) > maxKey:
		reason = fmt.Sprintf("is too long: %d bytes, at most %d are allowed", len(key), maxKey)
	case !utf8.ValidString(key):
		reason = "is not UTF-8"
	case strings.ContainsFunc(key, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '\\' || r == ':' }):
		reason = "holds a control character, a backslash or a colon"
	case atomicfile.IsTemp(key):
		reason = "is named like a temporary file"
	}
	for name := range strings.SplitSeq(key, "/") {
		switch {
		case reason != "":
		case strings.Trim(name, ". ") == "":
			reason = "holds an empty name, or one of dots"
		case len(name) > maxName:
			reason = fmt.Sprintf("holds a name that is too long: %d bytes, at most %d are allowed", len(name), maxName)
		}
	}
	if reason == "" {
		return nil
	}
	return fmt.Errorf("%w: %q %s", ErrKey, human.Clip(key, 200), reason)
}

// Read returns the whole of an object of at most limit bytes.
func Read(ctx context.Context, p Place, key string, limit int64) ([]byte, error) {
	r, info, err := p.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if info.Size > limit {
		return nil, &Error{Op: "read", Place: p.String(), Key: key, Err: fmt.Errorf("it has %d bytes, at most %d are read", info.Size, limit)}
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, &Error{Op: "read", Place: p.String(), Key: key, Err: fmt.Errorf("it has more than %d bytes", limit)}
	}
	return data, nil
}

// The kinds of failure of places.
var (
	// ErrNotFound: there is no object of that key, or no bucket.
	ErrNotFound = errors.New("not found")
	// ErrExists: PutOptions.IfAbsent was set, and there is an object.
	ErrExists = errors.New("there is one already")
	// ErrDenied: the place refuses. Typically credentials are missing or wrong, or
	// may not do this.
	ErrDenied = errors.New("access denied")
	// ErrUnreachable: the place does not answer, or answers that it cannot now,
	// after all attempts.
	ErrUnreachable = errors.New("not reachable")
	// ErrKey: a key that not all places can hold, or that leads through a link.
	ErrKey = errors.New("the key cannot be stored")
)

// Error is a failure of a place.
type Error struct {
	Op    string // get, put, stat, list, delete, open
	Place string // address
	Key   string // "" for the place as a whole
	Kind  error  // one of the sentinels, nil for none
	Err   error  // may be nil
	Hint  string // what to do, may be empty
}

// Error returns one line.
func (e *Error) Error() string {
	at := e.Place
	if e.Key != "" {
		at = strings.TrimSuffix(at, "/") + "/" + human.Clip(e.Key, 200)
	}
	text := e.Op + " " + at
	if e.Kind != nil {
		text += ": " + e.Kind.Error()
	}
	if e.Err != nil && e.Err != e.Kind { //nolint:errorlint // the same value, not one like it
		text += ": " + human.Clip(e.Err.Error(), 500)
	}
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	return text
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	var out []error
	for _, err := range []error{e.Kind, e.Err} {
		if err != nil {
			out = append(out, err)
		}
	}
	return out
}
