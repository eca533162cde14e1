package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/testfile"
)

// TestDeployIsCurrent: the examples in deploy are what their first lines' commands print.
func TestDeployIsCurrent(t *testing.T) {
	scene := []string{"/srv/scenes/city.glb", "-o", "/srv/cooked/city", "--shards", "16", "--cpus", "4", "--store"}
	for name, c := range map[string]struct{ own, more []string }{
		"slurm.sh": {append([]string{"slurm"}, append(scene, "/srv/store")...), []string{"--memory", "8GiB", "--time", "2h", "--", "--tile-size", "50"}},
		"kubernetes.yaml": {append([]string{"kubernetes"}, append(scene, "s3://builds/store")...), []string{
			"--image", "registry.example.com/untold:1", "--namespace", "maps", "--memory", "8GiB",
			"--pvc", "scenes:/srv/scenes:ro", "--pvc", "cooked:/srv/cooked", "--secret", "builds-s3", "--", "--tile-size", "50",
		}},
		"shell.sh": {[]string{"shell", "city.glb", "-o", "out/city", "--store", "out/store", "--shards", "4"}, []string{"--", "--tile-size", "50"}},
	} {
		r := execute(t, nil, append(append([]string{"farm"}, c.own...), c.more...)...)
		if r.code != 0 || r.err != "" {
			t.Errorf("%s: exit %d: %s", name, r.code, r.err)
			continue
		}
		path := filepath.Join("..", "..", "deploy", name)
		if *update {
			testfile.Write(t, path, r.stdout)
			continue
		}
		if d := cmp.Diff(string(testfile.Read(t, path)), r.stdout); d != "" {
			t.Errorf("%s is not what is printed now; -update rewrites it: %s", path, d)
		}
	}
}

// TestFarmCommandIsGiven: the command in a script's first line prints that script.
func TestFarmCommandIsGiven(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	for _, args := range [][]string{
		{"slurm", "it's a $x.glb", "-o", "o", "--store", "s", "--shards", "3", "--memory", "1500MB", "--time", "90m", "--require-store", "--", "--payload-dir", "a b", "--hlod"},
		{
			"kubernetes", "/s/x.glb", "-o", "/o", "--store", "s3://bucket/s", "--shards", "3", "--image", "a", "--pvc", "s:/s:ro", "--pvc", "o:/o", "--ttl", "0", "--memory", "2TiB",
			"--require-store=false",
		},
	} {
		want := execute(t, nil, append([]string{"farm"}, args...)...)
		var line string
		for text := range strings.Lines(want.stdout) {
			if rest, ok := strings.CutPrefix(text, "# untold "); ok {
				line = rest
				break
			}
		}
		got, err := exec.Command(sh, "-c", `"$0" `+line, underTest(t)).Output()
		if err != nil || want.code != 0 || string(got) != want.stdout || len(got) < 200 {
			t.Errorf("%v, exit %d: %s\n%s", err, want.code, line, cmp.Diff(want.stdout, string(got)))
		}
	}
}

// TestFarmRefusals: flags that no shard takes are refused when the job is printed.
func TestFarmRefusals(t *testing.T) {
	for _, c := range []struct{ flags, says string }{
		{"-- --tile-sze 3", `did you mean "tile-size"`},
		{"-- -x", "no flag -x"},
		{"-- --tile-size", "needs a value"},
		{"-- --tile-size abc", "not a number"},
		{"-- --floor-count 3", "--partition"},
		{"-- --compress best", "--compress"},
		{"-- -o x", "before --"},
		{"-- --store x", "before --"},
		{"-- --require-store", "before --"},
		{"-- --shard 0/1", "which shard is which"},
		{"-- -j 4", "--cpus"},
		{"-- --full", "anew"},
		{"-- --dry-run", "to cook"},
		{"-- --report x.html", "--report"},
		{"-- --help", "untold cook --help"},
		{"-- other.glb", "no flag"},
		{"other.glb", "one argument too many"},
		{"--shards 0", "0 shards"},
		{"--cpus 0", "processors"},
		{"--program -x", "looks like a flag"},
		{"--store ftp://x/y", "--store"},
	} {
		args := append([]string{"farm", "shell", "x.glb", "-o", "o", "--store", "s", "--shards", "3"}, strings.Fields(c.flags)...)
		if r := execute(t, nil, args...); r.code != 2 || r.stdout != "" || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: exit %d, %q: %s", c.flags, r.code, r.stdout, r.err)
		}
	}
	for _, args := range [][]string{
		{"farm", "shell", "x.glb", "-o", "o", "--store", "s"},
		{"farm", "shell", "-o", "o", "--store", "s", "--shards", "3", "--", "x.glb"},
		{"farm", "shell", "a\nb.glb", "-o", "o", "--store", "s", "--shards", "3"},
		{"farm", "slurm", "x.glb", "-o", "o", "--store", "s", "--shards", "3", "--partition", "a b"},
		{"farm", "kubernetes", "/x.glb", "-o", "/o", "--store", "s3://bucket/s", "--shards", "3"},
		{"farm", "kubernetes", "/x.glb", "-o", "/o", "--store", "s3://bucket/s", "--shards", "3", "--image", "a", "--pvc", "o"},
		{"farm", "kubernetes", "/x.glb", "-o", "/o", "--store", "s3://bucket/s", "--shards", "3", "--image", "a", "--pvc", "o:/o", "--user", "me"},
		{"farm", "moon"},
	} {
		if r := execute(t, nil, args...); r.code != 2 || r.stdout != "" {
			t.Errorf("%q: exit %d: %s%s", args, r.code, r.stdout, r.err)
		}
	}
}

