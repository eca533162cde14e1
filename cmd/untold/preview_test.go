package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/preview"
	"github.com/untoldkit/untold/preview/stats"
	"github.com/untoldkit/untold/preview/surface"
)

// TestPreviewElsewhere: a build without OpenGL lets untold-preview do the
// work: the one beside it, else that in the PATH.
func TestPreviewElsewhere(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	script := func(dir, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "untold-preview"), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	empty, dir := t.TempDir(), t.TempDir()
	r := execute(t, []string{"PATH=" + empty}, "preview", "x.json")
	if r.code != exitFailure || r.stdout != "" || !strings.Contains(r.err, "no untold-preview beside it") || !strings.Contains(r.err, "make build") {
		t.Errorf("without one: exit %d, %q", r.code, r.err)
	}
	script(dir, `echo "$@"; echo guard $UNTOLD_IS_PREVIEW; exit 1`)
	r = execute(t, []string{"PATH=" + dir}, "preview", "a b.json", "--headless", "--frames=3")
	if r.code != 1 || r.stdout != "preview a b.json --headless --frames=3\nguard 1\n" {
		t.Errorf("in the PATH: exit %d, %q %q", r.code, r.stdout, r.err)
	}
	beside := filepath.Join(filepath.Dir(untold), "untold-preview")
	script(filepath.Dir(untold), "echo beside")
	defer os.Remove(beside)
	if r := execute(t, []string{"PATH=" + dir}, "preview", "x"); r.code != 0 || r.stdout != "beside\n" {
		t.Errorf("beside: exit %d, %q %q", r.code, r.stdout, r.err)
	}
	// Two builds without OpenGL do not call each other for ever.
	if r := execute(t, []string{"PATH=" + dir, previewGuard + "=1"}, "preview", "x"); r.code != exitFailure || !strings.Contains(r.err, "built without the preview") {
		t.Errorf("guarded: exit %d, %q", r.code, r.err)
	}
	// Wrong usage is judged here.
	if r := execute(t, []string{"PATH=" + dir}, "preview"); r.code != exitFailure || !strings.Contains(r.err, "was given: untold preview SCENE") {
		t.Errorf("without a scene: exit %d, %q", r.code, r.err)
	}
	if r := execute(t, nil, "preview", "x", "--headles"); r.code != exitFailure || !strings.Contains(r.err, `did you mean "headless"?`) {
		t.Errorf("a typo: exit %d, %q", r.code, r.err)
	}
}

func TestPreviewUsage(t *testing.T) {
	a := &app{stdout: &strings.Builder{}, stderr: &strings.Builder{}}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"--fixed-dt", "0.1"}, "need --headless"},
		{[]string{"--record", "x"}, "need --headless"},
		{[]string{"--headless", "--fixed-dt", "0"}, "must be positive"},
		{[]string{"--frames", "-1"}, "must not be negative"},
		{[]string{"--speed", "-1"}, "must not be negative"},
		{[]string{"--json", "--stats", "x"}, "--json is short"},
		{[]string{"--stats", "a", "--events", "./a"}, "named twice"},
		{[]string{"--screenshot", "-"}, "wants a file"},
		{[]string{"--screenshot", "a.jpg"}, "its name must end in .png"},
		{[]string{"--frame-log", "-"}, "wants a file"},
		{[]string{"--stats", "a", "--frame-log", "./a"}, "named twice"},
		{[]string{"--fail-if", "undrown>0"}, `did you mean "undrawn"?`},
		{[]string{"--headless", "--fail-if", "gl_performance>0"}, "needs --debug-gl"},
		{[]string{"--headless", "--fixed-dt", "20ms", "--latency", "0.05", "--stats", "-", "--fail-if", "undrawn>0"}, ""},
	} {
		cmd := newPreview(a)
		var p previewFlags
		cmd.ResetFlags()
		p.register(cmd.Flags())
		if err := cmd.ParseFlags(tc.args); err != nil {
			t.Fatal(err)
		}
		err := p.usage(cmd)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%v: %v", tc.args, err)
		}
	}
	for _, tc := range []struct {
		view string
		show []string
		want string
	}{
		{"lot", nil, "use lit, lod"},
		{"lit", []string{"box"}, "use figures, map, boxes"},
		{"lod", []string{"boxes", "map"}, ""},
	} {
		p := previewFlags{view: tc.view, show: tc.show}
		_, s, err := p.looks()
		if tc.want == "" && (err != nil || !s.Boxes || !s.Map || s.Panel) || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%v: %v, %+v", tc, err, s)
		}
	}
}

