package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook/diff"
	"github.com/untoldkit/untold/internal/boxscene"
	"github.com/untoldkit/untold/internal/testfile"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// executeIn is execute in a folder, so that output holds no path of the machine.
func executeIn(t *testing.T, dir string, args ...string) result {
	t.Helper()
	cmd := exec.Command(underTest(t), args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// golden compares a text with testdata/diff.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "diff", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		testfile.Write(t, path, got)
		return
	}
	if d := cmp.Diff(string(testfile.Read(t, path)), got); d != "" {
		t.Errorf("%s (-update rewrites it):\n%s", path, d)
	}
}

// street is a scene of boxes of two materials, of which edit may change all.
func street(t *testing.T, dir, name string, edit func(boxes []boxscene.Box, materials []boxscene.Object) []boxscene.Box, args ...string) {
	t.Helper()
	type m = boxscene.Object
	var boxes []boxscene.Box
	for i := range 12 {
		boxes = append(boxes, boxscene.Box{Name: "Box_" + string(rune('A'+i)), At: [3]float64{float64(i)*10 + 5, 0.5, -5}})
	}
	materials := []m{{"name": "Paint", "pbrMetallicRoughness": m{"baseColorFactor": []float64{0.8, 0.2, 0.1, 1}, "roughnessFactor": 0.5}}}
	if edit != nil {
		boxes = edit(boxes, materials)
	}
	s := boxscene.New(boxes...)
	s.Primitive["material"] = 0
	s.Root["materials"] = materials
	testfile.Write(t, filepath.Join(dir, "street.gltf"), s.Bytes())
	args = append([]string{"cook", "street.gltf", "-o", name, "--tile-size", "30", "--sync=false", "-q"}, args...)
	if r := executeIn(t, dir, args...); r.code != 0 {
		t.Fatal(r.err)
	}
}

func TestDiff(t *testing.T) {
	dir := t.TempDir()
	street(t, dir, "old", nil)
	street(t, dir, "new", func(boxes []boxscene.Box, _ []boxscene.Object) []boxscene.Box {
		boxes[1].At[0] += 2.5                                                           // within its tile
		boxes = append(boxes[:4], boxes[5:]...)                                         // out of the second
		return append(boxes, boxscene.Box{Name: "Kiosk", At: [3]float64{75, 0.5, -20}}) // into the third
	})
	street(t, dir, "painted", func(boxes []boxscene.Box, materials []boxscene.Object) []boxscene.Box {
		materials[0]["pbrMetallicRoughness"].(boxscene.Object)["baseColorFactor"] = []float64{0.1, 0.2, 0.8, 1}
		return boxes
	})
	street(t, dir, "levels", nil, "--hlod-level", "_hlod:0.9:0.4", "--lod-min-triangles", "4")
	street(t, dir, "nearer", nil, "--hlod-level", "_hlod:0.6:0.4", "--lod-min-triangles", "4")
	street(t, dir, "more", nil, "--lod-level", "0.3:0.5", "--hlod=false", "--lod-min-triangles", "4")
	street(t, dir, "wide", nil, "--tile-size", "60")
	for _, c := range []struct {
		name, args string
		code       int
	}{
		{"same", "old old", 0},
		{"edited", "old new", 1},
		{"limited", "old new --limit 1", 1},
		{"painted", "old painted", 1},
		{"only", "old painted --only materials", 1},
		{"only-other", "old painted --only textures,levels", 0},
		{"levels", "levels more", 1},
		{"distances", "levels nearer", 1},
		{"wide", "old wide", 1},
		{"manifests", "old/street.json new/street.json --manifest-only", 1},
		{"container", "old/tiles/tile_0_0_0.untold new/tiles/tile_0_0_0.untold", 1},
	} {
		r := executeIn(t, dir, append([]string{"diff"}, strings.Fields(c.args)...)...)
		if r.code != c.code || r.err != "" {
			t.Errorf("diff %s: exit %d, want %d: %s", c.args, r.code, c.code, r.err)
		}
		golden(t, c.name+".txt", r.stdout)
		quiet := executeIn(t, dir, append([]string{"diff", "--quiet"}, withoutLimit(strings.Fields(c.args))...)...)
		if quiet.code != c.code || quiet.stdout+quiet.err != "" {
			t.Errorf("diff --quiet %s: exit %d, %q %q", c.args, quiet.code, quiet.stdout, quiet.err)
		}
		var first string
		for _, jobs := range []string{"1", "3"} {
			j := executeIn(t, dir, append([]string{"diff", "--json", "-j", jobs}, withoutLimit(strings.Fields(c.args))...)...)
			var got diff.Result
			if err := json.Unmarshal([]byte(j.stdout), &got); err != nil || j.code != c.code || got.Differ != (c.code == 1) {
				t.Errorf("diff --json %s: exit %d, %v: %s", c.args, j.code, err, j.err)
			}
			if first == "" {
				first = j.stdout
			} else if first != j.stdout {
				t.Errorf("diff --json %s depends on --jobs", c.args)
			}
		}
	}
	golden(t, "edited.json", executeIn(t, dir, "diff", "old", "new", "--json").stdout)
}

