package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/untoldkit/untold/internal/fuzzbound"
	"github.com/untoldkit/untold/internal/testfile"
)

// FuzzProfile puts any bytes beside a scene that cannot be cooked, as the
// untold.yaml that cook, simulate and preview read: the commands end with one
// line that says what is wrong, and no file is made or changed anywhere near.
func FuzzProfile(f *testing.F) {
	for _, s := range []string{
		"tile-size: 50\ncompress: auto\n",
		"lod: true\nlod-level: [0.3:0.5, 0.78:0.2]\n",
		"tile_size: 5\njobs: 1\n# a comment\n---\nsecond: document\n",
		"report: ../report.html\noutput: ../other\nallow-parent-paths: true\n",
		"set: {maxQueryRadius: 100}\nmaxQueryRadius: 1e999\n",
		"a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\ntile-size: *c\n",
		"&a tile-size: *a\n",
		"<<: {tile-size: 4}\n",
		"? [tile-size]\n: 5\n",
		"tile-size: !!binary AAAA\n",
		"fail-if: [tiles>9, \"undrawn>0, warnings>1\", tile_bytes>1]\n", "fail-if: " + strings.Repeat("x", 3000) + ">1\n", "fail-if: [" + strings.Repeat("undrawn>0,", 300) + "]\n",
		"tile-size: |\n  50\n",
		"{tile-size: 25, tile-size: 26}\n",
		"[1, 2]", "", "\ufeff", "tile-size", "\xff\xfe", "%YAML 9.9\n---\n", "x: \"\\\n", "help: true\n", "config: untold.yaml\n", "UNTOLD: 1\n",
		strings.Repeat("[", 2000), strings.Repeat("a: ", 500), "tile-size: " + strings.Repeat("9", 400) + "\n",
	} {
		f.Add([]byte(s), uint8(len(s)))
	}
	f.Fuzz(func(t *testing.T, profile []byte, which uint8) {
		top := t.TempDir()
		dir := filepath.Join(top, "scene")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		scene := filepath.Join(dir, "x.gltf")
		for path, data := range map[string][]byte{scene: []byte(`{"asset":{"version":"3.0"}}`), filepath.Join(dir, profileName): profile} {
			testfile.Write(t, path, data)
		}
		args := [][]string{
			{"cook", scene, "-o", filepath.Join(top, "out")},
			{"convert", scene, "-o", filepath.Join(top, "out.untold")},
			{"simulate", scene},
		}[which%3]
		var stdout, stderr bytes.Buffer
		code := -1
		fuzzbound.Run(t, len(profile), fuzzbound.Limits{Alloc: 32 << 20, PerByte: 5000}, func() {
			code = run(context.Background(), args, &stdout, &stderr)
		})
		lines := strings.Split(strings.TrimSuffix(stderr.String(), "\n"), "\n")
		last := lines[len(lines)-1]
		if code != exitWanting && code != exitFailure || !strings.Contains(last, "error:") || !utf8.ValidString(last) || len(last) > 5000 {
			t.Fatalf("%s: exit code %d, said %q", args[0], code, stderr.String())
		}
		err := filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
			if err == nil && path != top && path != dir && filepath.Dir(path) != dir {
				t.Fatalf("%s was made", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, profileName)); err != nil || !bytes.Equal(got, profile) {
			t.Fatal("the profile was changed", err)
		}
	})
}
