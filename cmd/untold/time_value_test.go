package main

import (
	"io"
	"testing"
	"time"
)

// TestTimesAreSpelledAlike: the same time is written alike for every command, in
// seconds or with a unit, and what is neither is refused.
func TestTimesAreSpelledAlike(t *testing.T) {
	flags := map[string][]string{
		"simulate": {"dt", "parse-time", "duration"},
		"preview":  {"fixed-dt", "latency", "duration"},
		"serve":    {"retry-after", "read-timeout"},
	}
	a := &app{stdout: io.Discard, stderr: io.Discard}
	for _, cmd := range newRoot(a).Commands() {
		for _, name := range flags[cmd.Name()] {
			f := cmd.Flags().Lookup(name)
			if f == nil {
				t.Fatalf("%s has no --%s", cmd.Name(), name)
			}
			for _, text := range []string{"0.05", "50ms", " 50ms ", "5e-2"} {
				if err := f.Value.Set(text); err != nil || f.Value.String() != "50ms" {
					t.Errorf("%s --%s %q: %v, %v", cmd.Name(), name, text, f.Value, err)
				}
			}
			for _, text := range []string{"", "soon", "-1", "-1s", "NaN", "1e10", "+Inf", "3e6h", "5 minutes"} {
				if err := f.Value.Set(text); err == nil {
					t.Errorf("%s --%s takes %q as %v", cmd.Name(), name, text, f.Value)
				}
			}
		}
	}
	if d, err := parseTime("0.016666667"); err != nil || d != 16666667*time.Nanosecond {
		t.Error(d, err)
	}
	if r := execute(t, nil, "simulate", scenario("d01"), "--dt", "0.1", "--check"); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
