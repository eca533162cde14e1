package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/untoldkit/untold/internal/blob"
	"github.com/untoldkit/untold/internal/clock"
)

// Bucket is the part of a bucket below a prefix, as a place of objects. Every request
// is made up to Options.Attempts times when the server does not answer or says that it
// cannot now. A reader that breaks off does so with an error; nothing is asked anew
// behind its back.
type Bucket struct {
	core            *minio.Core
	bucket, prefix  string
	address, server string
	anonymous       bool
	clock           clock.Clock
	attempts        int
	partSize        uint64
}

var (
	_ blob.Place  = (*Bucket)(nil)
	_ blob.Copier = (*Bucket)(nil)
)

func init() {
	// With one attempt the library still pauses after it.
	minio.DefaultRetryUnit = 0
}

// firstPause is the pause after the first attempt; each further one is twice as long.
const firstPause = 250 * time.Millisecond

// String is the address s3://BUCKET/PREFIX.
func (b *Bucket) String() string { return b.address }

// Get opens an object.
func (b *Bucket) Get(ctx context.Context, key string) (io.ReadCloser, blob.Info, error) {
	r, info, err := b.get(ctx, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, blob.Info{}, err
	}
	return r, info, nil
}

// GetRange opens a part of an object.
func (b *Bucket) GetRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	var o minio.GetObjectOptions
	if offset < 0 || length <= 0 || offset+length < offset {
		return nil, &blob.Error{Op: "get", Place: b.address, Key: key, Err: fmt.Errorf("no range of %d bytes at %d", length, offset)}
	}
	if err := o.SetRange(offset, offset+length-1); err != nil {
		return nil, &blob.Error{Op: "get", Place: b.address, Key: key, Err: err}
	}
	r, _, err := b.get(ctx, key, o)
	return r, err
}

func (b *Bucket) get(ctx context.Context, key string, o minio.GetObjectOptions) (io.ReadCloser, blob.Info, error) {
	var body io.ReadCloser
	var info blob.Info
	err := b.try(ctx, "get", key, func() error {
		r, stat, _, err := b.core.GetObject(ctx, b.bucket, b.prefix+key, o)
		if err != nil {
			return err
		}
		body, info = r, blob.Info{Key: key, Size: stat.Size, ModTime: stat.LastModified, ETag: stat.ETag}
		return nil
	})
	if err != nil {
		return nil, blob.Info{}, err
	}
	return &reader{ctx: ctx, b: b, key: key, r: body}, info, nil
}

// reader gives the failures of a body their kind.
type reader struct {
	ctx context.Context
	b   *Bucket
	key string
	r   io.ReadCloser
}

// Read reads the body.
func (r *reader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = r.b.problem(r.ctx, "get", r.key, err)
	}
	return n, err
}

// Close ends the request.
func (r *reader) Close() error { return r.r.Close() }

// Put sends an object, in parts when it is large.
func (b *Bucket) Put(ctx context.Context, key string, content io.ReaderAt, size int64, o blob.PutOptions) error {
	// Servers compare an MD5 of each part. The library's other way, signed chunks, is
	// stored as a Content-Encoding by some of them, which readers then trip over.
	opts := minio.PutObjectOptions{
		ContentType: o.ContentType, CacheControl: o.CacheControl, PartSize: b.partSize, SendContentMd5: true, DisableContentSha256: true,
	}
	if o.IfAbsent {
		opts.SetMatchETagExcept("*")
	}
	from := &source{r: content}
	// The library takes content that ends too soon for a failure of the network.
	if size > 0 {
		if n, err := from.ReadAt(make([]byte, 1), size-1); n < 1 {
			return &blob.Error{Op: "put", Place: b.address, Key: key, Err: fmt.Errorf("the content has fewer than %d bytes: %w", size, err)}
		}
	}
	return b.try(ctx, "put", key, func() error {
		_, err := b.core.Client.PutObject(ctx, b.bucket, b.prefix+key, io.NewSectionReader(from, 0, size), size, opts)
		if own := from.failure(); own != nil {
			return &sourceError{own}
		}
		return err
	})
}

// Copy has the server store the content of one key under another; objects of more than
// 5 GiB cannot be copied.
func (b *Bucket) Copy(ctx context.Context, from, to string, o blob.PutOptions) error {
	if err := blob.CheckKey(from); err != nil {
		return &blob.Error{Op: "copy", Place: b.address, Err: err}
	}
	return b.try(ctx, "copy to", to, func() error {
		_, err := b.core.Client.CopyObject(ctx,
			minio.CopyDestOptions{Bucket: b.bucket, Object: b.prefix + to, ReplaceMetadata: true, ContentType: o.ContentType, CacheControl: o.CacheControl},
			minio.CopySrcOptions{Bucket: b.bucket, Object: b.prefix + from})
		return err
	})
}

// source remembers that the content could not be read, which is no failure of the
// server.
type source struct {
	r   io.ReaderAt
	mu  sync.Mutex
	err error
}

// ReadAt reads the content.
func (s *source) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.r.ReadAt(p, off)
	if err != nil && !errors.Is(err, io.EOF) {
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
	}
	return n, err
}

