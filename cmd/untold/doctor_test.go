package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/doctor"
	"github.com/untoldkit/untold/internal/testfile"
)

// examined runs doctor and returns its checks by name.
func examined(t *testing.T, env []string, args ...string) (code int, checks map[string]doctor.Check) {
	t.Helper()
	r := execute(t, env, append([]string{"doctor", "--json"}, args...)...)
	var report struct {
		OK     bool
		Checks []doctor.Check
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
		t.Fatalf("%v: %d %q %q", err, r.code, r.stdout, r.err)
	}
	if report.OK != (r.code == 0) || r.err != "" {
		t.Errorf("ok is %t with exit code %d, said %q", report.OK, r.code, r.err)
	}
	checks = map[string]doctor.Check{}
	for _, c := range report.Checks {
		checks[c.Name] = c
	}
	return r.code, checks
}

// TestDoctor: the static program asks the one with the preview, whatever that does.
func TestDoctor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("stand-ins are shell scripts")
	}
	dir := t.TempDir()
	env := []string{"PATH=" + dir + ":/bin:/usr/bin", "XDG_CACHE_HOME=" + dir, "DISPLAY=", "WAYLAND_DISPLAY="}
	for _, c := range []struct {
		name, answers             string // of untold-preview, "" for none
		preview, opengl, mentions string
	}{
		{"none", "", "warn", "warn", "there is no untold-preview"},
		{"answers", `echo '{"program":"` + version + `","vendor":"V","renderer":"R","version":"4.6"}'`, "ok", "ok", "4.6; R; V"},
		{"no driver", `echo '{"program":"` + version + `","error":"no driver"}'`, "ok", "warn", "no driver"},
		{"of another version", `echo '{"program":"0.0.1"}'`, "warn", "warn", "is of version 0.0.1"},
		{"older than the question", `echo 'error: there is no command' >&2; exit 2`, "ok", "warn", "could not be asked: exit status 2: error: there is no command"},
		{"crashes", `kill -SEGV $$`, "ok", "warn", "segmentation fault"},
		{"says something else", `echo hello`, "ok", "warn", "something else"},
	} {
		path := filepath.Join(dir, previewProgram)
		if c.answers != "" {
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+c.answers+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		code, got := examined(t, env)
		if code != 0 || string(got["preview"].Status) != c.preview || string(got["opengl"].Status) != c.opengl ||
			!strings.Contains(got["preview"].Found+got["opengl"].Found, c.mentions) {
			t.Errorf("%s: %d, %+v, %+v", c.name, code, got["preview"], got["opengl"])
		}
	}
	code, got := examined(t, env, "--need", "display,opengl")
	if code != exitWanting || got["display"].Status != doctor.Fail || got["opengl"].Status != doctor.Fail {
		t.Errorf("needed: %d, %+v", code, got["display"])
	}
	if got["cache"].Status != doctor.OK || !strings.Contains(got["cache"].Found, "500.0 MB") {
		t.Errorf("cache: %+v", got["cache"])
	}
	if _, err := os.Stat(filepath.Join(dir, "untold")); err == nil {
		t.Error("a look made a cache")
	}
	// A folder of something else is no cache, and a folder below a file is none.
	if _, got := examined(t, env, "--cache-dir", filepath.Join(dir, previewProgram, "x"), "--cache-budget", "1G"); got["cache"].Status != doctor.Warn || strings.HasPrefix(got["cache"].Found, "cache") {
		t.Errorf("cache below a file: %+v", got["cache"])
	}
	if _, got := examined(t, append(env, "TMPDIR="+filepath.Join(dir, previewProgram))); got["temporary"].Status != doctor.Fail {
		t.Errorf("temporary files below a file: %+v", got["temporary"])
	}
	text := execute(t, env, "doctor")
	if text.code != 0 || !strings.HasPrefix(text.stdout, "ok    program     untold "+version) || !strings.Contains(text.stdout, "\n                  see preview") &&
		!strings.Contains(text.stdout, "warn  opengl") {
		t.Errorf("%d %s", text.code, text.stdout)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--need", "gpu"}, `--need has "gpu"; use program, processors`},
		{[]string{"--need", "server"}, "goes with --url"},
		{[]string{"--url", "city.json"}, "no http or https address"},
	} {
		if r := execute(t, env, append([]string{"doctor"}, c.args...)...); r.code != exitFailure || !strings.Contains(r.err, c.says) {
			t.Errorf("%v: %d %s", c.args, r.code, r.err)
		}
	}
}

// TestDoctorServer opens a manifest at an address.
func TestDoctorServer(t *testing.T) {
	text := testfile.Read(t, filepath.Join("..", "..", "testdata", "vectors", "manifest_v3_uniform_grid.json"))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/city.json" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(text)
	}))
	defer s.Close()
	env := []string{"XDG_CACHE_HOME=" + t.TempDir()}
	code, got := examined(t, env, "--url", s.URL+"/city.json")
	if code != 0 || got["server"].Status != doctor.OK || !strings.Contains(got["server"].Found, "a manifest of ") {
		t.Errorf("%d %+v", code, got["server"])
	}
	for _, address := range []string{s.URL + "/other.json", "http://192.0.2.1/city.json"} {
		if code, got := examined(t, env, "--url", address); code != exitWanting || got["server"].Status != doctor.Fail {
			t.Errorf("%s: %d %+v", address, code, got["server"])
		}
	}
}

func TestDisplayFacts(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, "wayland-1"))
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	for _, c := range []struct {
		goos, x, wayland string
		name             string
		good             bool
	}{
		{"linux", "", "", "", false},
		{"linux", "", "wayland-1", "wayland-1", true},
		{"linux", "", filepath.Join(dir, "wayland-1"), filepath.Join(dir, "wayland-1"), true},
		{"linux", "", "wayland-2", "wayland-2", false},
		{"linux", ":4242.0", "wayland-1", ":4242.0", false},
		{"linux", "host:0", "", "host:0", true}, // of another machine: not asked
		{"darwin", "", "", "the system's", true},
	} {
		env := map[string]string{"DISPLAY": c.x, "WAYLAND_DISPLAY": c.wayland, "XDG_RUNTIME_DIR": dir}
		name, err := displayFacts(context.Background(), func(k string) string { return env[k] }, c.goos)
		if name != c.name || (err == nil) != c.good {
			t.Errorf("%+v: %q, %v", c, name, err)
		}
	}
}
