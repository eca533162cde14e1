package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/cook/report"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
)

// yamlAsJSON reads settings as a schema sees them.
func yamlAsJSON(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return decoded(t, data)
}

// TestSettingsSchema: the schema of untold.yaml takes what cook takes, and refuses what
// it refuses.
func TestSettingsSchema(t *testing.T) {
	beside, named := compileSchema(t, "untold.yaml"), compileSchema(t, "config")
	scene := filepath.Join(t.TempDir(), "scene.glb") // nobody looks at it
	for _, c := range []struct {
		text           string
		beside, config bool // the schema of each kind of file takes it
		cook           bool // and so does cook, with --config
	}{
		{"tile-size: 25", true, true, true},
		{"partition: quadtree\nfloor-count: 3\ntier-radius: [\"RoomContents=10,20\"]", true, true, true},
		{"partition: octree", false, true, false}, // untold farm slurm has a --partition, too
		{"fail-if: [\"tile_bytes_max>200k\", \"undrawn>0, warnings>0\"]", true, true, true},
		{"fail-if: tile_bytes>200k", false, false, false},
		{"fail-if: tile_bytes_max=200k", false, false, false},
		{"pyramid: off", true, true, true},
		{"pyramid: maybe", false, false, false},
		{"whole-limit: 64000000", true, true, true},
		{"whole-limit: 64M", true, true, true},
		{"whole-limit: 64X", false, false, false},
		{"whole-limit: -1", false, false, false},
		{"compress: gzip", false, false, false},
		{"lod: false\nlod-level: [\"0.3:0.5\"]", true, true, true},
		{"lod:\n  bias: 2", true, true, true},
		{"lod:\n  blas: 2", false, false, false},
		{"lod.bias: 2\nhandoff: strict\nname: city\nnote: what it is", true, true, true},
		{"handoff: loose", false, false, true}, // cook leaves parameters to those who have them
		{"clip: 7", false, false, false},
		{"max-texture: large", false, true, false}, // export and preview have it, too
		{"output: out/city", false, true, true},
		{"cache:\n  dir: x", false, true, true},
		{"tile-sise: 25", false, false, false},
		{"container-version: 2", true, true, true},
		{"", true, true, true},
	} {
		doc := yamlAsJSON(t, c.text)
		if err := beside.Validate(doc); (err == nil) != c.beside {
			t.Errorf("untold.yaml: %q: %v", c.text, err)
		}
		if err := named.Validate(doc); (err == nil) != c.config && c.text != "max-texture: large" {
			t.Errorf("config: %q: %v", c.text, err)
		}
		if c.text == "lod:\n  blas: 2" {
			continue // found by simulate, which has the group
		}
		file := testfile.Write(t, filepath.Join(t.TempDir(), "c.yaml"), c.text)
		if err := judgeCook(t.Context(), scene, []string{"-o", "x"}, nil, file); (err == nil) != c.cook {
			t.Errorf("cook --config: %q: %v", c.text, err)
		}
	}
}

// TestFlagChoices: the values in the schema are those that cook takes.
func TestFlagChoices(t *testing.T) {
	beside := map[string][]string{ // flags without which one has no effect
		"floors": {"--partition", "quadtree"}, "kdtree-balance": {"--partition", "kdtree"},
		"astc-block": {"--textures", "astc"}, "texture-quality": {"--textures", "astc"},
	}
	floors := []string{"scene-profile", "tier-matching", "untagged-semantic-tier"}
	try := func(name, value string) error {
		flags := beside[name]
		if slices.Contains(floors, name) {
			flags = beside["floors"]
		}
		return judgeCook(t.Context(), "scene.obj", []string{"-o", "x"}, append(slices.Clone(flags), "--"+name+"="+value), "")
	}
	for _, name := range closedFlags {
		choices := flagValues[name]()
		for _, c := range choices {
			if err := try(name, c); err != nil {
				t.Errorf("--%s %s: %v", name, c, err)
			}
		}
		if name == "scene-profile" {
			continue // is looked at when there is a plan to make
		}
		err := try(name, "7777")
		if err == nil {
			t.Errorf("--%s takes any value", name)
			continue
		}
		// The message lists what there is: nothing that the schema lacks.
		for _, word := range regexp.MustCompile(`[A-Za-z0-9]+`).FindAllString(afterUse(err.Error()), -1) {
			if !slices.Contains(append([]string{"or", "and", "to", "use"}, choices...), word) {
				t.Errorf("--%s: %v, but the choices are %v", name, err, choices)
			}
		}
	}
	for _, name := range sceneSettings {
		if f := newCook(&app{}).Flags().Lookup(name); f == nil {
			t.Errorf("cook has no --%s", name)
		}
	}
}

