package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/internal/testfile"
)

// untold is the binary under test, built once without cgo; underTest is it for a test.
var untold string

// underTest returns the binary under test. Tests that start it are left out with -short, by
// which make test runs them with the race detector: there is none in that binary.
func underTest(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts the program, which has no race detector")
	}
	return untold
}

// asProgram names the variable that makes the binary of the tests the program.
const asProgram = "UNTOLD_TEST_AS_PROGRAM"

// asParent says that a test binary runs a program and prints how much of it was resident
// at most. What the kernel counts of a new process begins with what its parent has, and the
// tests' own process is large by then.
const asParent = "UNTOLD_TEST_AS_PARENT"

var printPeak func(args []string) int // nil where it is not told

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Unsetenv(asProgram)
		main()
		os.Exit(0)
	}
	if os.Getenv(asParent) != "" {
		os.Unsetenv(asParent)
		os.Exit(printPeak(os.Args[1:]))
	}
	if slices.ContainsFunc(os.Args, func(s string) bool { return strings.HasPrefix(s, "-test.fuzz") }) {
		os.Exit(m.Run()) // targets run the program in their own process
	}
	dir, err := os.MkdirTemp("", "untold-test-*")
	if err != nil {
		panic(err)
	}
	untold = filepath.Join(dir, "untold")
	if flag.Parse(); !testing.Short() {
		// The flags are those of make static, which need not compile again then.
		build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w -buildid=", "-o", untold, ".")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			panic(string(out))
		}
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// result is what a run of the binary left.
type result struct {
	code        int
	stdout, err string
}

func execute(t *testing.T, env []string, args ...string) result {
	t.Helper()
	cmd := exec.Command(underTest(t), args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Env = append(os.Environ(), env...)
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// cooked cooks the small yard and returns its output folder.
func cooked(t *testing.T, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "yard")
	r := execute(t, nil, append([]string{"cook", yard(t), "-o", dir, "--sync=false"}, args...)...)
	if r.code != 0 {
		t.Fatalf("cook: exit %d: %s", r.code, r.err)
	}
	return dir
}

// yard writes a scene of 12 boxes in a row.
func yard(t *testing.T) string {
	t.Helper()
	return testfile.Write(t, filepath.Join(t.TempDir(), "yard.gltf"), boxScene(12))
}

func TestCookValidateInspect(t *testing.T) {
	dir := cooked(t, "--tile-size", "25", "--whole-limit", "0")
	r := execute(t, nil, "validate", dir, "--strict")
	if r.code != 0 || !strings.Contains(r.stdout, "0 errors, 0 warnings") {
		t.Errorf("validate: exit %d\n%s%s", r.code, r.stdout, r.err)
	}
	r = execute(t, nil, "inspect", dir)
	for _, want := range []string{"uniform_grid", "tile_0_0_0", `from "yard.gltf"`, "144 triangles"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("inspect lacks %q:\n%s", want, r.stdout)
		}
	}
	var summary sceneSummary
	r = execute(t, nil, "inspect", filepath.Join(dir, "yard.json"), "--json")
	if err := json.Unmarshal([]byte(r.stdout), &summary); err != nil || summary.Tiles == 0 || summary.Source != "yard.gltf" {
		t.Errorf("inspect --json: %v: %+v", err, summary)
	}
	tile := filepath.Join(dir, filepath.FromSlash(summary.TileList[0].Path))
	for _, args := range [][]string{
		{tile},
		{tile, "--json"},
		{tile, "--stats"},
		{tile, "--strings"},
		{tile, "--mesh", "0"},
		{tile, "--mesh", "0", "--json"},
		{tile, "--chunk", "mesh_table"},
		{tile, "--chunk", "MESH_TABLE", "--json"},
		{tile, "--chunk", "6", "--hex"},
	} {
		if r := execute(t, nil, append([]string{"inspect"}, args...)...); r.code != 0 || r.stdout == "" || r.err != "" {
			t.Errorf("inspect %v: exit %d, %q", args[1:], r.code, r.err)
		}
	}
	raw := execute(t, nil, "inspect", tile, "--chunk", "VERTEX_DATA", "--raw")
	if len(raw.stdout) == 0 || len(raw.stdout)%vertex.Size != 0 {
		t.Errorf("--raw printed %d bytes", len(raw.stdout))
	}
}

