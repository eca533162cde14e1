package fuzzbound

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// recorder is a test that takes notes.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Helper()               {}
func (r *recorder) Name() string          { return "recorder" }

var kept []byte

func TestAllocation(t *testing.T) {
	for _, c := range []struct {
		size, alloc int
		failed      bool
	}{{0, 512 << 10, false}, {0, 8 << 20, true}, {1 << 20, 8 << 20, false}} {
		r := &recorder{TB: t}
		Run(r, c.size, Limits{Alloc: 4 << 20, PerByte: 10}, func() { kept = make([]byte, c.alloc) })
		if r.failed != c.failed {
			t.Errorf("%+v: failed is %v", c, r.failed)
		}
	}
}

// TestTime runs an input that does not end in a process of its own.
func TestTime(t *testing.T) {
	if os.Getenv("FUZZBOUND_HANGS") != "" {
		Run(t, 0, Limits{Alloc: 1 << 30, Time: time.Millisecond}, func() { select {} })
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestTime$")
	cmd.Env = append(os.Environ(), "FUZZBOUND_HANGS=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "TestTime: an input takes more than 1ms") || !strings.Contains(string(out), "fuzzbound.Run") {
		t.Errorf("%v\n%s", err, out)
	}
}
