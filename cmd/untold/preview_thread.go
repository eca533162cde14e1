//go:build cgo && !nopreview && darwin

package main

import "runtime"

// init keeps main on the first thread of the process, the only one that may
// talk to the window system of macOS.
func init() { runtime.LockOSThread() }