func TestConvert(t *testing.T) {
	out := filepath.Join(t.TempDir(), "deep", "model.untold")
	r := execute(t, nil, "convert", yard(t), "-o", out, "--file-type", "hlod", "--compress", "zstd")
	if r.code != 0 || !strings.Contains(r.err, "zstd chunks load in this toolkit only") {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	f, err := format.Open(out, format.VerifyOnOpen())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Header().FileType != format.FileHLOD || len(f.Meshes()) != 12 {
		t.Errorf("%v with %d meshes", f.Header().FileType, len(f.Meshes()))
	}
	if r := execute(t, nil, "validate", out); r.code != 0 {
		t.Errorf("validate: %s", r.stdout)
	}
	// A zero hash is legal but a warning.
	data := testfile.Read(t, out)
	clear(data[140:172])
	testfile.Write(t, out, data)
	if r := execute(t, nil, "validate", out); r.code != 0 || !strings.Contains(r.stdout, "hash-not-computed") {
		t.Errorf("validate: exit %d: %s", r.code, r.stdout)
	}
	if r := execute(t, nil, "validate", out, "--strict"); r.code != 1 {
		t.Errorf("--strict accepts a warning: exit %d", r.code)
	}
}

// TestDeterminism cooks with several numbers of workers.
func TestDeterminism(t *testing.T) {
	want := hashTree(t, cooked(t, "--jobs", "1"))
	for _, jobs := range []string{"2", "7"} {
		if got := hashTree(t, cooked(t, "--jobs", jobs)); got != want {
			t.Errorf("--jobs %s gives other bytes", jobs)
		}
	}
}

// hashTree concatenates names and contents of all files below dir.
func hashTree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	files := testfile.ReadTree(t, dir)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		b.WriteString(name + "\x00" + files[name] + "\x00")
	}
	return b.String()
}

func TestExitCodes(t *testing.T) {
	scene := yard(t)
	empty := testfile.Write(t, filepath.Join(t.TempDir(), "empty.gltf"), []byte(`{"asset":{"version":"2.0"},"scenes":[{}],"scene":0}`))
	broken := testfile.Write(t, filepath.Join(t.TempDir(), "broken.gltf"), []byte(`{"asset":{"version":"2.0"},`))
	damaged := testfile.Write(t, filepath.Join(t.TempDir(), "damaged.untold"), "UNTOLD\x00\x00 and then nothing")
	out := filepath.Join(t.TempDir(), "out")
	file := testfile.Write(t, filepath.Join(t.TempDir(), "plain"), "")
	for _, c := range []struct {
		name string
		args []string
		code int
		text string
	}{
		{"no command", nil, 0, ""},
		{"help", []string{"cook", "--help"}, 0, ""},
		{"version", []string{"version"}, 0, ""},
		{"version as a flag", []string{"--version"}, 0, ""},
		{"unknown command", []string{"cock", scene}, 2, "there is no command"},
		{"unknown topic", []string{"help", "cock"}, 2, "there is no command"},
		{"unknown topic below", []string{"help", "config", "shwo"}, 2, "there is no command"},
		{"known topic", []string{"help", "config", "show"}, 0, ""},
		{"watched plan", []string{"cook", scene, "--dry-run", "--watch"}, 2, "--watch does not go with --dry-run"},
		{"unknown flag", []string{"cook", scene, "-o", out, "--tile-sise", "3"}, 2, `did you mean "tile-size"?`},
		{"no output", []string{"cook", scene}, 2, "output"},
		{"no scene", []string{"cook", "-o", out}, 2, "no SCENE was given"},
		{"missing scene", []string{"cook", filepath.Join(out, "nowhere.glb"), "-o", out}, 2, "nowhere.glb"},
		{"nothing to cook", []string{"cook", empty, "-o", out}, 1, "nothing to cook"},
		{"broken scene", []string{"cook", broken, "-o", out}, 1, "broken.gltf"},
		{"bad tile size", []string{"cook", scene, "-o", out, "--tile-size", "-5"}, 2, "tile size"},
		{"bad payload folder", []string{"cook", scene, "-o", out, "--payload-dir", "../up"}, 2, "payload folder"},
		{"bad compression", []string{"cook", scene, "-o", out, "--compress", "gzip"}, 2, "--compress"},
		{"bad partition", []string{"cook", scene, "-o", out, "--partition", "sphere"}, 2, "--partition"},
		{"bad file type", []string{"convert", scene, "-o", out + ".untold", "--file-type", "x"}, 2, "--file-type"},
		{"convert to folder", []string{"convert", scene, "-o", t.TempDir()}, 2, "is a folder"},
		{"output below a file", []string{"cook", scene, "-o", filepath.Join(file, "out")}, 2, "output folder"},
		{"validate damaged", []string{"validate", damaged}, 1, ""},
		{"validate missing", []string{"validate", filepath.Join(out, "no.untold")}, 2, "no.untold"},
		{"validate empty folder", []string{"validate", t.TempDir()}, 2, "no .untold files"},
		{"validate format", []string{"validate", damaged, "--format", "xml"}, 2, "--format"},
		{"inspect damaged", []string{"inspect", damaged}, 1, "header"},
		{"inspect hex alone", []string{"inspect", damaged, "--hex"}, 2, "--chunk"},
		{"bad colour", []string{"validate", damaged, "--color", "blue"}, 2, "--color"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := execute(t, nil, c.args...)
			if r.code != c.code {
				t.Errorf("exit %d, want %d\n%s%s", r.code, c.code, r.stdout, r.err)
			}
			if !strings.Contains(r.err, c.text) {
				t.Errorf("stderr lacks %q: %s", c.text, r.err)
			}
			if c.code != 0 && strings.Count(strings.TrimSpace(r.err), "\n") > 0 {
				t.Errorf("the error is not one line: %s", r.err)
			}
			if _, err := os.Stat(out); err == nil {
				t.Errorf("the output folder exists")
				os.RemoveAll(out)
			}
		})
	}
}

