package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/verify"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/internal/testfile"
)

// onDisk reads all files below a folder, as any program does.
func onDisk(t *testing.T, dir string) map[string]string {
	t.Helper()
	return testfile.ReadTree(t, dir)
}

// asRead reads the files of a folder as our commands do.
func asRead(t *testing.T, dir string) map[string]string {
	t.Helper()
	list, err := journal.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, p := range list {
		f, err := journal.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.ToSlash(rel)] = string(data)
	}
	return out
}

// stagedFiles counts the payloads in the stages of a folder.
func stagedFiles(dir string) int {
	list, _ := filepath.Glob(filepath.Join(dir, journal.Folder, journal.StagePrefix+"*", "tiles", "*"))
	return len(list)
}

// townScenes writes an older and a newer scene of one name, cooks both, and
// returns the scenes and what is cooked of them.
func townScenes(t *testing.T, args ...string) (scenes, files map[string]string, all map[string]map[string]string) {
	t.Helper()
	scenes, files, all = map[string]string{}, map[string]string{}, map[string]map[string]string{}
	painted := bytes.Replace(boxScene(1200), []byte("[0.8,0.2,0.1,1]"), []byte("[0.1,0.2,0.8,1]"), 1)
	for name, scene := range map[string][]byte{"old": boxScene(1500), "new": painted} {
		scenes[name] = testfile.Write(t, filepath.Join(t.TempDir(), "town.gltf"), scene)
		files[name] = filepath.Join(t.TempDir(), "town")
		cookInto(t, scenes[name], files[name], args...)
		all[name] = onDisk(t, files[name])
	}
	if all["old"]["tiles/tile_0_0_0.untold"] == all["new"]["tiles/tile_0_0_0.untold"] {
		t.Fatal("the scenes do not differ")
	}
	return scenes, files, all
}

func cookInto(t *testing.T, scene, dir string, args ...string) {
	t.Helper()
	if r := execute(t, nil, append([]string{"cook", scene, "-o", dir, "-q", "--sync=false"}, args...)...); r.code != 0 {
		t.Fatalf("cook: exit %d: %s", r.code, r.err)
	}
}

// A cook that is killed while it gathers its files, or while it brings them to
// their places, leaves the old scene or the new one, and the next cook leaves
// nothing else. Where the kill strikes is up to the machine; what is found then
// is not.
func TestKilledCook(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("without locks on folders a stage stays for a day")
	}
	args := []string{"--tile-size", "6"}
	scenes, _, want := townScenes(t, args...)
	tiles := len(want["new"]) - 1
	dir := filepath.Join(t.TempDir(), "town")
	cookInto(t, scenes["old"], dir, args...)
	const kills = 12
	states := map[string]int{}
	for i := range kills {
		cmd := exec.Command(underTest(t), append([]string{"cook", scenes["new"], "-o", dir, "-q"}, args...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for strike := false; !strike; {
			_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(journal.Name)))
			switch n := stagedFiles(dir); {
			case i < kills/3: // so much of the scene has been cooked
				strike = n >= tiles*i/(kills/3)
			default: // so much of it has its place
				strike = err == nil && n <= tiles*(kills-i)/(kills-kills/3)
			}
			select {
			case <-ended:
				strike = true
				ended <- nil
			default:
				runtime.Gosched()
			}
		}
		_ = cmd.Process.Kill()
		<-ended
		judgeKilled(t, dir, want, states)
		cookInto(t, scenes["old"], dir, args...)
		if got := onDisk(t, dir); !maps.Equal(got, want["old"]) {
			t.Fatalf("kill %d: the next cook leaves %d files, the scene has %d", i, len(got), len(want["old"]))
		}
	}
	t.Logf("%v", states)
}

// judgeKilled compares what a killed cook has left with the two scenes.
func judgeKilled(t *testing.T, dir string, want map[string]map[string]string, states map[string]int) {
	t.Helper()
	is, got := "", asRead(t, dir)
	for name, files := range want {
		if maps.Equal(got, files) {
			is = name
		}
	}
	if is == "" {
		t.Fatalf("neither the old scene nor the new one: %d files", len(got))
	}
	if pending, err := journal.Pending(dir); err != nil {
		t.Fatal(err)
	} else if pending {
		is += " with a journal"
	}
	states[is]++
	r := execute(t, nil, "validate", dir, "--format", "json")
	var report struct {
		OK    bool `json:"ok"`
		Files []struct {
			Path     string `json:"path"`
			Findings []struct {
				Code string `json:"code"`
			} `json:"findings"`
		} `json:"files"`
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != 0 || !report.OK {
		t.Fatalf("%s: validate: exit %d, %v: %s", is, r.code, err, r.err)
	}
	for _, f := range report.Files {
		for _, x := range f.Findings {
			if x.Code == verify.CodePayloadUnnamed || x.Code == verify.CodeTextureUnnamed || x.Code == verify.CodeUnfinished && !strings.HasSuffix(is, "a journal") {
				t.Errorf("%s: %s: %s", is, f.Path, x.Code)
			}
		}
	}
}
