package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestContainerVersionFlag(t *testing.T) {
	dir := cooked(t, "--tile-size", "25", "--container-version", "2")
	r := execute(t, nil, "inspect", filepath.Join(dir, "tiles", "tile_0_0_0.untold"))
	if r.code != 0 || !strings.Contains(r.stdout, "format version 2") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	if r := execute(t, nil, "validate", dir, "--strict"); r.code != 0 {
		t.Errorf("validate: exit %d: %s", r.code, r.stdout)
	}
	for _, v := range []string{"0", "5"} {
		if r := execute(t, nil, "cook", yard(t), "-o", t.TempDir(), "--container-version", v); r.code != exitFailure || !strings.Contains(r.err, "--container-version is "+v+"; use 1 to 4") {
			t.Errorf("%s: exit %d: %s", v, r.code, r.err)
		}
	}
}
