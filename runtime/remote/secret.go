package remote

import (
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// logins are the users and passwords of addresses, by the address of the folder
// below which they are for. They are in memory alone.
type logins struct {
	mu sync.Mutex
	m  map[string]*url.Userinfo
}

// take takes user and password out of an address and keeps them for requests to its
// folder and below.
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
	l.m[weburl.Folder(u).String()] = user
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

// keepSecrets takes out of the request that follows a redirect what is meant for the
// server that the user has named: the address that led here, and, on the way to
// another origin, user and password.
func keepSecrets(to *http.Request, first *url.URL) {
	to.Header.Del("Referer")
	to.URL.User = nil
	if to.URL.Scheme != first.Scheme || !strings.EqualFold(to.URL.Host, first.Host) {
		to.Header.Del("Authorization")
	}
}
