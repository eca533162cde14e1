package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// TestMemoryAt reads copies of system files: a control group's limit counts
// where it is less than what the machine has.
func TestMemoryAt(t *testing.T) {
	for tree, want := range map[string]int64{"bare": 12 << 30, "v2": 640 << 20, "no such tree": 0} {
		if got := memoryAt(filepath.Join("..", "..", "runtime", "memory", "testdata", tree)); got != want {
			t.Errorf("%s: %d bytes, want %d", tree, got, want)
		}
	}
}

// TestMemoryAtSwap: a machine's free swap space counts as well.
func TestMemoryAtSwap(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "proc"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "MemTotal: 4096 kB\nMemAvailable: 3072 kB\nSwapTotal: 9999 kB\nSwapFree: 1024 kB\n"
	testfile.Write(t, filepath.Join(root, "proc", "meminfo"), text)
	if got := memoryAt(root); got != 4<<20 {
		t.Errorf("%d bytes, want 4 MiB", got)
	}
}

// TestCollectWithin: the collector keeps to nine tenths of what there is, unless the
// environment says what it should keep to.
func TestCollectWithin(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Setenv("GOMEMLIMIT", "")
	undo := collectWithin(1000 << 20)
	if got := debug.SetMemoryLimit(-1); got != 900<<20 {
		t.Errorf("limit %d", got)
	}
	undo()
	t.Setenv("GOMEMLIMIT", "10GiB")
	collectWithin(1000 << 20)()
	t.Setenv("GOMEMLIMIT", "")
	collectWithin(0)()
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("limit %d is left, %d was set", got, before)
	}
}

// TestMaxTriangles: both commands refuse a scene beyond the limit, name the
// flag, and take any number when told so.
func TestMaxTriangles(t *testing.T) {
	scene := testfile.Write(t, filepath.Join(t.TempDir(), "boxes.glb"), boxScene(4))
	for _, c := range []struct {
		limit string
		code  int
	}{{"1", 2}, {"-1", 0}, {"0", 0}} {
		for _, args := range [][]string{{"cook", scene, "-o", t.TempDir()}, {"convert", scene, "-o", filepath.Join(t.TempDir(), "a.untold")}} {
			r := execute(t, nil, append(args, "--max-triangles", c.limit)...)
			if r.code != c.code || c.code != 0 && !strings.Contains(r.err, "the limit is 1 (divide the scene, or raise --max-triangles)") {
				t.Errorf("%s --max-triangles %s: exit %d, %s", args[0], c.limit, r.code, r.err)
			}
		}
	}
}
