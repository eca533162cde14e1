package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// running starts Serve and returns its address, what stops it, and its result.
func running(t *testing.T, h http.Handler, o ServerOptions) (base string, stop func(), result chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	result = make(chan error, 1)
	go func() { result <- Serve(ctx, l, h, o) }()
	t.Cleanup(cancel)
	return "http://" + l.Addr().String(), cancel, result
}

func TestServe(t *testing.T) {
	h := handler(t, folder(t, map[string]string{"a.untold": digits}), Options{})
	base, stop, result := running(t, h, ServerOptions{})
	c := &http.Client{Transport: &http.Transport{}}
	if r, err := fetch(t, c, base+"/a.untold"); err != nil || r.body != digits {
		t.Errorf("%v %v", r, err)
	}
	c.CloseIdleConnections()
	// HTTP/2 in the clear, for clients that know.
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	c = &http.Client{Transport: &http.Transport{Protocols: p}}
	if r, err := fetch(t, c, base+"/a.untold"); err != nil || r.body != digits || r.Proto != "HTTP/2.0" {
		t.Errorf("%v %v", r, err)
	}
	stop()
	if err := <-result; err != nil {
		t.Error(err)
	}
	if _, err := fetch(t, c, base+"/a.untold"); err == nil {
		t.Error("still answers")
	}
	c.CloseIdleConnections()
}

// TestServeStops although a response has hours to go and a connection has sent
// half a request.
func TestServeStops(t *testing.T) {
	clock := newClock()
	var log Entry
	h := handler(t, folder(t, map[string]string{"a.untold": strings.Repeat(digits, 1000)}), Options{
		Bandwidth: 1, Clock: clock, Log: func(e *Entry) { log = *e },
	})
	base, stop, result := running(t, h, ServerOptions{grace: time.Millisecond})
	conn := dial(t, base)
	fmt.Fprint(conn, "GET /a.untold HTT")
	body := dial(t, base)
	fmt.Fprint(body, "GET /a.untold HTTP/1.1\r\nHost: x\r\n\r\n")
	clock.await(t, 1)
	stop()
	if err := <-result; err != nil {
		t.Error(err)
	}
	if !log.CutShort {
		t.Errorf("%+v", log)
	}
}

// TestServeFinishes: what ends within the grace is not cut.
func TestServeFinishes(t *testing.T) {
	clock := newClock()
	h := handler(t, folder(t, map[string]string{"a.untold": digits}), Options{Latency: time.Second, Clock: clock})
	base, stop, result := running(t, h, ServerOptions{grace: time.Hour})
	conn := dial(t, base)
	fmt.Fprint(conn, "GET /a.untold HTTP/1.1\r\nHost: x\r\n\r\n")
	clock.await(t, 1)
	stop()
	clock.Advance(time.Second)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(res.Body); string(b) != digits || err != nil {
		t.Errorf("%q %v", b, err)
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
}

func dial(t *testing.T, base string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// TestSlowRequest: who does not send a request is not waited for.
func TestSlowRequest(t *testing.T) {
	h := handler(t, t.TempDir(), Options{})
	base, stop, result := running(t, h, ServerOptions{ReadTimeout: time.Millisecond})
	conn := dial(t, base)
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n")
	// Where the server was first, what had not been read yet resets the connection.
	if b, err := io.ReadAll(conn); err != nil && !errors.Is(err, syscall.ECONNRESET) || strings.Contains(string(b), "200") {
		t.Errorf("%q %v", b, err)
	}
	stop()
	if err := <-result; err != nil {
		t.Error(err)
	}
}

// TestStalledClient: who stops reading a body loses the connection.
func TestStalledClient(t *testing.T) {
	ended := make(chan Entry, 1)
	path := folder(t, map[string]string{"a.untold": ""})
	if err := os.Truncate(path+"/a.untold", 64<<20); err != nil {
		t.Fatal(err)
	}
	h := handler(t, path, Options{StallTimeout: time.Millisecond, Log: func(e *Entry) { ended <- *e }})
	base, stop, result := running(t, h, ServerOptions{})
	conn := dial(t, base)
	fmt.Fprint(conn, "GET /a.untold HTTP/1.1\r\nHost: x\r\n\r\n")
	if e := <-ended; !e.CutShort || e.Bytes >= 64<<20 {
		t.Errorf("%+v", e)
	}
	stop()
	if err := <-result; err != nil {
		t.Error(err)
	}
}

// TestServeFails when the listener does.
func TestServeFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := Serve(t.Context(), l, http.NotFoundHandler(), ServerOptions{}); err == nil {
		t.Error("no error")
	}
	if err := Serve(t.Context(), l, http.NotFoundHandler(), ServerOptions{ReadTimeout: -1}); err == nil {
		t.Error("no error")
	}
}
