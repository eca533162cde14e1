package main

import (
	"bufio"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/testfile"
)

// TestFollower: a scene is cooked again when its files rest after a change, when files
// come, and when one changed while it was read; not while a file is being written.
func TestFollower(t *testing.T) {
	dir := t.TempDir()
	main, other := filepath.Join(dir, "main"), filepath.Join(dir, "other")
	testfile.Write(t, main, "1")
	cooks := 0
	var fail error
	f := follower{
		files: []string{main},
		more:  func() []string { list, _ := filepath.Glob(filepath.Join(dir, "more*")); return list },
		cook:  func() ([]string, error) { cooks++; return []string{main, other}, fail },
	}
	last := f.look()
	f.cooked = last
	tick := func(n int) {
		for range n {
			last = f.tick(last)
		}
	}
	var got []int
	step := func(change func()) {
		t.Helper()
		if change != nil {
			change()
		}
		tick(4)
		got = append(got, cooks)
	}
	step(nil)
	step(func() { testfile.Write(t, main, "22") })   // 1
	step(nil)                                        // rests
	step(func() { testfile.Write(t, other, "333") }) // 2: a file of the last cook
	step(func() {
		for i := range 5 { // being written
			testfile.Write(t, main, strings.Repeat("x", 10+i))
			tick(1)
		}
	}) // 3: once
	step(func() { testfile.Write(t, filepath.Join(dir, "more1"), "") }) // 4
	step(func() { fail = gltfscene.ErrChanged; os.Remove(other) })      // again and again
	if d := cmp.Diff([]int{0, 1, 1, 2, 3, 4}, got[:6]); d != "" || got[6] < 6 {
		t.Errorf("%v: %s", got, d)
	}
	// The loop round it ends with its context, or when there is no use in it.
	ctx, stop := context.WithCancel(t.Context())
	stop()
	f.follow(ctx, nil, nil)
	f.follow(t.Context(), nil, func() bool { return true })
}

// TestFollowerSettles: a file that the cook has named, and that was written since it
// began, is cooked again, once.
func TestFollowerSettles(t *testing.T) {
	dir := t.TempDir()
	scene, image, old := filepath.Join(dir, "scene"), filepath.Join(dir, "image"), filepath.Join(dir, "old")
	testfile.Write(t, scene, "")
	testfile.Write(t, old, "")
	if err := os.Chtimes(old, time.Time{}, time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	f := follower{files: []string{scene}}
	f.cook = func() ([]string, error) {
		testfile.Write(t, image, "while it was read")
		if err := os.Chtimes(image, time.Time{}, time.Now().Add(time.Hour)); err != nil {
			t.Error(err)
		}
		return []string{scene, image, old}, nil
	}
	f.again()
	now := f.look()
	if f.cooked[image] == now[image] || f.cooked[old] != now[old] || f.cooked[scene] != now[scene] {
		t.Errorf("%v of %v", f.cooked, now)
	}
	f.cook = func() ([]string, error) { return []string{scene, image, old}, nil }
	if f.again(); !maps.Equal(f.cooked, f.look()) {
		t.Errorf("%v of %v", f.cooked, f.look())
	}
}

// TestCookWatches: cook --watch cooks again after a change of an image, tells what is wrong
// with a scene and goes on, and ends by a signal.
func TestCookWatches(t *testing.T) {
	scene := yard(t)
	out := t.TempDir()
	cmd := exec.CommandContext(t.Context(), underTest(t), "cook", scene, "-o", out, "--watch", "--no-progress")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	until := func(want string) {
		t.Helper()
		var seen []string
		for lines.Scan() {
			seen = append(seen, lines.Text())
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("no %q: %v", want, seen)
	}
	until("watching 2 files")
	good := testfile.Read(t, scene)
	testfile.Write(t, scene, "{")
	until("error:")
	until("watching")
	testfile.Write(t, scene, strings.Replace(string(good), "\"asset\"", " \"asset\"", 1))
	until("watching")
	beside(t, scene, "tile-size: 3\n")
	// A file that was seen half written is one cook more.
	for taken := false; !taken; {
		until("watching")
		taken = strings.Contains(string(testfile.Read(t, filepath.Join(out, "yard.json"))), `"x": 3`)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	_ = cmd.Wait()
	for _, args := range [][]string{
		{"cook", "-", "-o", out, "--watch"},
		{"cook", scene, "-o", out, "--watch", "--shard", "0/2", "--store", t.TempDir()},
		{"cook", filepath.Join(out, "none.glb"), "-o", out, "--watch"},
		{"cook", scene, "-o", out, "--watch", "--tile-size", "-4"},
	} {
		if r := execute(t, nil, args...); r.code != exitFailure || strings.Count(r.err, "error:") != 1 {
			t.Errorf("%v: exit %d: %s", args, r.code, r.err)
		}
	}
}
