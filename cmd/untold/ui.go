package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/untoldkit/untold/cook"
)

// app holds the streams and the flags that all commands share.
type app struct {
	stdout, stderr io.Writer
	quiet          bool
	verbose        bool
	noProgress     bool
	color          string   // auto, always or never
	config         string   // a file of settings, "" for none
	profile        *profile // what config holds, nil for none
	flags          []string // names of all commands' flags
	flagsOnly      bool     // cook ends where its flags have been judged
	flagsJudged    bool     // and it came to that
	args           []string // the command line
	watched        bool     // a cook is one of those of --watch
	begun          bool     // the command line is in order, and a cook begins
	files          []string // of the scene that was cooked

	stdoutTerminal bool
}

const (
	red    = "31"
	yellow = "33"
	green  = "32"
	dim    = "2"
)

// paint colours text for stderr when asked for, or when that is a terminal and
// NO_COLOR is unset.
func (a *app) paint(code, s string) string { return a.paintFor(isTerminal(a.stderr), code, s) }

// paintResult is paint for stdout.
func (a *app) paintResult(code, s string) string { return a.paintFor(a.stdoutTerminal, code, s) }

func (a *app) paintFor(terminal bool, code, s string) string {
	on := a.color == "always"
	if a.color == "auto" || a.color == "" {
		on = os.Getenv("NO_COLOR") == "" && terminal
	}
	if !on {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// oneLine makes a message printable on one line: control characters and bytes that are
// not UTF-8, which may come out of a hostile file, are shown as escapes.
func oneLine(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, unprintable) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, "\\x%02x", s[i])
		case r == '\n':
			b.WriteString("; ")
		case unprintable(r):
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unprintable are controls, formats, and what ends lines in YAML and elsewhere.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// notes prints what a cook left out or changed, one line each: warnings
// always, remarks with --verbose or when there is little to say.
func (a *app) notes(list []cook.Note) {
	for _, n := range list {
		label := a.paint(dim, "note:")
		if n.Warning {
			label = a.paint(yellow, "warning:")
		} else if a.quiet {
			continue
		}
		line := fmt.Sprintf("%s [%s, %d x", n.Message, n.Code, n.Count)
		if n.Where != "" {
			line += ", first at " + n.Where
		}
		fmt.Fprintln(a.stderr, label, oneLine(line+"]"))
	}
}

// progress returns a callback for cook.Options: a bar on a terminal, a line a
// stage elsewhere, nothing when silenced.
func (a *app) progress() func(stage string, done, total int) {
	if a.quiet || a.noProgress {
		return nil
	}
	if !isTerminal(a.stderr) {
		return func(stage string, done, total int) {
			if done == 0 && a.verbose || done == total && total > 1 {
				fmt.Fprintf(a.stderr, "%s: %d/%d\n", stage, done, total)
			}
		}
	}
	var bar *progressbar.ProgressBar
	var current string
	return func(stage string, done, total int) {
		if stage != current {
			current = stage
			bar = progressbar.NewOptions(total,
				progressbar.OptionSetWriter(a.stderr), progressbar.OptionSetDescription(stage),
				progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true),
				progressbar.OptionThrottle(65*time.Millisecond), progressbar.OptionClearOnFinish())
		}
		// A bar that cannot be drawn is no reason to stop cooking.
		_ = bar.Set(done)
		if done == total {
			_ = bar.Finish()
		}
	}
}

// info prints a line on stderr unless --quiet.
func (a *app) info(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.stderr, format+"\n", args...)
	}
}
