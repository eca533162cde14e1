package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/preview"
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
		{"cook", "--lod=false --lod-level 10:0.5", "lod-level"},
		{"cook", "--hlod=false --hlod-level _h:10:0.5", "hlod-level"},
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
	// What only the scene decides is a note.
	if r := execute(t, nil, "cook", scene, "--dry-run", "--hlod-atlas"); r.code != 0 || !strings.Contains(r.err, "note: --hlod-atlas has no effect: the scene is small enough to be whole") {
		t.Errorf("exit %d: %s", r.code, r.err)
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

// TestFlagsWithoutEffectElsewhere is TestFlagsWithoutEffect for the commands
// that show and judge.
func TestFlagsWithoutEffectElsewhere(t *testing.T) {
	manifest := cooked(t)
	tiles, err := filepath.Glob(filepath.Join(manifest, "tiles", "tile_*[0-9].untold"))
	if err != nil || len(tiles) == 0 {
		t.Fatal(tiles, err)
	}
	tile := tiles[0]
	scenario := filepath.Join("..", "..", "testdata", "simulate", "d01.json")
	path := testfile.Write(t, filepath.Join(t.TempDir(), "path.json"), `{"camera": [{"t": 0, "position": [0, 0, 0]}, {"t": 0.1, "position": [1, 0, 0]}]}`)
	server := []string{"--allow-insecure-http", "--max-manifest 1M"}
	visit := append([]string{"--max-download 1G", "--timeout 3s"}, server...)
	stream := append([]string{"--cache-dir x", "--cache-budget 1G", "--ranges off"}, server...)
	export := "-o " + filepath.Join(t.TempDir(), "x.glb")
	for _, c := range []struct {
		command string
		refused []string // the flag comes first
		taken   []string
	}{
		{"simulate " + manifest + " --duration 0.05", append([]string{"--check", "--speed 5 --camera-path " + path}, stream...), []string{"--speed 5", "--speed 5 --orbit", "--ranges off --latency 1ms", "--walk 3 --parse-time 0.1"}},
		{"simulate " + scenario, []string{"--speed 5", "--cache-dir x"}, []string{"--check", "--parse-time 1"}},
		{"preview " + manifest + " --headless --frames 1", append([]string{"--fps 30 --fixed-dt 0.1", "--speed 3", "--speed 3 --camera-path " + path}, stream...), nil},
		{"preview " + manifest, []string{"--fps 30"}, nil},
		{"validate " + manifest, append([]string{"--max-files 3"}, visit...), []string{"--json", "--json --format json", "--max-findings 3 --strict"}},
		{"inspect " + manifest, append([]string{"--limit 3 --json"}, visit...), []string{"--limit 3", "--json"}},
		{"inspect " + tile, []string{"--json --raw --chunk VERTEX_DATA", "--json --hex --chunk VERTEX_DATA"}, []string{"--raw --chunk VERTEX_DATA", "--stats --json"}},
		{"export " + tile + " " + export, []string{"--levels hlod", "--pyramid-level 1"}, nil},
		{"export " + manifest + " " + export, nil, []string{"--levels full"}},
	} {
		run := func(args string) result { return execute(t, nil, strings.Fields(c.command+" "+args)...) }
		if strings.HasPrefix(c.command, "preview") {
			if !preview.Available {
				continue
			}
			run = func(args string) result { return here(t, strings.Fields(c.command+" "+args)...) }
		}
		for _, args := range c.refused {
			if r := run(args); r.code != 2 || !strings.Contains(r.err, "error: "+strings.Fields(args)[0]+" has no effect: ") {
				t.Errorf("%s %s: exit %d: %s", c.command, args, r.code, r.err)
			}
		}
		for _, args := range c.taken {
			if r := run(args); r.code != 0 && !strings.Contains(args, "--check") {
				t.Errorf("%s %s: exit %d: %s", c.command, args, r.code, r.err)
			}
		}
	}
	// What stands in the environment is for several commands.
	if r := execute(t, []string{"UNTOLD_CACHE_DIR=x"}, "simulate", manifest, "--duration", "0.05"); r.code != 0 || strings.Contains(r.err, "no effect") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	for _, command := range []string{"validate", "inspect"} {
		if r := execute(t, nil, command, manifest, "--json", "--format", "text"); r.code != 2 || !strings.Contains(r.err, "excludes --format text") {
			t.Errorf("%s: exit %d: %s", command, r.code, r.err)
		}
	}
}

// TestFlagsThatExclude: of flags that would hide each other one is taken, and a
// report does not take the place of what it reports on.
func TestFlagsThatExclude(t *testing.T) {
	manifest := cooked(t)
	tiles, err := filepath.Glob(filepath.Join(manifest, "tiles", "tile_*[0-9].untold"))
	if err != nil || len(tiles) == 0 {
		t.Fatal(tiles, err)
	}
	scene, out := yard(t), filepath.Join(t.TempDir(), "yard.json")
	for args, want := range map[string]string{
		"inspect " + tiles[0] + " --chunk VERTEX_DATA --mesh 0":                 "show one thing each",
		"inspect " + tiles[0] + " --mesh 0 --stats":                             "show one thing each",
		"inspect " + tiles[0] + " --strings --stats":                            "show one thing each",
		"inspect " + manifest + " --stats":                                      "go with a container",
		"inspect " + manifest + " --strings":                                    "go with a container",
		"convert " + scene + " -o " + out + " --report " + out:                  "is where the container goes",
		"convert " + scene + " -o " + out + " --textures copy --max-texture 64": "--max-texture goes with",
		"convert " + scene + " -o " + out + " --report " + out + ".html":        "it must end in",
		"convert " + scene + " -o " + out + " --file-type part":                 "use tile, lod, hlod or shared",
	} {
		if r := execute(t, nil, strings.Fields(args)...); r.code != 2 || !strings.Contains(r.err, want) {
			t.Errorf("%s: exit %d: %s", args, r.code, r.err)
		}
	}
	for _, args := range []string{"--merge", "--instances", "--scene 0", "--jobs 1", "--compress none", "--sync=false", "--max-triangles -1", "--json", "--report " + out + ".report.json"} {
		if r := execute(t, nil, strings.Fields("convert "+scene+" -o "+out+" "+args)...); r.code != 0 {
			t.Errorf("convert %s: exit %d: %s", args, r.code, r.err)
		}
	}
}
