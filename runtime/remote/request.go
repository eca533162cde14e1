package remote

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// job is what one download is about.
type job struct {
	url     *url.URL
	header  http.Header // of the request, besides those that every one has
	texture bool
}

// request does one attempt: it waits for a place at the host, sends, and calls
// read with the answer, whose body is the caller's until read returns. The
// timeouts begin when the place is there.
func (f *Fetcher) request(ctx context.Context, j job, read func(*http.Response) error) error {
	leave, err := f.gate.enter(ctx, j.url.Host, j.texture)
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d := f.watch(cancel)
	defer d.stop()
	ctx = context.WithValue(ctx, travelKey{}, &travel{within: zoneHere})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, j.url.String(), nil)
	if err != nil {
		return final{fmt.Errorf("%w: %w", ErrAddress, withoutURL(err))}
	}
	for k, v := range j.header {
		req.Header[k] = v
	}
	req.Header.Set("User-Agent", f.opts.UserAgent)
	f.logins.add(req)
	// Sizes and hashes are those of the file, so the transport must not unpack.
	req.Header.Set("Accept-Encoding", "identity")
	f.m.requests.Add(1)
	resp, err := f.client.Do(req)
	if err != nil {
		return because(ctx, withoutURL(err))
	}
	defer resp.Body.Close()
	d.progress()
	resp.Body = &watchedBody{resp.Body, d, &f.m.bytes, f.opts.MaxTotal}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return fmt.Errorf("%w: content encoding %q, which was not asked for: have the server send %s as it is", ErrMismatch, enc, shown(j.url))
	}
	return because(ctx, read(resp))
}

// because replaces what a cancelled request says by the reason.
func because(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// deadline cancels a request that stands still or lasts too long.
type deadline struct {
	clock    Clock
	cancel   context.CancelCauseFunc
	idle     time.Duration
	last     atomic.Int64 // nanoseconds of the clock at the last byte
	mu       sync.Mutex
	stopIdle func() bool
	stopAll  func() bool
	done     bool
}

// watch starts both timeouts.
func (f *Fetcher) watch(cancel context.CancelCauseFunc) *deadline {
	d := &deadline{clock: f.opts.Clock, cancel: cancel, idle: seconds(f.opts.HTTP.RequestTimeout)}
	total := seconds(f.opts.HTTP.ResourceTimeout)
	d.progress()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopAll = d.clock.AfterFunc(total, func() { cancel(fmt.Errorf("%w: more than %v in all", ErrTimeout, total)) })
	d.stopIdle = d.clock.AfterFunc(d.idle, d.look)
	return d
}

func (d *deadline) progress() { d.last.Store(d.clock.Now().UnixNano()) }

// look cancels when nothing has come for too long, else looks again when that
// may be so.
func (d *deadline) look() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done {
		return
	}
	left := d.idle - time.Duration(d.clock.Now().UnixNano()-d.last.Load())
	if left <= 0 {
		d.cancel(fmt.Errorf("%w: nothing came for %v", ErrTimeout, d.idle))
		return
	}
	d.stopIdle = d.clock.AfterFunc(min(left, d.idle), d.look)
}

func (d *deadline) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = true
	d.stopIdle()
	d.stopAll()
}

// watchedBody tells the deadline and the counters of every read.
type watchedBody struct {
	io.ReadCloser
	d *deadline
	n *atomic.Int64

	limit int64 // of n; 0: none
}

// Read reads from the body.
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		if b.d.progress(); b.n.Add(int64(n)) > b.limit && b.limit > 0 {
			return 0, final{fmt.Errorf("%w: more than %d bytes in all (--max-download, Options.MaxTotal)", ErrTooLarge, b.limit)}
		}
	}
	return n, err
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
