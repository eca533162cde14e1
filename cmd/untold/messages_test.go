package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/cook/publish"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/testfile"
)

// TestWrongUsage: what is wrong with a command line is said in sentences of ours,
// with the flag or argument that it is about.
func TestWrongUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"a.glb": "x", "a.json": "{}", "a.untold": "UNTOLDxx", "conf.yaml": "jobs: many\n"} {
		testfile.Write(t, name, content)
	}
	if err := os.Mkdir("empty", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, want string }{
		{"cook", "no SCENE was given: untold cook SCENE... -o DIR [flags] (see untold cook --help)"},
		{"inspect a b", "untold inspect takes one PATH|URL, not 2 (see untold inspect --help)"},
		{"version x", `untold version takes no argument, not "x" (see untold version --help)`},
		{"cache lss", `there is no command "lss" in untold cache; did you mean "ls"? (see untold cache --help)`},
		{"completion foo", `there is no command "foo" in untold completion (see untold completion --help)`},
		{"export a.json", "--output is missing: untold export PATH -o MODEL.glb [flags] (see untold export --help)"},
		{"cook a.glb --output", "--output needs a value (see untold cook --help)"},
		{"cook a.glb -o x -Z", "there is no flag -Z (see untold cook --help)"},
		{"cook a.glb -o x --port 1", "there is no flag --port (see untold cook --help)"},
		{"cook a.glb -o x --lod-levels 3", `there is no flag --lod-levels; did you mean "lod-level"? (see untold cook --help)`},
		{"cook a.glb -o x --=3", `"--=3" is no flag (see untold cook --help)`},
		{"cook a.glb -o x --jobs many", `--jobs is "many", which is not a whole number (see untold cook --help)`},
		{"cook a.glb -o x --tile-size wide", `--tile-size is "wide", which is not a number (see untold cook --help)`},
		{"cook a.glb -o x --lod=maybe", `--lod is "maybe"; use true or false (see untold cook --help)`},
		{"cook a.glb -o x --lod-height 99999999999999999999", `--lod-height is "99999999999999999999": the number is too large or too small (see untold cook --help)`},
		{"preview a.json --walk -1", `--walk is "-1", which is not a whole number from 0 on (see untold preview --help)`},
		{"simulate a.json --dt x", `--dt: "x" is no time: write 0.05 (seconds) or 50ms (see untold simulate --help)`},
		{"cook a.glb -o x --config conf.yaml", `conf.yaml:1: key "jobs" is "many", which is not a whole number`},
		{"cook a.glb -o x -j -1", "--jobs is -1; use 1 or more, or leave it out"},
		{"validate a.json --jobs -2", "--jobs is -2; use 1 or more, or leave it out"},
		{"inspect a.json --limit -3", "--limit is -3; use 0 for all, or more"},
		{"cook a.glb -o x -q -v", "--quiet and --verbose contradict each other: leave one out"},
		{"cook a.glb -o x --compat engine --textures bc", "--compat engine cooks for the reference engine, which has no BC7 and BC5 textures: use --textures astc, resize or copy, or leave --compat out"},
		{"cook a.glb -o x --compat engine --compress zstd", "--compat engine cooks for the reference engine, which refuses zstd: use --compress auto, lz4 or none, or leave --compat out"},
		{"cook a.glb -o x --tier-radius X=50,20", `--tier-radius: tier radius "X=50,20": "X" is no tier: use ExteriorShell, StructuralInterior, RoomContents or FineProps`},
		{"cook a.glb -o x --tier-radius ExteriorShell=50,20", `--tier-radius: tier radius "ExteriorShell=50,20": what is unloaded beyond 20 m would be loaded within 50 m again and again; the second number, where it goes, is the larger one`},
		{"simulate a.json --orbit --walk 3 --fly-through", "--fly-through, --orbit and --walk exclude each other: give one of --camera-path, --orbit, --fly-through and --walk"},
		{"serve . --tls-cert a.pem", "--tls-cert and --tls-key go together: --tls-key is missing"},
		{"cook a.glb -o x --config none.yaml", "--config: none.yaml does not exist"},
		{"inspect none", "none does not exist"},
		{"export none -o x.glb", "none does not exist"},
		{"simulate a.json", `a.json: neither a scenario nor a manifest: a scenario has the key "scene" or "manifest", a manifest the key "tiles"`},
		{"inspect a.untold", `a.untold: file at byte 0x0: the first 8 bytes are "UNTOLDxx" instead of "UNTOLD\x00\x00" (this is not an .untold file)`},
		{"manifest build empty", "no tiles: there is no .untold file; name the folder that holds them"},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), strings.Fields(c.line), &out, &errs); code == 0 || out.Len() > 0 || errs.String() != "error: "+c.want+"\n" {
			t.Errorf("untold %s: exit %d, %q\n%swant %q", c.line, code, out.String(), errs.String(), "error: "+c.want)
		}
	}
}