func TestPreviewValues(t *testing.T) {
	var s secondsFlag
	for text, want := range map[string]time.Duration{"0.05": 50 * time.Millisecond, "50ms": 50 * time.Millisecond, "0": 0, " 2 ": 2 * time.Second, "0.016666667": 16_666_667} {
		if err := s.Set(text); err != nil || s.d != want || !s.set {
			t.Errorf("%q: %v, %v", text, s.d, err)
		}
	}
	for _, text := range []string{"", "x", "-1", "-1s", "NaN", "1e9"} {
		if err := s.Set(text); err == nil {
			t.Errorf("%q is a time: %v", text, s.d)
		}
	}
	var p pictureSize
	if p.String() != "" {
		t.Error("the unset size")
	}
	if err := p.Set("320X240"); err != nil || p != (pictureSize{320, 240}) || p.String() != "320x240" {
		t.Errorf("%v, %v", p, err)
	}
	var o onOff
	if o.String() != "" || o.set {
		t.Error("the unset switch")
	}
	for text, want := range map[string]bool{"on": true, "OFF": false, "true": true, " false ": false} {
		if err := o.Set(text); err != nil || o.on != want || !o.set || o.String() != map[bool]string{true: "on", false: "off"}[want] {
			t.Errorf("%q: %+v, %v", text, o, err)
		}
	}
	if err := o.Set("perhaps"); err == nil {
		t.Errorf("perhaps is a switch: %+v", o)
	}
	for _, text := range []string{"", "320", "0x1", "-1x5", "320x", "99999x1", "axb"} {
		if err := p.Set(text); err == nil {
			t.Errorf("%q is a size: %v", text, p)
		}
	}
}

// here runs a command line in this process, which has OpenGL where the binary
// under test has not.
func here(t *testing.T, args ...string) result {
	t.Helper()
	var out, errs strings.Builder
	code := run(t.Context(), args, &out, &errs)
	if strings.Contains(errs.String(), surface.ErrContext.Error()) {
		t.Skip("no OpenGL without a display here (scripts/install-deps.sh installs Mesa)")
	}
	return result{code, out.String(), errs.String()}
}

