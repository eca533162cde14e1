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

// zone says how near to this machine an address is. A server may redirect its clients
// to its own zone or farther out, never farther in: through them it would reach
// machines that it cannot reach itself.
type zone int

const (
	zonePublic zone = iota
	zonePrivate
	zoneLink // of the same cable, where clouds serve their secrets
	zoneHere // this machine
)

// String names the zone for messages.
func (z zone) String() string {
	return [...]string{"a public address", "an address of a private network", "a link-local address", "this machine"}[z]
}

// inward are networks that are not reached over the internet and that netip does not
// know.
var inward = []struct {
	net  netip.Prefix
	zone zone
}{
	{netip.MustParsePrefix("0.0.0.0/8"), zoneHere},
	{netip.MustParsePrefix("100.64.0.0/10"), zonePrivate}, // of providers
	{netip.MustParsePrefix("192.0.0.0/24"), zonePrivate},
	{netip.MustParsePrefix("198.18.0.0/15"), zonePrivate}, // of measurements
	{netip.MustParsePrefix("224.0.0.0/3"), zonePrivate},   // multicast and reserved
	{netip.MustParsePrefix("fec0::/10"), zonePrivate},
	{netip.MustParsePrefix("ff00::/8"), zonePrivate},
	{netip.MustParsePrefix("64:ff9b:1::/48"), zonePrivate},
	{netip.MustParsePrefix("100::/64"), zonePrivate},
}

// embedding are networks of IPv6 whose addresses contain one of IPv4, and its offset.
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

// namedZone is the zone of a host whose name tells it; false when the name has to be
// looked up.
func namedZone(host string) (zone, bool) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return zoneOf(ip), true
	}
	return zoneHere, isLoopback(host)
}

// network looks names up and connects. Tests replace it.
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

// zoneTransport is the RoundTripper of a Fetcher. It remembers the zone that every host
// had when it was first asked, keeps connections for each zone, and checks the address
// that it connects to, as a name may resolve to another one every time.
type zoneTransport struct {
	net   network
	zones [zoneHere + 1]*http.Transport

	mu      sync.Mutex
	hosts   map[string]zone
	proxies map[string]bool // host and port
}

func newZoneTransport(n network, perHost int) *zoneTransport {
	zt := &zoneTransport{net: n, hosts: map[string]zone{}, proxies: map[string]bool{}}
	for z := range zt.zones {
		t := newTransport(perHost)
		t.Proxy = zt.proxy
		t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			return zt.dial(ctx, network, address, zone(z))
		}
		zt.zones[z] = t
	}
	return zt
}

// proxy notes the addresses of proxies: as the user has named them, they may be in any
// zone.
func (zt *zoneTransport) proxy(req *http.Request) (*url.URL, error) {
	p, err := zt.net.proxy(req)
	if err != nil || p == nil {
		return p, err
	}
	port := p.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[p.Scheme]
	}
	zt.mu.Lock()
	defer zt.mu.Unlock()
	zt.proxies[net.JoinHostPort(p.Hostname(), port)] = true
	return p, nil
}

// dial connects, but to no address that is farther in than a zone.
func (zt *zoneTransport) dial(ctx context.Context, network, address string, within zone) (net.Conn, error) {
	zt.mu.Lock()
	proxy := zt.proxies[address]
	zt.mu.Unlock()
	return zt.net.dial(ctx, network, address, func(at netip.AddrPort) error {
		if z := zoneOf(at.Addr()); z > within && !proxy {
			return fmt.Errorf("%w: %s leads to %s, %v, where it was %v before", ErrAddress, address, at.Addr(), z, within)
		}
		return nil
	})
}

// zone returns the zone of a host: that of the outermost address that it had when it
// was first asked.
func (zt *zoneTransport) zone(req *http.Request) (zone, error) {
	host := req.URL.Hostname()
	if z, ok := namedZone(host); ok {
		return z, nil
	}
	zt.mu.Lock()
	z, ok := zt.hosts[host]
	zt.mu.Unlock()
	if ok {
		return z, nil
	}
	if p, err := zt.proxy(req); err != nil || p != nil {
		return zonePublic, err // the proxy looks it up
	}
	list, err := zt.net.lookup(req.Context(), host)
	if err != nil {
		return zonePublic, err
	}
	z = zoneHere
	for _, ip := range list {
		z = min(z, zoneOf(ip))
	}
	zt.mu.Lock()
	defer zt.mu.Unlock()
	if known, ok := zt.hosts[host]; ok {
		return known, nil
	}
	zt.hosts[host] = z
	return z, nil
}

// redirectsKey is the key of redirects in the context of a request.
type redirectsKey struct{}

// redirects knows the outermost zone that a request was in.
type redirects struct{ within zone }

// RoundTrip does a request, unless it follows a redirect that leads farther in than the
// address that redirected it.
func (zt *zoneTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	z, err := zt.zone(req)
	if err != nil {
		return nil, err
	}
	if way, ok := req.Context().Value(redirectsKey{}).(*redirects); ok {
		if z > way.within {
			return nil, fmt.Errorf("%w: a redirect from %v to %s, %v", ErrAddress, way.within, req.URL.Host, z)
		}
		way.within = z
	}
	return zt.zones[z].RoundTrip(req)
}

// CloseIdleConnections closes what is not in use.
func (zt *zoneTransport) CloseIdleConnections() {
	for _, t := range zt.zones {
		t.CloseIdleConnections()
	}
}
