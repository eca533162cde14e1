package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestFlagsWithoutEffect: a flag that would change nothing is refused with a
// sentence, and taken where it has an effect.
func TestFlagsWithoutEffect(t *testing.T) {
	scene, dir := yard(t), t.TempDir()
	for _, c := range []struct {
		command, args string
		flag          string // refused, "" for none
	}{
		{"cook", "--lod=false --hlod=false --lod-min-triangles 20", "lod-min-triangles"},
		{"cook", "--lod-fov 70", ""},
		{"cook", "--compat engine --lod-fov 70", "lod-fov"},
		{"cook", "--lod-height 2160", ""},
		{"cook", "--compat engine --lod-height 2160", "lod-height"},
		{"cook", "--compat engine --view-distance 400", "view-distance"},
		{"cook", "--lod-level 0.5:0.5 --whole-limit 0", "whole-limit"},
		{"cook", "--lod=false --hlod=false --whole-limit 0", "whole-limit"},
		{"cook", "--tile-size 5 --tile-triangles 100", "tile-triangles"},
		{"cook", "--tile-triangles 100 --whole-limit 0 --view-distance 400", ""},
		{"cook", "--lod=false --hlod=false --lod-max-error-pixels 3", "lod-max-error-pixels"},
		{"cook", "--lod=false --hlod=false --hlod-max-texture 64", "hlod-max-texture"},
		{"cook", "--hlod-max-texture 64 --lod --hlod=false", "hlod-max-texture"},
		{"cook", "--hlod-atlas --lod --hlod=false", "hlod-atlas"},
		{"cook", "--compat engine --lod --lod=false --lod-fov 70", "lod-fov"},
		{"cook", "--compat engine --lod --lod-max-error-pixels -1 --lod-fov 70", "lod-fov"},
		{"cook", "--clip=false --split-max-tiles 9", "split-max-tiles"},
		{"cook", "--compat engine --split-max-tiles 9", "split-max-tiles"},
		{"cook", "--lod --lod-min-triangles 20 --lod-fov 70 --lod-height 2160 --lod-max-error-pixels 3", ""},
		{"cook", "--hlod --hlod-max-texture 64 --hlod-atlas --lod-min-triangles 20", ""},
		{"cook", "--split-max-tiles 9", ""},
		{"cook", "--compat engine --clip --split-max-tiles 9", ""},
		{"cook", "--lod --lod-max-error-pixels -1 --lod-error-pixels 2 --lod-fov 70", ""},
		{"serve", "--fail-with abort", "fail-with"},
		{"serve", "--fail-status 500", "fail-status"},
		{"serve", "--retry-after 2", "retry-after"},
		{"serve", "--seed 7", "seed"},
		{"serve", "--fail-rate 0.5 --fail-with abort --retry-after 2", "retry-after"},
	} {
		args := append([]string{c.command, scene, "--dry-run"}, strings.Fields(c.args)...)
		if c.command == "serve" {
			args = append([]string{c.command, dir}, strings.Fields(c.args)...)
		}
		r := execute(t, nil, args...)
		if refused := strings.Contains(r.err, "error: --"+c.flag+" has no effect: "); c.flag != "" && (r.code != 2 || !refused) || c.flag == "" && r.code != 0 {
			t.Errorf("%s %s: exit %d: %s", c.command, c.args, r.code, r.err)
		}
	}
	// A file or a variable may be for several cooks: a note says so.
	beside(t, scene, "lod-fov: 70\n")
	r := execute(t, []string{"UNTOLD_HLOD_MAX_TEXTURE=64"}, "cook", scene, "-o", filepath.Join(dir, "o"), "--compat", "engine")
	for _, want := range []string{"note: the setting lod-fov has no effect", "note: the setting hlod-max-texture has no effect"} {
		if r.code != 0 || !strings.Contains(r.err, want) {
			t.Errorf("exit %d: %s", r.code, r.err)
		}
	}
}
