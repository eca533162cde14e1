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
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/imagediff"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/preview"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/preview/surface"
	"github.com/untoldkit/untold/preview/web"
	streaming "github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
)

// browserEnv asks for the tests in a real browser (make test-web): they take half a
// minute, and the viewer has to be built.
const browserEnv = "UNTOLD_BROWSER"

// browser is a Chromium without a window, steered through a pipe (the DevTools
// protocol: JSON objects that end with a zero byte).
type browser struct {
	cmd *exec.Cmd
	in  io.WriteCloser

	mu      sync.Mutex
	last    int
	waiting map[int]chan reply
	said    []string // on the page's console, and uncaught exceptions
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
	if os.Getenv(browserEnv) == "" {
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
	b := &browser{in: in, waiting: map[int]chan reply{}}
	b.cmd = exec.Command(path, "--headless", "--no-sandbox", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "--no-first-run",
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
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
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

// webStatus is what the program tells the page.
type webStatus struct {
	Frame, Draws, Triangles, Undrawn, Tiles int
	Position, Forward                       [3]float64
}

// settled is a promise of the page: frames frames have been drawn in which nothing
// was left to load; what fails ends it.
const settled = `new Promise((done, failed) => {
  let since = -1;
  const look = () => {
    const s = globalThis.untoldStatus, broken = document.getElementById("failure");
    if (!broken.hidden) return failed(new Error(broken.innerText));
    if (!s || !s.draws || s.loads || s.uploads || s.textures || s.batches) since = -1;
    else if (since < 0) since = s.frame;
    else if (s.frame >= since + %d) return done(s);
    setTimeout(look, 100);
  };
  look();
})`

// open shows an address and waits until all of it is there.
func (b *browser) open(t *testing.T, url string, frames int) (s webStatus) {
	t.Helper()
	b.call(t, "Page.navigate", map[string]any{"url": "about:blank"}, nil)
	b.call(t, "Page.navigate", map[string]any{"url": url}, nil)
	// The page is another one from here on: what was asked of the one before fails.
	b.eval(t, `new Promise((done) => { const look = () => document.getElementById("failure") ? done(1) : setTimeout(look, 20); look(); })`, nil)
	b.eval(t, fmt.Sprintf(settled, frames), &s)
	return s
}

// picture returns the page without what lies over the canvas.
func (b *browser) picture(t *testing.T) image.Image {
	t.Helper()
	b.eval(t, `document.querySelectorAll("body > :not(canvas)").forEach((e) => (e.hidden = true)); new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))`, nil)
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

// native is the picture of untold preview for a camera; nil: the start.
func native(t *testing.T, scene string, at *streaming.Camera, o render.Options, width, height int) image.Image {
	t.Helper()
	scenes, err := preview.Open(scene)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "native.png")
	_, err = preview.Run(t.Context(), preview.Options{
		Scenes: scenes, Config: config.Default(), Headless: true, Width: width, Height: height, Screenshot: out, Start: at, Render: o, FPS: -1,
	})
	if errors.Is(err, surface.ErrContext) || errors.Is(err, surface.ErrUnavailable) {
		t.Skipf("no OpenGL here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(testfile.Read(t, out)))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// TestBrowserPictures: a real browser shows what preview does, from cameras that
// links hold, with and without extensions of WebGL; nothing is written to its
// console, and no tile is missing.
func TestBrowserPictures(t *testing.T) {
	const width, height, pixelsPerDegree, most = 320, 240, 67, 0.03
	b := startBrowser(t, width, height)
	_, dir := smallCity(t)
	s := startServe(t, dir)
	scene := filepath.Join(dir, "city.json")
	start := b.open(t, s.url+"?shadows=-1&samples=1", 3)
	moved := func(ahead, up float64) *streaming.Camera {
		c := &streaming.Camera{Forward: start.Forward, FovYDegrees: 60}
		for i := range c.Position {
			c.Position[i] = start.Position[i] + ahead*start.Forward[i]
		}
		c.Position[1] += up
		return c
	}
	for _, c := range []struct {
		name, query string
		at          *streaming.Camera
		render      render.Options
		frames      int
	}{
		{"start", "shadows=-1&samples=1", nil, render.Options{ShadowSize: -1, Samples: 1}, 3},
		{"nearer", "shadows=256&samples=4", moved(40, 0), render.Options{ShadowSize: 256, Samples: 4}, 70},
		{"plain", "shadows=-1&samples=1&plain", moved(20, 10), render.Options{ShadowSize: -1, Samples: 1, Plain: true}, 3},
		{"one by one", "shadows=-1&samples=1&without=WEBGL_multi_draw,EXT_clip_control", moved(20, -5), render.Options{ShadowSize: -1, Samples: 1}, 3},
	} {
		url := s.url + "?" + c.query
		if c.at != nil {
			list, err := json.Marshal([]any{c.at.Position, c.at.Forward, c.at.FovYDegrees})
			if err != nil {
				t.Fatal(err)
			}
			url += "#camera=" + strings.NewReplacer("[", "", "]", "").Replace(string(list))
		}
		st := b.open(t, url, c.frames)
		if st.Undrawn != 0 || st.Draws == 0 || st.Tiles == 0 || c.at != nil && st.Position != c.at.Position {
			t.Errorf("%s: %+v", c.name, st)
		}
		got, want := b.picture(t), native(t, scene, c.at, c.render, width, height)
		m, err := imagediff.FLIP(want, got, pixelsPerDegree)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: mean FLIP %.4f, 99 %% below %.3f, %d draws, %d triangles", c.name, m.Mean(), m.Quantile(0.99), st.Draws, st.Triangles)
		if m.Mean() > most {
			keep := filepath.Join(t.ArtifactDir(), c.name+".png")
			writePicture(t, keep, got)
			writePicture(t, strings.TrimSuffix(keep, ".png")+"-native.png", want)
			t.Errorf("%s: mean FLIP %.4f beside the preview; pictures: %s (-artifacts keeps them)", c.name, m.Mean(), keep)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.said {
		t.Errorf("the console: %s", text)
	}
}

func writePicture(t *testing.T, path string, img image.Image) {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, path, out.String())
}

// TestBrowserNetwork: on a network that is slow and fails, all of a scene comes all
// the same, and keys move through it.
func TestBrowserNetwork(t *testing.T) {
	b := startBrowser(t, 160, 120)
	_, dir := smallCity(t)
	s := startServe(t, dir, "--latency", "40ms", "--bandwidth", "10MBps", "--fail-rate", "0.15", "--fail-with", "status,abort", "--seed", "3")
	before := b.open(t, s.url+"?shadows=-1&samples=1", 2)
	if before.Undrawn != 0 || before.Draws == 0 {
		t.Errorf("%+v", before)
	}
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.call(t, "Input.dispatchKeyEvent", map[string]any{"type": kind, "code": "KeyW", "key": "w", "windowsVirtualKeyCode": 87}, nil)
		b.eval(t, `new Promise((done) => setTimeout(() => done(1), 700))`, nil)
	}
	var after webStatus
	b.eval(t, fmt.Sprintf(settled, 2), &after)
	if after.Position == before.Position {
		t.Error("W does not move")
	}
}
