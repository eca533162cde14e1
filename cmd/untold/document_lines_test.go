package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/internal/testfile"
)

// ourCommand finds a command line of ours in a line of a block: at its beginning, or
// behind the marks of a list in YAML and the $ of a console.
var ourCommand = regexp.MustCompile(`^\s*(?:\$ |- |# )?(?:(?:docker run|zcat) [^|]* \|? ?)?(?:bin/)?untold ([a-z].*)$`)

// inlineCommand finds a command in the text of a page; it may go over two lines.
var inlineCommand = regexp.MustCompile("`(?:bin/)?untold ([a-z][^`|]*)`")

// TestCommandLinesOfDocuments: every line of a page's blocks that calls untold names a
// command and flags that there are, with values that the flags take; so does what the
// text names, where values may be words that stand for some.
func TestCommandLinesOfDocuments(t *testing.T) {
	lines := 0
	for _, path := range documentFiles(t) {
		for _, b := range blocksOf(t, path) {
			text := strings.Join(b.lines, "\n")
			for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", " "), "\n") {
				if m := ourCommand.FindStringSubmatch(line); m != nil {
					lines++
					judgeLine(t, fmt.Sprintf("%s:%d", path, b.line), m[1])
				}
			}
		}
	}
	for _, path := range documentFiles(t) {
		for _, m := range inlineCommand.FindAllStringSubmatch(string(testfile.Read(t, path)), -1) {
			lines++
			judgeCommand(t, newRoot(&app{}), path, strings.Join(strings.Fields(m[1]), " "))
		}
	}
	if lines < 250 {
		t.Errorf("only %d lines are found", lines)
	}
}

// TestCommandsOfReadme: the table of README.md has every command.
func TestCommandsOfReadme(t *testing.T) {
	_, table, _ := strings.Cut(string(testfile.Read(t, "../../README.md")), "| command | job |\n")
	table, _, ok := strings.Cut(table, "\n\n")
	if !ok {
		t.Fatal("README.md has no table of commands")
	}
	var visit func(c *cobra.Command, path []string)
	visit = func(c *cobra.Command, path []string) {
		for _, sub := range c.Commands() {
			if sub.Hidden || sub.Name() == "help" {
				continue
			}
			words := append(slices.Clone(path), sub.Name())
			switch {
			case sub.Name() == "completion":
				if !strings.Contains(table, "`completion`") {
					t.Error("the table lacks completion")
				}
			case sub.HasSubCommands():
				visit(sub, words)
			default:
				// A row may name one of them with its group, and others alone.
				whole := strings.Contains(table, "`untold "+strings.Join(words, " ")+"`") || strings.Contains(table, "`untold "+strings.Join(words, " ")+" ")
				if alone := strings.Contains(table, "`"+sub.Name()+"`") || strings.Contains(table, "`"+strings.Join(words, " ")+"`"); !whole && !alone {
					t.Errorf("the table lacks untold %s", strings.Join(words, " "))
				}
			}
		}
	}
	visit(newRoot(&app{}), nil)
}

// judgeLine parses a command line as the program would.
func judgeLine(t *testing.T, place, line string) {
	t.Helper()
	words := shellWords(line)
	// Commands of a pipe and of && are their own.
	for {
		at := slices.IndexFunc(words, func(w string) bool { return w == "|" || w == "&&" || w == ">" || w == ";" })
		if at < 0 {
			break
		}
		if rest := words[at+1:]; len(rest) > 1 && rest[0] == "untold" {
			judgeLine(t, place, strings.Join(rest[1:], " "))
		}
		words = words[:at]
	}
	behind := []string(nil)
	if at := slices.Index(words, "--"); at >= 0 { // flags of cook
		words, behind = words[:at], words[at+1:]
	}
	root := newRoot(&app{})
	cmd, rest, err := root.Find(words)
	if err != nil || cmd == root || cmd.HasSubCommands() && len(rest) > 0 {
		t.Errorf("%s: untold %s: %v", place, line, err)
		return
	}
	parse := func(cmd *cobra.Command, args []string) {
		t.Helper()
		if err := cmd.ParseFlags(args); err != nil {
			t.Errorf("%s: untold %s: %v", place, line, err)
		}
	}
	parse(cmd, rest)
	if behind != nil {
		cook, _, err := root.Find([]string{"cook"})
		if err != nil {
			t.Fatal(err)
		}
		parse(cook, behind)
	}
}

// shellWords cuts a line into words as a shell does, without expansion: quotes hold
// words together, a # begins a comment.
func shellWords(line string) (words []string) {
	var word strings.Builder
	quote, inside := rune(0), false
	end := func() {
		if inside {
			words = append(words, word.String())
		}
		word.Reset()
		inside = false
	}
	for _, r := range line {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, inside = r, true
		case r == '#' && !inside:
			return words
		case r == ' ' || r == '\t':
			end()
		default:
			inside = true
			word.WriteRune(r)
		}
	}
	end()
	return words
}
