package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/preview/web"
)

// logLine is a line that serve --json prints.
type logLine struct {
	Event    string   `json:"event"`
	URL      string   `json:"url"`
	Scenes   []string `json:"scenes"`
	Path     string   `json:"path"`
	Status   int      `json:"status"`
	Fault    string   `json:"fault"`
	Range    string   `json:"range"`
	Bytes    int64    `json:"bytes"`
	Requests int64    `json:"requests"`
}

// server is untold serve in a process of its own.
type server struct {
	url    string // ends with a slash
	scenes []string
	cmd    *exec.Cmd
	errs   bytes.Buffer
	ended  chan struct{} // stdout is at its end

	mu    sync.Mutex
	log   []logLine
	raw   []string      // all lines
	lines chan struct{} // has a value after a line came
}

// startServe serves a folder on a free port until the end of the test.
func startServe(t *testing.T, dir string, flags ...string) *server {
	t.Helper()
	s := &server{ended: make(chan struct{}), lines: make(chan struct{}, 1)}
	s.cmd = exec.Command(underTest(t), append([]string{"serve", dir, "--addr", "127.0.0.1:0", "--json"}, flags...)...)
	s.cmd.Stderr = &s.errs
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); <-s.ended; _ = s.cmd.Wait() })
	first := make(chan logLine, 1)
	go func() {
		defer close(s.ended)
		defer close(first)
		for in, n := bufio.NewScanner(out), 0; in.Scan(); n++ {
			var l logLine
			if json.Unmarshal(in.Bytes(), &l) != nil {
				l.Event = "bad line: " + in.Text()
			}
			s.mu.Lock()
			s.raw = append(s.raw, in.Text())
			s.mu.Unlock()
			if n == 0 {
				first <- l
				continue
			}
			s.mu.Lock()
			s.log = append(s.log, l)
			s.mu.Unlock()
			select {
			case s.lines <- struct{}{}:
			default:
			}
		}
	}()
	l, ok := <-first
	if !ok || l.Event != "listening" || !strings.HasPrefix(l.URL, "http") {
		t.Fatalf("%+v: %s", l, s.errs.String())
	}
	s.url, s.scenes = l.URL, l.Scenes
	return s
}

// requests waits for n lines and returns all that were logged since the last
// call. A line may come a moment after the response, and in another order.
func (s *server) requests(t *testing.T, n int) []logLine {
	t.Helper()
	for {
		s.mu.Lock()
		log := s.log
		if len(log) >= n {
			s.log = nil
			s.mu.Unlock()
			return log
		}
		s.mu.Unlock()
		select {
		case <-s.lines:
		case <-s.ended:
			t.Fatalf("%d of %d requests: %+v", len(log), n, log)
		}
	}
}

// stop interrupts the server and returns the rest of its log and its exit code.
func (s *server) stop(t *testing.T) ([]logLine, int) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no interrupts between processes on Windows")
	}
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	_ = s.cmd.Wait()
	return s.requests(t, 0), s.cmd.ProcessState.ExitCode()
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func TestServeCommand(t *testing.T) {
	dir := cooked(t)
	testfile.Write(t, filepath.Join(dir, ".secret"), "secret")
	s := startServe(t, dir)
	if want := []string{s.url + "yard.json"}; !slices.Equal(s.scenes, want) {
		t.Errorf("scenes %q", s.scenes)
	}
	if code, body := get(t, s.url+"yard.json"); code != 200 || body != string(testfile.Read(t, filepath.Join(dir, "yard.json"))) {
		t.Errorf("%d, %d bytes", code, len(body))
	}
	// What lists the scenes depends on whether the page was built.
	list, lines := s.url, 8
	if _, err := web.FS(); err == nil {
		if code, body := get(t, s.url); code != 200 || !strings.Contains(body, "<untold-viewer") {
			t.Errorf("%d %s", code, body)
		}
		list += "untold-scenes.json"
		lines++
	}
	if code, body := get(t, list); code != 200 || !strings.Contains(body, "yard.json") {
		t.Errorf("%d %s", code, body)
	}
	conn, err := net.Dial("tcp", strings.Trim(strings.TrimPrefix(s.url, "http:"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, path := range []string{"/.secret", "/%2esecret", "/../" + filepath.Base(dir) + "/.secret", "/tiles/../.secret"} {
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
	}
	fmt.Fprint(conn, "GET /none HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if all, err := io.ReadAll(conn); err != nil || strings.Count(string(all), "404 Not Found") != 5 || strings.Contains(string(all), "secret") {
		t.Errorf("%v\n%s", err, all)
	}
	log, code := s.stop(t)
	if code != 130 || s.errs.Len() != 0 || len(log) != lines {
		t.Fatalf("exit %d, %d lines, %s", code, len(log), s.errs.String())
	}
	i := slices.IndexFunc(log, func(l logLine) bool { return l.Path == "/yard.json" })
	if i < 0 || log[i].Event != "request" || log[i].Status != 200 || log[i].Bytes == 0 {
		t.Errorf("%+v", log)
	}
	if l := log[lines-1]; l.Event != "stopped" || l.Requests != int64(lines-1) {
		t.Errorf("%+v", l)
	}
}

// TestServeText: for people the address is on stdout and the log on stderr.
func TestServeText(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupts between processes on Windows")
	}
	dir := cooked(t)
	cmd := exec.Command(underTest(t), "serve", dir, "--addr", "127.0.0.1:0", "--bandwidth", "1Bps", "--fail-rate", "0")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	in := bufio.NewReader(out)
	line, err := in.ReadString('\n')
	base, _, ok := strings.Cut(line, "yard.json  ")
	if err != nil || !ok || !strings.HasPrefix(line, "http://127.0.0.1:") {
		t.Fatalf("%q, %v", line, err)
	}
	if line, err = in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "serving ") || !strings.HasSuffix(line, " at "+base+"\n") {
		t.Errorf("%q, %v", line, err)
	}
	// A download that has hours to go does not keep the server.
	res, err := http.Get(base + "yard.json")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(in); len(rest) > 0 || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
		t.Error(cmd.ProcessState)
	}
	if text := errs.String(); !strings.Contains(text, " GET 200 /yard.json ") || !strings.Contains(text, "given up by the client") || !strings.Contains(text, "stopped: 1 requests") {
		t.Errorf("%s", text)
	}
}

