package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// fetch brings a run of blocks. Blocks that have come before an error stay.
func (r *rangeFile) fetch(ctx context.Context, run blockRun) error {
	defer func() {
		r.mu.Lock()
		done := r.coming[run.from]
		for b := run.from; b < run.end; b++ {
			delete(r.coming, b)
		}
		r.mu.Unlock()
		close(done)
	}()
	at := run.from
	return r.f.http.attempts(ctx, r.s.url, func(ctx context.Context) error {
		if err := r.err(); err != nil {
			return err
		}
		complete, err := r.store.Prepare(at, run.end)
		if errors.Is(err, diskcache.ErrOtherVersion) {
			return r.replace(err)
		}
		if complete || err != nil {
			return err
		}
		n, keep, err := r.transfer(ctx, blockRun{at, run.end})
		if n > 0 {
			// The place at the host is free again while the disk works.
			if e := keep(); e == nil {
				at += n
			} else if err = e; !errors.Is(e, diskcache.ErrGone) {
				return e
			}
		}
		if errors.Is(err, diskcache.ErrGone) {
			// The file was completed elsewhere, replaced, or evicted: then it begins anew.
			if e := r.err(); e != nil || r.store.TakeWhole() {
				return e
			}
		}
		if err == nil && at < run.end {
			err = io.ErrUnexpectedEOF
		}
		return err
	})
}

// transfer asks for a run of blocks and returns how many have come. They are in the
// store when keep has been called.
func (r *rangeFile) transfer(ctx context.Context, run blockRun) (n int64, keep func() error, err error) {
	grain := r.store.BlockSize()
	from, to := run.from*grain, min(run.end*grain, r.Size())
	buf := r.f.buffers.Get().(*[]byte)
	defer r.f.buffers.Put(buf)
	r.f.m.ranges.Add(1)
	r.count(1, 0)
	err = r.f.http.do(ctx, rangeRequest(r.s, from, to, r.version), func(resp *http.Response) error {
		if err := r.accept(resp, from, to); err != nil {
			return err
		}
		if n, keep, err = r.store.Write(run.from, run.end, resp.Body, *buf); err != nil {
			return fmt.Errorf("after %d of %d bytes: %w", min(n*grain, to-from), to-from, err)
		}
		return nil
	})
	r.count(0, min(n*grain, to-from))
	return n, keep, err
}

func (r *rangeFile) count(requests, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests += requests
	r.fetched += bytes
}

// accept judges the header of an answer.
func (r *rangeFile) accept(resp *http.Response, from, to int64) error {
	switch resp.StatusCode {
	case http.StatusPartialContent:
	case http.StatusOK, http.StatusRequestedRangeNotSatisfiable, http.StatusPreconditionFailed:
		return r.replace(errors.New(resp.Status))
	default:
		return r.f.http.statusError(resp)
	}
	other, err := r.version.compare(resp, from, to)
	if other != "" {
		return r.replace(errors.New(other))
	}
	return err
}

// replace ends the reading of a file of which the server has another version, removes
// the blocks of this one, and returns the ErrChanged that says so.
func (r *rangeFile) replace(why error) error {
	err := final{fmt.Errorf("%w: %s: %w", ErrChanged, weburl.Shown(r.s.url), why)}
	r.mu.Lock()
	first := r.replaced == nil
	r.replaced = err
	r.mu.Unlock()
	r.f.ranges.remove(r, first)
	if err := r.store.Discard(); err != nil {
		return err
	}
	return err
}