// afterUse is what a message proposes.
func afterUse(message string) string {
	_, rest, _ := strings.Cut(message, "; use ")
	return rest
}

// TestParameterSchema: the default of every parameter fits its schema.
func TestParameterSchema(t *testing.T) {
	s := compileSchema(t, "config")
	for _, p := range config.Params() {
		text := fmt.Sprintf("%s: %s", p.Key, p.Default)
		if p.Default == "" {
			text = p.Key + `: ""`
		}
		if err := s.Validate(yamlAsJSON(t, text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestInitIsQuiet: a look is no cook, whose stages a log keeps.
func TestInitIsQuiet(t *testing.T) {
	scene := filepath.Join(t.TempDir(), "city.glb")
	testfile.Write(t, scene, testfile.Read(t, generated(t, "city", "-blocks", "4", "-textures=false")))
	if r := here(t, "init", scene); r.code != 0 || strings.Contains(r.err, "cook:") || !strings.Contains(r.stdout, "tiles of") {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.err)
	}
}

// TestInit: a scene gets a file that changes nothing, whose lines are settings.
func TestInit(t *testing.T) {
	scene := yard(t)
	file := filepath.Join(filepath.Dir(scene), profileName)
	r := here(t, "init", scene)
	if r.code != 0 || !strings.Contains(r.stdout, "12 objects, 144 triangles, 1 tile") {
		t.Fatalf("exit %d\n%s%s", r.code, r.stdout, r.err)
	}
	text := string(testfile.Read(t, file))
	for _, want := range []string{"Settings of yard.gltf", "12 objects, 144 triangles, 34 m x 1 m x 1 m", "no textures", "small enough to be whole", "#tile-size: ", "#  - warnings>0\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the file lacks %q:\n%s", want, text)
		}
	}
	if r := here(t, "init", scene); r.code != exitFailure || !strings.Contains(r.err, "is there already; --force replaces it") {
		t.Errorf("a second init: exit %d, %s", r.code, r.err)
	}
	testfile.Write(t, file, "tile-size: 3\n")
	if r := here(t, "init", scene, "--force"); r.code != 0 || string(testfile.Read(t, file)) != text {
		t.Errorf("--force: exit %d, %s\n%s", r.code, r.err, testfile.Read(t, file))
	}
	if r := here(t, "init", scene, "-o", "-"); r.code != 0 || r.stdout != text {
		t.Errorf("-o -: exit %d, %s\n%s", r.code, r.err, r.stdout)
	}
	if err := compileSchema(t, "untold.yaml").Validate(yamlAsJSON(t, text)); err != nil {
		t.Error(err)
	}

	// All lines are settings, and those that hold without them.
	before := here(t, "cook", scene, "-o", filepath.Join(t.TempDir(), "a"), "--json")
	set := regexp.MustCompile(`(?m)^#([a-zA-Z-]+: |fail-if:|  - )`).ReplaceAllString(text, "$1")
	if err := compileSchema(t, "untold.yaml").Validate(yamlAsJSON(t, set)); err != nil || !strings.Contains(set, "\ntile-size: ") || !strings.Contains(set, "\n  - warnings>0") {
		t.Errorf("%v\n%s", err, set)
	}
	testfile.Write(t, file, set)
	after := here(t, "cook", scene, "-o", filepath.Join(t.TempDir(), "a"), "--json")
	var a, b map[string]any
	if err := json.Unmarshal([]byte(before.stdout), &a); err != nil || json.Unmarshal([]byte(after.stdout), &b) != nil || before.code+after.code != 0 {
		t.Fatalf("%v: %s%s", err, before.err, after.err)
	}
	if fmt.Sprint(a["figures"]) != fmt.Sprint(b["figures"]) {
		t.Errorf("with all settings: %v\nwithout: %v", b["figures"], a["figures"])
	}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"init", "-"}, "download it first"},
		{[]string{"init", "https://example.com/a.glb"}, "download it first"},
		{[]string{"init", filepath.Join(t.TempDir(), "none.glb")}, "does not exist"},
	} {
		if r := here(t, tc.args...); r.code == 0 || !strings.Contains(r.err, tc.want) {
			t.Errorf("%v: exit %d, %s", tc.args, r.code, r.err)
		}
	}
}

