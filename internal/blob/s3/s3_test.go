package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"go.uber.org/goleak"

	"github.com/untoldkit/untold/internal/blob"
	"github.com/untoldkit/untold/internal/blob/placetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noSleep is a clock that writes down pauses and does not make them.
type noSleep struct {
	mu     sync.Mutex
	pauses []time.Duration
}

func (c *noSleep) Now() time.Time { return time.Unix(0, 0) }

func (c *noSleep) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pauses = append(c.pauses, d)
	return ctx.Err()
}

// environment sets the variables of S3 clients and no others.
func environment(t *testing.T, set ...string) {
	t.Helper()
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	for _, s := range set {
		name, value, _ := strings.Cut(s, "=")
		t.Setenv(name, value)
	}
}

// fake starts a server with the bucket "scenes" and points the environment to it.
func fake(t *testing.T) {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("scenes"); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(srv.Close)
	environment(t, "AWS_ENDPOINT_URL="+srv.URL, "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret")
}

func open(t *testing.T, address string, o Options) *Bucket {
	t.Helper()
	a, err := blob.ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	if o.Transport == nil {
		tr := transport()
		o.Transport = tr
		t.Cleanup(tr.(*http.Transport).CloseIdleConnections)
	}
	b, err := Open(t.Context(), a, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBucket(t *testing.T) {
	fake(t)
	for _, address := range []string{"s3://scenes", "s3://scenes/city/new"} {
		t.Run(address, func(t *testing.T) { placetest.Run(t, open(t, address, Options{}), 17<<20) })
	}
}

// TestPrefixes: two places in one bucket do not see each other.
func TestPrefixes(t *testing.T) {
	fake(t)
	a, b := open(t, "s3://scenes/a", Options{}), open(t, "s3://scenes/ab", Options{})
	placetest.Put(t, a, "x", "1")
	placetest.Put(t, b, "y", "2")
	if got := placetest.Keys(t, a, ""); !slices.Equal(got, []string{"x"}) {
		t.Error(got)
	}
	if got := placetest.Keys(t, open(t, "s3://scenes", Options{}), ""); !slices.Equal(got, []string{"a/x", "ab/y"}) {
		t.Error(got)
	}
}

// TestHeaders looks at the request: the fake server does not keep Cache-Control.
func TestHeaders(t *testing.T) {
	fake(t)
	tr := transport().(*http.Transport)
	defer tr.CloseIdleConnections()
	var put []http.Header
	b := open(t, "s3://scenes/p", Options{PartSize: 5 << 20, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPut && r.URL.RawQuery == "" || r.Method == http.MethodPost && r.URL.Query().Has("uploads") {
			put = append(put, r.Header)
		}
		return tr.RoundTrip(r)
	})})
	for _, size := range []int64{1, 6 << 20} {
		err := b.Put(t.Context(), "a.png", bytes.NewReader(make([]byte, size)), size, blob.PutOptions{ContentType: "image/png", CacheControl: "public, max-age=60"})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.Get(os.Getenv("AWS_ENDPOINT_URL") + "/scenes/p/a.png") //nolint:noctx // loopback
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if h := resp.Header; h.Get("Content-Type") != "image/png" || h.Get("Content-Encoding") != "" || resp.ContentLength != size {
			t.Error(h)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	if len(put) != 2 {
		t.Fatalf("%d requests", len(put))
	}
	for _, h := range put {
		if h.Get("Content-Type") != "image/png" || h.Get("Cache-Control") != "public, max-age=60" {
			t.Error(h)
		}
	}
}

// TestListGoesOn: a listing of many pages that breaks off goes on where it was.
func TestListGoesOn(t *testing.T) {
	fake(t)
	tr := transport().(*http.Transport)
	defer tr.CloseIdleConnections()
	calls := 0
	b := open(t, "s3://scenes/p", Options{Clock: &noSleep{}, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Has("list-type") {
			if calls++; calls%2 == 0 {
				return nil, errors.New("broken pipe")
			}
		}
		return tr.RoundTrip(r)
	})})
	want := []string{}
	for i := range 2300 {
		want = append(want, fmt.Sprintf("k/%05d", i))
		placetest.Put(t, b, want[i], "x")
	}
	calls = 0
	if got := placetest.Keys(t, b, "k/"); !slices.Equal(got, want) {
		t.Errorf("%d of %d keys", len(got), len(want))
	}
	if calls < 5 {
		t.Errorf("%d requests for 3 pages of which every second fails", calls)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answer is a response of a server.
func answer(r *http.Request, status int, code string) *http.Response {
	body := fmt.Sprintf("<Error><Code>%s</Code><Message>no</Message></Error>", code)
	return &http.Response{
		StatusCode: status, Status: fmt.Sprint(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/xml"}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// TestFailures: what failures mean, how often each is tried again, and what is said.
func TestFailures(t *testing.T) {
	environment(t, "AWS_ENDPOINT_URL=http://127.0.0.1:1", "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret")
	for _, c := range []struct {
		name     string
		status   int // 0: the network fails
		code     string
		kind     error
		attempts int
		says     string
	}{
		{"network", 0, "", blob.ErrUnreachable, 5, "127.0.0.1:1"},
		{"slow down", 503, "SlowDown", blob.ErrUnreachable, 5, "try again"},
		{"internal", 500, "InternalError", blob.ErrUnreachable, 5, ""},
		{"gateway", 502, "", blob.ErrUnreachable, 5, ""},
		{"no key", 404, "NoSuchKey", blob.ErrNotFound, 1, "s3://scenes/p/a"},
		{"no bucket", 404, "NoSuchBucket", blob.ErrNotFound, 1, "create the bucket"},
		{"denied", 403, "AccessDenied", blob.ErrDenied, 1, "credentials"},
		{"signature", 403, "SignatureDoesNotMatch", blob.ErrDenied, 1, "AWS_PROFILE"},
		{"exists", 412, "PreconditionFailed", blob.ErrExists, 1, ""},
		{"conflict", 409, "ConditionalRequestConflict", blob.ErrUnreachable, 5, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock, calls := &noSleep{}, 0
			b := open(t, "s3://scenes/p", Options{Clock: clock, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.Body != nil {
					_, _ = io.Copy(io.Discard, r.Body)
					r.Body.Close()
				}
				if calls++; c.status == 0 {
					return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
				}
				return answer(r, c.status, c.code), nil
			})})
			err := b.Put(t.Context(), "a", strings.NewReader("x"), 1, blob.PutOptions{})
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) || calls != c.attempts || len(clock.pauses) != c.attempts-1 {
				t.Errorf("%d calls, pauses %v: %v", calls, clock.pauses, err)
			}
			if c.attempts == 5 && !slices.Equal(clock.pauses, []time.Duration{firstPause, 2 * firstPause, 4 * firstPause, 8 * firstPause}) {
				t.Error(clock.pauses)
			}
			_, _, err = b.Get(t.Context(), "a")
			if !errors.Is(err, c.kind) {
				t.Error(err)
			}
			for _, err = range b.List(t.Context(), "") {
				if !errors.Is(err, c.kind) {
					t.Error(err)
				}
			}
			if err == nil {
				t.Error("the listing has not failed")
			}
		})
	}
}

// TestRetrySucceeds: content is sent from its beginning at every attempt.
func TestRetrySucceeds(t *testing.T) {
	fake(t)
	tr := transport().(*http.Transport)
	defer tr.CloseIdleConnections()
	failures := 3
	b := open(t, "s3://scenes/p", Options{Clock: &noSleep{}, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPut && failures > 0 {
			failures--
			_, _ = io.CopyN(io.Discard, r.Body, 100)
			r.Body.Close()
			return nil, io.ErrUnexpectedEOF
		}
		return tr.RoundTrip(r)
	})})
	content := bytes.Repeat([]byte("0123456789"), 1000)
	if err := b.Put(t.Context(), "a", bytes.NewReader(content), int64(len(content)), blob.PutOptions{IfAbsent: true}); err != nil {
		t.Fatal(err)
	}
	if got, err := blob.Read(t.Context(), b, "a", 1<<20); err != nil || !bytes.Equal(got, content) || failures != 0 {
		t.Errorf("%d bytes, %v, %d", len(got), err, failures)
	}
}

