package checks

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// TestVersionInDocuments: recipes that name a version name that of the program.
func TestVersionInDocuments(t *testing.T) {
	source := testfile.Read(t, filepath.Join(repository, "cmd", "untold", "version.go"))
	m := regexp.MustCompile(`var version = "([0-9]+\.[0-9]+\.[0-9]+)"`).FindSubmatch(source)
	if m == nil {
		t.Fatal("cmd/untold/version.go has no version")
	}
	named := regexp.MustCompile(`(?:untoldkit/untold@|checkout |--branch |rev: )v([0-9.]+[0-9])`)
	n := 0
	for _, file := range []string{"ci.md", "installing.md"} {
		text := testfile.Read(t, filepath.Join(repository, "docs", file))
		for _, got := range named.FindAllSubmatch(text, -1) {
			if n++; string(got[1]) != string(m[1]) {
				t.Errorf("docs/%s has %s; the version is %s", file, got[0], m[1])
			}
		}
	}
	if n < 4 {
		t.Errorf("only %d versions are in recipes", n)
	}
}

// TestHashesOfReleases: with HASHRELEASE=1 what make release writes is compared.
func TestHashesOfReleases(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip(err)
	}
	dir := sources(t)
	tool := strings.Replace(fakeGo, "WHAT", "true", 1)
	for what, want := range map[string]int{"cat source": 0, "pwd": 1} {
		testfile.Write(t, filepath.Join(dir, "Makefile"), "static:\n\tmkdir -p bin\n\t$(GO) build\n"+
			"release:\n\tmkdir -p out/release\n\ttest \"$(RELEASETARGETS) $(RELEASEFLAGS)\" = 'a/b -without-page'\n\t"+what+" > out/release/SHA256SUMS\n")
		if code, _, errs := script(t, dir, "scripts/hashes.sh", tool, "HASHTARGETS=a/b", "HASHRELEASE=1", "GOPATH=/path"); code != want {
			t.Errorf("%s: %d %q", what, code, errs)
		}
	}
}

