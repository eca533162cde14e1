package remote

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/untoldkit/untold/runtime"
)

// fetch brings a run of blocks. What has come before an error stays.
func (p *parts) fetch(ctx context.Context, r blockRun) error {
	defer func() {
		p.mu.Lock()
		done := p.coming[r.from]
		for b := r.from; b < r.end; b++ {
			delete(p.coming, b)
		}
		p.mu.Unlock()
		close(done)
	}()
	at := r.from
	return p.f.attempts(ctx, p.s.url, func(ctx context.Context) error {
		if p.doneElsewhere(blockRun{at, r.end}) {
			return nil
		}
		if err := p.ensure(); err != nil {
			return err
		}
		sums, err := p.transfer(ctx, blockRun{at, r.end})
		if len(sums) > 0 {
			e := p.keep(at, sums)
			if e == nil {
				at += int64(len(sums))
			} else if err = e; !errors.Is(e, errPartGone) {
				return e
			}
		}
		if errors.Is(err, errPartGone) {
			if done, e := p.overElsewhere(); done {
				return e
			}
		}
		if err == nil && at < r.end {
			err = io.ErrUnexpectedEOF
		}
		return err
	})
}

// overElsewhere reports whether there is nothing more to fetch as the partial file
// is gone: another process has made the whole file of it, with which it goes on
// then, or another request has found that the server has a new version, which is
// the error.
func (p *parts) overElsewhere() (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.whole && p.dead == nil {
		p.takeWhole()
	}
	return p.whole || p.dead != nil, p.dead
}

// doneElsewhere reports whether a run is there since another process has completed
// the file: what would be fetched now would be a partial file beside it.
func (p *parts) doneElsewhere(r blockRun) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.whole && p.dead == nil {
		if _, ok := p.f.cache.latest(p.file); !ok {
			p.takeWhole()
		}
	}
	return p.whole && len(p.missing([]runtime.Span{{From: r.from * blockSize, To: r.end * blockSize}})) == 0
}

// ensure makes the partial file anew when it has been evicted, and takes over the
// one that another process has made instead.
func (p *parts) ensure() error {
	p.mu.Lock()
	now, ok := p.f.cache.latest(p.file)
	e := p.have.entry
	if p.dead != nil || ok && !p.whole && now.CachedAt.Equal(e.CachedAt) {
		defer p.mu.Unlock()
		return p.dead
	}
	if ok && !now.sameVersion(&e) {
		p.mu.Unlock()
		return p.kill("another program has begun to read another version")
	}
	defer p.mu.Unlock()
	h, found := have{}, false
	if ok {
		h, found = p.f.cache.loadPart(p.file)
	}
	if !found {
		var err error
		if h, err = p.f.cache.beginPart(e); err != nil {
			return err
		}
	}
	p.have, p.whole = h, false
	return nil
}

// transfer asks for a run of blocks and returns the sums of those that have come
// and are on the disk.
func (p *parts) transfer(ctx context.Context, r blockRun) (sums []uint32, err error) {
	p.mu.Lock()
	e := p.have.entry
	p.mu.Unlock()
	from, to := r.from*blockSize, min(r.end*blockSize, p.size)
	err = p.f.request(ctx, rangeJob(p.s, from, to, e.ETag), func(resp *http.Response) error {
		if err := p.accept(resp, &e, from, to); err != nil {
			return err
		}
		sums, err = p.store(resp.Body, r)
		return err
	})
	p.f.m.ranges.Add(1)
	return sums, err
}

// rangeJob is a request for the bytes from, inclusive, to to, exclusive, of one
// version of a file: with If-Range where the validator is strong.
func rangeJob(s source, from, to int64, etag string) job {
	h := http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", from, to-1)}}
	if strongETag(etag) {
		h.Set("If-Range", etag)
	}
	return job{url: s.url, header: h, texture: s.texture}
}

func strongETag(etag string) bool { return etag != "" && !strings.HasPrefix(etag, "W/") }

// accept judges the header of an answer to a request for a range.
func (p *parts) accept(resp *http.Response, e *Entry, from, to int64) error {
	switch resp.StatusCode {
	case http.StatusPartialContent:
	case http.StatusOK, http.StatusRequestedRangeNotSatisfiable, http.StatusPreconditionFailed:
		return p.kill(resp.Status)
	default:
		return p.f.statusError(resp)
	}
	return p.judgeRange(resp, e, from, to)
}

// judgeRange compares the header of an answer 206 with what was asked for.
func (p *parts) judgeRange(resp *http.Response, e *Entry, from, to int64) error {
	a, b, size, ok := contentRange(resp.Header.Get("Content-Range"))
	switch {
	case ok && size != e.Whole:
		return p.kill(fmt.Sprintf("%d bytes instead of %d", size, e.Whole))
	case validator(resp, "ETag") != e.ETag, validator(resp, "Last-Modified") != e.LastModified:
		return p.kill("another ETag or Last-Modified")
	case !ok || a != from || b != to:
		return fmt.Errorf("%w: Content-Range %q for the bytes %d to %d", ErrMismatch, resp.Header.Get("Content-Range"), from, to-1)
	}
	return nil
}

// kill ends the reading of a file that the server has replaced. What the cache
// has of it goes.
func (p *parts) kill(why string) error {
	err := final{fmt.Errorf("%w: %s: %s", ErrChanged, shown(p.s.url), why)}
	p.mu.Lock()
	first := p.dead == nil
	p.dead = err
	e, whole := p.have.entry, p.whole
	p.mu.Unlock()
	if first {
		p.f.countReplaced(p.s.name)
	}
	p.f.forgetParts(p)
	if !whole {
		if err := p.f.cache.discard(&e); err != nil {
			return err
		}
	}
	return err
}

// store writes a body to its place and returns the sums of its whole blocks.
func (p *parts) store(body io.Reader, r blockRun) (sums []uint32, err error) {
	buf := p.f.buffers.Get().(*[]byte)
	defer p.f.buffers.Put(buf)
	at := r.from
	for at < r.end {
		want := min(int64(pieceBytes), min(r.end*blockSize, p.size)-at*blockSize)
		n, err := io.ReadFull(body, (*buf)[:want])
		blocks := int64(n) / blockSize
		if int64(n) == want {
			blocks = blocksOf(want)
		}
		if blocks > 0 {
			piece := (*buf)[:min(blocks*blockSize, int64(n))]
			if err := p.f.cache.writePart(p.file, piece, at*blockSize); err != nil {
				return sums, err
			}
			for part := range slices.Chunk(piece, blockSize) {
				sums = append(sums, crc32.Checksum(part, castagnoli))
			}
			at += blocks
		}
		if err != nil {
			return sums, fmt.Errorf("after %d of %d bytes: %w", at*blockSize-r.from*blockSize, r.end*blockSize-r.from*blockSize, err)
		}
	}
	return sums, nil
}
