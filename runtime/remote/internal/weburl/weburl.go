// Package weburl reads the addresses of remote files, and shows them without their
// secrets: user, password and query.
package weburl

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// MaxBytes is the longest address in bytes; many servers take less.
const MaxBytes = 8192

// ErrInvalid: an address that is no http(s) URL, or a redirect to where none may
// lead.
var ErrInvalid = errors.New("remote: not an address to download from")

// queryHidden stands for the query of an address in texts.
const queryHidden = "?..."

// IsURL reports whether an argument is an address rather than a path: whether it
// begins with http:// or https://, in any case.
func IsURL(arg string) bool {
	for _, p := range []string{"http://", "https://"} {
		if len(arg) >= len(p) && strings.EqualFold(arg[:len(p)], p) {
			return true
		}
	}
	return false
}

// Parse checks that a text is an absolute http(s) URL of a host. It drops the
// fragment, which is never sent.
func Parse(raw string) (*url.URL, error) {
	if len(raw) > MaxBytes {
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrInvalid, len(raw), MaxBytes)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrInvalid, Redact(raw), Cause(err))
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "" {
		return nil, fmt.Errorf("%w: %q; use http:// or https:// and a host", ErrInvalid, Shown(u))
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// ParseFolder is Parse of a folder: it adds a missing slash at the end.
func ParseFolder(raw string) (*url.URL, error) {
	u, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	u.RawQuery, u.ForceQuery = "", false
	if !strings.HasSuffix(u.Path, "/") {
		u = u.JoinPath("/")
	}
	return u, nil
}

// Folder returns the address of the folder of u, without a query: relative
// addresses in the file at u start there.
func Folder(u *url.URL) *url.URL {
	d := u.ResolveReference(&url.URL{Path: "."})
	d.RawQuery, d.ForceQuery = "", false
	if !strings.HasSuffix(d.Path, "/") {
		d.Path, d.RawPath = d.Path+"/", ""
	}
	return d
}

// Redact returns an address as it is printed and stored: without user, password
// and fragment, and with "?..." for a query, which may be a signature. A text that
// is no address loses the same parts.
func Redact(address string) string {
	if u, err := url.Parse(address); err == nil && u.Opaque == "" {
		if u.Host == "" {
			return address // a path
		}
		return Shown(u)
	}
	text, query, asked := strings.Cut(address, "?")
	if scheme, rest, ok := strings.Cut(text, "//"); ok {
		host, path, slash := strings.Cut(rest, "/")
		host = host[strings.LastIndexByte(host, '@')+1:]
		if text = scheme + "//" + host; slash {
			text += "/" + path
		}
	}
	if asked && query != "" {
		text += queryHidden
	}
	return text
}

// Shown is Redact of an address that has been parsed.
func Shown(u *url.URL) string {
	plain := *u
	plain.User, plain.RawQuery, plain.ForceQuery, plain.Fragment, plain.RawFragment = nil, "", false, "", ""
	if u.RawQuery == "" {
		return plain.String()
	}
	return plain.String() + queryHidden
}

// Cause takes the address out of an error of net/http or net/url, which has all of
// it.
func Cause(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
