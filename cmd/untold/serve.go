package main

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/preview/web"
	"github.com/untoldkit/untold/runtime/serve"
)

// serveFlags are the flags of untold serve.
type serveFlags struct {
	addr, cors        string
	asJSON            bool
	latency, retry    time.Duration
	readTimeout       time.Duration
	bandwidth         bandwidth
	failRate          float64
	failWith          string
	failStatus        int
	seed              uint64
	certFile, keyFile string
}

func newServe(a *app) *cobra.Command {
	var s serveFlags
	cmd := &cobra.Command{
		Use:     "serve DIR",
		Short:   "Serve a cooked scene over HTTP, well or badly",
		GroupID: "look",
		Long: `serve makes the files of a folder available over HTTP/1.1 and HTTP/2, as a CDN would: strong
ETags (a hash of the content), Last-Modified, byte ranges, conditional requests, CORS headers.
JSON and other text is sent as gzip to those who accept it; all else is sent as it is. Nothing
outside the folder is served, nor names that start with a dot. "/" is a page that shows the scenes
in a browser (docs/web.md); a program that was built without it lists the manifests there. To
programs that accept JSON "/" is a list of the scenes, as is untold-scenes.json: preview, simulate,
validate and inspect take the server's address, too.

--latency, --bandwidth and --fail-rate rehearse a bad network. All responses share the bandwidth.
Which requests fail depends on --seed, the file and how often it was asked for, not on timing.
--fail-with lists what a failure is: status (an answer --fail-status), abort (the connection ends
in the middle of the body) or truncate (a complete response with half of the file).

The addresses go to stdout, those of the manifests first, then the server's, with --addr :0 of a
free port. The request log goes to stderr; with --json everything goes to stdout, one object a
line. Ctrl-C stops within a second.

Other machines refuse plain http unless they are told --allow-insecure-http; --tls-cert and
--tls-key make it https.`,
		Example: `  untold serve out/city
  untold serve out/city --addr 127.0.0.1:0 --latency 40ms --bandwidth 10MBps --fail-rate 0.05
  untold serve out --addr :8443 --tls-cert cert.pem --tls-key key.pem`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, a, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&s.addr, "addr", "127.0.0.1:8080", "address to listen on; port 0 picks a free one")
	f.BoolVar(&s.asJSON, "json", false, "address, request log and summary as JSON lines on stdout")
	f.DurationVar(&s.latency, "latency", 0, "wait before every response")
	f.Var(&s.bandwidth, "bandwidth", "bandwidth that all responses share, such as 10MBps (MB = 10^6 bytes) or 50Mbps (bits)")
	f.Float64Var(&s.failRate, "fail-rate", 0, "share of the requests for files that fail, 0 to 1")
	f.StringVar(&s.failWith, "fail-with", string(serve.FaultStatus), "what a failure is: status, abort, truncate, or several with commas")
	f.IntVar(&s.failStatus, "fail-status", 503, "status of failures")
	f.Var(timeVar(&s.retry), "retry-after", "Retry-After header of failures with a status")
	f.Uint64Var(&s.seed, "seed", 0, "picks one of many choices of the requests that fail")
	f.StringVar(&s.cors, "cors", "*", `origin whose pages may read the files, "" for none`)
	s.readTimeout = 10 * time.Second
	f.Var(timeVar(&s.readTimeout), "read-timeout", "how long a client may take to send a request")
	f.StringVar(&s.certFile, "tls-cert", "", "serve https with this certificate (PEM)")
	f.StringVar(&s.keyFile, "tls-key", "", "key of the certificate (PEM)")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	return cmd
}

// needs says which flags have no effect beside the others.
func (s *serveFlags) needs() []need {
	const noFault, noStatus = "nothing fails; add --fail-rate", "no failure is a status; leave --fail-with out or add status to it"
	fails, statuses := s.failRate > 0, strings.Contains(s.failWith, string(serve.FaultStatus))
	return []need{
		{"fail-with", fails, noFault},
		{"fail-status", fails, noFault},
		{"retry-after", fails, noFault},
		{"seed", fails, noFault},
		{"retry-after", statuses, noStatus},
	}
}

