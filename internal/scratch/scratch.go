// Package scratch makes temporary files for what does not fit into memory.
package scratch

import (
	"os"
	"runtime"
)

// File makes a temporary file, in the folder that the environment names, whose name
// begins with prefix. Close removes it; where the system allows it, the name is gone at
// once, so that a killed process leaves nothing behind.
func File(prefix string) (*os.File, error) {
	f, err := os.CreateTemp("", prefix)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" { // which cannot remove an open file
		os.Remove(f.Name())
	}
	return f, nil
}

// Close closes and removes files of File.
func Close(list ...*os.File) {
	for _, f := range list {
		f.Close()
		os.Remove(f.Name())
	}
}
