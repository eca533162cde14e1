//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// api speaks to the server of a cluster.
type api struct {
	server string // https://HOST:PORT
	token  string
	client *http.Client
	// patience is how long a request may take, until the last byte of its answer.
	patience time.Duration
}

// patience is long: servers on busy machines are slow.
const patience = 2 * time.Minute

// watchSeconds is how long a server lets a list be watched.
const watchSeconds = 30

// newAPI trusts the certificates in a file and has the token in another, which goes over
// HTTPS alone.
func newAPI(server, caFile, tokenFile string) (*api, error) {
	if !strings.HasPrefix(server, "https://") {
		return nil, fmt.Errorf("the server's address is %q; it has to begin with https://", server)
	}
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s has no certificate", caFile)
	}
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return nil, err
	}
	return &api{
		server: strings.TrimSuffix(server, "/"), token: strings.TrimSpace(string(token)),
		client:   &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}},
		patience: patience,
	}, nil
}

// refused is what a server answers instead of doing what it was asked.
type refused struct {
	code int
	text string
}

func (r *refused) Error() string { return fmt.Sprintf("%d: %s", r.code, r.text) }

// is reports whether the server has refused with one of these codes.
func is(err error, codes ...int) bool {
	r, ok := errors.AsType[*refused](err)
	if !ok {
		return false
	}
	for _, c := range codes {
		if r.code == c {
			return true
		}
	}
	return false
}

const (
	asJSON  = "application/json"
	asPatch = "application/strategic-merge-patch+json" // conditions are merged by their types
)

// within bounds what a request takes beyond what the server was asked to wait.
func (a *api) within(ctx context.Context, more time.Duration) (context.Context, context.CancelFunc) {
	limit := a.patience + more
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s has not answered within %v: is it up, or the machine too busy?", a.server, limit))
}

// do sends a request and returns the answer's body, which the caller closes.
func (a *api) do(ctx context.Context, method, path, kind string, body any) (io.ReadCloser, error) {
	var send io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		send = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.server+path, send)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Accept", asJSON)
	if body != nil {
		req.Header.Set("Content-Type", kind)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, cmp.Or(late(ctx), err)
	}
	if resp.StatusCode >= 300 {
		defer resp.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
		return nil, fmt.Errorf("%s %s: %w", method, path, &refused{resp.StatusCode, strings.TrimSpace(string(text))})
	}
	return resp.Body, nil
}

// late is why a request has taken too long, nil where it has not.
func late(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return context.Cause(ctx)
	}
	return nil
}

// call does the same and reads the answer into out, unless that is nil.
func (a *api) call(ctx context.Context, method, path, kind string, body, out any) error {
	ctx, done := a.within(ctx, 0)
	defer done()
	answer, err := a.do(ctx, method, path, kind, body)
	if err != nil {
		return err
	}
	defer answer.Close()
	if out == nil {
		_, err = io.Copy(io.Discard, answer)
	} else {
		err = json.NewDecoder(answer).Decode(out)
	}
	// An answer that ends as the time is up may look whole.
	return cmp.Or(late(ctx), err)
}

func podPath(p *pod, more string) string {
	return "/api/v1/namespaces/" + url.PathEscape(p.Metadata.Namespace) + "/pods/" + url.PathEscape(p.Metadata.Name) + more
}

// bind gives a pod to a node; a conflict says that another node was faster.
func (a *api) bind(ctx context.Context, p *pod, name string) error {
	return a.call(ctx, http.MethodPost, podPath(p, "/binding"), asJSON, map[string]any{
		"apiVersion": "v1", "kind": "Binding",
		"metadata": meta{Name: p.Metadata.Name, Namespace: p.Metadata.Namespace, UID: p.Metadata.UID},
		"target":   map[string]string{"apiVersion": "v1", "kind": "Node", "name": name},
	}, nil)
}

// setStatus writes how a pod is, unless another one has its name by now.
func (a *api) setStatus(ctx context.Context, p *pod, s podStatus) error {
	return a.call(ctx, http.MethodPatch, podPath(p, "/status"), asPatch, map[string]any{"metadata": meta{UID: p.Metadata.UID}, "status": s}, nil)
}

// remove takes a pod that has ended out of the API, which its deletion waits for.
func (a *api) remove(ctx context.Context, p *pod) error {
	err := a.call(ctx, http.MethodDelete, podPath(p, ""), asJSON, map[string]any{
		"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, "preconditions": map[string]string{"uid": p.Metadata.UID},
	}, nil)
	if is(err, http.StatusNotFound, http.StatusConflict) {
		return nil // gone, or another one
	}
	return err
}

// changed waits until a pod changes after a version of the list, for half a minute at most.
func (a *api) changed(ctx context.Context, version string) error {
	ctx, done := a.within(ctx, watchSeconds*time.Second)
	defer done()
	q := url.Values{"watch": {"1"}, "resourceVersion": {version}, "timeoutSeconds": {strconv.Itoa(watchSeconds)}}
	answer, err := a.do(ctx, http.MethodGet, "/api/v1/pods?"+q.Encode(), "", nil)
	if err != nil {
		return err
	}
	defer answer.Close()
	var event json.RawMessage
	if err := json.NewDecoder(answer).Decode(&event); err != nil && !errors.Is(err, io.EOF) {
		return cmp.Or(late(ctx), err)
	}
	return nil
}
