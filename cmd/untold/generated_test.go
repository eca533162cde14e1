package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// made holds what tests have in common, by what it is made of; each is made once, when it
// is first asked for, beside the program under test.
var made struct {
	sync.Mutex
	results map[string]func() (string, error)
}

// once returns what do makes in a folder of its own when a key is first asked for.
func once(key string, do func(dir string) (string, error)) (string, error) {
	made.Lock()
	get, ok := made.results[key]
	if !ok {
		if made.results == nil {
			made.results = map[string]func() (string, error){}
		}
		dir := filepath.Join(filepath.Dir(untold), fmt.Sprint("made", len(made.results)))
		get = sync.OnceValues(func() (string, error) {
			if err := os.Mkdir(dir, 0o755); err != nil {
				return "", err
			}
			return do(dir)
		})
		made.results[key] = get
	}
	made.Unlock()
	return get()
}

// command runs a program in the repository's folder.
func command(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// generated is a scene of scripts/gen, named after its kind, which tests share: none may
// change it.
func generated(t *testing.T, kind string, args ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("generates a scene")
	}
	program, err := once("gen", func(dir string) (string, error) {
		path := filepath.Join(dir, "gen.exe")
		return path, command("go", "build", "-o", path, "./scripts/gen")
	})
	if err != nil {
		t.Fatal(err)
	}
	scene, err := once("gen "+kind+" "+strings.Join(args, " "), func(dir string) (string, error) {
		path := filepath.Join(dir, kind+".glb")
		return path, command(program, append([]string{"-kind", kind, "-o", path}, args...)...)
	})
	if err != nil {
		t.Fatal(err)
	}
	return scene
}

// smallCity is a city with textures, and that city cooked, for a test alone.
func smallCity(t *testing.T) (scene, dir string) {
	t.Helper()
	city := generated(t, "city", "-blocks", "1", "-texture-size", "64")
	cooked, err := once("small city", func(dir string) (string, error) {
		if r := cookedCity(t, city, dir); r.code != 0 {
			return "", errors.New(r.err)
		}
		return dir, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	scene, dir = testfile.Write(t, filepath.Join(base, "city.glb"), testfile.Read(t, city)), filepath.Join(base, "cooked")
	if err := os.CopyFS(dir, os.DirFS(cooked)); err != nil {
		t.Fatal(err)
	}
	return scene, dir
}

func cookCity(t *testing.T, scene, dir string) {
	t.Helper()
	if r := cookedCity(t, scene, dir); r.code != 0 {
		t.Fatal(r.err)
	}
}

func cookedCity(t *testing.T, scene, dir string) result {
	t.Helper()
	return execute(t, nil, "cook", scene, "-o", dir, "--sync=false", "--tile-size", "60", "--whole-limit", "0", "--hlod", "-q")
}
