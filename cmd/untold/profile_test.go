package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/untoldkit/untold/internal/testfile"
)

// beside writes a profile next to a scene or a manifest.
func beside(t *testing.T, file, text string) string {
	t.Helper()
	path := testfile.Write(t, filepath.Join(filepath.Dir(file), profileName), text)
	return path
}

// TestUntrustedProfile: what lies beside a scene may have been downloaded with
// it. It decides nothing about paths, trust, caches, networks or the machine,
// for any command that reads it, and says where it tried.
func TestUntrustedProfile(t *testing.T) {
	scene := yard(t)
	dir := cooked(t)
	precious := testfile.Write(t, filepath.Join(t.TempDir(), "precious.json"), "mine")
	out := filepath.Join(t.TempDir(), "out")
	lines := []string{
		"output: " + out, "report: " + precious, "plan: " + precious, "allow-parent-paths: true", "allow_parent_paths: true", "allow-missing-images: true",
		"payload-dir: .git", "jobs: 1000", "dry-run: true", "json: true", "quiet: true", "color: always", "cache-dir: /tmp",
		"allow-insecure-http: true", "camera-path: /etc/passwd", "events: " + precious, "config: other.yaml",
		"cache.dir: /tmp", "cache:\n  dir: /tmp", "http.attempts: 100", "http:\n  attempts: 100", "cache: 3", "http.header: x",
	}
	for _, line := range lines {
		text := "tile-size: 40\n" + line + "\n"
		want := profileName + ":2: key \"" + strings.SplitN(line, ":", 2)[0] + "\": "
		beside(t, scene, text)
		r := execute(t, nil, "cook", scene, "-o", out, "--allow-parent-paths")
		if r.code != 2 || !strings.Contains(r.err, want) || !strings.Contains(r.err, "--config") {
			t.Errorf("cook with %q: exit %d: %s", line, r.code, r.err)
		}
		beside(t, filepath.Join(dir, "yard.json"), text)
		if r := execute(t, nil, "simulate", filepath.Join(dir, "yard.json"), "--duration", "0.1"); r.code != 2 || !strings.Contains(r.err, want) {
			t.Errorf("simulate with %q: exit %d: %s", line, r.code, r.err)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("something was cooked")
	}
	if string(testfile.Read(t, precious)) != "mine" {
		t.Error("a file of the user's was overwritten")
	}
	// A file that the user names is read instead.
	mine := testfile.Write(t, filepath.Join(t.TempDir(), "mine.yaml"), "tile-size: 30\n")
	if r := execute(t, nil, "cook", scene, "-o", out, "--config", mine); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// TestSceneSettings: every key that a profile may have is a flag of cook, and
// none that a scene should not decide is among them.
func TestSceneSettings(t *testing.T) {
	a := &app{}
	root := newRoot(a)
	cook, _, err := root.Find([]string{"cook"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sceneSettings {
		if cook.Flags().Lookup(name) == nil {
			t.Errorf("cook has no --%s", name)
		}
		if slices.Contains(pathFlagNames, name) || strings.HasPrefix(name, "allow-") {
			t.Errorf("--%s is not a scene's to set", name)
		}
	}
	// A key is a flag or a parameter, never both.
	flags := allFlags(root)
	for _, key := range parameterKeys() {
		if slices.Contains(flags, flagName(key)) {
			t.Errorf("%s is a parameter and a flag", key)
		}
	}
	// Flags that are files are known as such.
	texts := map[string]string{ // not files of this machine's user
		"payload-dir": "inside the output folder", "compat": "", "cors": "", "config": "starts at the working folder",
		"scene-name": "", "units": "", "up": "",
	}
	visitCommands(root, func(path string, f *pflag.Flag) {
		_, exempt := texts[f.Name]
		isText := f.Value.Type() == "string"
		named := strings.Contains(f.Usage, "file") || strings.Contains(f.Usage, "FILE") || strings.Contains(f.Usage, "folder") || strings.Contains(f.Usage, "write to")
		if isText && named && !exempt && !slices.Contains(pathFlagNames, f.Name) && !slices.Contains(viewFlagNames, f.Name) {
			t.Errorf("%s --%s (%s) is not in pathFlagNames", path, f.Name, f.Usage)
		}
	})
}

// TestNamedProfile: --config sets any flag of any command, below flags and
// environment; its paths start at its folder.
func TestNamedProfile(t *testing.T) {
	scene := yard(t)
	beside(t, scene, "tile-size: 5\nreport: /nowhere/r.json\n") // not read
	dir := t.TempDir()
	config := filepath.Join(dir, "settings.yaml")
	write := func(text string) {
		t.Helper()
		testfile.Write(t, config, text)
	}
	write("name: ours\noutput: out/yard\nreport: ./report.json\ntile-size: 40\njobs: 1\norbit: true\nevents: events.jsonl\nduration: 0.5\nlod:\n  bias: 2\nhttp.attempts: 2\n")
	if r := execute(t, nil, "cook", scene, "--config", config); r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	made := filepath.Join(dir, "out", "yard", "yard.json")
	for _, path := range []string{made, filepath.Join(dir, "report.json")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if m := string(testfile.Read(t, made)); !strings.Contains(m, `"x": 40`) {
		t.Errorf("another tile size: %.600s", m)
	}
	// The environment names the file as well, and wins over it; flags win over both.
	env := []string{"UNTOLD_CONFIG=" + config, "UNTOLD_TILE_SIZE=50"}
	for want, args := range map[string][]string{`"x": 50`: nil, `"x": 60`: {"--tile-size", "60"}} {
		out := filepath.Join(t.TempDir(), "o")
		if r := execute(t, env, append([]string{"cook", scene, "-o", out}, args...)...); r.code != 0 || !strings.Contains(string(testfile.Read(t, filepath.Join(out, "yard.json"))), want) {
			t.Errorf("%v: exit %d: %s", args, r.code, r.err)
		}
	}
	// The same file serves other commands. A flag sets aside what it excludes.
	if r := execute(t, nil, "simulate", made, "--config", config, "-q"); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if _, err := os.Stat(filepath.Join(dir, "events.jsonl")); err != nil {
		t.Error(err)
	}
	if r := execute(t, nil, "simulate", made, "--config", config, "--walk", "7", "-q"); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := execute(t, []string{"UNTOLD_ORBIT=true"}, "simulate", made, "--walk", "7", "--duration", "0.1", "-q"); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	write("enabled: false\n")
	if r := execute(t, nil, "simulate", made, "--config", config, "--fail-if", "loads>0"); r.code != 0 {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	for text, want := range map[string]string{
		"tile-size: 1\ntile-siz: 2\n":         `settings.yaml:2: unknown key "tile-siz"; did you mean "tile-size"?`,
		"tile-size: 1\n\ntile_size: 2\n":      `settings.yaml:3: key "tile_size" stands in line 1 already`,
		"maxConcurrentTileLoad: 2\n":          `did you mean "maxConcurrentTileLoads"?`,
		"config: other.yaml\n":                `settings.yaml:1: unknown key "config"`,
		"tile-size: [1, 2]\nclip: {a: b}\n":   `settings.yaml:2: key "clip" wants a plain value`,
		"- tile-size\n":                       `settings.yaml:1: expected keys and values`,
		"tile-size: &a 1\nclip: *a\n":         `settings.yaml:2: key "clip" wants a plain value`,
		strings.Repeat("#", maxProfile) + "x": "more than 1048576 bytes: file is too large; settings take a few lines: is this the right file?",
	} {
		write(text)
		r := execute(t, nil, "cook", scene, "-o", filepath.Join(dir, "other"), "--config", config)
		if r.code != 2 || !strings.Contains(r.err, want) {
			t.Errorf("%.40q: exit %d: %s, want %s", text, r.code, r.err, want)
		}
	}
	if r := execute(t, nil, "version", "--config", filepath.Join(dir, "none.yaml")); r.code != 2 || !strings.Contains(r.err, "none.yaml does not exist") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// visitCommands calls visit for the flags of all commands.
func visitCommands(c *cobra.Command, visit func(path string, f *pflag.Flag)) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { visit(c.CommandPath(), f) })
	for _, sub := range c.Commands() {
		visitCommands(sub, visit)
	}
}
