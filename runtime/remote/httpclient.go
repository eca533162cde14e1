package remote

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/untoldkit/untold/runtime/internal/hostqueue"
	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// httpClient does the requests of a Fetcher: each with its place at the host, its
// timeouts and secrets, and several attempts where the first one fails. It knows
// nothing of the cache.
type httpClient struct {
	opts    *Options
	log     *slog.Logger
	m       *counters
	client  *http.Client
	zones   *zoneTransport // made here; nil when the transport was given
	hosts   *hostLimiter
	logins  logins
	mu      sync.Mutex
	blocked map[string]time.Time // addresses not to be asked for before
}

func newHTTPClient(opts *Options, m *counters) *httpClient {
	c := &httpClient{opts: opts, log: opts.Logger, m: m, blocked: map[string]time.Time{}}
	limits := hostqueue.NewLimits(opts.HostRequests, opts.TextureRequests, opts.SmallRequests)
	c.hosts = newHostLimiter(limits, m)
	transport := opts.Transport
	if transport == nil {
		c.zones = newZoneTransport(opts.net(), limits.Places())
		transport = c.zones
	}
	c.client = &http.Client{Transport: transport, CheckRedirect: checkRedirect(opts.AllowInsecureHTTP, c.zones == nil)}
	return c
}

func (c *httpClient) closeIdleConnections() {
	if c.zones != nil {
		c.zones.CloseIdleConnections()
	}
}

// newTransport keeps a connection for every request that a host may have.
func newTransport(perHost int) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = perHost
	t.DisableCompression = true
	t.ReadBufferSize = 64 << 10
	t.MaxResponseHeaderBytes = 1 << 20
	return t
}

// address is weburl.Parse; user and password are kept apart from then on.
func (c *httpClient) address(raw string) (*url.URL, error) {
	u, err := weburl.Parse(raw)
	if err == nil {
		c.logins.take(u)
	}
	return u, err
}

// request says what one attempt asks for.
type request struct {
	url    *url.URL
	header http.Header // besides those that every request has
	kind   hostqueue.Request
	packed bool // the server may send it as gzip
}

// do does one attempt: it waits for a place at the host, sends, and calls read with
// the answer, whose body is the caller's until read returns. The timeouts begin when
// the place is there.
func (c *httpClient) do(ctx context.Context, r request, read func(*http.Response) error) error {
	leave, err := c.hosts.enter(ctx, r.url.Host, c.hosts.limits.ClassOf(r.kind))
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d := c.watch(cancel)
	defer d.stop()
	ctx = context.WithValue(ctx, redirectsKey{}, &redirects{within: zoneHere})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url.String(), nil)
	if err != nil {
		return final{fmt.Errorf("%w: %w", ErrAddress, weburl.Cause(err))}
	}
	for k, v := range r.header {
		req.Header[k] = v
	}
	req.Header.Set("User-Agent", c.opts.UserAgent)
	c.logins.add(req)
	// Sizes and hashes are those of the file, so the transport must not unpack.
	req.Header.Set("Accept-Encoding", "identity")
	if r.packed {
		req.Header.Set("Accept-Encoding", "gzip")
	}
	c.m.requests.Add(1)
	resp, err := c.client.Do(req)
	if err != nil {
		return causeOf(ctx, weburl.Cause(err))
	}
	defer resp.Body.Close()
	d.progress()
	body := &watchedBody{resp.Body, d, &c.m.bytes, nil, c.opts.MaxTotal}
	if r.kind.Texture {
		body.textures = &c.m.textureBytes
	}
	resp.Body = body
	switch enc := resp.Header.Get("Content-Encoding"); {
	case enc == "", strings.EqualFold(enc, "identity"):
	case r.packed && strings.EqualFold(enc, "gzip"):
		resp.Body, resp.ContentLength = &unpackedBody{ReadCloser: body}, -1
	default:
		return fmt.Errorf("%w: content encoding %q, which was not asked for: have the server send %s as it is", ErrMismatch, enc, weburl.Shown(r.url))
	}
	return causeOf(ctx, read(resp))
}

// causeOf replaces the error of a cancelled request by the reason.
func causeOf(ctx context.Context, err error) error {
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
func (c *httpClient) watch(cancel context.CancelCauseFunc) *deadline {
	d := &deadline{clock: c.opts.Clock, cancel: cancel, idle: seconds(c.opts.HTTP.RequestTimeout)}
	total := seconds(c.opts.HTTP.ResourceTimeout)
	d.progress()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopAll = d.clock.AfterFunc(total, func() { cancel(fmt.Errorf("%w: more than %v in all", ErrTimeout, total)) })
	d.stopIdle = d.clock.AfterFunc(d.idle, d.checkIdle)
	return d
}

func (d *deadline) progress() { d.last.Store(d.clock.Now().UnixNano()) }

// checkIdle cancels when nothing has come for too long, and else checks again when
// that may be so.
func (d *deadline) checkIdle() {
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
	d.stopIdle = d.clock.AfterFunc(min(left, d.idle), d.checkIdle)
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

	textures *atomic.Int64 // counts those of textures too; nil for others

	limit int64 // of n; 0: none
}

// Read reads from the body.
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		if b.textures != nil {
			b.textures.Add(int64(n))
		}
		if b.d.progress(); b.n.Add(int64(n)) > b.limit && b.limit > 0 {
			return 0, final{fmt.Errorf("%w: more than %d bytes in all (--max-download, Options.MaxTotal)", ErrTooLarge, b.limit)}
		}
	}
	return n, err
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
