package checks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// machine is a folder of commands and a folder of files: what a bare system
// has.
type machine struct{ commands, files string }

// bare makes a Linux system with a shell, an apt-get that writes down how it is
// called, and the stubs that are asked for.
func bare(t *testing.T, stubs ...string) *machine {
	t.Helper()
	m := &machine{t.TempDir(), t.TempDir()}
	for name, text := range map[string]string{"uname": "echo Linux", "id": "echo 0", "apt-get": `echo "$@" >> "$APTLOG"`, "go": "exit 1"} {
		m.command(t, name, text)
	}
	for _, name := range stubs {
		m.command(t, name, "exit 1")
	}
	return m
}

func (m *machine) command(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(m.commands, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) file(t *testing.T, path string) {
	t.Helper()
	path = filepath.Join(m.files, filepath.FromSlash(path))
	testfile.Write(t, path, "")
}

// install runs the script, with words and variables (NAME=VALUE), and returns its exit code,
// what it said and the packages that it installed.
func (m *machine) install(t *testing.T, given ...string) (code int, said string, packages []string) {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	args, env := []string{"scripts/install-deps.sh"}, []string(nil)
	for _, g := range given {
		if strings.Contains(g, "=") {
			env = append(env, g)
		} else {
			args = append(args, g)
		}
	}
	cmd := exec.Command(sh, args...)
	cmd.Dir = repository
	cmd.Env = append([]string{"PATH=" + m.commands, "DEPSROOT=" + m.files, "APTLOG=" + log}, env...)
	out, _ := cmd.CombinedOutput()
	b, err := os.ReadFile(log)
	if err == nil {
		for line := range strings.Lines(string(b)) {
			if _, list, ok := strings.Cut(line, "--no-install-recommends "); ok {
				packages = append(packages, strings.Fields(list)...)
			}
		}
	}
	return cmd.ProcessState.ExitCode(), string(out), packages
}

func TestDepsOfABareMachine(t *testing.T) {
	code, said, got := bare(t).install(t)
	want := "gcc libc6-dev git ca-certificates pkg-config libx11-dev libxcursor-dev libxrandr-dev libxinerama-dev libxi-dev libxxf86vm-dev libgl-dev libegl-dev libgl1 libegl1 libgl1-mesa-dri xvfb xauth xdotool"
	if code != 0 || strings.Join(got, " ") != want {
		t.Errorf("%d %q\ninstalls %q\nwant     %q", code, said, got, want)
	}
	code, _, got = bare(t).install(t, "NOPREVIEW=1")
	if code != 0 || strings.Join(got, " ") != "gcc libc6-dev git ca-certificates" {
		t.Errorf("without the preview: %d %q", code, got)
	}
}

// TestDepsOfABuild: a build needs no display, and without the preview no C compiler.
func TestDepsOfABuild(t *testing.T) {
	code, said, got := bare(t).install(t, "build")
	want := "gcc libc6-dev git ca-certificates pkg-config libx11-dev libxcursor-dev libxrandr-dev libxinerama-dev libxi-dev libxxf86vm-dev libgl-dev libegl-dev libgl1 libegl1 libgl1-mesa-dri"
	if code != 0 || strings.Join(got, " ") != want {
		t.Errorf("%d %q\ninstalls %q\nwant     %q", code, said, got, want)
	}
	if code, _, got = bare(t).install(t, "build", "NOPREVIEW=1"); code != 0 || strings.Join(got, " ") != "git ca-certificates" {
		t.Errorf("without the preview: %d %q", code, got)
	}
	m := bare(t, "git")
	m.file(t, "etc/ssl/cert.pem")
	if code, said, got := m.install(t, "build", "NOPREVIEW=1"); code != 0 || said != "" || got != nil {
		t.Errorf("nothing is missing: %d %q %q", code, said, got)
	}
	if code, said, _ := m.install(t, "biuld"); code != 2 || !strings.Contains(said, "biuld: what is that?") {
		t.Errorf("another word: %d %q", code, said)
	}
}

// TestDepsOfAnOldGo: a version of Go that can't fetch another one is told of before it fails on
// go.mod.
func TestDepsOfAnOldGo(t *testing.T) {
	for version, want := range map[string]int{"go1.19.8": 1, "go1.20": 1, "go1.21.0": 0, "go1.26.8": 0, "go1.27rc1": 0, "devel +0123 linux/amd64": 0} {
		m := bare(t, "gcc")
		m.command(t, "go", "echo go version "+version+" linux/amd64")
		code, said, _ := m.install(t, "NOPREVIEW=1")
		if code != want || want != 0 && !strings.Contains(said, "is too old. Install Go 1.26 or newer") {
			t.Errorf("%s: %d %q", version, code, said)
		}
	}
}

func TestDepsThatAreThere(t *testing.T) {
	m := bare(t, "gcc", "git", "pkg-config")
	for _, f := range []string{
		"usr/include/X11/Xlib.h", "usr/include/X11/Xcursor/Xcursor.h", "usr/include/X11/extensions/Xrandr.h", "usr/include/X11/extensions/Xinerama.h",
		"usr/include/X11/extensions/XInput2.h", "usr/include/X11/extensions/xf86vmode.h", "usr/include/GL/gl.h", "usr/include/EGL/egl.h",
		"usr/lib/any-linux-gnu/libGL.so.1", "usr/lib64/libEGL.so.1", "usr/lib/any-linux-gnu/dri/swrast_dri.so", "usr/bin/Xvfb", "usr/bin/xauth", "usr/bin/xdotool",
		"etc/pki/tls/certs/ca-bundle.crt",
	} {
		m.file(t, f)
	}
	if code, said, got := m.install(t); code != 0 || said != "" || got != nil {
		t.Errorf("%d %q %q", code, said, got)
	}
	// Another system: it says what is missing by name, and does nothing.
	if err := os.Remove(filepath.Join(m.commands, "apt-get")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(m.commands, "gcc")); err != nil {
		t.Fatal(err)
	}
	code, said, _ := m.install(t)
	if code != 1 || !strings.Contains(said, "missing (by their Debian names): gcc libc6-dev\n") || !strings.Contains(said, "NOPREVIEW=1") {
		t.Errorf("%d %q", code, said)
	}
	// No Go: that is all it says.
	if err := os.Remove(filepath.Join(m.commands, "go")); err != nil {
		t.Fatal(err)
	}
	if code, said, _ := m.install(t); code != 1 || !strings.Contains(said, "Go is missing") {
		t.Errorf("%d %q", code, said)
	}
}

// TestBothCommandsSetUp: on a fresh machine make demo and make test begin with
// what is missing.
func TestBothCommandsSetUp(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip(err)
	}
	for _, target := range []string{"demo", "test"} {
		cmd := exec.Command("make", "--no-print-directory", "-n", target)
		cmd.Dir = repository
		cmd.Env = append(os.Environ(), "MAKEFLAGS=")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(target, err)
		}
		first, _, _ := strings.Cut(string(out), "\n")
		if !strings.Contains(first, "sh scripts/install-deps.sh") {
			t.Errorf("make %s begins with %q", target, first)
		}
	}
	b := testfile.Read(t, filepath.Join(repository, "README.md"))
	demo, test := strings.Index(string(b), "`make demo`"), strings.Index(string(b), "`make test`")
	if demo < 0 || test < 0 || test > 2500 {
		t.Errorf("README.md names make demo at %d and make test at %d, not near its top", demo, test)
	}
}
