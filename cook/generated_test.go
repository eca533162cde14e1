package cook

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// made holds the programs and the scenes that tests have in common; each is made
// once, when it is first asked for.
var made struct {
	sync.Mutex
	dir   string
	paths map[string]func() (string, error)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if made.dir != "" {
		os.RemoveAll(made.dir)
	}
	os.Exit(code)
}

// makeOnce returns the path of a file that command writes when it is first asked
// for.
func makeOnce(key, name string, command func(path string) []string) (string, error) {
	made.Lock()
	if made.paths == nil {
		dir, err := os.MkdirTemp("", "cook-test-*")
		if err != nil {
			made.Unlock()
			return "", err
		}
		made.dir, made.paths = dir, map[string]func() (string, error){}
	}
	get, ok := made.paths[key]
	if !ok {
		path := filepath.Join(made.dir, fmt.Sprint(len(made.paths)), name)
		get = sync.OnceValues(func() (string, error) {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return "", err
			}
			args := command(path)
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Dir = ".."
			if out, err := cmd.CombinedOutput(); err != nil {
				return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
			}
			return path, nil
		})
		made.paths[key] = get
	}
	made.Unlock()
	return get()
}

// generated is a scene of scripts/gen, or skips the test. Other tests read it, too.
func generated(t *testing.T, kind string, args ...string) string {
	t.Helper()
	return scripted(t, kind, "gen", append([]string{"-kind", kind}, args...)...)
}

// scripted is a scene that a program under scripts makes, or skips the test.
func scripted(t *testing.T, kind, program string, args ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("generates and cooks a scene")
	}
	binary, err := makeOnce(program, program+".exe", func(path string) []string {
		return []string{"go", "build", "-o", path, "./scripts/" + program}
	})
	if err != nil {
		t.Skipf("cannot build scripts/%s: %v", program, err)
	}
	scene, err := makeOnce(fmt.Sprintf("%s %q", program, args), kind+".glb", func(path string) []string {
		return slices.Concat([]string{binary}, args, []string{"-o", path})
	})
	if err != nil {
		t.Skipf("cannot generate the %s: %v", kind, err)
	}
	return scene
}
