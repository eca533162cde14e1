package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// TestPlacesAreCheckedFirst: what cannot be written or listened at is refused before there is
// work, in words that say what to do.
func TestPlacesAreCheckedFirst(t *testing.T) {
	dir := cooked(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().String()
	for line, want := range map[string]string{
		"preview DIR --headless --screenshot DIR/none/a.png":                "--screenshot DIR/none/a.png: the folder DIR/none does not exist",
		"preview DIR --headless --stats DIR/none/a.json":                    "--stats DIR/none/a.json: the folder DIR/none does not exist",
		"simulate DIR --orbit --plot DIR/none/a.svg":                        "--plot DIR/none/a.svg: the folder DIR/none does not exist",
		"simulate DIR --orbit --plot DIR/a.doc":                             `--plot is "DIR/a.doc"; plots are SVG, and its name must end in .svg`,
		"tune DIR/yard.glb --plot DIR/a.png":                                `--plot is "DIR/a.png"; plots are SVG, and its name must end in .svg`,
		"tune SCENE --path DIR/none.json":                                   "DIR/none.json does not exist",
		"inspect DIR --map DIR/none/a.svg":                                  "--map DIR/none/a.svg: the folder DIR/none does not exist",
		"export DIR -o DIR/none/a.glb":                                      "--output DIR/none/a.glb: the folder DIR/none does not exist",
		"serve DIR --addr here":                                             `--addr is "here"; write HOST:PORT, such as 127.0.0.1:8080, or :8080 for all of this machine's addresses, with a port from 0 (a free one) to 65535`,
		"serve DIR --addr 127.0.0.1:70000":                                  `--addr is "127.0.0.1:70000"; write HOST:PORT, such as 127.0.0.1:8080, or :8080 for all of this machine's addresses, with a port from 0 (a free one) to 65535`,
		"serve DIR --addr localhost:htpp":                                   `--addr is "localhost:htpp"; write HOST:PORT, such as 127.0.0.1:8080, or :8080 for all of this machine's addresses, with a port from 0 (a free one) to 65535`,
		"simulate DIR --orbit --events DIR/yard.json/a.jsonl":               "--events DIR/yard.json/a.jsonl: DIR/yard.json is no folder",
		"serve DIR --addr " + taken:                                         "--addr " + taken + ": another program listens there; end it, or name another port (127.0.0.1:0 takes a free one)",
		"serve DIR --latency 5":                                             `--latency is "5", which is no time: write 50ms, 2s or 1h (see untold serve --help)`,
		"simulate DIR --orbit --latency 5":                                  `--latency is "5", which is no time: write 50ms, 2s or 1h (see untold simulate --help)`,
		"cook SCENE -o DIR/x --scene-name a/b":                              `--scene-name is "a/b"; it names a file in the output folder, and is no path`,
		"cook SCENE -o DIR/x --scene-name " + strings.Repeat("a", 251):      "--scene-name has 251 bytes; the manifest is called that and .json, and names of files have 255 bytes at most",
		"cook SCENE -o DIR/x --scene-name ..":                               `--scene-name is ".."; it names a file in the output folder, and is no path`,
		"cook SCENE -o DIR/x --partition quadtree --floor-count -1":         "--floor-count is -1; it must be 0, which finds them, or more",
		"cook SCENE -o DIR/x --partition quadtree --floor-band-height 0.01": "--floor-band-height is 0.01; it must be 0, which finds it, or at least 0.1 metres",
		"cook SCENE -o DIR/x --partition quadtree --scene-profile x":        `--scene-profile is "x"; use auto, indoor or outdoor`,
	} {
		put := strings.NewReplacer("DIR", dir, "SCENE", yard(t))
		args := strings.Fields(line)
		for i := range args {
			args[i] = put.Replace(args[i])
		}
		if r := execute(t, nil, args...); r.code != exitFailure || r.err != "error: "+put.Replace(want)+"\n" || r.stdout != "" {
			t.Errorf("%s: exit %d, %q, %q", line, r.code, r.stdout, r.err)
		}
	}
}

// TestUnwritablePlace: a folder that nothing may be written to is found before there is work.
func TestUnwritablePlace(t *testing.T) {
	dir, closed := cooked(t), ""
	shut := t.TempDir()
	if err := os.Chmod(shut, 0o555); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{shut, "/sys"} { // the second one for those who may all
		f, err := os.CreateTemp(d, "")
		if err == nil {
			f.Close()
			os.Remove(f.Name())
		} else if errors.Is(err, fs.ErrPermission) {
			closed = d
			break
		}
	}
	if closed == "" {
		t.Skip("everything may be written to here")
	}
	for flag, args := range map[string][]string{
		"--output": {"export", dir, "-o", filepath.Join(closed, "a.glb")}, "--plot": {"simulate", dir, "--orbit", "--plot", filepath.Join(closed, "a.svg")},
	} {
		r := execute(t, nil, args...)
		want := "error: " + flag + " " + args[len(args)-1] + ": nothing may be written to the folder " + closed + " (permission denied)\n"
		if r.code != exitFailure || r.err != want {
			t.Errorf("%v: exit %d, %q, want %q", args, r.code, r.err, want)
		}
	}
	if err := checkPlace("--plot", os.DevNull); err != nil {
		t.Error(err)
	}
}

// TestExportKeepsTheSource: what a scene was cooked from is not replaced by what comes back of it.
func TestExportKeepsTheSource(t *testing.T) {
	dir := kit(t)
	source, out := filepath.Join(dir, "yard.gltf"), filepath.Join(t.TempDir(), "out")
	if r := execute(t, nil, "cook", source, "-o", out, "--sync=false"); r.code != 0 {
		t.Fatal(r.err)
	}
	before := string(testfile.Read(t, source))
	for _, other := range []string{source, dir + "/maps/../yard.gltf"} {
		r := execute(t, nil, "export", out, "-o", other)
		if want := "error: --output " + other + ": the scene was cooked from this file, which would be lost: name another one\n"; r.code != exitFailure || r.err != want {
			t.Errorf("exit %d, %q, want %q", r.code, r.err, want)
		}
	}
	if string(testfile.Read(t, source)) != before {
		t.Error("the source is another one")
	}
	again := filepath.Join(t.TempDir(), "yard.gltf")
	for range 2 { // what export made it may replace
		if r := execute(t, nil, "export", out, "-o", again); r.code != 0 {
			t.Error(r.err)
		}
	}
}

// TestFileWithADash: a file that looks like a flag is told how to be named.
func TestFileWithADash(t *testing.T) {
	t.Chdir(t.TempDir())
	testfile.Write(t, "-lead.glb", "")
	r := execute(t, nil, "cook", "-lead.glb", "-o", "x")
	if want := "error: there is no flag -l; the file is ./-lead.glb (see untold cook --help)\n"; r.err != want {
		t.Errorf("%q, want %q", r.err, want)
	}
}

// TestEmptyArguments: an argument without a letter, as an unset variable of a shell leaves it,
// is called that.
func TestEmptyArguments(t *testing.T) {
	for line, wants := range map[string][][]string{
		"SCENE":                          {{"cook", "", "-o", t.TempDir()}, {"bench", ""}, {"config", "show", ""}},
		"MANIFEST or TILE":               {{"explain", "", "tile"}},
		"PATH|URL":                       {{"validate", ""}},
		"DIR or s3://BUCKET/PREFIX|PATH": {{"publish", t.TempDir(), ""}},
	} {
		for _, want := range wants {
			if r := execute(t, nil, want...); r.code != exitFailure || !strings.Contains(r.err, "an argument is empty where "+line+" is wanted") {
				t.Errorf("%q: exit %d, %s", want, r.code, r.err)
			}
		}
	}
	// Behind -- are flags of another command, whose values may be empty.
	scene := testfile.Write(t, filepath.Join(t.TempDir(), "a.gltf"), boxScene(1))
	for _, args := range [][]string{
		{"farm", "shell", scene, "-o", "out", "--store", "store", "--shards", "2", "--", "--scene-name", ""},
		{"config", "show", scene, "--", "--scene-name", ""},
	} {
		if r := execute(t, nil, args...); r.code != 0 || !strings.Contains(r.stdout, "scene-name") {
			t.Errorf("%q: exit %d, %s", args, r.code, r.err)
		}
	}
}

// TestNetworkProblems: what cannot be reached is called that, and other schemes than the web's are.
func TestNetworkProblems(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: l.Addr(), Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	unreachable := &net.OpError{Op: "dial", Net: "tcp", Addr: l.Addr(), Err: os.NewSyscallError("connect", syscall.ENETUNREACH)}
	for want, err := range map[string]error{
		"a, attempt 3: nothing listens at " + at + ": is the server running, and the port right?":           fmt.Errorf("a, attempt 3: %w", refused),
		"a: there is no way to " + at + ": is there a network?":                                             fmt.Errorf("a: %w", unreachable),
		"a: no machine is called none.invalid: is the name right, and is there a network?":                  fmt.Errorf("a: %w", &net.DNSError{Err: "no such host", Name: "none.invalid", Server: "1.2.3.4:53", IsNotFound: true}),
		"a: " + (&net.DNSError{Err: "server misbehaving", Name: "none.invalid", IsTemporary: true}).Error(): fmt.Errorf("a: %w", &net.DNSError{Err: "server misbehaving", Name: "none.invalid", IsTemporary: true}),
	} {
		if got := messageFor(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, arg := range []string{"s3://bucket/a.glb", "file:///a.glb"} {
		want := "error: " + arg + " is no address that cook reads: name a file, or an http(s) address\n"
		if r := execute(t, nil, "cook", arg, "-o", t.TempDir()); r.code != exitFailure || r.err != want {
			t.Errorf("exit %d, %q, want %q", r.code, r.err, want)
		}
	}
}

// TestLongNames: a name that no disk takes is called that.
func TestLongNames(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 300))
	scene := testfile.Write(t, filepath.Join(t.TempDir(), "a.gltf"), boxScene(1))
	for _, args := range [][]string{{"cook", scene, "-o", long}, {"inspect", long + ".untold"}, {"cook", long + ".glb", "-o", t.TempDir()}} {
		if r := execute(t, nil, args...); r.code != exitFailure || !strings.Contains(r.err, "is longer than names may be: choose a shorter one") {
			t.Errorf("%.20q: exit %d, %s", args, r.code, r.err)
		}
	}
}
