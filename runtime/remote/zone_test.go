package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

func TestZoneOf(t *testing.T) {
	for text, want := range map[string]zone{
		"127.0.0.1": zoneHere, "127.9.9.9": zoneHere, "::1": zoneHere, "0.0.0.0": zoneHere, "0.1.2.3": zoneHere, "::": zoneHere,
		"::ffff:127.0.0.1": zoneHere, "::ffff:0.0.0.0": zoneHere, "64:ff9b::7f00:1": zoneHere, "2002:7f00:1::": zoneHere, "::127.0.0.1": zoneHere,
		"169.254.169.254": zoneLink, "fe80::1": zoneLink, "fe80::1%eth0": zoneLink, "::ffff:169.254.1.1": zoneLink, "ff02::1": zoneLink,
		"10.0.0.1": zonePrivate, "172.16.0.1": zonePrivate, "172.31.255.255": zonePrivate, "192.168.1.1": zonePrivate, "100.64.0.1": zonePrivate,
		"100.127.255.255": zonePrivate, "fc00::1": zonePrivate, "fd12::1": zonePrivate, "::ffff:10.1.1.1": zonePrivate, "198.18.0.1": zonePrivate,
		"255.255.255.255": zonePrivate, "240.0.0.1": zonePrivate, "239.1.1.1": zonePrivate, "fec0::1": zonePrivate, "64:ff9b::a00:1": zonePrivate,
		"1.1.1.1": zonePublic, "172.32.0.1": zonePublic, "100.128.0.1": zonePublic, "2606:4700::1": zonePublic, "203.0.113.7": zonePublic,
		"64:ff9b::101:101": zonePublic, "2002:101:101::": zonePublic, "::ffff:1.1.1.1": zonePublic,
	} {
		if got := zoneOf(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
}

// world is a network in which names have the addresses that a test gives them. All
// of them are one server, who tells hosts apart.
type world struct {
	mu    sync.Mutex
	names map[string][]string // each look takes one away, but for the last
	to    string              // host and port of the server
	met   []string            // addresses that were connected to
}

func (w *world) look(host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.names[host]
	if len(list) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host}
	}
	if len(list) > 1 {
		w.names[host] = list[1:]
	}
	var all []netip.Addr
	for text := range strings.SplitSeq(list[0], ",") {
		all = append(all, netip.MustParseAddr(text))
	}
	return all, nil
}

func (w *world) network() *network {
	return &network{
		lookup: func(_ context.Context, host string) ([]netip.Addr, error) { return w.look(host) },
		dial: func(ctx context.Context, network, address string, allow func(netip.AddrPort) error) (net.Conn, error) {
			host, _, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			list, err := w.look(host)
			for _, ip := range list {
				if err = allow(netip.AddrPortFrom(ip, 80)); err == nil {
					w.mu.Lock()
					w.met = append(w.met, ip.String())
					w.mu.Unlock()
					return new(net.Dialer).DialContext(ctx, network, w.to)
				}
			}
			return nil, err
		},
		proxy: func(*http.Request) (*url.URL, error) { return nil, nil },
	}
}

