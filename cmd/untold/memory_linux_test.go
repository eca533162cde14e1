package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// TestAddressSpace: of a limit of address space three quarters count of what is not
// taken yet; without a limit nothing does.
func TestAddressSpace(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "proc", "self"), 0o755); err != nil {
		t.Fatal(err)
	}
	taken := fmt.Sprintf("%d 1 1 1 0 1 0\n", (1<<30)/os.Getpagesize())
	testfile.Write(t, filepath.Join(root, "proc", "self", "statm"), taken)
	const infinity = math.MaxUint64 // syscall.RLIM_INFINITY
	for limit, want := range map[uint64]int64{3 << 30: 3 << 29, 1 << 30: 1, 1 << 20: 1, infinity: math.MaxInt64} {
		if got := spaceWithin(limit, root); got != want {
			t.Errorf("limit %d: %d bytes, want %d", limit, got, want)
		}
	}
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &l); err == nil && l.Cur > math.MaxInt64 && addressSpace("/") != math.MaxInt64 {
		t.Error("a limit is found where there is none")
	}
}
