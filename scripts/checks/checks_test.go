// Package checks tests the shell scripts that make runs, with stand-ins for
// the go command.
package checks

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

const repository = "../.."

// script runs a script of a repository with a go command that is a shell
// script itself.
func script(t *testing.T, dir, name, goScript string, env ...string) (code int, stdout, stderr string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("shell scripts")
	}
	tool := filepath.Join(t.TempDir(), "go")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"+goScript), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", name)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GO="+tool), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestVulncheck(t *testing.T) {
	for _, c := range []struct {
		name, tool string
		code       int
		says       string
	}{
		{"nothing found", "echo No vulnerabilities found.", 0, ""},
		{"found", "echo Vulnerability 1; exit 3", 1, ""},
		{"no network", "echo 'govulncheck: fetching vulnerabilities: no such host' >&2; exit 1", 2, "the database at https://vuln.go.dev is out of reach"},
		{"no folder", "echo 'govulncheck: creating client: no such directory' >&2; exit 1", 2, "is out of reach"},
		{"no build", "echo 'govulncheck: loading packages: syntax error' >&2; exit 1", 2, "could not do its work (exit code 1)"},
	} {
		code, _, errs := script(t, repository, "scripts/vulncheck.sh", c.tool, "VULNDB=")
		if code != c.code || !strings.Contains(errs, c.says) || c.says == "" && errs != "" || strings.Count(errs, "\n") > 1 {
			t.Errorf("%s: exit code %d, said %q", c.name, code, errs)
		}
	}
	_, out, _ := script(t, repository, "scripts/vulncheck.sh", `echo "$@"`, "VULNDB=file:///copy")
	if out != "tool -modfile=scripts/vuln.mod govulncheck -db file:///copy ./...\n" {
		t.Errorf("runs %q", out)
	}
}

// TestToolsArePinned: every tool has an exact version and a checksum.
func TestToolsArePinned(t *testing.T) {
	for file, modules := range map[string][]string{
		"vuln":  {"golang.org/x/vuln v1.1.4"},
		"tools": {"honnef.co/go/tools v0.8.2", "mvdan.cc/gofumpt v0.12.0"},

		"kubernetes": {"k8s.io/kubernetes v1.36.2"},
	} {
		mod := testfile.Read(t, filepath.Join(repository, "scripts", file+".mod"))
		sum := testfile.Read(t, filepath.Join(repository, "scripts", file+".sum"))
		for _, m := range modules {
			if !strings.Contains(strings.ReplaceAll(string(mod), "\n", " "), m+" ") || !strings.Contains(string(sum), m+" h1:") {
				t.Errorf("scripts/%s.mod: %s is not pinned", file, m)
			}
		}
	}
}

// sources makes a folder with the script, a Makefile and what is built.
func sources(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	text := testfile.Read(t, filepath.Join(repository, "scripts", "hashes.sh"))
	for name, b := range map[string][]byte{
		"scripts/hashes.sh": text,
		"Makefile":          []byte("static:\n\tmkdir -p bin\n\t$(GO) build\n"),
		"source":            []byte("source\n"),
	} {
		testfile.Write(t, filepath.Join(dir, filepath.FromSlash(name)), b)
	}
	return dir
}

// fakeGo answers what the script asks; build writes what the %s prints.
const fakeGo = `case "$*" in
version) echo go version go1.26.0 test/test ;;
"env GOMODCACHE") echo /modules ;;
"env GOPATH") echo /path ;;
"env GOENV") echo /settings ;;
build) { cat source; echo "$GOOS $GOARCH $GOFLAGS $GOPATH"; WHAT; } > bin/untold ;;
*) exit 9 ;;
esac
`

func TestHashes(t *testing.T) {
	for _, tool := range []string{"make", "tar"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	dir := sources(t)
	// The user's settings of Go hold for both builds, flags for none.
	same := strings.Replace(fakeGo, "WHAT", `test "$GOFLAGS" = -trimpath && test "${GOENV:-/settings}" = /settings || exit 3`, 1)
	code, out, errs := script(t, dir, "scripts/hashes.sh", same, "HASHTARGETS=a/b c/d", "GOFLAGS=-race", "GOENV=", "GOPATH=/path")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || errs != "" || len(lines) != 3 || lines[0] != "# go1.26.0 test/test, no commit" ||
		!strings.HasSuffix(lines[1], "  untold-a-b") || !strings.HasSuffix(lines[2], "  untold-c-d") || lines[1][:64] == lines[2][:64] {
		t.Errorf("%d %q %q", code, out, errs)
	}
	// Whatever of its surroundings gets into a binary is noticed.
	for _, what := range []string{"pwd", `echo "$GOCACHE"`, `echo "$HOME"`, `echo "$GOMODCACHE"`, `echo "$TZ"`, "umask"} {
		code, _, errs := script(t, dir, "scripts/hashes.sh", strings.Replace(fakeGo, "WHAT", what, 1), "HASHTARGETS=a/b")
		if code != 1 || !strings.Contains(errs, "two builds of the same sources differ for a/b") {
			t.Errorf("%s in the binary: %d %q", what, code, errs)
		}
	}
	if code, _, _ := script(t, dir, "scripts/hashes.sh", "exit 1", "HASHTARGETS=a/b"); code == 0 {
		t.Error("a build that fails passes")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 3 {
		t.Errorf("%v lie in the sources afterwards", left)
	}
}

// TestPartOfTheCheck: the whole check runs all tests with the race detector, builds for
// systems that no test runs on, and compares the hashes for the machine's own system.
func TestPartOfTheCheck(t *testing.T) {
	b := testfile.Read(t, filepath.Join(repository, ".ci", "run"))
	for _, want := range []string{
		"\nmake lint\n", "\nmake fused\n", "\nmake test-race VET=-vet=off ", "\nmake cross CROSS=\"windows/amd64 darwin/arm64\"\n",
		"\nmake hashes HASHTARGETS=", "\nmake pie",
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf(".ci/run does not have %q", want)
		}
	}
}

// TestPie: the preview is built position independent, and a build that is not,
// or differs the second time, is found.
func TestPie(t *testing.T) {
	const fakeGo = `case $1 in
build) for x; do [ "$last" = -o ] && out=$x; last=$x; done; WHAT > "$out" ;;
version) echo MODE ;;
esac`
	build := func(what, mode string) string {
		return strings.NewReplacer("WHAT", what, "MODE", mode).Replace(fakeGo)
	}
	for _, c := range []struct {
		name, tool, pie string
		code            int
		says            string
	}{
		{"good", build("echo x", "build -buildmode=pie"), "-buildmode=pie", 0, "the same twice"},
		{"not there", build("echo x", "no"), "", 0, "has no position independent"},
		{"forgotten", build("echo x", "build -buildmode=exe"), "-buildmode=pie", 1, "was not built with"},
		{"different", build(`echo "$out"`, "build -buildmode=pie"), "-buildmode=pie", 1, "differ"},
	} {
		code, out, errs := script(t, repository, "scripts/pie.sh", c.tool, "PIE="+c.pie, `BUILDFLAGS=-trimpath -ldflags="-s -w"`)
		if code != c.code || !strings.Contains(out+errs, c.says) {
			t.Errorf("%s: exit code %d, %q %q", c.name, code, out, errs)
		}
	}
	makefile := testfile.Read(t, filepath.Join(repository, "Makefile"))
	if !strings.Contains(string(makefile), "build $(PIE) $(BUILDFLAGS) -o bin/untold-preview") {
		t.Error("make build does not use PIE")
	}
}