// shell runs a script with a folder of stand-ins in front of the PATH.
func shell(t *testing.T, command []string, env ...string) (code int, said string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("shell scripts")
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = repository
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// program writes an executable shell script and returns its path.
func program(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "untold")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAction: every step runs whatever one before has found, and the worst
// decides; lists are divided by lines alone.
func TestAction(t *testing.T) {
	for _, c := range []struct {
		name, validate, simulate, cook, inspect string
		code                                    int
		steps                                   string
	}{
		{"fine", "0", "0", "0", "0", 0, "cook validate validate validate inspect simulate inspect"},
		{"findings", "1", "0", "0", "0", 1, "cook validate validate validate inspect simulate inspect"},
		{"flight", "0", "1", "0", "0", 1, "cook validate validate validate inspect simulate inspect"},
		{"budget of the cook", "0", "0", "1", "0", 1, "cook validate validate validate inspect simulate inspect"},
		{"damage on the map", "0", "0", "0", "1", 1, "cook validate validate validate inspect simulate inspect"},
		{"broken", "2", "0", "0", "0", 2, "cook validate"},
		{"no scene", "0", "0", "2", "0", 2, "cook"},
		{"killed", "0", "0", "130", "0", 130, "cook"},
		{"scene that is no scene", "0", "0", "1", "0", 1, "cook"},
		{"no manifest", "0", "0", "0", "0", 2, "cook"},
	} {
		dir := t.TempDir()
		manifest := filepath.Join(dir, "a scene.json")
		if c.name != "scene that is no scene" && c.name != "no manifest" {
			testfile.Write(t, manifest, "{}")
		}
		log := filepath.Join(dir, "log")
		untold := program(t, fmt.Sprintf(`{ for a; do printf '<%%s>' "$a"; done; echo; } >>'%s'
case $1 in
cook) printf '{\n  "manifest": "%s",\n  "x": {\n    "manifest": "no"\n' ; exit %s ;;
validate) exit %s ;;
simulate) exit %s ;;
inspect) exit %s ;;
esac
`, log, manifest, c.cook, c.validate, c.simulate, c.inspect))
		output := filepath.Join(dir, "output")
		code, said := shell(t, []string{"bash", "scripts/action.sh"}, "PROGRAM="+untold, "SCENE=a b.glb\n\n  c.glb ", "OUTPUT="+filepath.Join(dir, "o"),
			"REPORTS="+filepath.Join(dir, "r"), "COOK_FLAGS=--scene-name=x y\n", "STRICT=true", "FAIL_IF=undrawn > 0\n", "SIMULATE_FLAGS=--orbit",
			"PICTURES=", "GITHUB_ACTIONS=true", "GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"))
		calls := string(testfile.Read(t, log))
		var steps []string
		for line := range strings.Lines(calls) {
			name, _, _ := strings.Cut(strings.TrimPrefix(line, "<"), ">")
			steps = append(steps, name)
		}
		if code != c.code || strings.Join(steps, " ") != c.steps {
			t.Errorf("%s: exit code %d, %v, %s", c.name, code, steps, said)
		}
		if c.name != "fine" {
			continue
		}
		for _, want := range []string{"<cook><a b.glb><c.glb><-o>", "<--scene-name=x y>", "<--strict><--format><sarif>", "<simulate><" + manifest + "><--orbit><--fail-if=undrawn > 0>"} {
			if !strings.Contains(calls, want) {
				t.Errorf("%s is not in\n%s", want, calls)
			}
		}
		if got := string(testfile.Read(t, output)); !strings.Contains(got, "manifest="+manifest+"\n") || !strings.Contains(got, "sarif=") {
			t.Errorf("outputs %q", got)
		}
	}
	if code, said := shell(t, []string{"bash", "scripts/action.sh"}, "SCENE=", "REPORTS="+t.TempDir()); code != 2 || !strings.Contains(said, "names no scene") {
		t.Errorf("without a scene: %d %s", code, said)
	}
}

