package remote

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"syscall"
	"time"
)

// zone says how near to this machine an address is. A server may send its clients
// to where it is itself or farther out, never farther in: it would reach through
// them what it cannot reach.
type zone int

const (
	zonePublic zone = iota
	zonePrivate
	zoneLink // of the same cable, where clouds keep their secrets
	zoneHere // this machine
)

// String names the zone for messages.
func (z zone) String() string {
	return [...]string{"a public address", "an address of a private network", "a link-local address", "this machine"}[z]
}

// inward are networks that are not reached over the internet, beside those that
// netip knows.
var inward = []struct {
	net  netip.Prefix
	zone zone
}{
	{netip.MustParsePrefix("0.0.0.0/8"), zoneHere},
	{netip.MustParsePrefix("100.64.0.0/10"), zonePrivate}, // of providers
	{netip.MustParsePrefix("192.0.0.0/24"), zonePrivate},
	{netip.MustParsePrefix("198.18.0.0/15"), zonePrivate}, // of measurements
	{netip.MustParsePrefix("224.0.0.0/3"), zonePrivate},   // multicast, and what no one has
	{netip.MustParsePrefix("fec0::/10"), zonePrivate},
	{netip.MustParsePrefix("ff00::/8"), zonePrivate},
	{netip.MustParsePrefix("64:ff9b:1::/48"), zonePrivate},
	{netip.MustParsePrefix("100::/64"), zonePrivate},
}

// embedding are networks of IPv6 whose addresses stand for one of IPv4, and where
// that is in them.
var embedding = []struct {
	net netip.Prefix
	at  int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("2002::/16"), 2},
	{netip.MustParsePrefix("::/96"), 12},
}

// zoneOf returns the zone of an address.
func zoneOf(ip netip.Addr) zone {
	ip = ip.Unmap().WithZone("")
	switch {
	case ip.IsLoopback(), ip.IsUnspecified():
		return zoneHere
	case ip.IsLinkLocalUnicast(), ip.IsLinkLocalMulticast(), ip.IsInterfaceLocalMulticast():
		return zoneLink
	case ip.IsPrivate():
		return zonePrivate
	}
	for _, n := range inward {
		if n.net.Contains(ip) {
			return n.zone
		}
	}
	for _, n := range embedding {
		if n.net.Contains(ip) {
			b := ip.As16()
			return zoneOf(netip.AddrFrom4([4]byte(b[n.at:])))
		}
	}
	return zonePublic
}

// namedZone is the zone of a host as far as its name tells: false when it has to be
// looked up.
func namedZone(host string) (zone, bool) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return zoneOf(ip), true
	}
	return zoneHere, isLoopback(host)
}

// network is what connects; tests replace it.
type network struct {
	lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// dial connects to a host and asks allow before it does to each address of it.
	dial  func(ctx context.Context, network, address string, allow func(netip.AddrPort) error) (net.Conn, error)
	proxy func(*http.Request) (*url.URL, error)
}

// systemNetwork is the one of the system.
func systemNetwork() network {
	return network{
		lookup: func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		},
		dial: func(ctx context.Context, network, address string, allow func(netip.AddrPort) error) (net.Conn, error) {
			d := net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second, Control: func(_, to string, _ syscall.RawConn) error {
				at, err := netip.ParseAddrPort(to)
				if err != nil {
					return fmt.Errorf("%w: %q", ErrAddress, to)
				}
				return allow(at)
			}}
			return d.DialContext(ctx, network, address)
		},
		proxy: http.ProxyFromEnvironment,
	}
}

// border is the RoundTripper of a Fetcher. It knows the zone of every host from when
// it was first asked, has connections for each zone, and looks at the address that
// is connected to: a name may resolve to another one every time.
type border struct {
	net   network
	zones [zoneHere + 1]*http.Transport

	mu      sync.Mutex
	hosts   map[string]zone
	proxies map[string]bool // host and port
}

func newBorder(n network, perHost int) *border {
	b := &border{net: n, hosts: map[string]zone{}, proxies: map[string]bool{}}
	for z := range b.zones {
		t := newTransport(perHost)
		t.Proxy = b.proxy
		t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			return b.dial(ctx, network, address, zone(z))
		}
		b.zones[z] = t
	}
	return b
}

// proxy notes who the proxies are: the user has named them, wherever they are.
func (b *border) proxy(req *http.Request) (*url.URL, error) {
	p, err := b.net.proxy(req)
	if err != nil || p == nil {
		return p, err
	}
	port := p.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[p.Scheme]
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.proxies[net.JoinHostPort(p.Hostname(), port)] = true
	return p, nil
}

// dial connects, to no address that is farther in than a zone.
func (b *border) dial(ctx context.Context, network, address string, within zone) (net.Conn, error) {
	b.mu.Lock()
	proxy := b.proxies[address]
	b.mu.Unlock()
	return b.net.dial(ctx, network, address, func(at netip.AddrPort) error {
		if z := zoneOf(at.Addr()); z > within && !proxy {
			return fmt.Errorf("%w: %s leads to %s, %v, where it was %v before", ErrAddress, address, at.Addr(), z, within)
		}
		return nil
	})
}

// zone returns the zone of a host, which is that of the outermost of its addresses
// when it was first asked.
func (b *border) zone(req *http.Request) (zone, error) {
	host := req.URL.Hostname()
	if z, ok := namedZone(host); ok {
		return z, nil
	}
	b.mu.Lock()
	z, ok := b.hosts[host]
	b.mu.Unlock()
	if ok {
		return z, nil
	}
	if p, err := b.proxy(req); err != nil || p != nil {
		return zonePublic, err // the proxy looks it up
	}
	list, err := b.net.lookup(req.Context(), host)
	if err != nil {
		return zonePublic, err
	}
	z = zoneHere
	for _, ip := range list {
		z = min(z, zoneOf(ip))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.hosts[host]; ok {
		return known, nil
	}
	b.hosts[host] = z
	return z, nil
}

// travelKey is the key of a travel in the context of a request.
type travelKey struct{}

// travel is the way of a request through redirects: the outermost zone it was in.
type travel struct{ within zone }

// RoundTrip does a request, unless it follows a redirect that leads farther in than
// where it came from.
func (b *border) RoundTrip(req *http.Request) (*http.Response, error) {
	z, err := b.zone(req)
	if err != nil {
		return nil, err
	}
	if way, ok := req.Context().Value(travelKey{}).(*travel); ok {
		if z > way.within {
			return nil, fmt.Errorf("%w: a redirect from %v to %s, %v", ErrAddress, way.within, req.URL.Host, z)
		}
		way.within = z
	}
	return b.zones[z].RoundTrip(req)
}

// CloseIdleConnections closes what is not in use.
func (b *border) CloseIdleConnections() {
	for _, t := range b.zones {
		t.CloseIdleConnections()
	}
}
