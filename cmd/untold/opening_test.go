package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A modelled network brings a manifest after its latency, as few bytes as gzip makes of it.
func TestOpeningOver(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(file, []byte(strings.Repeat("the same ", 100_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bandwidth float64
		latency   time.Duration
		path      string
		least     time.Duration
		most      time.Duration
	}{
		{0, 0, file, 0, 0},
		{0, time.Second, file, time.Second, time.Second},
		{1e3, time.Second, "", time.Second, time.Second},
		{1e3, time.Second, file, 2 * time.Second, 10 * time.Second}, // 900 s as it is
	} {
		got, err := openingOver(c.bandwidth, c.latency, c.path)
		if err != nil || got < c.least || got > c.most {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
	if _, err := openingOver(1, 0, filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("a manifest that is not there has a size")
	}
}