func (s *source) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// sourceError is a failure of the content.
type sourceError struct{ err error }

// Error says what could not be read.
func (e *sourceError) Error() string { return "read what is to be put: " + e.err.Error() }

// Unwrap returns the reader's error.
func (e *sourceError) Unwrap() error { return e.err }

// Stat asks for an object's headers.
func (b *Bucket) Stat(ctx context.Context, key string) (blob.Info, error) {
	var info blob.Info
	err := b.try(ctx, "stat", key, func() error {
		stat, err := b.core.Client.StatObject(ctx, b.bucket, b.prefix+key, minio.StatObjectOptions{})
		info = blob.Info{Key: key, Size: stat.Size, ModTime: stat.LastModified, ETag: stat.ETag}
		return err
	})
	if err != nil {
		return blob.Info{}, err
	}
	return info, nil
}

// Delete removes an object.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	err := b.try(ctx, "delete", key, func() error {
		return b.core.Client.RemoveObject(ctx, b.bucket, b.prefix+key, minio.RemoveObjectOptions{})
	})
	if errors.Is(err, blob.ErrNotFound) && minio.ToErrorResponse(cause(err)).Code != "NoSuchBucket" {
		return nil
	}
	return err
}

// List yields the objects whose keys begin with a prefix. An attempt after a failure
// goes on behind the last one.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		last, more := "", true
		err := b.try(ctx, "list", prefix, func() error {
			o := minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true, StartAfter: last}
			for x := range b.core.Client.ListObjectsIter(ctx, b.bucket, o) {
				if x.Err != nil {
					return x.Err
				}
				last = x.Key
				key, ok := strings.CutPrefix(x.Key, b.prefix)
				if !ok || blob.CheckKey(key) != nil {
					continue // such as the markers of folders, which end in a slash
				}
				if !yield(blob.Info{Key: key, Size: x.Size, ModTime: x.LastModified, ETag: x.ETag}, nil) {
					more = false
					return nil
				}
			}
			return nil
		})
		if err == nil {
			err = ctx.Err()
		}
		if err != nil && more {
			yield(blob.Info{}, err)
		}
	}
}

// try calls do until it succeeds, fails for good, or the attempts are used up.
func (b *Bucket) try(ctx context.Context, op, key string, do func() error) error {
	if op != "list" { // a prefix may be anything
		if err := blob.CheckKey(key); err != nil {
			return &blob.Error{Op: op, Place: b.address, Err: err}
		}
	}
	pause := firstPause
	for n := 1; ; n++ {
		err := do()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || n >= b.attempts || !passing(err) {
			return b.problem(ctx, op, key, err)
		}
		if b.clock.Sleep(ctx, pause) != nil {
			return b.problem(ctx, op, key, err)
		}
		pause *= 2
	}
}

// passing reports whether another attempt may end otherwise.
func passing(err error) bool {
	if errors.As(err, new(*sourceError)) {
		return false
	}
	r := minio.ToErrorResponse(cause(err))
	switch r.Code {
	case "RequestTimeout", "SlowDown", "InternalError", "ServiceUnavailable", "OperationAborted", "ConditionalRequestConflict", "RequestTimeTooSkewed", "Throttling", "ThrottlingException":
		return true
	}
	switch {
	case r.StatusCode == http.StatusNotImplemented:
		return false
	case r.StatusCode != 0:
		return r.StatusCode >= 500 || r.StatusCode == http.StatusTooManyRequests || r.StatusCode == http.StatusRequestTimeout
	case r.Code != "":
		return false // refused by the library
	}
	return true // of the network
}

// cause returns the server's answer in an error, else the error.
func cause(err error) error {
	var r minio.ErrorResponse
	if errors.As(err, &r) {
		return r
	}
	return err
}

// problem says what an error of the library means.
func (b *Bucket) problem(ctx context.Context, op, key string, err error) error {
	e := &blob.Error{Op: op, Place: b.address, Key: key, Err: err}
	if end := context.Cause(ctx); end != nil {
		e.Err = end
		return e
	}
	r := minio.ToErrorResponse(cause(err))
	switch {
	case r.Code == "NoSuchBucket":
		e.Kind, e.Hint = blob.ErrNotFound, "create the bucket, or look at its name and at AWS_ENDPOINT_URL"
	case r.StatusCode == http.StatusNotFound || r.Code == "NoSuchKey":
		e.Kind = blob.ErrNotFound
	case r.StatusCode == http.StatusPreconditionFailed || r.Code == "PreconditionFailed":
		e.Kind = blob.ErrExists
	case r.StatusCode == http.StatusForbidden || r.StatusCode == http.StatusUnauthorized || r.Code == "AccessDenied":
		e.Kind, e.Hint = blob.ErrDenied, "let these credentials list, read, write and delete there, or name others with AWS_PROFILE"
		if b.anonymous {
			e.Hint = "no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
		}
	case passing(err):
		e.Kind, e.Hint = blob.ErrUnreachable, fmt.Sprintf("look at the network, at the server %s and at AWS_ENDPOINT_URL, then try again", b.server)
	}
	return e
}
