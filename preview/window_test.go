package preview

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/simulate"
)

// child makes the test binary a preview of its own: a window belongs to the
// first thread of a process, and Ctrl-C to all of it.
const child = "UNTOLD_PREVIEW_TEST"

func TestMain(m *testing.M) {
	if mode := os.Getenv(child); mode != "" {
		if err := runChild(mode, os.Args[1:]); err != nil {
			fmt.Println("error:", err)
			os.Exit(2)
		}
		return
	}
	os.Exit(m.Run())
}

// runChild is what the child does: it prints news as they come.
func runChild(mode string, paths []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o := Options{
		Config: config.Default(), Headless: mode == "headless", Width: 320, Height: 240,
		Render:  render.Options{Samples: 1, ShadowSize: -1},
		Message: func(s string) { fmt.Println(s) },
	}
	for _, path := range paths {
		list, err := Open(path)
		if err != nil {
			return err
		}
		o.Scenes = append(o.Scenes, list...)
	}
	drawn := false
	o.OnRecord = func(r *simulate.Record) error {
		if r.Event == "drawn" && !drawn {
			drawn = true
			fmt.Println("drawn")
		}
		return nil
	}
	rep, err := Run(ctx, o)
	if err == nil {
		fmt.Printf("end: view %s, %d frames, %d errors\n", rep.View, rep.Frames, rep.Errors)
	}
	return err
}

// process is a child under way.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
	seen  []string
}

func startChild(t *testing.T, mode string, env []string, paths ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.CommandContext(t.Context(), os.Args[0], paths...)}
	p.cmd.Dir = t.TempDir()
	p.cmd.Env = append(append(os.Environ(), child+"="+mode), env...)
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// until reads lines up to one that begins as wanted.
func (p *process) until(want string) string {
	p.t.Helper()
	for p.lines.Scan() {
		p.seen = append(p.seen, p.lines.Text())
		if strings.HasPrefix(p.lines.Text(), want) {
			return p.lines.Text()
		}
	}
	err := p.cmd.Wait()
	p.t.Fatalf("%v; no line %q in\n%s", err, want, strings.Join(p.seen, "\n"))
	return ""
}

func (p *process) end() {
	p.t.Helper()
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("%v\n%s", err, strings.Join(p.seen, "\n"))
	}
}

// TestInterrupt: Ctrl-C ends a headless run, with its report.
func TestInterrupt(t *testing.T) {
	needGL(t)
	p := startChild(t, "headless", nil, writeTown(t, t.TempDir(), 2))
	p.until("drawn")
	start := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	p.until("end: ")
	p.end()
	t.Logf("ended after %v", time.Since(start).Round(time.Millisecond))
}

// xvfb starts an X server for the test and returns its DISPLAY.
func xvfb(t *testing.T) string {
	t.Helper()
	for _, tool := range []string{"Xvfb", "xdotool"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed (scripts/install-deps.sh)", tool)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "800x600x24", "-nolisten", "tcp")
	cmd.ExtraFiles = []*os.File{w}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb did not start: %v", err)
	}
	return ":" + strings.TrimSpace(line)
}

// TestWindow opens a real window on a virtual display and presses keys.
func TestWindow(t *testing.T) {
	needGL(t)
	display := xvfb(t)
	env := []string{"DISPLAY=" + display}
	one, two := writeTown(t, filepath.Join(t.TempDir(), "one"), 2), writeTown(t, filepath.Join(t.TempDir(), "two"), 3)
	p := startChild(t, "window", env, one, two)
	xdo := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "xdotool", args...)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("xdotool %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	p.until("drawn")
	id, _, _ := strings.Cut(xdo("search", "--sync", "--onlyvisible", "--name", "untold preview"), "\n")
	xdo("windowfocus", "--sync", id)
	for _, step := range []struct{ key, news string }{
		{"l", "view: lod"},
		{"b", "tile boxes: on"},
		{"F1", "help: on"},
		{"Escape", ""},
		{"shift+v", "view: lit"},
		{"o", "camera: orbit"},
		{"F12", "picture: shot-1.png"},
		{"Tab", "scenes: 2"},
		{"Down", ""},
		{"Return", "scene: two/town.json"},
		{"x", "wireframe: on"},
	} {
		xdo("key", step.key)
		if step.news != "" {
			p.until(step.news)
		}
	}
	// A drag turns the camera, which a recorded path shows.
	xdo("key", "p")
	p.until("recording the path: on")
	xdo("mousemove", "--window", id, "160", "120", "mousedown", "1", "mousemove_relative", "40", "10", "mouseup", "1", "key", "v")
	p.until("view: lod")
	xdo("key", "p")
	p.until("path: path-1.json")
	path, err := simulate.LoadCameraPath(filepath.Join(p.cmd.Dir, "path-1.json"))
	if err != nil {
		t.Fatal(err)
	}
	first, last := path.Keys[0].Forward, path.Keys[len(path.Keys)-1].Forward
	if len(path.Keys) < 2 || first.Dot(last) > 0.999 {
		t.Errorf("the drag turned the camera from %v to %v", first, last)
	}
	// What is being loaded may stand between.
	if got := xdo("getwindowname", id); !strings.HasPrefix(got, "two/town.json") || !strings.HasSuffix(got, " - untold preview") {
		t.Errorf("title %q", got)
	}
	xdo("key", "Escape")
	if got := p.until("end: "); !strings.HasPrefix(got, "end: view lod, ") || !strings.HasSuffix(got, " 0 errors") {
		t.Error(got)
	}
	p.end()
	shot := readPNG(t, filepath.Join(p.cmd.Dir, "shot-1.png"))
	if shot.Bounds().Dx() != 320 || shot.Bounds().Dy() != 240 {
		t.Errorf("the picture is %v", shot.Bounds())
	}
}

// TestNoDisplay: without a display a window is refused in a sentence.
func TestNoDisplay(t *testing.T) {
	needGL(t)
	p := startChild(t, "window", []string{"DISPLAY=", "WAYLAND_DISPLAY="}, writeTown(t, t.TempDir(), 1))
	line := p.until("error: ")
	if !strings.Contains(line, "headless") {
		t.Error(line)
	}
	if err := p.cmd.Wait(); err == nil {
		t.Error("it is no error")
	}
}