// TestInstall: what is installed below DESTDIR is what remove takes away, of this
// version and of one before, and nothing else.
func TestInstall(t *testing.T) {
	bin, dest := filepath.Dir(program(t, `case $1 in
docs) mkdir -p "$4" && for p in ${PAGES:-untold untold-cook}; do echo page >"$4/$p.1"; done ;;
completion) echo "$2" ;;
esac
`)), t.TempDir()
	env := []string{"BIN=" + bin, "DESTDIR=" + dest, "PREFIX=/usr"}
	install := func(env ...string) {
		t.Helper()
		if code, said := shell(t, []string{"sh", "scripts/install.sh"}, env...); code != 0 {
			t.Fatal(code, said)
		}
	}
	install(env...)
	files := func() (list []string) {
		err := filepath.WalkDir(dest, func(p string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				rel, _ := filepath.Rel(dest, p)
				list = append(list, filepath.ToSlash(rel))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	want := "usr/bin/untold usr/share/bash-completion/completions/untold usr/share/doc/untold/INSTALLED usr/share/doc/untold/LICENSE usr/share/doc/untold/THIRD_PARTY_LICENSES " +
		"usr/share/fish/vendor_completions.d/untold.fish usr/share/man/man1/untold-cook.1 usr/share/man/man1/untold.1 usr/share/zsh/site-functions/_untold"
	if got := strings.Join(files(), " "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if b := testfile.Read(t, filepath.Join(dest, "usr/share/zsh/site-functions/_untold")); string(b) != "zsh\n" {
		t.Errorf("zsh gets %q", b)
	}
	installed := func() string { return string(testfile.Read(t, filepath.Join(dest, "usr/share/doc/untold/INSTALLED"))) }
	first := installed()
	if got := strings.Fields(first); len(got) != len(strings.Fields(want))-1 || got[0] != "bin/untold" {
		t.Errorf("the list has %v", got)
	}
	install(env...)
	if got := installed(); got != first {
		t.Errorf("the list of a second time is %q, of the first %q", got, first)
	}
	install(append(env, "PAGES=untold untold-new")...)
	foreign := []string{"outside", "usr/bin/other", "usr/bin/untold-preview", "usr/share/man/man1/untold-tales.1"}
	for _, name := range foreign {
		testfile.Write(t, filepath.Join(dest, filepath.FromSlash(name)), "")
	}
	// A line that leads elsewhere is none of install's.
	list := filepath.Join(dest, "usr/share/doc/untold/INSTALLED")
	testfile.Write(t, list, installed()+"../outside\n/"+filepath.ToSlash(dest)+"/outside\n")
	remove := func() (code int, said string) {
		return shell(t, []string{"sh", "scripts/install.sh", "remove"}, env...)
	}
	if code, said := remove(); code != 0 {
		t.Fatal(code, said)
	}
	if got := files(); strings.Join(got, " ") != strings.Join(foreign, " ") {
		t.Errorf("left: %v", got)
	}
	if _, err := os.Stat(filepath.Dir(list)); !os.IsNotExist(err) {
		t.Errorf("the folder of licences: %v", err)
	}
	// Without the list nothing is known to be install's.
	if code, said := remove(); code != 0 || !strings.Contains(said, "nothing is installed") {
		t.Errorf("a second time: %d %s", code, said)
	}
	testfile.Write(t, filepath.Join(dest, "usr", "bin", "untold"), "")
	if code, said := remove(); code != 2 || !strings.Contains(said, "make install") || len(files()) != len(foreign)+1 {
		t.Errorf("without the list: %d %s%v", code, said, files())
	}
	for _, env := range [][]string{{"BIN=" + dest, "PREFIX=/usr"}, {"BIN=" + bin, "PREFIX=usr"}} {
		if code, said := shell(t, []string{"sh", "scripts/install.sh"}, env...); code != 2 {
			t.Errorf("%v: %d %s", env, code, said)
		}
	}
}

// TestHooksAndAction: what calls scripts and commands calls those that are there.
func TestHooksAndAction(t *testing.T) {
	action := string(testfile.Read(t, filepath.Join(repository, "action.yml")))
	script := string(testfile.Read(t, filepath.Join(repository, "scripts", "action.sh")))
	for _, m := range regexp.MustCompile(`(?m)^        ([A-Z_]+): \$\{\{ (?:inputs|runner)`).FindAllStringSubmatch(action, -1) {
		if !strings.Contains(script, "${"+m[1]+":-") {
			t.Errorf("action.yml sets %s, which scripts/action.sh does not read", m[1])
		}
	}
	// No input of the user becomes a part of a shell's text.
	for _, m := range regexp.MustCompile(`(?m)^      run: .*$`).FindAllString(action, -1) {
		if strings.Contains(m, "${{") {
			t.Errorf("an expression in %q", m)
		}
	}
	docs := string(testfile.Read(t, filepath.Join(repository, "docs", "ci.md")))
	hooks := string(testfile.Read(t, filepath.Join(repository, ".pre-commit-hooks.yaml")))
	for _, m := range regexp.MustCompile(`(?m)^- id: (.*)$`).FindAllStringSubmatch(hooks, -1) {
		if !strings.Contains(docs, "- id: "+m[1]) {
			t.Errorf("docs/ci.md does not tell of the hook %s", m[1])
		}
	}
	// Notes fail nothing, and are not what a commit is stopped for.
	for _, m := range regexp.MustCompile(`(?m)^  entry: (.*)$`).FindAllStringSubmatch(hooks, -1) {
		if m[1] != "untold validate --quiet" {
			t.Errorf("a hook runs %q", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z-]+):\n    description`).FindAllStringSubmatch(action, -1) {
		if !strings.Contains(docs, "`"+m[1]+"`") {
			t.Errorf("docs/ci.md does not tell of %s of the action", m[1])
		}
	}
}