// inWorld returns a Fetcher in a world whose server redirects /to/HOST to HOST.
func inWorld(t *testing.T, names map[string][]string) (*Fetcher, *world) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hosts, ok := strings.CutPrefix(r.URL.Path, "/to/"); ok {
			host, rest, more := strings.Cut(hosts, "/to/")
			target := "http://" + host + "/end"
			if more {
				target = "http://" + host + "/to/" + rest
			}
			http.Redirect(w, r, target, http.StatusFound)
			return
		}
		w.Header().Set("Connection", r.URL.Query().Get("connection"))
		_, _ = fmt.Fprintf(w, "from %s", r.Host)
	}))
	t.Cleanup(srv.Close)
	w := &world{names: names, to: srv.Listener.Addr().String()}
	f, err := New(Options{CacheDir: t.TempDir(), HTTP: oneAttempt, AllowInsecureHTTP: true, NoSync: true, network: w.network()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, w
}

// A server leads its clients to where it is or farther out, never farther in,
// whatever the address is called.
func TestRedirectsLeadOutwardOnly(t *testing.T) {
	names := func() map[string][]string {
		return map[string][]string{
			"public": {"203.0.113.1"}, "other": {"203.0.113.2"}, "intranet": {"10.0.0.1"}, "nas": {"192.168.0.9"}, "metadata": {"169.254.169.254"},
			"me": {"127.0.0.1"}, "zero": {"0.0.0.0"}, "six": {"::ffff:127.0.0.1"}, "provider": {"100.64.0.1"}, "both": {"203.0.113.3,127.0.0.1"}, "localhost": {"127.0.0.1"},
		}
	}
	for way, ok := range map[string]bool{
		"public/to/other": true, "public/to/intranet": false, "public/to/metadata": false, "public/to/me": false, "public/to/zero": false,
		"public/to/six": false, "public/to/provider": false, "public/to/0.0.0.0": false, "public/to/[::]": false, "public/to/[::1]": false,
		"public/to/127.1.2.3": false, "public/to/localhost": false, "public/to/10.0.0.1": false, "public/to/[fd00::1]": false,
		"public/to/169.254.169.254": false, "public/to/[::ffff:7f00:1]": false, "public/to/both": true,
		"intranet/to/nas": true, "intranet/to/10.0.0.7": true, "intranet/to/public": true, "intranet/to/me": false, "intranet/to/metadata": false,
		"intranet/to/localhost": false, "intranet/to/public/to/nas": false, "metadata/to/intranet": true,
		"127.0.0.1/to/localhost": true, "127.0.0.1/to/me": true, "localhost/to/intranet": true, "me/to/[::1]": true, "[::1]/to/public": true,
		"127.0.0.1/to/public/to/127.0.0.1": false, "both/to/me": false,
	} {
		f, w := inWorld(t, names())
		_, err := f.Local(t.Context(), "http://"+way, Expected{})
		if ok && err != nil || !ok && !errors.Is(err, ErrAddress) {
			t.Errorf("%s: %v", way, err)
		}
		if ok {
			continue
		}
		if m := f.Metrics(); m.Requests != 1 || m.FailedAttempts != 1 {
			t.Errorf("%s is tried again: %+v", way, m)
		}
		// Not even a connection is made.
		last := zoneOf(netip.MustParseAddr(w.met[0]))
		for _, ip := range w.met {
			if z := zoneOf(netip.MustParseAddr(ip)); z > last {
				t.Errorf("%s: connected to %v", way, w.met)
			} else {
				last = z
			}
		}
	}
}

// A name that resolves to an address farther in than at first, later or between the
// look and the connection, is not connected to; a connection that another scene has
// is not used either.
func TestRebinding(t *testing.T) {
	f, w := inWorld(t, map[string][]string{"fast": {"203.0.113.1", "127.0.0.1"}, "slow": {"203.0.113.1", "203.0.113.1", "10.0.0.1"}, "nas": {"10.0.0.9"}, "evil": {"203.0.113.6"}})
	if _, err := f.Local(t.Context(), "http://fast/a", Expected{}); !errors.Is(err, ErrAddress) || len(w.met) != 0 {
		t.Errorf("%v, %v", err, w.met)
	}
	if _, err := f.Local(t.Context(), "http://slow/a?connection=close", Expected{}); err != nil {
		t.Error(err)
	}
	if _, err := f.Local(t.Context(), "http://slow/b", Expected{}); !errors.Is(err, ErrAddress) || len(w.met) != 1 {
		t.Errorf("%v, %v", err, w.met)
	}
	if _, err := f.Local(t.Context(), "http://nas/a", Expected{}); err != nil {
		t.Error(err)
	}
	if _, err := f.Local(t.Context(), "http://evil/to/nas", Expected{}); !errors.Is(err, ErrAddress) {
		t.Error(err)
	}
}

// A proxy may be anywhere: the user has named it.
func TestProxyInsideIsUsed(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "for %s", r.URL)
	}))
	defer srv.Close()
	n := systemNetwork()
	n.lookup = func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("nobody knows names here") }
	n.proxy = func(*http.Request) (*url.URL, error) { return url.Parse(srv.URL) }
	f, err := New(Options{CacheDir: t.TempDir(), HTTP: oneAttempt, AllowInsecureHTTP: true, network: &n})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file, err := f.Local(t.Context(), "http://public.example/a", Expected{})
	if err != nil {
		t.Fatal(err)
	}
	if got := remotetest.Text(t, file); got != "for http://public.example/a" {
		t.Error(got)
	}
}

// bottomless is a body without an end.
type bottomless struct{ read int64 }

func (e *bottomless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	if e.read == 0 {
		p[0] = '{'
	}
	e.read += int64(len(p))
	return len(p), nil
}

func (e *bottomless) Close() error { return nil }

// A manifest is read up to its limit, whatever the server says of its length, and a
// Fetcher up to what it may read in all. Neither is tried again.
func TestReadingEnds(t *testing.T) {
	for _, declared := range []int64{-1, 1 << 40} {
		r := newRig(t, func(o *Options) { o.MaxManifest = 1 << 20 })
		body := &bottomless{}
		r.origin.answer = func(req *http.Request) (*http.Response, error) {
			resp := reply(req, 200, nil, nil)
			resp.Body, resp.ContentLength = body, declared
			return resp, nil
		}
		_, err := r.OpenManifest(t.Context(), sceneURL)
		if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "1048576") || !strings.Contains(err.Error(), "--max-manifest") {
			t.Errorf("%v", err)
		}
		if body.read > 2<<20 || len(r.origin.requests()) != 1 {
			t.Errorf("%d bytes in %d requests", body.read, len(r.origin.requests()))
		}
		if list := remotetest.Files(t, r.Cache().Dir()); len(list) != 0 {
			t.Errorf("%v", list)
		}
	}
	r := newRig(t, func(o *Options) { o.MaxTotal = 2500 })
	for i := range 5 {
		r.origin.put(address(i), make([]byte, 1000))
		_, err := r.get(address(i), Expected{})
		if (err != nil) != (i > 1) || err != nil && (!errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "--max-download")) {
			t.Errorf("file %d: %v", i, err)
		}
	}
	if m := r.Metrics(); m.Requests != 5 || m.Retries != 0 {
		t.Errorf("%+v", m)
	}
}