func TestWrongVariable(t *testing.T) {
	t.Setenv("UNTOLD_JOBS", "many")
	var out, errs bytes.Buffer
	run(t.Context(), []string{"cook", "a.glb", "-o", "x"}, &out, &errs)
	if want := "error: UNTOLD_JOBS is \"many\", which is not a whole number\n"; errs.String() != want {
		t.Errorf("%q, want %q", errs.String(), want)
	}
}

func TestMessageFor(t *testing.T) {
	missing := &fs.PathError{Op: "stat", Path: "a/b.json", Err: fs.ErrNotExist}
	denied := &fs.PathError{Op: "open", Path: "a/b.json", Err: fs.ErrPermission}
	full := &fs.PathError{Op: "write", Path: "a/.b.tmp", Err: syscall.ENOSPC}
	loop := &fs.PathError{Op: "stat", Path: "a", Err: syscall.ELOOP}
	fixed := &fs.PathError{Op: "mkdir", Path: "a", Err: syscall.EROFS}
	temporary := func(err error) error {
		return fmt.Errorf("simulate: %w", &fs.PathError{Op: "open", Path: filepath.Join("a", ".m.svg.1-1"+atomicfile.TempSuffix), Err: err})
	}
	place := func(op, key string, err error) error {
		return fmt.Errorf("sending: %w", &publish.PlaceError{Op: op, Place: "/site", Key: key, Err: fmt.Errorf("write a: %w", err)})
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("a.json: simulate: %w", errors.New("manifest: missing key: line 1")), "a.json: missing key: line 1"},
		{errors.New("lz4: lz4: bad block"), "bad block"},
		{errors.New("chunk 3: lz4: bad block"), "chunk 3: bad block"},
		{errors.New("x.untold: x.untold: untold: no header"), "x.untold: no header"},
		{errors.New("the cook: it failed"), "the cook: it failed"},
		{fmt.Errorf("simulate: %w", missing), "a/b.json does not exist"},
		{fmt.Errorf("preview: %w", denied), "a/b.json may not be read or written (permission denied)"},
		{fmt.Errorf("cook: writing b: %w", full), "writing b: no space is left on the disk of a: make room there, or name a place on another disk"},
		{&fs.PathError{Op: "write", Path: "a/b", Err: full}, "no space is left on the disk of a: make room there, or name a place on another disk"},
		{temporary(fs.ErrNotExist), "the folder a does not exist"},
		{temporary(fs.ErrPermission), "nothing may be written to the folder a (permission denied)"},
		{temporary(syscall.EROFS), "the folder a is on a disk that is read-only: name a place on another one"},
		{&fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}, "standard output: no space is left where it goes"},
		{place("put", "payloads/1.untold", full), "sending: no space is left on the disk of /site: make room there, or name a place on another disk"},
		{place("put", "payloads/1.untold", fixed), "sending: /site is on a disk that is read-only: name a place on another one"},
		{place("open", "", denied), "sending: a/b.json may not be read or written (permission denied)"},
		{place("get", "b", missing), "sending: a/b.json does not exist"},
		{place("get", "b", errors.New("cut off")), "sending: get /site/b: write a: cut off"},
		{loop, "a is a symbolic link that leads back to itself"},
		{fixed, "a is on a disk that is read-only: name a place on another one"},
		{errors.New("a.glb: does not exist"), "a.glb does not exist"},
		{errors.New("a.glb: cannot be read: is not a regular file"), "a.glb is a folder, a pipe or a device, not a regular file"},
		{fmt.Errorf("a.glb: cannot be read: %w", syscall.ELOOP), "a.glb is a symbolic link that leads back to itself"},
		{errors.New("raise Options.MaxTriangles"), "raise --max-triangles"},
		{errors.New("a\nb\x1b"), `a; b\u001b`},
	} {
		if got := messageFor(c.err); got != c.want {
			t.Errorf("%q: %q, want %q", c.err, got, c.want)
		}
	}
}

