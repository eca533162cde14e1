package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

const (
	// firstPause is the pause after the first failed attempt; it doubles.
	firstPause = time.Second
	// longestWait is the longest pause that a server may ask for within a
	// download. Beyond it the download fails and the address is left alone.
	longestWait = time.Minute
	// longestBlock bounds what a server can ask for at all.
	longestBlock = time.Hour
)

// attempts calls try until it succeeds, at 0, 1 and 3 s by default. Every error counts
// the same, a 404 too, but with Options.FinalRefusals. Another attempt would only repeat
// errors that are final, those of the cache and of the address among them; they end it, and
// so does ctx.
func (c *httpClient) attempts(ctx context.Context, u *url.URL, try func(ctx context.Context) error) error {
	if err := c.checkBlocked(u); err != nil {
		return err
	}
	for n := 1; ; n++ {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c.m.failedAttempts.Add(1)
		var wait *waitError
		errors.As(err, &wait)
		if wait != nil && wait.d > longestWait {
			c.block(u, wait.d)
		}
		stop := c.refused(err) && wait == nil || errors.As(err, new(final)) || errors.Is(err, ErrCache) || errors.Is(err, ErrAddress) || errors.Is(err, ErrInsecure)
		if stop || n >= c.opts.HTTP.Attempts || wait != nil && wait.d > longestWait {
			c.m.failures.Add(1)
			c.log.Warn("download failed", "url", weburl.Shown(u), "attempts", n, "error", err)
			return fmt.Errorf("remote: %s, attempt %d: %w", weburl.Shown(u), n, err)
		}
		pause := c.pause(n, wait)
		c.log.Info("download is retried", "url", weburl.Shown(u), "attempt", n, "pause", pause, "error", err)
		if err := c.sleep(ctx, pause); err != nil {
			return err
		}
		c.m.retries.Add(1)
	}
}

// refused reports whether an error is an answer that ends a download, unless the server says
// when to come back: some answer 403 to who asks too often.
func (c *httpClient) refused(err error) bool {
	var s *StatusError
	if !c.opts.FinalRefusals || !errors.As(err, &s) {
		return false
	}
	switch s.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusGone:
		return true
	}
	return false
}

// pause is how long to wait after failed attempt n.
func (c *httpClient) pause(n int, wait *waitError) time.Duration {
	d := firstPause << min(n-1, 10)
	if wait != nil {
		d = max(d, wait.d)
	}
	if c.opts.Jitter > 0 {
		d += time.Duration(c.opts.Jitter * rand.Float64() * float64(d))
	}
	return d
}

// sleep waits on the clock.
func (c *httpClient) sleep(ctx context.Context, d time.Duration) error {
	over := make(chan struct{})
	stop := c.opts.Clock.AfterFunc(d, func() { close(over) })
	defer stop()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// waitError is an error whose answer had a Retry-After.
type waitError struct {
	error
	d time.Duration
}

// Unwrap returns the error.
func (e *waitError) Unwrap() error { return e.error }

// statusError makes the error of an unexpected status, with the Retry-After of the
// server.
func (c *httpClient) statusError(resp *http.Response) error {
	// A short rest is read, so that the connection can be used again.
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	err := error(&StatusError{URL: weburl.Shown(resp.Request.URL), Status: resp.StatusCode})
	if d := retryAfter(resp.Header.Get("Retry-After"), c.opts.Clock.Now()); d > 0 {
		return &waitError{err, d}
	}
	return err
}

// retryAfter reads a Retry-After header, in seconds or as a date (RFC 9110,
// section 10.2.3). Text that is neither gives 0.
func retryAfter(v string, now time.Time) time.Duration {
	v = strings.TrimSpace(v)
	if n, err := strconv.ParseUint(v, 10, 32); err == nil {
		return min(time.Duration(n)*time.Second, longestBlock)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	return max(0, min(at.Sub(now), longestBlock))
}

// block keeps an address from being asked for d.
func (c *httpClient) block(u *url.URL, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.opts.Clock.Now()
	for k, until := range c.blocked {
		if !now.Before(until) {
			delete(c.blocked, k)
		}
	}
	c.blocked[u.String()] = now.Add(d)
}

// checkBlocked is ErrWait for an address that the server wants to be left alone.
func (c *httpClient) checkBlocked(u *url.URL) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	until, ok := c.blocked[u.String()]
	if left := until.Sub(c.opts.Clock.Now()); ok && left > 0 {
		return fmt.Errorf("%w: %s, for %v more", ErrWait, weburl.Shown(u), left)
	}
	return nil
}