func (s *serveFlags) run(cmd *cobra.Command, a *app, dir string) error {
	ctx := cmd.Context()
	kinds, err := serve.ParseFaults(s.failWith)
	if err != nil {
		return fmt.Errorf("--fail-with: %w", err)
	}
	if s.readTimeout <= 0 {
		return errors.New("--read-timeout must be above 0")
	}
	page, err := web.FS()
	if err != nil && !errors.Is(err, web.ErrNotBuilt) {
		return err
	}
	out := &serveLog{a: a, asJSON: s.asJSON, page: page != nil}
	h, err := serve.New(dir, serve.Options{
		Latency: s.latency, Bandwidth: float64(s.bandwidth), FailRate: s.failRate, FailWith: kinds, FailStatus: s.failStatus,
		RetryAfter: s.retry, Seed: s.seed, AllowOrigin: s.cors, Log: out.request, Page: page,
	})
	if err == nil {
		err = a.checkEffects(cmd.Flags(), s.needs())
	}
	if err != nil {
		return err
	}
	if s.certFile != "" {
		if _, err := tls.LoadX509KeyPair(s.certFile, s.keyFile); err != nil {
			return fmt.Errorf("--tls-cert, --tls-key: %w", err)
		}
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", s.addr)
	if err != nil {
		return listenProblem(s.addr, err)
	}
	if err := out.listening(dir, s.url(l.Addr()), h.Scenes(ctx)); err != nil {
		return errors.Join(err, l.Close())
	}
	err = serve.Serve(ctx, l, h, serve.ServerOptions{ReadTimeout: s.readTimeout, CertFile: s.certFile, KeyFile: s.keyFile})
	if err != nil {
		return err
	}
	return out.stopped(h.Stats())
}

// url returns the address that a client on this machine uses.
func (s *serveFlags) url(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	scheme := "http://"
	if s.certFile != "" {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(host, port) + "/"
}

// serveLog prints what a server does.
type serveLog struct {
	a      *app
	asJSON bool
	page   bool       // "/" is a viewer
	mu     sync.Mutex // requests end while the rest is printed
}

// line writes a JSON line; the event names its kind.
func (l *serveLog) line(event string, v any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(l.a.stdout, "{\"event\":%q,%s\n", event, data[1:])
	return err
}

// listening says where the scenes are.
func (l *serveLog) listening(dir, base string, scenes []serve.Scene) error {
	urls := []string{}
	for i := range scenes {
		urls = append(urls, scenes[i].URL(base))
	}
	if l.asJSON {
		return l.line("listening", struct {
			URL    string   `json:"url"`
			Dir    string   `json:"dir"`
			Scenes []string `json:"scenes"`
		}{base, dir, urls})
	}
	// What other commands take comes first, for those who read a line.
	var err error
	for i, u := range urls {
		if err == nil {
			_, err = fmt.Fprintf(l.a.stdout, "%s  %s, %s\n", u, human.Plural(scenes[i].Tiles, "tile"), human.Bytes(scenes[i].Bytes))
		}
	}
	if err == nil {
		_, err = fmt.Fprintf(l.a.stdout, "serving %s at %s\n", oneLine(dir), base)
	}
	switch {
	case !l.page:
		l.a.info("%v", web.ErrNotBuilt)
	case len(scenes) == 0:
		l.a.info("note: %s holds no cooked scene; one that comes is served", oneLine(dir))
	default:
		l.a.info("open %s in a browser to fly through it", base)
	}
	return err
}

// request logs a response.
func (l *serveLog) request(e *serve.Entry) {
	if l.asJSON {
		// A reader that went away does not stop the server.
		_ = l.line("request", e)
		return
	}
	if l.a.quiet {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.a.stderr, l.text(e)+"\n")
}

// text is one line of the log for people.
func (l *serveLog) text(e *serve.Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s %s", e.Time.Format("15:04:05.000"), e.Method, l.status(e.Status), oneLine(e.Path))
	if e.Range != "" {
		fmt.Fprintf(&b, " [%s]", oneLine(e.Range))
	}
	fmt.Fprintf(&b, " %s %.1f ms", human.Bytes(e.Bytes), e.Millis)
	if e.Fault != serve.NoFault {
		b.WriteString(" " + l.a.paint(yellow, "injected "+string(e.Fault)))
	}
	if e.CutShort {
		b.WriteString(" " + l.a.paint(yellow, "given up by the client"))
	}
	if e.Reason != "" {
		fmt.Fprintf(&b, " (%s)", oneLine(e.Reason))
	}
	return b.String()
}

func (l *serveLog) status(code int) string {
	switch {
	case code == 0:
		return "---"
	case code >= 400:
		return l.a.paint(red, fmt.Sprint(code))
	}
	return l.a.paint(green, fmt.Sprint(code))
}

// stopped prints the summary.
func (l *serveLog) stopped(s serve.Stats) error {
	if l.asJSON {
		return l.line("stopped", s)
	}
	l.a.info("stopped: %s requests, %s, %s not modified, %s ranges, %s not found, %s injected failures",
		human.Count(int(s.Requests)), human.Bytes(s.Bytes), human.Count(int(s.NotModified)), human.Count(int(s.Partial)), human.Count(int(s.NotFound)), human.Count(int(s.Faults)))
	return nil
}
