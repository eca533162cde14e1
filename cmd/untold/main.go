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
	"github.com/untoldkit/untold/cook/texture"
)

// Exit codes: 1 says that the input was judged and found wanting, 2 that the
// command could not do its work.
const (
	exitWanting = 1
	exitFailure = 2
)

// errWanting ends a command whose output already says what is wrong.
var errWanting = errors.New("findings")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	a := &app{stdout: stdout, stderr: stderr}
	root := newRoot(a)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errWanting):
		return exitWanting
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "untold: interrupted; nothing was written under a final name")
		return exitFailure
	}
	fmt.Fprintln(stderr, a.paint(red, "error:"), oneLine(err.Error()))
	return exitCode(err)
}

// exitCode tells faults of the input from failures of the work.
func exitCode(err error) int {
	switch {
	case errors.Is(err, cook.ErrNothing), errors.Is(err, cook.ErrBadInput):
		return exitWanting
	case errors.Is(err, gltfscene.ErrMalformed), errors.Is(err, gltfscene.ErrUnsupported):
		return exitWanting
	case errors.As(err, new(*badFile)), errors.Is(err, texture.ErrDamaged):
		return exitWanting
	}
	return exitFailure
}