// TestFarmByShell: what is printed for a shell, run with names that mean something to it,
// gives the bytes of one machine; a failed shard costs nothing else.
func TestFarmByShell(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no shell")
	}
	base := filepath.Join(t.TempDir(), `it's a "town" $(touch owned) $HOME; touch owned & #`)
	scene := testfile.Write(t, filepath.Join(base, "-town `touch owned` *.gltf"), boxScene(300))
	flags := []string{"--tile-size", "8", "--hlod", "--whole-limit", "0", "--pyramid=off", "--payload-dir", "$(touch owned) it's", "-q"}
	one := filepath.Join(base, "one")
	if r := execute(t, nil, append([]string{"cook", scene, "-o", one}, flags...)...); r.code != 0 {
		t.Fatal(r.err)
	}
	want := testfile.ReadTree(t, one)
	work := t.TempDir()
	shell := func(script string) (string, error) {
		cmd := exec.Command(sh)
		cmd.Stdin, cmd.Dir = strings.NewReader(script), work
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	compare := func(dir string) {
		t.Helper()
		if d := cmp.Diff(want, testfile.ReadTree(t, dir)); d != "" || len(want) < 20 {
			t.Errorf("%d files, and they differ: %s", len(want), d)
		}
	}
	farm := func(out, store string, more ...string) result {
		t.Helper()
		args := append([]string{"farm", "shell", scene, "-o", filepath.Join(base, out), "--store", filepath.Join(base, store), "--shards", "3", "--program", underTest(t)}, more...)
		r := execute(t, nil, append(append(args, "--"), flags...)...)
		if r.code != 0 {
			t.Fatal(r.err)
		}
		return r
	}

	if out, err := shell(farm("script", "store", "--require-store").stdout); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	compare(filepath.Join(base, "script"))

	r := farm("lines", "other store", "--lines", "--require-store")
	for line := range strings.Lines(r.stdout) {
		if out, err := shell(line); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	_, last, ok := strings.Cut(r.err, "ended: ")
	if out, err := shell(last); err != nil || !ok || strings.Count(r.stdout, "\n") != 3 {
		t.Fatalf("%v: %s", err, out)
	}
	compare(filepath.Join(base, "lines"))

	// A shard that fails.
	lost := strings.Replace(farm("lost", "third store").stdout, " 1/3 ", " 1/3 --tile-size nonsense ", 1)
	if out, err := shell(lost); err != nil || !strings.Contains(out, "1 of 3 shards failed") {
		t.Fatalf("%v: %s", err, out)
	}
	compare(filepath.Join(base, "lost"))
	lost = strings.Replace(farm("none", "fourth store", "--require-store").stdout, " 1/3 ", " 1/3 --tile-size nonsense ", 1)
	if out, err := shell(lost); err == nil || !strings.Contains(out, "nothing was written") {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(base, "none")); err == nil {
		t.Error("a last cook ran although a shard failed")
	}
	for _, dir := range []string{base, work} {
		if _, err := os.Stat(filepath.Join(dir, "owned")); err == nil {
			t.Errorf("a name was run as a command in %s", dir)
		}
	}
}

// TestFarmTakesSettings: a file of settings given to farm is given to all cooks, whose last
// alone takes what is not for shards.
func TestFarmTakesSettings(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no shell")
	}
	dir := t.TempDir()
	scene := testfile.Write(t, filepath.Join(dir, "town.gltf"), boxScene(40))
	config := testfile.Write(t, filepath.Join(dir, "town.yaml"), "output: cooked\nshards: 2\ntile-size: 8\nreport: report.json\n")
	r := execute(t, nil, "farm", "shell", scene, "--config", config, "--store", filepath.Join(dir, "store"), "--program", underTest(t))
	if r.code != 0 {
		t.Fatal(r.err)
	}
	cmd := exec.Command(sh)
	cmd.Stdin = strings.NewReader(r.stdout)
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("taken from an earlier cook")) {
		t.Fatalf("%v: %s", err, out)
	}
	if got := testfile.ReadTree(t, filepath.Join(dir, "cooked")); len(got) < 4 {
		t.Errorf("%d files", len(got))
	}
	testfile.Read(t, filepath.Join(dir, "report.json"))
}
