//go:build !unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// replaceProcess runs another program and ends as it does.
func replaceProcess(ctx context.Context, a *app, path string, args, env []string) error {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, a.stdout, a.stderr, env
	// The console sends Ctrl-C to both; the other one ends by itself.
	cmd.Cancel = func() error { return nil }
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit) && exit.ExitCode() == exitWanting:
		return errFindings
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	}
	return fmt.Errorf("%s: %w", path, err)
}
