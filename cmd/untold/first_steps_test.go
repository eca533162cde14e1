package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/scenegen"
)

// TestFirstStepsAlone: the steps of docs/first-steps.md go through with the program alone:
// an empty home, nothing in the PATH, no other variable, no shell. What the steps print is
// compared by TestDocuments.
func TestFirstStepsAlone(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	o := scenegen.Default()
	o.Textures = false
	if _, err := o.Write(t.Context(), filepath.Join(dir, "city.glb"), 1); err != nil {
		t.Fatal(err)
	}
	ran := map[string]bool{}
	for _, b := range blocksOf(t, filepath.Join("..", "..", "docs", "first-steps.md")) {
		if b.language != "console" {
			continue
		}
		for _, s := range b.steps() {
			words := shellWords(s.command)
			if words[0] != "bin/untold" || words[1] == "preview" {
				continue // a program of the sources; a program beside this one
			}
			cmd := exec.Command(underTest(t), words[1:]...)
			cmd.Dir, cmd.Env = dir, []string{"HOME=" + home, "PATH=" + home}
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Run(); err != nil {
				t.Fatalf("%s: %v\n%s", s.command, err, out.String())
			}
			ran[words[1]] = true
		}
	}
	for _, want := range []string{"cook", "inspect", "validate", "simulate", "init", "export"} {
		if !ran[want] {
			t.Errorf("docs/first-steps.md does not run untold %s", want)
		}
	}
	left, err := os.ReadDir(home)
	if err != nil || slices.ContainsFunc(left, func(e os.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".cache") }) {
		t.Errorf("the home has %v, %v", left, err)
	}
}