// TestServeFaultsRepeat: two servers with one seed make the same choice.
func TestServeFaultsRepeat(t *testing.T) {
	dir := cooked(t)
	size := len(string(testfile.Read(t, filepath.Join(dir, "yard.json"))))
	choice := func(seed string) (text string) {
		s := startServe(t, dir, "--fail-rate", "0.4", "--seed", seed, "--fail-with", "status,truncate", "--fail-status", "500", "--retry-after", "1s")
		for range 40 {
			code, body := get(t, s.url+"yard.json")
			text += fmt.Sprint(code, ":", len(body), " ")
		}
		return text
	}
	first := choice("1")
	if again := choice("1"); again != first || strings.Count(first, "500:") < 3 || strings.Count(first, fmt.Sprint("200:", size/2)) < 3 || strings.Count(first, fmt.Sprint("200:", size)) < 10 {
		t.Errorf("%s\n%s", first, again)
	}
	if other := choice("2"); other == first {
		t.Error("the seed does not matter")
	}
}

func TestServeRefuses(t *testing.T) {
	dir := t.TempDir()
	file := testfile.Write(t, filepath.Join(t.TempDir(), "f"), "")
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for _, c := range []struct {
		want string
		args []string
	}{
		{"does not exist", []string{filepath.Join(dir, "none")}},
		{"no folder", []string{file}},
		{"no DIR was given", nil},
		{"--addr", []string{dir, "--addr", busy.Addr().String()}},
		{"--fail-with", []string{dir, "--fail-with", "fire"}},
		{"fail rate", []string{dir, "--fail-rate", "2"}},
		{"--bandwidth", []string{dir, "--bandwidth", "fast"}},
		{"negative", []string{dir, "--latency", "-1s"}},
		{"--read-timeout", []string{dir, "--read-timeout", "0s"}},
		{"400 to 599", []string{dir, "--fail-status", "200"}},
		{"tls-key", []string{dir, "--tls-cert", file}},
		{"--tls-cert, --tls-key: ", []string{dir, "--addr", "127.0.0.1:0", "--tls-cert", file, "--tls-key", file}},
	} {
		if r := execute(t, nil, append([]string{"serve"}, c.args...)...); r.code != 2 || !strings.Contains(r.err, c.want) {
			t.Errorf("serve %v: exit %d: %s", c.args, r.code, r.err)
		}
	}
}

// certificate writes a self-signed certificate for this machine.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	x := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, x, x, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return testfile.Write(t, filepath.Join(t.TempDir(), "cert.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		testfile.Write(t, filepath.Join(t.TempDir(), "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}))
}

// TestServeTLS inspects by https, which takes HTTP/2.
func TestServeTLS(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("trust is set by SSL_CERT_FILE, which Linux knows")
	}
	cert, key := certificate(t)
	s := startServe(t, cooked(t), "--tls-cert", cert, "--tls-key", key)
	if !strings.HasPrefix(s.url, "https://") {
		t.Fatal(s.url)
	}
	r := execute(t, []string{"SSL_CERT_FILE=" + cert}, "inspect", s.scenes[0])
	if r.code != 0 || !strings.Contains(r.stdout, "uniform_grid") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
}
