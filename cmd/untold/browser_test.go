package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/untoldkit/untold/preview/web"
)

// browserEnv asks for the tests in a real browser (make test-web), or with "quick" for a few
// of them (make test, where there is a browser): they take half a minute each, and the viewer
// has to be built.
const browserEnv = "UNTOLD_BROWSER"

// quickBrowser are the few: what the page shows, that it streams as simulate does, and that it
// can be used.
var quickBrowser = []string{"TestBrowserPictures", "TestBrowserFlight", "TestBrowserInput"}

// browser is a Chromium without a window, steered through a pipe (the DevTools
// protocol: JSON objects that end with a zero byte).
type browser struct {
	cmd *exec.Cmd
	in  io.WriteCloser

	mu      sync.Mutex
	last    int
	waiting map[int]chan reply
	said    []string // on the page's console, and uncaught exceptions
	traced  []json.RawMessage
	traces  chan struct{} // a trace is complete
	session string
}

type reply struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// startBrowser opens an empty page of a size in pixels, or skips the test.
func startBrowser(t *testing.T, width, height int) *browser {
	t.Helper()
	if asked := os.Getenv(browserEnv); asked == "" || asked == "quick" && !slices.Contains(quickBrowser, t.Name()) {
		t.Skipf("a real browser takes its time: make test-web, or %s=1", browserEnv)
	}
	if _, err := web.FS(); errors.Is(err, web.ErrNotBuilt) {
		t.Skip("the viewer is not built: sh scripts/build-web.sh")
	}
	if runtime.GOOS == "windows" {
		t.Skip("no inherited pipes on Windows")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("there is no chromium: apt-get install chromium")
	}
	toBrowser, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, fromBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := os.MkdirTemp("", "untold-browser")
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{in: in, waiting: map[int]chan reply{}, traces: make(chan struct{}, 1)}
	b.cmd = exec.Command(path, "--headless", "--no-sandbox", "--remote-debugging-pipe", "--user-data-dir="+profile, "--no-first-run",
		"--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--hide-scrollbars", fmt.Sprintf("--window-size=%d,%d", width, height), "about:blank")
	b.cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser} // 3 and 4
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	toBrowser.Close()
	fromBrowser.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.listen(bufio.NewReader(out))
	}()
	t.Cleanup(func() {
		_ = b.cmd.Process.Kill()
		_ = b.cmd.Wait()
		in.Close()
		out.Close()
		<-done
		_ = os.RemoveAll(profile) // processes of the browser may still write, which is no failure of the test
	})
	var target struct{ TargetID, SessionID string }
	b.call(t, "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.call(t, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	b.call(t, "Runtime.enable", nil, nil)
	b.call(t, "Page.enable", nil, nil)
	b.call(t, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	return b
}

// browserCity opens an empty page of a size in pixels beside a server of a small city, whose
// folder is dir.
func browserCity(t *testing.T, width, height int) (b *browser, dir string, s *server) {
	t.Helper()
	b = startBrowser(t, width, height)
	_, dir = smallCity(t)
	return b, dir, startServe(t, dir)
}

// listen hands answers to those who wait for them.
func (b *browser) listen(in *bufio.Reader) {
	for {
		line, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var r reply
		if json.Unmarshal(bytes.TrimSuffix(line, []byte{0}), &r) != nil {
			continue
		}
		b.mu.Lock()
		ch := b.waiting[r.ID]
		delete(b.waiting, r.ID)
		if r.Method == "Runtime.exceptionThrown" || r.Method == "Runtime.consoleAPICalled" && !strings.Contains(string(r.Params), `"type":"warning"`) {
			b.said = append(b.said, string(r.Params))
		}
		switch r.Method {
		case "Tracing.dataCollected":
			b.traced = append(b.traced, r.Params)
		case "Tracing.tracingComplete":
			b.traces <- struct{}{}
		}
		b.mu.Unlock()
		if ch != nil {
			ch <- r
		}
	}
}

// call has the browser do something and reads its answer into result.
func (b *browser) call(t *testing.T, method string, params map[string]any, result any) {
	t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	b.mu.Lock()
	b.last++
	id, ch := b.last, make(chan reply, 1)
	b.waiting[id] = ch
	b.mu.Unlock()
	message := map[string]any{"id": id, "method": method, "params": params}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	data, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.in.Write(append(data, 0)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
	defer stop()
	select {
	case r := <-ch:
		if r.Error != nil {
			t.Fatalf("%s: %s", method, r.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(r.Result, result); err != nil {
				t.Fatal(err)
			}
		}
	case <-ctx.Done():
		t.Fatalf("%s: no answer", method)
	}
}

// eval returns what a promise or an expression of the page becomes.
func (b *browser) eval(t *testing.T, text string, value any) {
	t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.call(t, "Runtime.evaluate", map[string]any{"expression": text, "awaitPromise": true, "returnByValue": true}, &r)
	if e := r.ExceptionDetails; e != nil {
		t.Fatalf("%s: %s %s", text, e.Text, e.Exception.Description)
	}
	if value != nil {
		if err := json.Unmarshal(r.Result.Value, value); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// webStatus are the figures that the element has.
type webStatus struct {
	Frame, Draws, Triangles, Undrawn, Tiles int
	Position, Forward                       [3]float64
	Loaded                                  float64
}

// settled is a promise of the page: frames frames have been drawn by the element of a
// selector in which nothing was left to load; what fails ends it.
const settled = `new Promise((done, failed) => {
  let since = -1;
  const look = () => {
    const v = document.querySelector(%q), s = v && v.stats;
    if (v && v.state === "failed") return failed(new Error(v.shadowRoot.getElementById("failure").innerText));
    if (!s || !s.draws || s.loads || s.uploads || s.textures || s.batches || s.programs) since = -1;
    else if (since < 0) since = s.frame;
    else if (s.frame >= since + %d) return done(s);
    setTimeout(look, 100);
  };
  look();
})`

// settle waits until all is there that the first element of the page shows.
func (b *browser) settle(t *testing.T, frames int) (s webStatus) {
	t.Helper()
	b.eval(t, fmt.Sprintf(settled, "untold-viewer", frames), &s)
	return s
}

// show opens an address; what was asked of the page before fails.
func (b *browser) show(t *testing.T, url string) {
	t.Helper()
	b.call(t, "Page.navigate", map[string]any{"url": "about:blank"}, nil)
	b.call(t, "Page.navigate", map[string]any{"url": url}, nil)
	b.eval(t, `new Promise((done) => { const look = () => document.querySelector("untold-viewer")?.shadowRoot ? done(1) : setTimeout(look, 20); look(); })`, nil)
}

// open shows an address and waits until all of it is there.
func (b *browser) open(t *testing.T, url string, frames int) webStatus {
	t.Helper()
	b.show(t, url)
	return b.settle(t, frames)
}

// picture returns the page without what lies over the canvas.
func (b *browser) picture(t *testing.T) image.Image {
	t.Helper()
	b.eval(t, `document.querySelectorAll("untold-viewer").forEach((v) => { v.removeAttribute("controls"); v.removeAttribute("hud"); v.shadowRoot.getElementById("hint").hidden = true; });
		new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))`, nil)
	return b.screen(t)
}

// screen returns the page as it is.
func (b *browser) screen(t *testing.T) image.Image {
	t.Helper()
	var shot struct{ Data string }
	b.call(t, "Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// quiet fails for what the page has written to its console.
func (b *browser) quiet(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.said {
		t.Errorf("the console: %s", text)
	}
	b.said = nil
}

// key holds a key, by its place on the keyboard, for at least so many frames.
func (b *browser) key(t *testing.T, code, key string, frames int) {
	t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.call(t, "Input.dispatchKeyEvent", map[string]any{"type": kind, "code": code, "key": key, "windowsVirtualKeyCode": int(strings.ToUpper(key)[0])}, nil)
		b.frames(t, frames)
	}
}

// frames waits for so many frames.
func (b *browser) frames(t *testing.T, n int) {
	t.Helper()
	b.eval(t, fmt.Sprintf(`new Promise((done) => { const v = document.querySelector("untold-viewer"), n = v.stats.frame + %d; const look = () => v.stats.frame >= n ? done(1) : setTimeout(look, 50); look(); })`, n), nil)
}
