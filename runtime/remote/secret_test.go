package remote

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

// seen collects what servers are asked.
type seen struct {
	mu   sync.Mutex
	list []*http.Request
}

func (s *seen) note(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, r)
}

// User and password of an address serve requests below its folder, and come to no
// other origin, no file, no log and no message; nor does the query of a signed
// address.
func TestSecretsStayWhereTheyBelong(t *testing.T) {
	var mine, other seen
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		other.note(r)
		_, _ = w.Write([]byte("tile"))
	}))
	defer elsewhere.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mine.note(r)
		user, password, _ := r.BasicAuth()
		switch {
		case user != "u5er" || password != "secr3t":
			http.Error(w, "who are you?", http.StatusUnauthorized)
		case strings.HasSuffix(r.URL.Path, "/city.json"):
			w.Header().Set("ETag", `"1"`)
			_, _ = w.Write([]byte("{}"))
		case strings.HasSuffix(r.URL.Path, "/moved.untold"):
			http.Redirect(w, r, strings.Replace(elsewhere.URL, "://", "://evil:login@", 1)+"/x.untold", http.StatusFound)
		case strings.HasSuffix(r.URL.Path, "/here.untold"):
			http.Redirect(w, r, "/else/where.untold", http.StatusFound)
		case strings.HasSuffix(r.URL.Path, "/gone.untold"):
			http.NotFound(w, r)
		default:
			_, _ = w.Write([]byte("tile"))
		}
	}))
	defer srv.Close()
	var log bytes.Buffer
	dir := t.TempDir()
	f, err := New(Options{CacheDir: dir, HTTP: oneAttempt, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx := context.Background()
	address := strings.Replace(srv.URL, "://", "://u5er:secr3t@", 1) + "/scene/city.json?sig=t0ken#fr4g"
	m, err := f.OpenManifest(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	fetch := func(path string) error {
		_, err := f.payload(payload.Request{Dir: m.Base, Path: path})
		return err
	}
	for _, path := range []string{"a.untold", "moved.untold", "here.untold"} {
		if err := fetch(path); err != nil {
			t.Error(err)
		}
	}
	texts := []string{m.Base, m.URL, m.File}
	for _, path := range []string{"gone.untold"} {
		if err := fetch(path); err == nil {
			t.Error("no error")
		} else {
			texts = append(texts, err.Error())
		}
	}
	// Addresses of other folders, of nobody, and none at all.
	for _, bad := range []string{
		srv.URL + "/other/a.untold?sig=t0ken", "https://u5er:secr3t@127.0.0.1:1/a?sig=t0ken", "https://u5er:secr3t@h:port/?sig=t0ken",
		"ftp://u5er:secr3t@h/?sig=t0ken",
	} {
		if _, err := f.Local(ctx, bad, Expected{}); err == nil {
			t.Errorf("%s: no error", bad)
		} else {
			texts = append(texts, err.Error())
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if texts = append(texts, p); err == nil && d.Type().IsRegular() {
			texts = append(texts, remotetest.Text(t, p))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(texts, log.String()) {
		for _, secret := range []string{"u5er", "secr3t", "t0ken", "fr4g", "evil", "login"} {
			if strings.Contains(text, secret) {
				t.Errorf("%q has %q", text, secret)
			}
		}
	}
	for _, r := range append(mine.list, other.list...) {
		if h := r.Header.Get("Referer"); h != "" {
			t.Errorf("%s: Referer %q", r.URL, h)
		}
	}
	if len(other.list) != 1 || other.list[0].Header.Get("Authorization") != "" || other.list[0].URL.RawQuery != "" {
		t.Errorf("%+v", other.list)
	}
	for _, r := range mine.list {
		if _, _, ok := r.BasicAuth(); ok == strings.HasPrefix(r.URL.Path, "/other/") {
			t.Errorf("%s: authorized %v", r.URL, ok)
		}
	}
}

// A redirect back to the origin that the user has named has its user, one to
// another port of the same host has not.
func TestKeepSecrets(t *testing.T) {
	first, _ := url.Parse("https://h/a")
	for target, keeps := range map[string]bool{
		"https://h/b": true, "https://H/b": true, "https://h:444/b": false, "http://h/b": false, "https://sub.h/b": false, "https://x/b": false,
	} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
		req.Header.Set("Authorization", "Basic x")
		req.Header.Set("Referer", "https://h/a?sig=1")
		keepSecrets(req, first)
		if got := req.Header.Get("Authorization") != ""; got != keeps || req.Header.Get("Referer") != "" {
			t.Errorf("%s: %v", target, req.Header)
		}
	}
}