// TestCancelled: who waits between attempts is let go.
func TestCancelled(t *testing.T) {
	environment(t, "AWS_ENDPOINT_URL=http://127.0.0.1:1", "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret")
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	b := open(t, "s3://scenes/p", Options{Clock: &noSleep{}, Transport: roundTripper(func(*http.Request) (*http.Response, error) {
		if calls++; calls == 2 {
			cancel()
		}
		return nil, errors.New("broken")
	})})
	if _, err := b.Stat(ctx, "a"); !errors.Is(err, context.Canceled) || calls != 2 {
		t.Errorf("%d calls: %v", calls, err)
	}
}

func TestEnvironment(t *testing.T) {
	var asked []*http.Request
	see := roundTripper(func(r *http.Request) (*http.Response, error) {
		asked = append(asked, r)
		return answer(r, 403, "AccessDenied"), nil
	})
	stat := func(t *testing.T) (*http.Request, error) {
		t.Helper()
		asked = nil
		_, err := open(t, "s3://scenes/p", Options{Transport: see}).Stat(t.Context(), "a")
		if len(asked) == 0 {
			t.Fatal(err)
		}
		return asked[len(asked)-1], err
	}
	t.Run("own server", func(t *testing.T) {
		environment(t, "AWS_ENDPOINT_URL=https://wrong.test", "AWS_ENDPOINT_URL_S3=https://right.test:9000/", "AWS_REGION=eu-x", "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret", "AWS_SESSION_TOKEN=token")
		r, _ := stat(t)
		if r.URL.String() != "https://right.test:9000/scenes/p/a" || !strings.Contains(r.Header.Get("Authorization"), "id/") || !strings.Contains(r.Header.Get("Authorization"), "/eu-x/s3/") || r.Header.Get("X-Amz-Security-Token") != "token" {
			t.Error(r.URL, r.Header)
		}
	})
	t.Run("amazon", func(t *testing.T) {
		environment(t, "AWS_DEFAULT_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret")
		r, _ := stat(t)
		if r.URL.Scheme != "https" || !strings.HasPrefix(r.URL.Host, "scenes.s3.") || !strings.HasSuffix(r.URL.Host, "eu-west-1.amazonaws.com") || r.URL.Path != "/p/a" {
			t.Error(r.URL)
		}
	})
	t.Run("profile", func(t *testing.T) {
		file := t.TempDir() + "/credentials"
		if err := os.WriteFile(file, []byte("[other]\naws_access_key_id = fromfile\naws_secret_access_key = secret\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		environment(t, "AWS_ENDPOINT_URL=http://right.test", "AWS_REGION=x", "AWS_SHARED_CREDENTIALS_FILE="+file, "AWS_PROFILE=other")
		if r, _ := stat(t); !strings.Contains(r.Header.Get("Authorization"), "fromfile/") {
			t.Error(r.Header)
		}
	})
	t.Run("nobody", func(t *testing.T) {
		environment(t, "AWS_ENDPOINT_URL=http://right.test", "AWS_REGION=x")
		r, err := stat(t)
		if r.Header.Get("Authorization") != "" || len(asked) != 1 || !strings.Contains(err.Error(), "no credentials were found") {
			t.Error(r.Header, len(asked), err)
		}
	})
	for _, bad := range []string{"ftp://x", "://", "x", "https://u:secret@host", "https://host/path"} {
		environment(t, "AWS_ENDPOINT_URL="+bad)
		_, err := Open(t.Context(), blob.Address{Bucket: "scenes"}, Options{})
		if err == nil || !strings.Contains(err.Error(), "AWS_ENDPOINT_URL") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	environment(t)
	if _, err := Open(t.Context(), blob.Address{Folder: "x"}, Options{}); err == nil {
		t.Error("a folder was opened as a bucket")
	}
}

// realServer returns a place of the server that scripts/test-s3.sh has started.
func realServer(t *testing.T) *Bucket {
	t.Helper()
	address := os.Getenv("UNTOLD_TEST_S3")
	if address == "" {
		t.Skip("UNTOLD_TEST_S3 names no bucket: make test-s3")
	}
	if u, err := url.Parse(os.Getenv("AWS_ENDPOINT_URL")); err != nil || u.Hostname() != "127.0.0.1" {
		t.Fatalf("AWS_ENDPOINT_URL is not on this machine: %v", err)
	}
	return open(t, address, Options{Attempts: 8})
}

// TestServerIsOpen lets everybody read the bucket of a real server, as the readers of
// a published scene need it.
func TestServerIsOpen(t *testing.T) {
	b := realServer(t)
	policy := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::%s/*"}]}`, b.bucket)
	err := b.try(t.Context(), "list", "", func() error { return b.core.Client.SetBucketPolicy(t.Context(), b.bucket, policy) })
	if err != nil {
		t.Fatal(err)
	}
	placetest.Put(t, b, "a", "x")
	resp, err := http.Get(os.Getenv("AWS_ENDPOINT_URL") + "/" + b.bucket + "/" + b.prefix + "a") //nolint:noctx // loopback
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if resp.StatusCode != http.StatusOK {
		t.Error(resp.Status)
	}
	if err := b.Delete(t.Context(), "a"); err != nil {
		t.Error(err)
	}
}

// TestServer runs against a real server.
func TestServer(t *testing.T) { placetest.Run(t, realServer(t), 17<<20) }
