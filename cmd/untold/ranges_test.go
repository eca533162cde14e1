package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// rowOfBoxes cooks a tile of many small objects whose file is not compressed,
// with radii much smaller than the tile.
func rowOfBoxes(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "row")
	scene := testfile.Write(t, filepath.Join(t.TempDir(), "row.gltf"), boxScene(500))
	r := execute(t, nil, "cook", scene, "-o", dir, "--tile-size", "10000", "--tier-radius", "ExteriorShell=60,90", "--merge=false", "--compress", "none")
	if r.code != 0 {
		t.Fatalf("cook: exit %d: %s", r.code, r.err)
	}
	return dir
}

// TestSimulateRanges streams a tile in parts over a bad network, again from the
// cache without asking for it, and whole.
func TestSimulateRanges(t *testing.T) {
	t.Parallel()
	s := startServe(t, rowOfBoxes(t), "--latency", "2ms", "--fail-rate", "0.05", "--fail-with", "status,abort", "--seed", "3")
	type network struct {
		Network struct {
			Requests, Conditional int64
			PartialFiles          int64 `json:"partial_files"`
			BytesSaved            int64 `json:"bytes_saved"`
			BytesFetched          int64 `json:"bytes_fetched"`
			RangeRequests         int64 `json:"range_requests"`
		}
		Undrawn, Loads float64
	}
	path := testfile.Write(t, filepath.Join(t.TempDir(), "still.json"), []byte(`{"camera": [{"t": 0, "position": [18, 1, 6], "forward": [0, 0, -1]}]}`))
	run := func(cache string, flags ...string) network {
		t.Helper()
		r := execute(t, nil, append([]string{"simulate", s.scenes[0], "--cache-dir", cache, "--json", "--camera-path", path, "--duration", "6s", "--set", "enableFrustumGate=false", "--fail-if", "undrawn>0"}, flags...)...)
		var n network
		if err := json.Unmarshal([]byte(r.stdout), &n); r.code != 0 || err != nil {
			t.Fatalf("exit %d: %v\n%s%s", r.code, err, r.stdout, r.err)
		}
		return n
	}
	parts, whole := t.TempDir(), t.TempDir()
	first := run(parts)
	if n := first.Network; n.PartialFiles != 1 || n.BytesSaved == 0 || n.RangeRequests < 2 {
		t.Errorf("%+v", first)
	}
	again := run(parts)
	if n := again.Network; n.Requests != 1 || n.Conditional != 1 || n.PartialFiles != 1 || n.BytesSaved != first.Network.BytesSaved || n.BytesFetched != 0 {
		t.Errorf("again: %+v", again)
	}
	off := run(whole, "--ranges", "off")
	if n := off.Network; n.PartialFiles != 0 || n.BytesSaved != 0 || n.BytesFetched <= first.Network.BytesFetched {
		t.Errorf("off: %+v, with ranges %+v", off, first)
	}
	r := execute(t, nil, "cache", "stat", "--cache-dir", parts)
	if r.code != 0 || !strings.Contains(r.stdout, "in parts  1 of them") {
		t.Errorf("exit %d: %s", r.code, r.stdout)
	}
	if r = execute(t, nil, "cache", "ls", "--cache-dir", parts); !strings.Contains(r.stdout, " of ") {
		t.Error(r.stdout)
	}
	if r = execute(t, nil, "cache", "verify", "--cache-dir", parts); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.stdout)
	}
	// A damaged part is found, removed, and comes again.
	list, err := filepath.Glob(filepath.Join(parts, "*.part"))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	f, err := os.OpenFile(list[0], os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("x"), 99); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if r = execute(t, nil, "cache", "verify", "--cache-dir", parts); r.code != 1 || !strings.Contains(r.stdout, "1 damaged") {
		t.Errorf("exit %d: %s", r.code, r.stdout)
	}
	if n := run(parts).Network; n.PartialFiles != 1 || n.RangeRequests == 0 {
		t.Errorf("after the damage: %+v", n)
	}
	if r = execute(t, nil, "simulate", s.scenes[0], "--ranges", "some"); r.code != 2 || !strings.Contains(r.err, "neither auto nor off") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
