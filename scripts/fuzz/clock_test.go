package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// What the engine of Go 1.26 prints, with the lines of both of its streams in
// the order in which they come.
const (
	progress = "fuzz: elapsed: 0s, gathering baseline coverage: 0/3 completed\n" +
		"fuzz: elapsed: 0s, gathering baseline coverage: 3/3 completed, now fuzzing with 2 workers\n" +
		"fuzz: elapsed: 3s, execs: 40304 (13431/sec), new interesting: 104 (total: 107)\n"
	deadline = "--- FAIL: FuzzA (3.20s)\n    context deadline exceeded\nFAIL\n"
)

func TestClockRanOut(t *testing.T) {
	for _, c := range []struct {
		name, output string
		before, now  []string // files in testdata/fuzz/FuzzA
		want         bool
	}{
		{"the clock", progress + deadline, nil, nil, true},
		{"the clock during the baseline", "fuzz: elapsed: 0s, gathering baseline coverage: 0/3 completed\n" + deadline, nil, nil, true},
		{"the clock, with committed inputs", progress + deadline, []string{"1", "2"}, []string{"1", "2"}, true},
		{"progress that comes last", "--- FAIL: FuzzA (3.20s)\n    context deadline exceeded\n" + progress + "FAIL\n", nil, nil, true},
		{"a new file", progress + deadline, []string{"1"}, []string{"1", "2"}, false},
		{"a new file in place of another", progress + deadline, []string{"1"}, []string{"2"}, false},
		{"another target", progress + strings.ReplaceAll(deadline, "FuzzA", "FuzzB"), nil, nil, false},
		{"no failure", progress + "PASS\n", nil, nil, false},
		{"nothing", "", nil, nil, false},
		{"an input that fails with these words", progress + "fuzz: minimizing 34-byte failing input file\nfuzz: elapsed: 0s, minimizing\n" +
			"--- FAIL: FuzzA (0.03s)\n    --- FAIL: FuzzA (0.00s)\n        a_test.go:8: context deadline exceeded\n    \n" +
			"    Failing input written to testdata/fuzz/FuzzA/771e938e4458e983\n    To re-run:\n    go test -run=FuzzA/771e938e4458e983\nFAIL\n", nil, nil, false},
		{"an input that panics with these words", progress + "--- FAIL: FuzzA (0.02s)\n    --- FAIL: FuzzA (0.00s)\n" +
			"        testing.go:1927: panic: context deadline exceeded\n            goroutine 116 [running]:\n    \n" +
			"    Failing input written to testdata/fuzz/FuzzA/771e938e4458e983\nFAIL\n", nil, nil, false},
		{"a seed that fails", "fuzz: elapsed: 0s, gathering baseline coverage: 0/1 completed\nfailure while testing seed corpus entry: FuzzA/seed#0\n" +
			"--- FAIL: FuzzA (0.01s)\n    --- FAIL: FuzzA (0.00s)\n        a_test.go:20: context deadline exceeded\n    \nFAIL\n", nil, nil, false},
		{"a worker that ended", progress + "--- FAIL: FuzzA (3.20s)\n    fuzzing process hung or terminated unexpectedly: exit status 2\n" +
			"    Failing input written to testdata/fuzz/FuzzA/1\nFAIL\n", nil, nil, false},
		{"a stack dump before it", "panic: runtime error: index out of range [1] with length 1\n" + deadline, nil, nil, false},
		{"a stack dump behind it", progress + deadline + "fatal error: out of memory\n", nil, nil, false},
		{"two failures", progress + deadline + deadline, nil, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := target{root: t.TempDir(), pkg: "a", name: "FuzzA"}
			for _, name := range c.now {
				write(t, x.committed(), name, "x")
			}
			if got := clockRanOut(x, []byte(c.output), c.before); got != c.want {
				t.Errorf("%t, want %t, of\n%s", got, c.want, c.output)
			}
		})
	}
}

// late is a runner whose clock always runs out.
type late struct{ fake }

func (l *late) fuzz(ctx context.Context, t target, d time.Duration) (int64, error) {
	n, _ := l.fake.fuzz(ctx, t, d)
	return n, fmt.Errorf("%w", errClock)
}

// TestClockIsNoFailure: the line of the target says it, and the run goes well.
func TestClockIsNoFailure(t *testing.T) {
	var text strings.Builder
	if err := once(t.Context(), &late{}, three(), &settings{total: time.Minute, dir: t.TempDir()}, &text); err != nil {
		t.Error(err)
	}
	if got := text.String(); strings.Count(got, " ok ") != 3 || strings.Count(got, "; "+errClock.Error()+"\n") != 3 || strings.Contains(got, "FAILED") {
		t.Errorf("said %q", got)
	}
}

func script(t *testing.T, path, text string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("runs a shell script")
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestOutputOfTheClock runs a program in place of a test that ends as the engine
// does, with and without a failing input.
func TestOutputOfTheClock(t *testing.T) {
	root := t.TempDir()
	x := target{root: root, pkg: "a", name: "FuzzA"}
	bin := t.TempDir()
	r := &goRunner{dir: t.TempDir(), bin: bin, out: io.Discard}
	for _, c := range []struct {
		name, script string
		clock        bool
	}{
		{"the clock", "", true},
		{"an input", "mkdir -p testdata/fuzz/FuzzA; echo x > testdata/fuzz/FuzzA/1\n", false},
		{"the clock beside an input of before", "", true},
	} {
		write(t, root, "a/a_test.go", "package a\n")
		script(t, filepath.Join(bin, "a.test"), "cat <<END\n"+progress+deadline+"END\n"+c.script+"exit 1\n")
		n, err := r.fuzz(t.Context(), x, time.Second)
		if (err != nil && strings.Contains(err.Error(), errClock.Error())) != c.clock || err == nil || n != 40304 {
			t.Errorf("%s: %d, %v", c.name, n, err)
		}
	}
}