// withoutLimit takes --limit off, which goes with text.
func withoutLimit(args []string) []string {
	if n := len(args) - 2; args[n] == "--limit" {
		return args[:n]
	}
	return args
}

// TestDiffErrors: exit codes and messages of what cannot be compared.
func TestDiffErrors(t *testing.T) {
	dir := t.TempDir()
	street(t, dir, "old", nil)
	street(t, dir, "bad", nil)
	tile := filepath.Join("tiles", "tile_0_0_0.untold")
	data := testfile.Read(t, filepath.Join(dir, "bad", tile))
	testfile.Write(t, filepath.Join(dir, "bad", tile), data[:len(data)/2])
	street(t, dir, "lost", nil)
	if err := os.Remove(filepath.Join(dir, "lost", tile)); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(dir, "broken.json"), "{")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"old", 2, "untold diff takes A and B, not 1 argument (see untold diff --help)"},
		{"old old old", 2, "untold diff takes A and B, not 3 arguments"},
		{"old none", 2, "none does not exist"},
		{"old street.gltf", 2, "street.gltf is a glTF scene, and diff compares what is cooked: untold cook street.gltf -o "},
		{"old https://example.com/city.json", 2, "download the scenes"},
		{"old old/tiles/tile_0_0_0.untold", 2, "a container and a scene cannot be compared"},
		{"old old --tolerance -1", 2, "--tolerance is -1; use metres from 0 on"},
		{"old old --only trees", 2, `--only is "trees"; use tiles, levels, nodes, materials, textures, settings`},
		{"old old --json --limit 3", 2, "--limit"},
		{"old old --quiet --json", 2, "--json"},
		{"old/tiles/tile_0_0_0.untold old/tiles/tile_0_0_0.untold --manifest-only", 2, "--manifest-only"},
		{"old broken.json", 1, "broken.json"},
		{"old bad", 1, "tile_0_0_0.untold: "},
		{"old/tiles/tile_0_0_0.untold bad/tiles/tile_0_0_0.untold", 1, "tile_0_0_0.untold: "},
		{"old lost", 2, filepath.Join("lost", tile) + " does not exist"},
	} {
		r := executeIn(t, dir, append([]string{"diff"}, strings.Fields(c.args)...)...)
		if r.code != c.code || !strings.Contains(r.err, c.want) || strings.Contains(r.err, "diff: ") {
			t.Errorf("diff %s: exit %d, want %d: %q lacks %q", c.args, r.code, c.code, r.err, c.want)
		}
	}
	r := executeIn(t, dir, "diff", "old", "lost")
	if !strings.Contains(r.stdout, "tile_0_0_0: could not be compared") || !strings.Contains(r.stdout, "3 same") {
		t.Errorf("what could be compared is not told:\n%s", r.stdout)
	}
}
