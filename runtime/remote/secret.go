package remote

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// hidden stands for the query of an address in texts.
const hidden = "?..."

// Redact returns an address as it is printed and stored: without user, password
// and fragment, and without the query, which may be a signature. What is no address
// is returned as it is, but for what stands where these would.
func Redact(address string) string {
	if u, err := url.Parse(address); err == nil && u.Opaque == "" {
		if u.Host == "" {
			return address // a path
		}
		return shown(u)
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
		text += hidden
	}
	return text
}

// shown is Redact of an address that has been parsed.
func shown(u *url.URL) string {
	plain := *u
	plain.User, plain.RawQuery, plain.ForceQuery, plain.Fragment, plain.RawFragment = nil, "", false, "", ""
	if u.RawQuery == "" {
		return plain.String()
	}
	return plain.String() + hidden
}

// logins are the users and passwords of addresses, by the address of the folder
// below which they are for. They are in memory alone.
type logins struct {
	mu sync.Mutex
	m  map[string]*url.Userinfo
}

// take takes user and password out of an address, for requests to what lies in its
// folder.
func (l *logins) take(u *url.URL) {
	user := u.User
	if user == nil {
		return
	}
	u.User = nil
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.m == nil {
		l.m = map[string]*url.Userinfo{}
	}
	l.m[directory(u).String()] = user
}

// add puts user and password into the header of a request.
func (l *logins) add(req *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, longest := req.URL.String(), -1
	for folder, user := range l.m {
		if strings.HasPrefix(at, folder) && len(folder) > longest {
			longest = len(folder)
			password, _ := user.Password()
			req.SetBasicAuth(user.Username(), password)
		}
	}
}

// address is parseAddress; user and password are kept apart from then on.
func (f *Fetcher) address(raw string) (*url.URL, error) {
	u, err := parseAddress(raw)
	if err == nil {
		f.logins.take(u)
	}
	return u, err
}

// withoutURL takes the address out of an error of net/http or net/url, which has
// all of it.
func withoutURL(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// keepSecrets takes out of the request that follows a redirect what only the server
// may know that the user has named: the address that led here, and, on the way to
// another origin, user and password.
func keepSecrets(to *http.Request, first *url.URL) {
	to.Header.Del("Referer")
	to.URL.User = nil
	if to.URL.Scheme != first.Scheme || !strings.EqualFold(to.URL.Host, first.Host) {
		to.Header.Del("Authorization")
	}
}
