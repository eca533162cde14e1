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
)

const (
	// firstPause is the pause after the first failed attempt; it doubles.
	firstPause = time.Second
	// longestWait is the longest pause that a server may ask for within a
	// download. Beyond it the download fails and the address is left alone.
	longestWait = time.Minute
	// longestBan bounds what a server can ask for at all.
	longestBan = time.Hour
)

// attempts calls try until it succeeds, at 0, 1 and 3 s by default. Every error
// counts the same, a 404 too, but for those that are final and
// those of a cancelled ctx.
func (f *Fetcher) attempts(ctx context.Context, u *url.URL, try func(ctx context.Context) error) error {
	if err := f.banned(u); err != nil {
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
		f.m.failedAttempts.Add(1)
		var wait *waitError
		errors.As(err, &wait)
		if wait != nil && wait.d > longestWait {
			f.ban(u, wait.d)
		}
		stop := errors.As(err, new(final)) || errors.Is(err, ErrAddress) || errors.Is(err, ErrInsecure)
		if stop || n >= f.opts.HTTP.Attempts || wait != nil && wait.d > longestWait {
			f.m.failures.Add(1)
			f.log.Warn("download failed", "url", shown(u), "attempts", n, "error", err)
			return fmt.Errorf("remote: %s, attempt %d: %w", shown(u), n, err)
		}
		pause := f.pause(n, wait)
		f.log.Info("download is retried", "url", shown(u), "attempt", n, "pause", pause, "error", err)
		if err := f.sleep(ctx, pause); err != nil {
			return err
		}
		f.m.retries.Add(1)
	}
}

// pause is how long to wait after failed attempt n.
func (f *Fetcher) pause(n int, wait *waitError) time.Duration {
	d := firstPause << min(n-1, 10)
	if wait != nil {
		d = max(d, wait.d)
	}
	if f.opts.Jitter > 0 {
		d += time.Duration(f.opts.Jitter * rand.Float64() * float64(d))
	}
	return d
}

// sleep waits on the clock.
func (f *Fetcher) sleep(ctx context.Context, d time.Duration) error {
	over := make(chan struct{})
	stop := f.opts.Clock.AfterFunc(d, func() { close(over) })
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

// statusError makes the error of an unexpected status, with what the server
// says about trying again.
func (f *Fetcher) statusError(resp *http.Response) error {
	// A short rest is read, so that the connection can be used again.
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	err := error(&StatusError{URL: shown(resp.Request.URL), Status: resp.StatusCode})
	if d := retryAfter(resp.Header.Get("Retry-After"), f.opts.Clock.Now()); d > 0 {
		return &waitError{err, d}
	}
	return err
}

// retryAfter reads a Retry-After header, in seconds or as a date (RFC 9110,
// section 10.2.3). What makes no sense is 0.
func retryAfter(v string, now time.Time) time.Duration {
	v = strings.TrimSpace(v)
	if n, err := strconv.ParseUint(v, 10, 32); err == nil {
		return min(time.Duration(n)*time.Second, longestBan)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	return max(0, min(at.Sub(now), longestBan))
}

// ban keeps an address from being asked for d.
func (f *Fetcher) ban(u *url.URL, d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.opts.Clock.Now()
	for k, until := range f.bans {
		if !now.Before(until) {
			delete(f.bans, k)
		}
	}
	f.bans[u.String()] = now.Add(d)
}

func (f *Fetcher) banned(u *url.URL) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	until, ok := f.bans[u.String()]
	if left := until.Sub(f.opts.Clock.Now()); ok && left > 0 {
		return fmt.Errorf("%w: %s, for %v more", ErrWait, shown(u), left)
	}
	return nil
}
