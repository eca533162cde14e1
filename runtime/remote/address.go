package remote

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// maxRedirects is how many redirects a request follows.
const maxRedirects = 5

// IsURL reports whether an argument is an address for a Fetcher rather than a
// path: whether it begins with http:// or https://, in any case.
func IsURL(arg string) bool { return weburl.IsURL(arg) }

// Redact returns an address as it is printed and stored: without user, password
// and fragment, and with "?..." for a query, which may be a signature. A text that
// is no address loses the same parts.
func Redact(address string) string { return weburl.Redact(address) }

// checkScheme refuses plain http to other machines.
func checkScheme(u *url.URL, allowInsecure bool) error {
	switch {
	case u.Scheme == "https":
		return nil
	case u.Scheme != "http":
		return fmt.Errorf("%w: %q", ErrAddress, weburl.Shown(u))
	case allowInsecure || isLoopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("%w: use https for %s, or --allow-insecure-http (Options.AllowInsecureHTTP)", ErrInsecure, u.Host)
}

// isLoopback reports whether a host is this machine. Names are not looked up:
// only localhost, which RFC 6761 reserves, counts.
func isLoopback(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// checkRedirect is the CheckRedirect of the client. It allows few hops, none from https
// to http, and none farther in, as far as the addresses tell. byName says that no
// zoneTransport looks names up: then a name that tells no zone counts as public.
func checkRedirect(allowInsecure, byName bool) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		from, to := via[len(via)-1].URL, req.URL
		keepSecrets(req, via[0].URL)
		if len(via) > maxRedirects {
			return fmt.Errorf("%w: more than %d redirects", ErrAddress, maxRedirects)
		}
		if to.Hostname() == "" {
			return fmt.Errorf("%w: a redirect to %q", ErrAddress, weburl.Shown(to))
		}
		if err := checkScheme(to, allowInsecure); err != nil {
			return err
		}
		if from.Scheme == "https" && to.Scheme == "http" {
			return fmt.Errorf("%w: a redirect from https to %s", ErrInsecure, weburl.Shown(to))
		}
		outer, named := namedZone(from.Hostname())
		if !named {
			outer = zonePublic
		}
		if z, ok := namedZone(to.Hostname()); ok && z > outer && (named || byName) {
			return fmt.Errorf("%w: a redirect from %s to %s, %v", ErrAddress, from.Host, to.Host, z)
		}
		return nil
	}
}
