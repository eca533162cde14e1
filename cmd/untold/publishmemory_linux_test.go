package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/publish"
	"github.com/untoldkit/untold/internal/testfile"
)

// TestPublishWithinMemory: containers that decode to more together than --memory are
// compressed within it, by what the kernel counts; one that would take more by itself is sent
// as it was cooked, which text and JSON tell.
func TestPublishWithinMemory(t *testing.T) {
	untold := underTest(t)
	base := t.TempDir()
	scene, dir := filepath.Join(base, "terrain.glb"), filepath.Join(base, "terrain")
	writeTerrain(t, scene, 4, 900) // 6.5 million triangles in 16 tiles
	cook := exec.Command(untold, "cook", scene, "-o", dir, "-q", "--sync=false", "--tile-size", "250", "--lod=false", "--hlod=false", "--pyramid=off", "--compress", "lz4", "--instances=false")
	if out, err := cook.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const memory = 256 << 20
	peak := func(args ...string) int64 {
		t.Helper()
		cmd := exec.Command(os.Args[0], append([]string{untold, "publish", dir, "-q", "--compress", "delta", "-j", "8"}, args...)...)
		cmd.Env = append(os.Environ(), asParent+"=1", "GOMAXPROCS=8")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		n, err := strconv.ParseInt(lines[len(lines)-1], 10, 64)
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return n
	}
	all, within := filepath.Join(base, "all"), filepath.Join(base, "within")
	most, bound := peak(all, "--memory", "16GiB"), peak(within, "--memory", fmt.Sprint(memory))
	t.Logf("peak %d MiB, within --memory %d MiB", most>>20, bound>>20)
	if bound > memory {
		t.Errorf("%d MiB are resident, --memory is %d MiB", bound>>20, memory>>20)
	}
	if most <= memory {
		t.Errorf("%d MiB are resident without a bound: the scene is too small", most>>20)
	}
	if fmt.Sprint(testfile.ReadTree(t, all)) != fmt.Sprint(testfile.ReadTree(t, within)) {
		t.Error("other bytes")
	}
	r := execute(t, nil, "publish", dir, filepath.Join(base, "none"), "--compress", "delta", "--memory", "1MB", "--json")
	var report publish.Report
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != 0 {
		t.Fatalf("exit %d, %v: %s", r.code, err, r.err)
	}
	if report.TooLarge != 16 || report.TooLargeBytes != report.Bytes || len(report.Notes) != 1 || !strings.Contains(r.err, "warning: 16 containers (") {
		t.Errorf("%d containers (%d bytes of %d): %q, %s", report.TooLarge, report.TooLargeBytes, report.Bytes, report.Notes, r.err)
	}
}