// TestInitHostile: names of a foreign scene set nothing.
func TestInitHostile(t *testing.T) {
	const name = "x\ntile-size: 3\r\u2028lod: false\u0085up: z"
	m := &manifest.Manifest{SceneBounds: &manifest.Bounds{Max: [3]float64{40_000, 10, 40_000}}, OriginOffset: &[3]float64{1, 2, 3}}
	res := &cook.Result{
		Manifest: m, Plan: &cook.PlanSummary{}, Needs: &cook.Needs{}, Notes: []cook.Note{{Code: name, Message: name, Where: name, Warning: true}},
		Report: &report.Report{Objects: []report.Object{{Name: name, Dimensions: [3]float64{2000, 1, 1}}}},
	}
	var b bytes.Buffer
	look := lookAt(name+".obj", res)
	look.write(&b)
	for line := range strings.Lines(b.String()) {
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			t.Errorf("%q is a setting", line)
		}
	}
	if v := yamlAsJSON(t, b.String()); v != nil {
		t.Errorf("the file sets %v", v)
	}
	if look.guess != "mm" || !strings.Contains(b.String(), "are these millimetres?") || !strings.Contains(b.String(), "#units: m ") {
		t.Errorf("units: %q\n%s", look.guess, b.String())
	}
}

func TestInitGuesses(t *testing.T) {
	for _, c := range []struct {
		size, object float64
		want         string
	}{
		{800, 4, ""},
		{5000, 30, ""},
		{40_000, 2500, "mm"},
		{4000, 250, "cm"},
		{0.01, 0.01, "larger"},
		{0, 0, ""},
	} {
		if got := unitsGuess(c.size, c.object); got != c.want {
			t.Errorf("%v m of objects of %v m: %q, want %q", c.size, c.object, got, c.want)
		}
	}
	for n, want := range map[int64]string{0: "1k", 12: "1k", 1000: "2k", 81_000: "200k", 5_000_000: "8M", 40_000: "60k"} {
		if got := rounded(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// TestConfigShow: every source of a setting is named, and relative paths start at the
// file that has them.
func TestConfigShow(t *testing.T) {
	dir := t.TempDir()
	scene := testfile.Write(t, filepath.Join(dir, "yard.gltf"), boxScene(1))
	testfile.Write(t, filepath.Join(dir, "yard.json"), "{}")
	beside := testfile.Write(t, filepath.Join(dir, profileName), "name: yard\ntile-size: 12\nhandoff: strict\nlod:\n  bias: 2\nfail-if: [tiles>9, undrawn>0]\n")
	ci := testfile.Write(t, filepath.Join(dir, "ci", "ci.yaml"), "output: out\nreport: ../r.json\nstore: s3://b/p\ncache.dir: cache\n")
	show := func(args ...string) map[string]setting {
		t.Helper()
		r := here(t, append([]string{"config", "show", "--json"}, args...)...)
		var c shownConfig
		if err := json.Unmarshal([]byte(r.stdout), &c); err != nil || r.code != 0 {
			t.Fatalf("%v: exit %d, %v\n%s%s", args, r.code, err, r.stdout, r.err)
		}
		m := map[string]setting{"file": {Value: c.File}, "elsewhere": {Value: strings.Join(c.Elsewhere, " ")}}
		for _, s := range c.Settings {
			m[s.Name] = s
		}
		return m
	}
	t.Setenv("UNTOLD_TEXTURES", "bc")
	t.Setenv("UNTOLD_TILE_TRIANGLES", "9000")
	got := show(scene, "--", "--lod-height", "720", "--tile-triangles=5000")
	for name, want := range map[string][3]string{
		"tile-size": {"12", "file", beside + ":2"}, "textures": {"bc", "environment", "UNTOLD_TEXTURES"}, "lod-height": {"720", "flag", "--lod-height"},
		"tile-triangles": {"5000", "flag", "--tile-triangles"}, "fail-if": {"tiles>9,undrawn>0", "file", beside + ":6"}, "partition": {"grid", "default", ""},
		"lod": {"true", "default", ""}, "file": {beside, "", ""}, "elsewhere": {"handoff lod", "", ""},
	} {
		if s := got[name]; s.Value != want[0] || s.Source != want[1] || s.Where != want[2] {
			t.Errorf("%s: %+v, want %v", name, s, want)
		}
	}
	got = show(filepath.Join(dir, "yard.json"), "--for", "simulate", "--", "--set", "maxConcurrentTileLoads=7")
	for name, want := range map[string][3]string{
		"handoff": {"strict", "file", beside + ":3"}, "lod.bias": {"2", "file", beside + ":5"}, "maxConcurrentTileLoads": {"7", "flag", "--set"},
		"lod.hysteresis": {"5", "default", ""}, "fail-if": {"tiles>9,undrawn>0", "file", beside + ":6"}, "elsewhere": {"tile-size", "", ""},
	} {
		if s := got[name]; s.Value != want[0] || s.Source != want[1] || s.Where != want[2] {
			t.Errorf("simulate: %s: %+v, want %v", name, s, want)
		}
	}
	got = show(scene, "--config", ci)
	for name, want := range map[string]string{"output": filepath.Join(dir, "ci", "out"), "report": filepath.Join(dir, "r.json"), "store": "s3://b/p", "tile-size": "0"} {
		if s := got[name]; s.Value != want {
			t.Errorf("--config: %s: %+v, want %s", name, s, want)
		}
	}
	if s := show("--for", "simulate", "--config", ci)["cache.dir"]; s.Value != filepath.Join(dir, "ci", "cache") || s.Where != ci+":4" {
		t.Errorf("--config: %+v", s)
	}

	r := here(t, "config", "show", scene, "--changed")
	if r.code != 0 || !strings.Contains(r.stdout, "tile-size       12                 "+beside+":2\n") || strings.Contains(r.stdout, "partition") {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.err)
	}
	silent := testfile.Write(t, filepath.Join(dir, "silent", profileName), "# tile-size: 3\n")
	if r := here(t, "config", "show", filepath.Dir(silent), "--changed"); !strings.Contains(r.stdout, silent+", which sets nothing\n") {
		t.Errorf("%s%s", r.stdout, r.err)
	}
	bad := testfile.Write(t, filepath.Join(dir, "bad", profileName), "tile-sise: 3\n")
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{filepath.Dir(bad)}, `untold.yaml:1: unknown key "tile-sise"; did you mean "tile-size"?`},
		{[]string{scene, "--for", "bake"}, `--for is "bake"`},
		{[]string{scene, "other.glb"}, "one argument too many"},
		{[]string{scene, "--", "--tile-sise", "4"}, "tile-sise"},
		{[]string{scene, "--", "other.glb"}, "is no flag"},
		{[]string{"https://example.com/a.json"}, "name a file with --config"},
		{[]string{filepath.Join(dir, "none", "a.glb")}, "does not exist"},
	} {
		if r := here(t, append([]string{"config", "show"}, tc.args...)...); r.code != exitFailure || !strings.Contains(r.err, tc.want) {
			t.Errorf("%v: exit %d, %s", tc.args, r.code, r.err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "ci", "out")); err == nil {
		t.Error("showing settings has cooked")
	}
}