// TestNoPackageNames: the name of every package of ours that begins a message is
// one of those that are taken off before a user reads it.
func TestNoPackageNames(t *testing.T) {
	begins := regexp.MustCompile(`^([a-z][a-z0-9]*): \S`)
	messages(t, func(place, text string) {
		m := begins.FindStringSubmatch(text)
		if m == nil {
			return
		}
		file, _, _ := strings.Cut(place, ".go:")
		if filepath.Base(filepath.Dir(file)) == m[1] && withoutPackages(text) == text {
			t.Errorf("%s: %q begins with a package's name that users would read", place, text)
		}
	})
}

// TestCookFlagsAreGrouped: each of cook's flags stands under one heading of its
// help, and the help is no wider than its text.
func TestCookFlagsAreGrouped(t *testing.T) {
	root := newRoot(&app{})
	cmd, _, err := root.Find([]string{"cook"})
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, g := range cookGroups {
		for name := range strings.FieldsSeq(g.flags) {
			times[name]++
		}
	}
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && times[f.Name] != 1 {
			t.Errorf("--%s stands under %d headings of cook's help", f.Name, times[f.Name])
		}
	})
}

// TestHelpFits: no help has a line that is wider than its text, but for flags
// whose values take more.
func TestHelpFits(t *testing.T) {
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		var out, errs bytes.Buffer
		run(t.Context(), append(strings.Fields(c.CommandPath())[1:], "--help"), &out, &errs)
		if out.Len() == 0 || errs.Len() > 0 {
			t.Errorf("%s --help prints %d bytes, and as errors %q", c.CommandPath(), out.Len(), errs.String())
		}
		for line := range strings.Lines(out.String()) {
			if len([]rune(strings.TrimRight(line, "\n"))) > helpWidth+10 {
				t.Errorf("%s --help: %q", c.CommandPath(), line)
			}
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRoot(&app{}))
}

// TestTwoWords: a value behind a flag that needs none is no file, unless there is one.
func TestTwoWords(t *testing.T) {
	dir := t.TempDir()
	scene := testfile.Write(t, filepath.Join(dir, "a.glb"), boxScene(2))
	out := filepath.Join(dir, "out")
	for _, c := range []struct {
		args, want string
	}{
		{"--pyramid on", "write --pyramid=on"},
		{"--pyramid off -q", "write --pyramid=off"},
		{"--lod false", "write --lod=false"},
		{"--dry-run --pyramid mine.glb", "mine.glb"},
		{"--dry-run -- on", "error: on does not exist"},
	} {
		r := here(t, append([]string{"cook", scene, "-o", out}, strings.Fields(c.args)...)...)
		if r.code == 0 || !strings.Contains(r.err, c.want) {
			t.Errorf("%s: exit %d: %s", c.args, r.code, r.err)
		}
	}
	if r := here(t, "cook", scene, "-o", out, "--pyramid=off", "--dry-run", "--whole-limit", "64MB"); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	t.Chdir(dir)
	testfile.Write(t, "on", boxScene(1)) // a file is a file
	if r := here(t, "cook", "a.glb", "--dry-run", "--pyramid", "on"); strings.Contains(r.err, "--pyramid=on") {
		t.Error(r.err)
	}
}

func TestSizeOrNone(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "64000000": 64_000_000, "64M": 64_000_000, "1GiB": 1 << 30} {
		var b sizeOrNone
		if err := b.Set(text); err != nil || int64(b) != want || b.String() != strconv.FormatInt(want, 10) {
			t.Errorf("%s: %d, %v", text, int64(b), err)
		}
	}
	for _, text := range []string{"", "-1", "0.5", "nan", "many"} {
		if err := new(sizeOrNone).Set(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
