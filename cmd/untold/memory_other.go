//go:build !linux

package main

import "math"

// addressSpace returns math.MaxInt64: no limit is known.
func addressSpace(string) int64 { return math.MaxInt64 }
