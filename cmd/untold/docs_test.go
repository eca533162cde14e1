package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// TestManPages: what stands in the help stands in the pages, and the same day gives
// the same bytes.
func TestManPages(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	dirs := []string{t.TempDir(), t.TempDir()}
	for _, dir := range dirs {
		var out, errs bytes.Buffer
		if code := run(t.Context(), []string{"docs", "man", "-o", dir}, &out, &errs); code != 0 {
			t.Fatal(code, errs.String())
		}
	}
	one, two := testfile.ReadTree(t, dirs[0]), testfile.ReadTree(t, dirs[1])
	for name := range one {
		if one[name] != two[name] {
			t.Errorf("%s differs the second time", name)
		}
	}
	if page := one["untold-cook.1"]; !strings.Contains(page, "DIR/<scene>") || !strings.Contains(page, "Nov 2023") {
		t.Error("untold-cook.1 lacks <scene> or its day")
	}
	if _, err := exec.LookPath("man"); err != nil {
		t.Skip(err)
	}
	// As people read them.
	for page, wants := range map[string][]string{
		"untold-cook.1":    {"DIR/<scene>.json", "'kit/*.glb'", "untold_tile_policy", "TIER=STREAMING,UNLOAD[,PRIORITY]", "_hlod:1:0.1"},
		"untold.1":         {"UNTOLD_<FLAG>", "UNTOLD_TILE_SIZE"},
		"untold-inspect.1": {"untold inspect tiles/tile_0_0_0.untold --chunk MESH_TABLE"},
	} {
		cmd := exec.Command("man", "-l", filepath.Join(dirs[0], page))
		cmd.Env = append(os.Environ(), "MANWIDTH=4000", "LC_ALL=C", "MANPAGER=cat", "GROFF_NO_SGR=1", "MANOPT=")
		out, err := cmd.Output()
		if err != nil {
			t.Skip(err)
		}
		text := strings.Join(strings.Fields(backspaces(string(out))), " ")
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("man %s lacks %q", page, want)
			}
		}
		if strings.Contains(text, `\\`) {
			t.Errorf("man %s has backslashes", page)
		}
	}
}

// backspaces drops what terminals write twice, for bold.
func backspaces(s string) string {
	var out []rune
	for _, r := range s {
		if r == '\b' && len(out) > 0 {
			out = out[:len(out)-1]
			continue
		}
		out = append(out, r)
	}
	return string(out)
}