// TestPreviewHeadless draws a cooked scene, and compares with simulate.
func TestPreviewHeadless(t *testing.T) {
	if !preview.Available {
		t.Skip("built without OpenGL (cgo)")
	}
	dir, out := cooked(t), t.TempDir()
	scene, shot, events := filepath.Join(dir, "yard.json"), filepath.Join(out, "a.png"), filepath.Join(out, "e.jsonl")
	frames := filepath.Join(out, "f.jsonl")
	small := []string{"--headless", "--size", "64x48", "--samples", "1", "--shadows", "-1"}
	path := []string{"--fly-through", "--duration", "2s", "--set", "maxConcurrentTileLoads=1", "--mode", "strict"}
	args := append(append([]string{"preview", scene, "--fixed-dt", "0.05", "--latency", "0.2", "--events", events, "--frame-log", frames, "--screenshot", shot, "--stats", "-"}, small...), path...)
	r := here(t, args...)
	var figures map[string]any
	if err := json.Unmarshal([]byte(r.stdout), &figures); r.code != 0 || err != nil || figures["frames"] != 41.0 || figures["errors"] != 0.0 {
		t.Fatalf("exit %d, %v\n%s%s", r.code, err, r.stdout, r.err)
	}
	if _, err := os.Stat(shot); err != nil {
		t.Error(err)
	}
	log := strings.Split(strings.TrimSpace(string(testfile.Read(t, frames))), "\n")
	var last stats.Frame
	if err := json.Unmarshal([]byte(log[len(log)-1]), &last); err != nil || len(log) != 41 || last.Frame != 40 || last.MS <= 0 {
		t.Errorf("%d frames in the log, the last is %+v, %v", len(log), last, err)
	}
	asSchema(t, "preview", r.stdout)
	asSchema(t, "frame-log", log[len(log)-1])
	if list, _ := figures["worst"].([]any); len(list) != 10 {
		t.Errorf("the figures name %d frames", len(list))
	}
	s := execute(t, nil, append([]string{"simulate", scene, "--dt", "50ms", "--parse-time", "200ms", "--events", "-"}, path...)...)
	if got := string(testfile.Read(t, events)); s.code != 0 || got != s.stdout {
		t.Errorf("exit %d %s: the events differ:\n%s\n%s", s.code, s.err, got, s.stdout)
	}
	// Judged, and printed for people.
	r = here(t, append([]string{"preview", dir, "--frames", "3", "--whole", "--fail-if", "frames==3"}, small...)...)
	if r.code != exitWanting || !strings.Contains(r.stdout, "failed: frames is 3 (--fail-if frames==3)") || !strings.Contains(r.stdout, "triangles_max") {
		t.Errorf("--fail-if: exit %d\n%s%s", r.code, r.stdout, r.err)
	}
	// Nothing is not waited for.
	away := testfile.Write(t, filepath.Join(out, "away.json"), `{"camera": [{"t": 0, "position": [0, 0, 9000]}, {"t": 3600, "position": [0, 0, 9000]}]}`)
	r = here(t, append([]string{"preview", dir, "--camera-path", away, "--set", "maxQueryRadius=100"}, small...)...)
	if r.code != exitWanting || !strings.Contains(r.err, "wants no tile; the nearest of") || strings.Contains(r.err, "\n\n") {
		t.Errorf("nothing wanted: exit %d\n%s%s", r.code, r.stdout, r.err)
	}
	bad := testfile.Write(t, filepath.Join(out, "bad.json"), `{"tiles": []}`)
	for _, tc := range []struct {
		arg  string
		code int
		want string
	}{
		{bad, exitWanting, "missing key"},
		{filepath.Join(out, "none.json"), exitFailure, "does not exist"},
		{t.TempDir(), exitFailure, "neither a manifest nor a .untold file"},
	} {
		if r := here(t, append([]string{"preview", tc.arg, "--frames", "1"}, small...)...); r.code != tc.code || !strings.Contains(r.err, tc.want) {
			t.Errorf("%s: exit %d, %q", tc.arg, r.code, r.err)
		}
	}
}

// TestPreviewBatching: --batching switches it; a parameter that is set beside it
// wins.
func TestPreviewBatching(t *testing.T) {
	dir := cooked(t)
	for _, tc := range []struct {
		args []string
		want bool
	}{
		{nil, true},
		{[]string{"--batching", "off"}, false},
		{[]string{"--batching=on"}, true},
		{[]string{"--set", "batching.enabled=false"}, false},
		{[]string{"--batching", "off", "--set", "batching.enabled=true"}, true},
	} {
		a := &app{stdout: &strings.Builder{}, stderr: &strings.Builder{}}
		cmd := newPreview(a)
		var p previewFlags
		cmd.ResetFlags()
		p.register(cmd.Flags())
		if err := cmd.ParseFlags(tc.args); err != nil {
			t.Fatal(err)
		}
		cmd.SetContext(t.Context())
		o, closeRemote, err := p.options(cmd, a, []string{filepath.Join(dir, "yard.json")})
		if err != nil || o.Config.Batching.Enabled != tc.want {
			t.Errorf("%v: %v, %v", tc.args, o.Config.Batching.Enabled, err)
		}
		if err := closeRemote(); err != nil {
			t.Error(err)
		}
	}
}

// TestPreviewRemote opens an address twice: a server is asked for the manifest
// once each time, and with the cache's copy for nothing else.
func TestPreviewRemote(t *testing.T) {
	if !preview.Available {
		t.Skip("built without OpenGL (cgo)")
	}
	var mu sync.Mutex
	var manifests []string
	files := http.FileServer(http.Dir(cooked(t)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/yard.json" {
			mu.Lock()
			manifests = append(manifests, r.Header.Get("If-Modified-Since"))
			mu.Unlock()
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	cache := t.TempDir()
	for n := range 2 {
		r := here(t, "preview", server.URL+"/yard.json", "--headless", "--frames", "3", "--size", "64x48", "--samples", "1", "--shadows", "-1", "--cache-dir", cache, "--fail-if", "errors>0")
		mu.Lock()
		if r.code != 0 || len(manifests) != n+1 || (manifests[n] != "") != (n == 1) {
			t.Errorf("run %d: exit %d, manifest asked for with %q\n%s", n+1, r.code, manifests, r.err)
		}
		mu.Unlock()
	}
}
