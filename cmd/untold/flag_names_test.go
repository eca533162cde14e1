package main

import (
	"errors"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// elsewhere are options of other programs that texts of ours name.
var elsewhere = []string{
	"background", "count", "release", "version", "race", "tags",
	"account", "array", "cpus-per-task", "dependency", "job-name", "kill-on-invalid-dep", "mem", "ntasks", "parsable", "requeue", // sbatch
	"for", "type", // kubectl
	"factory-startup", "python-expr", // blender
}

// otherNames are taken for flags of ours: --path of tune for --camera-path.
var otherNames = []string{"path"}

var (
	namedFlag   = regexp.MustCompile(`(?:^|[\s"'(\x60\[/])--([a-z][a-z0-9-]*[a-z0-9])`)
	commandText = regexp.MustCompile(`(?m)^ {4,}(?:bin/)?untold ([a-z][^#|\n]*(?:\\\n[^#|\n]*)*)`)
	optionText  = regexp.MustCompile(`\bOptions\.[A-Z]\w+`)
)

// messages calls visit for the texts in the sources of packages that users may
// get to read: string literals, without tests.
func messages(t *testing.T, visit func(place, text string)) {
	t.Helper()
	for _, top := range []string{"cmd", "cook", "runtime", "preview", "partition", "manifest", "format", "internal"} {
		err := filepath.WalkDir(filepath.Join("..", "..", top), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files := token.NewFileSet()
			file := files.AddFile(path, -1, len(src))
			var s scanner.Scanner
			s.Init(file, src, nil, 0)
			for {
				pos, tok, lit := s.Scan()
				if tok == token.EOF {
					return nil
				}
				if text, err := strconv.Unquote(lit); tok == token.STRING && err == nil {
					visit(files.Position(pos).String(), text)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestNamedFlagsExist: every --flag in a message is one of ours, and every command
// line in the help of a command has flags of that command only.
func TestNamedFlagsExist(t *testing.T) {
	root := newRoot(&app{})
	known := append(allFlags(root), "help", "version")
	known = slices.Concat(known, elsewhere, otherNames)
	judge := func(place, text string) {
		for _, m := range namedFlag.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(known, m[1]) {
				t.Errorf("%s: there is no --%s", place, m[1])
			}
		}
	}
	messages(t, judge)
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, m := range commandText.FindAllStringSubmatch("    "+strings.ReplaceAll(c.Example, "\n  ", "\n    "), -1) {
			judgeCommand(t, root, c.CommandPath(), m[1])
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
}

// judgeCommand compares the flags of a command line in a text with those of the
// command.
func judgeCommand(t *testing.T, root *cobra.Command, place, line string) {
	t.Helper()
	line, _, _ = strings.Cut(line, " && ")
	line, behind, _ := strings.Cut(line, " -- ")
	if behind != "" { // flags of cook for a farm
		judgeCommand(t, root, place, "cook "+behind)
	}
	cmd, _, err := root.Find(strings.Fields(line))
	if err != nil {
		t.Errorf("%s: untold %s: %v", place, line, err)
		return
	}
	for _, m := range namedFlag.FindAllStringSubmatch(line, -1) {
		if m[1] != "help" && cmd.Flags().Lookup(m[1]) == nil && cmd.InheritedFlags().Lookup(m[1]) == nil {
			t.Errorf("%s: untold %s has no --%s", place, cmd.Name(), m[1])
		}
	}
}

// TestOptionsAreNamedAsFlags: what tells callers of the library to set an option
// reaches users as a flag, or as something else that they can do.
func TestOptionsAreNamedAsFlags(t *testing.T) {
	messages(t, func(place, text string) {
		if m := optionText.FindString(messageFor(errors.New(text))); m != "" && !strings.HasPrefix(text, "Options.") {
			t.Errorf("%s: %q names %s", place, text, m)
		}
	})
}
