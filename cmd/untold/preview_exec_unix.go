//go:build unix

package main

import (
	"context"
	"fmt"
	"syscall"
)

// replaceProcess turns this process into another program.
func replaceProcess(_ context.Context, _ *app, path string, args, env []string) error {
	if err := syscall.Exec(path, append([]string{path}, args...), env); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