func TestValidateJSON(t *testing.T) {
	dir := cooked(t)
	var report struct {
		OK    bool
		Files []struct {
			Path     string
			OK       bool
			Findings []map[string]any
		}
		Errors, Warnings int
	}
	tile := filepath.Join(dir, "tiles", "tile_0_0_0.untold")
	data := testfile.Read(t, tile)
	data[len(data)-1] ^= 0x40
	testfile.Write(t, tile, data)
	r := execute(t, nil, "validate", dir, "--json")
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
		t.Fatalf("%v: %s", err, r.stdout)
	}
	if r.code != 1 || report.OK || report.Errors == 0 {
		t.Errorf("exit %d, %d errors", r.code, report.Errors)
	}
	var codes []string
	for _, f := range report.Files {
		for _, x := range f.Findings {
			codes = append(codes, x["code"].(string))
			for _, key := range []string{"severity", "message", "hint", "chunk", "record", "offset"} {
				if _, ok := x[key]; !ok {
					t.Errorf("finding lacks %q: %v", key, x)
				}
			}
		}
	}
	if !slices.Contains(codes, "hash-mismatch") || !slices.Contains(codes, "file-hash") {
		t.Errorf("codes: %v", codes)
	}
}

// TestSettings: flag over environment over file.
func TestSettings(t *testing.T) {
	scene := yard(t)
	profile := filepath.Join(filepath.Dir(scene), profileName)
	write := func(s string) {
		testfile.Write(t, profile, s)
	}
	size := func(env []string, args ...string) string {
		dir := filepath.Join(t.TempDir(), "o")
		r := execute(t, env, append([]string{"cook", scene, "-o", dir}, args...)...)
		if r.code != 0 {
			return r.err
		}
		data, err := os.ReadFile(filepath.Join(dir, "yard.json"))
		if err != nil {
			return err.Error()
		}
		var m struct {
			TileSize struct{ X float64 } `json:"tile_size"`
		}
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		s, _ := json.Marshal(m.TileSize.X)
		return string(s)
	}
	if got := size(nil); got != "40" {
		t.Errorf("default: %s", got)
	}
	write("tile-size: 40\n")
	if got := size(nil); got != "40" {
		t.Errorf("file: %s", got)
	}
	env := []string{"UNTOLD_TILE_SIZE=50"}
	if got := size(env); got != "50" {
		t.Errorf("environment: %s", got)
	}
	if got := size(env, "--tile-size", "60"); got != "60" {
		t.Errorf("flag: %s", got)
	}
	write("tile_siz: 40\n")
	if got := size(nil); !strings.Contains(got, `untold.yaml:1: unknown key "tile_siz"; did you mean "tile-size"?`) {
		t.Errorf("typo: %s", got)
	}
	write("tile-size: wide\n")
	if got := size(nil); !strings.Contains(got, "untold.yaml:1") {
		t.Errorf("wrong type: %s", got)
	}
	if got := size([]string{"UNTOLD_TILE_SIZE=wide"}); !strings.Contains(got, "UNTOLD_TILE_SIZE") {
		t.Errorf("wrong type in the environment: %s", got)
	}
}

// TestInterrupt sends SIGINT in the middle of a cook.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGINT between processes")
	}
	scene := testfile.Write(t, filepath.Join(t.TempDir(), "many.gltf"), boxScene(20000))
	dir := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command(underTest(t), "cook", scene, "-o", dir, "--tile-size", "1", "--jobs", "1", "--verbose")
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// --verbose says when the tiles begin.
	errs := bufio.NewScanner(pipe)
	for errs.Scan() && !strings.HasPrefix(errs.Text(), "cook: 0/") {
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	rest := ""
	for errs.Scan() {
		rest += errs.Text()
	}
	if err := cmd.Wait(); err == nil {
		t.Skip("the cook was faster than the signal")
	}
	if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(rest, "interrupted") {
		t.Errorf("exit %d: %s", code, rest)
	}
	// What was finished is there for the next cook, and nothing else.
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) || len(list) > 1 || len(list) == 1 && list[0].Name() != ".untold" {
		t.Errorf("%v, %v", err, list)
	}
}

