package serve

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Grace is how long Serve lets responses go on after the end of its context.
const Grace = 500 * time.Millisecond

const (
	defaultReadTimeout = 10 * time.Second
	idleTimeout        = 2 * time.Minute
	maxHeaderBytes     = 32 << 10
)

// ServerOptions change how Serve treats connections.
type ServerOptions struct {
	// ReadTimeout is how long a client may take to send a request; 0: 10 s.
	ReadTimeout time.Duration
	// CertFile and KeyFile, in PEM, make it an https server.
	CertFile, KeyFile string
	// ErrorLog hears of broken connections; nil: nobody does.
	ErrorLog *log.Logger
	// grace, above 0, takes the place of Grace in tests.
	grace time.Duration
}

// Serve answers requests on a listener with a handler, by HTTP/1.1 or HTTP/2
// (in the clear with prior knowledge, or over TLS), until ctx ends. Then it
// takes no new requests, gives those under way until Grace to finish, and ends
// the others. It returns when every handler has returned; nil if ctx was the
// reason. It closes the listener.
func Serve(ctx context.Context, l net.Listener, h http.Handler, o ServerOptions) error {
	switch {
	case o.ReadTimeout < 0:
		return errors.Join(fmt.Errorf("serve: the read timeout is %v", o.ReadTimeout), l.Close())
	case o.ReadTimeout == 0:
		o.ReadTimeout = defaultReadTimeout
	}
	if o.grace == 0 {
		o.grace = Grace
	}
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	handlers := gate{empty: make(chan struct{})}
	srv := &http.Server{
		// No ReadTimeout: its end during a long response would cancel that.
		ReadHeaderTimeout: o.ReadTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: o.ErrorLog, BaseContext: func(net.Listener) context.Context { return base },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !handlers.enter() {
				panic(http.ErrAbortHandler) // its connection is closed
			}
			defer handlers.leave()
			h.ServeHTTP(w, r)
		}),
		Protocols: new(http.Protocols),
	}
	if srv.ErrorLog == nil {
		srv.ErrorLog = log.New(discard{}, "", 0)
	}
	srv.Protocols.SetHTTP1(true)
	srv.Protocols.SetHTTP2(true)
	srv.Protocols.SetUnencryptedHTTP2(true)

	ended := make(chan error, 1)
	go func() {
		if o.CertFile != "" || o.KeyFile != "" {
			ended <- srv.ServeTLS(l, o.CertFile, o.KeyFile)
			return
		}
		ended <- srv.Serve(l)
	}()
	var err error
	select {
	case err = <-ended:
		err = errors.Join(fmt.Errorf("serve: %w", err), srv.Close())
	case <-ctx.Done():
		grace, stop := context.WithTimeout(base, o.grace)
		if srv.Shutdown(grace) != nil {
			// What is still under way ends now; that is no failure.
			_ = srv.Close()
		}
		stop()
		<-ended
	}
	cut()
	handlers.close()
	return err
}

// gate counts the handlers that run.
type gate struct {
	mu     sync.Mutex
	inside int
	closed bool
	empty  chan struct{} // closed when the gate is closed and nobody is inside
}

// enter reports whether the gate is open.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.inside++
	}
	return !g.closed
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside--; g.closed && g.inside == 0 {
		close(g.empty)
	}
}

// close waits until everybody has left.
func (g *gate) close() {
	g.mu.Lock()
	g.closed = true
	if g.inside == 0 {
		close(g.empty)
	}
	g.mu.Unlock()
	<-g.empty
}

// discard is a writer for nobody.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
