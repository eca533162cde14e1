package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// runner gives one target time, or repeats its inputs.
type runner interface {
	// fuzz looks for new inputs for d and returns how many it tried. The error
	// says that an input failed, its text names what to do; or is errClock.
	fuzz(ctx context.Context, t target, d time.Duration) (execs int64, err error)
	// committed runs the inputs in the code and in testdata of all packages.
	committed(ctx context.Context, targets []target) error
	// kept runs the inputs that earlier runs kept of a target.
	kept(ctx context.Context, t target) (inputs int, err error)
}

// goRunner runs targets with Go's fuzzing engine. A package's test is built
// once, with the instrumentation that guides the engine.
type goRunner struct {
	dir    string // of the kept corpus
	bin    string // of the built tests
	memory int
	out    io.Writer
}

// goTool is the go command, as make names it.
func goTool() string {
	if g := os.Getenv("GO"); g != "" {
		return g
	}
	return "go"
}

// build returns the instrumented test of a target's package.
func (r *goRunner) build(ctx context.Context, t target) (string, error) {
	path := filepath.Join(r.bin, strings.ReplaceAll(t.pkg, "/", "_")+".test")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	cmd := exec.CommandContext(ctx, goTool(), "test", "-c", "-vet=off", "-fuzz=.", "-o", path, "./"+t.pkg)
	cmd.Dir = t.root
	if b, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s does not build: %w\n%s", t.pkg, err, b)
	}
	return path, nil
}

// command is a run of a target's test with more flags. Ctrl-C reaches it as
// well, so that the engine ends in order.
func (r *goRunner) command(ctx context.Context, t target, flags ...string) (*exec.Cmd, error) {
	path, err := r.build(ctx, t)
	if err != nil {
		return nil, err
	}
	base := t.keptBase(r.dir)
	if err := os.MkdirAll(base, 0o755); err != nil {
		return nil, err
	}
	args := append([]string{path, "-test.run=^$", "-test.fuzz=^" + t.name + "$", "-test.fuzzcachedir=" + base}, flags...)
	if r.memory > 0 && runtime.GOOS != "windows" {
		// An input that maps more than this ends its worker, which the engine
		// reports like any other failure. Where the limit is unknown to the
		// shell, there is none.
		limit := fmt.Sprintf(`ulimit -v %d 2>/dev/null; exec "$@"`, r.memory*1024)
		args = append([]string{"/bin/sh", "-c", limit, "sh"}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = t.folder()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd, nil
}

var (
	execsLine    = regexp.MustCompile(`execs: (\d+)`)
	baselineLine = regexp.MustCompile(`gathering baseline coverage: \d+/(\d+) completed`)
)

func (r *goRunner) fuzz(ctx context.Context, t target, d time.Duration) (int64, error) {
	// Making an interesting input smaller is bounded, or it eats the time.
	cmd, err := r.command(ctx, t, "-test.fuzztime="+d.String(), "-test.fuzzminimizetime=20x")
	if err != nil {
		return 0, err
	}
	before := files(t.committed())
	b, err := cmd.CombinedOutput()
	var execs int64
	if all := execsLine.FindAllSubmatch(b, -1); len(all) > 0 {
		execs, _ = strconv.ParseInt(string(all[len(all)-1][1]), 10, 64)
	}
	if ctx.Err() != nil {
		return execs, ctx.Err()
	}
	if err != nil && clockRanOut(t, b, before) {
		return execs, errClock
	}
	return execs, failure(err, b)
}

// failure is the error of a run with the engine's words.
func failure(err error, output []byte) error {
	if err == nil {
		return nil
	}
	const most = 20000 // a dump of all goroutines can be long
	if len(output) > most {
		output = append(bytes.Clone(output[:most]), "\n...\n"...)
	}
	return fmt.Errorf("%w\n%s", err, output)
}

func (r *goRunner) committed(ctx context.Context, targets []target) error {
	args := []string{"test", "-vet=off", "-count=1", "-run=^Fuzz"}
	root, last := "", ""
	for _, t := range targets {
		root = t.root
		if t.pkg != last {
			args = append(args, "./"+t.pkg)
			last = t.pkg
		}
	}
	cmd := exec.CommandContext(ctx, goTool(), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, r.out, r.out
	return cmd.Run()
}

func (r *goRunner) kept(ctx context.Context, t target) (int, error) {
	n := count(t.kept(r.dir))
	if n == 0 {
		return 0, nil
	}
	// The engine runs all inputs that it has before it looks for new ones,
	// and counts them: a first, short run says how many there are.
	limit := 1
	for range 2 {
		cmd, err := r.command(ctx, t, fmt.Sprintf("-test.fuzztime=%dx", limit))
		if err != nil {
			return 0, err
		}
		b, err := cmd.CombinedOutput()
		if err := errors.Join(ctx.Err(), failure(err, b)); err != nil {
			return n, err
		}
		total := baselineLine.FindSubmatch(b)
		if total == nil {
			return n, fmt.Errorf("the engine does not say how many inputs it has:\n%s", b)
		}
		if limit, err = strconv.Atoi(string(total[1])); err != nil {
			return n, err
		}
	}
	return n, nil
}