// TestStatic: the Linux binary needs no shared library.
func TestStatic(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("about ELF files")
	}
	data := testfile.Read(t, underTest(t))
	if bytes.Contains(data, []byte("ld-linux")) {
		t.Error("the binary asks for a dynamic loader")
	}
}

func TestRunInProcess(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"version"}, &out, &errs); code != 0 || !strings.HasPrefix(out.String(), "untold ") {
		t.Errorf("exit %d: %s%s", code, out.String(), errs.String())
	}
	dir := t.TempDir()
	out.Reset()
	if code := run(context.Background(), []string{"docs", "man", "-o", dir}, &out, &errs); code != 0 {
		t.Errorf("exit %d: %s", code, errs.String())
	}
	if pages, _ := filepath.Glob(filepath.Join(dir, "untold-*.1")); len(pages) < 4 {
		t.Errorf("man pages: %v", pages)
	}
}

func TestOneLine(t *testing.T) {
	if got := oneLine("a\nb\x1b[31mc\u202e\x9b7m\u00e9\ufffd"); got != `a; b\u001b[31mc\u202e\x9b7m`+"\u00e9\ufffd" {
		t.Errorf("got %q", got)
	}
}

func TestCountText(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 12345678: "12,345,678", -1234: "-1,234"} {
		if got := human.Count(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// Colours follow the stream that they go to: a report that is redirected from
// a terminal is plain text.
func TestColourOfResults(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		color    string
		noColor  string
		want     bool
	}{
		{true, "auto", "", true},
		{true, "auto", "1", false},
		{false, "auto", "", false},
		{false, "always", "1", true},
		{true, "never", "", false},
	} {
		t.Setenv("NO_COLOR", c.noColor)
		a := &app{stderr: &bytes.Buffer{}, color: c.color, stdoutTerminal: c.terminal}
		if got := a.paintResult(red, "x") != "x"; got != c.want {
			t.Errorf("%+v: coloured %v", c, got)
		}
	}
}

// errFull is what a full disk says.
var errFull = errors.New("no space left on device")

type fullWriter struct{ room int }

func (w *fullWriter) Write(b []byte) (int, error) {
	if len(b) > w.room {
		return 0, errFull
	}
	w.room -= len(b)
	return len(b), nil
}

// A result that could not be written is a failure, whatever the command.
func TestFullStdout(t *testing.T) {
	file := filepath.Join(t.TempDir(), "yard.untold")
	if r := execute(t, nil, "convert", yard(t), "-o", file); r.code != 0 {
		t.Fatal(r.err)
	}
	bad := testfile.Write(t, filepath.Join(t.TempDir(), "bad.untold"), "not a container")
	for _, args := range [][]string{
		{"validate", file},
		{"validate", bad},
		{"validate", file, "--format", "json"},
		{"inspect", file},
		{"inspect", file, "--strings"},
		{"inspect", file, "--stats"},
		{"inspect", file, "--mesh", "0"},
		{"--help"},
		{"version"},
	} {
		for _, room := range []int{0, 20} {
			var errs bytes.Buffer
			code := run(context.Background(), args, &fullWriter{room}, &errs)
			if code != exitFailure || !strings.Contains(errs.String(), errFull.Error()) {
				t.Errorf("%q, room for %d: exit %d, %q", args, room, code, errs.String())
			}
		}
	}
}

func TestAdviceIsForUsers(t *testing.T) {
	for args, want := range map[string]string{
		"cok":        "error: there is no command \"cok\" in untold; did you mean \"cook\"? (see untold --help)\n",
		"frobnicate": "error: there is no command \"frobnicate\" in untold (see untold --help)\n",
		"help cok":   "error: there is no command \"cok\" in untold; did you mean \"cook\"? (see untold --help)\n",
		"help a b":   "error: there is no command \"a\" in untold (see untold --help)\n",
	} {
		if r := execute(t, nil, strings.Fields(args)...); r.code != exitFailure || r.err != want || r.stdout != "" {
			t.Errorf("%s: exit %d, %q", args, r.code, r.err)
		}
	}
	scene := bytes.Replace(boxScene(1), []byte("{"), []byte(`{"images":[{"uri":"../up.png"}],"textures":[{"source":0}],`), 1)
	if r := execute(t, nil, "cook", testfile.Write(t, filepath.Join(t.TempDir(), "up.gltf"), scene), "-o", t.TempDir()); strings.Contains(r.err, "Options.") {
		t.Errorf("%q", r.err)
	}
	if got := flagNames.Replace("Options.AllowParentPaths permits it"); got != "--allow-parent-paths permits it" {
		t.Error(got)
	}
}
