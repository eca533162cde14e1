// Command untold cooks glTF scenes into streamable .untold tiles and looks at
// the result. Every command is flags, a library call and output; what a
// command does is done by the packages of this module.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/preview"
)

// Exit codes: 1 says that the input was read and has findings, 2 that the
// command could not do its work. A command that a signal ends has 128 and the
// signal's number.
const (
	exitWanting = 1
	exitFailure = 2
)

// errFindings ends a command whose output already says what is wrong.
var errFindings = errors.New("findings")

func main() {
	os.Exit(run(interruptible(), os.Args[1:], os.Stdout, os.Stderr))
}

// interrupted is the cause of a context that a signal has ended.
type interrupted struct{ signal os.Signal }

// Error says what came.
func (i *interrupted) Error() string { return i.signal.String() }

// code is the exit code that shells use for programs that a signal ends: 130 for
// Ctrl-C, 143 for SIGTERM.
func (i *interrupted) code() int {
	n, ok := i.signal.(syscall.Signal)
	if !ok || i.signal == os.Interrupt {
		n = syscall.SIGINT
	}
	return 128 + int(n)
}

// interruptible returns a context that Ctrl-C and SIGTERM end. The second of them
// ends the program at once.
func interruptible() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	came := make(chan os.Signal, 1)
	signal.Notify(came, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-came
		signal.Stop(came)
		cancel(&interrupted{s})
	}()
	return ctx
}

// interruption is the exit code of a command whose work a signal has ended, also
// where that is how it ends, 0 where none came.
func interruption(ctx context.Context) int {
	var i *interrupted
	if errors.As(context.Cause(ctx), &i) {
		return i.code()
	}
	return 0
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out := &checkedWriter{w: stdout}
	a := &app{stdout: out, stderr: stderr, stdoutTerminal: isTerminal(stdout), args: args}
	root := newRoot(a)
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if out.err != nil && (err == nil || errors.Is(err, errFindings)) {
		err = out.err
	}
	switch {
	case err == nil:
		return interruption(ctx)
	case errors.Is(err, errFindings):
		return exitWanting
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))):
		fmt.Fprintln(stderr, "untold: interrupted; nothing was written under a final name")
		return cmp.Or(interruption(ctx), exitFailure)
	}
	fmt.Fprintln(stderr, a.paint(red, "error:"), messageFor(err))
	return exitCode(err)
}

// checkedWriter remembers the first failure, so that a result that did not
// reach its reader is no success.
type checkedWriter struct {
	w   io.Writer
	err error
}

// Write passes on what it gets until a write fails.
func (c *checkedWriter) Write(b []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.w.Write(b)
	c.err = err
	return n, err
}

// exitCode tells faults of the input from failures of the work.
func exitCode(err error) int {
	switch {
	case errors.Is(err, cook.ErrNothing), errors.Is(err, cook.ErrBadInput):
		return exitWanting
	case errors.Is(err, gltfscene.ErrMalformed), errors.Is(err, gltfscene.ErrUnsupported):
		return exitWanting
	case errors.Is(err, preview.ErrNothingSeen), errors.Is(err, preview.ErrNothingLoads):
		return exitWanting
	case errors.As(err, new(*badFile)), errors.Is(err, cook.ErrDamagedImage):
		return exitWanting
	}
	return exitFailure
}
