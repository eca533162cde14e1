// Command untold cooks glTF scenes into streamable .untold tiles and looks at
// the result. Every command is flags, a library call and output; what a
// command does is done by the packages of this module.
package main

import (
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
// command could not do its work.
const (
	exitWanting = 1
	exitFailure = 2
)

// errFindings ends a command whose output already says what is wrong.
var errFindings = errors.New("findings")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
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
		return 0
	case errors.Is(err, errFindings):
		return exitWanting
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "untold: interrupted; nothing was written under a final name")
		return exitFailure
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
