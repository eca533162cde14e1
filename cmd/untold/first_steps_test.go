package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/preview"
)

// TestFirstSteps runs the commands of docs/first-steps.md, from top to bottom, and
// compares what they print with what is shown there.
func TestFirstSteps(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	steps := consoleSteps(string(testfile.Read(t, filepath.Join(root, "docs", "first-steps.md"))))
	if len(steps) < 8 {
		t.Fatalf("%d commands", len(steps))
	}
	t.Chdir(t.TempDir())
	for _, s := range steps {
		args := strings.Fields(strings.ReplaceAll(s.command, "'", ""))
		var got string
		switch {
		case strings.HasPrefix(s.command, "go run ./scripts/"):
			out, err := filepath.Abs(args[len(args)-1])
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(args[0], append(args[1:len(args)-1:len(args)-1], out)...)
			cmd.Dir = root
			text, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", s.command, err, text)
			}
			got = strings.ReplaceAll(string(text), filepath.Dir(out)+string(filepath.Separator), "")
		case args[0] == "bin/untold" && args[1] == "preview":
			if !preview.Available {
				t.Logf("built without OpenGL (cgo): %s is left out", s.command)
				continue
			}
			r := here(t, args[1:]...)
			if got = r.err + r.stdout; r.code != 0 {
				t.Fatalf("%s: exit %d\n%s", s.command, r.code, got)
			}
		case args[0] == "bin/untold":
			r := execute(t, nil, args[1:]...)
			if got = r.err + r.stdout; r.code != 0 {
				t.Fatalf("%s: exit %d\n%s", s.command, r.code, got)
			}
		default:
			t.Fatalf("%s: what runs this?", s.command)
		}
		if err := matches(s.shown, strings.Split(strings.TrimRight(got, "\n"), "\n")); err != nil {
			t.Errorf("%s: %v; it prints\n%s", s.command, err, got)
		}
	}
}

// consoleStep is a command of a document with what is shown of its output.
type consoleStep struct {
	command string
	shown   []string
}

// consoleSteps returns the commands in the blocks that are marked as console.
func consoleSteps(text string) (steps []consoleStep) {
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		command, is := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case inside && is:
			steps = append(steps, consoleStep{command: command})
		case inside:
			s := &steps[len(steps)-1]
			s.shown = append(s.shown, line)
		}
	}
	return steps
}

// matches compares lines; "..." stands for any number of them.
func matches(want, got []string) error {
	for len(want) > 0 && want[0] != "..." {
		if len(got) == 0 || got[0] != want[0] {
			return fmt.Errorf("the line %q does not come where it is shown", want[0])
		}
		want, got = want[1:], got[1:]
	}
	if len(want) == 0 {
		if len(got) > 0 {
			return fmt.Errorf("the line %q is not shown", got[0])
		}
		return nil
	}
	var err error
	for skip := range len(got) + 1 {
		if err = matches(want[1:], got[skip:]); err == nil {
			return nil
		}
	}
	return err
}
