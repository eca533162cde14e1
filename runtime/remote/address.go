package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/manifest"
)

// maxAddress is the longest address in bytes; many servers take less.
const maxAddress = 8192

// maxRedirects is how many redirects a request follows.
const maxRedirects = 5

// IsURL reports whether an argument is an address for a Fetcher rather than a
// path: whether it begins with http:// or https://, in any case.
func IsURL(arg string) bool {
	for _, p := range []string{"http://", "https://"} {
		if len(arg) >= len(p) && strings.EqualFold(arg[:len(p)], p) {
			return true
		}
	}
	return false
}

// parseAddress checks that a text is an absolute http(s) URL of a host. The
// fragment, which is never sent, is dropped.
func parseAddress(raw string) (*url.URL, error) {
	if len(raw) > maxAddress {
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrAddress, len(raw), maxAddress)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrAddress, Redact(raw), withoutURL(err))
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "" {
		return nil, fmt.Errorf("%w: %q; use http:// or https:// and a host", ErrAddress, shown(u))
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// checkScheme refuses plain http to other machines.
func checkScheme(u *url.URL, allowInsecure bool) error {
	switch {
	case u.Scheme == "https":
		return nil
	case u.Scheme != "http":
		return fmt.Errorf("%w: %q", ErrAddress, shown(u))
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

// checkRedirect is the CheckRedirect of the client: few hops, never from https
// to http, never farther in by what the addresses name. byName: there is no border
// that looks names up, so that those of unknown hosts count as public.
func checkRedirect(allowInsecure, byName bool) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		from, to := via[len(via)-1].URL, req.URL
		keepSecrets(req, via[0].URL)
		if len(via) > maxRedirects {
			return fmt.Errorf("%w: more than %d redirects", ErrAddress, maxRedirects)
		}
		if to.Hostname() == "" {
			return fmt.Errorf("%w: a redirect to %q", ErrAddress, shown(to))
		}
		if err := checkScheme(to, allowInsecure); err != nil {
			return err
		}
		if from.Scheme == "https" && to.Scheme == "http" {
			return fmt.Errorf("%w: a redirect from https to %s", ErrInsecure, shown(to))
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

// key is the cache key of an address: lower-case hex of its SHA-256, query
// included.
func key(u *url.URL) string {
	sum := sha256.Sum256([]byte(u.String()))
	return hex.EncodeToString(sum[:])
}

// fileName is the name of an address in the cache: key and extension of the
// path. Extensions that the cache uses itself, and those that are no plain
// short word, are left out.
func fileName(u *url.URL) string {
	ext := strings.TrimPrefix(path.Ext(u.Path), ".")
	if !plainWord(ext, 16) || reservedExt(ext) {
		return key(u)
	}
	return key(u) + "." + ext
}

// reservedExt reports whether the cache uses an extension for files of its own.
func reservedExt(ext string) bool {
	return slices.ContainsFunc([]string{"meta", "tmp", "part", "have"}, func(s string) bool { return strings.EqualFold(s, ext) })
}

// plainWord reports whether s has 1 to limit ASCII letters or digits only.
func plainWord(s string, limit int) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return s != "" && len(s) <= limit
}

// isKey reports whether s is a cache key.
func isKey(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size && s == strings.ToLower(s)
}

// directory returns the address of the folder of u: what relative addresses in
// the file at u start from, without a query.
func directory(u *url.URL) *url.URL {
	d := u.ResolveReference(&url.URL{Path: "."})
	d.RawQuery, d.ForceQuery = "", false
	if !strings.HasSuffix(d.Path, "/") {
		d.Path, d.RawPath = d.Path+"/", ""
	}
	return d
}

// parseBase is parseAddress of a folder: a missing slash at the end is added.
func parseBase(raw string) (*url.URL, error) {
	u, err := parseAddress(raw)
	if err != nil {
		return nil, err
	}
	u.RawQuery, u.ForceQuery = "", false
	if !strings.HasSuffix(u.Path, "/") {
		u = u.JoinPath("/")
	}
	return u, nil
}

// textureFolder is the folder of the cache, with slashes, in which the texture URIs
// of the containers in the folder at an address resolve. Its name is a hash: a
// path of the server's costs no folders here.
func textureFolder(folder *url.URL) string { return texturesDir + "/" + key(folder)[:32] }

// checkTextureURI refuses texture URIs that are no plain paths below the folder
// of their container, also when somebody on the way undoes percent encoding.
func checkTextureURI(uri string) error {
	if why := format.URIEscape(uri); why != "" {
		return &manifest.PathError{Path: uri, Reason: why}
	}
	for range 3 {
		if err := manifest.CheckPath(uri); err != nil {
			return err
		}
		plain, err := url.PathUnescape(uri)
		if err != nil || plain == uri {
			break
		}
		uri = plain
	}
	if !filepath.IsLocal(filepath.FromSlash(uri)) {
		return &manifest.PathError{Path: uri, Reason: "is no plain file name on this system"}
	}
	return nil
}
