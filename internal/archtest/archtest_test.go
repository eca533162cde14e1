package archtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/untoldkit/untold/"

// allowed maps the first element of a package's path to the first elements
// that it may import. internal and finding are open to all; a package may always
// import its own tree.
var allowed = map[string][]string{
	"cmd":       {"cook", "preview", "runtime", "partition", "manifest", "format"},
	"cook":      {"partition", "manifest", "format"},
	"preview":   {"runtime", "manifest", "format"},
	"runtime":   {"manifest", "format"},
	"partition": {"manifest"},
	"manifest":  {},
	"format":    {},
	"finding":   {},
	"internal":  {},
	"scripts":   {"cook", "partition", "manifest", "format"},
	"examples":  {"preview", "runtime", "manifest", "format", "cook", "partition"},
}

// banned are modules that a package tree must not reach, directly or through
// others.
var banned = map[string][]string{
	"format":    {"github.com/qmuntal/gltf", "github.com/spf13/cobra", "net/http"},
	"manifest":  {"github.com/qmuntal/gltf", "github.com/spf13/cobra", "net/http"},
	"partition": {"github.com/qmuntal/gltf", "github.com/spf13/cobra", "net/http"},
	"runtime":   {"github.com/qmuntal/gltf", "github.com/spf13/cobra", "github.com/go-gl"},
	"preview":   {"github.com/qmuntal/gltf", "github.com/spf13/cobra"},
	"cook":      {"github.com/spf13/cobra"},
}

type pkg struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
	Deps       []string
}

func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps=false", "-json=ImportPath,Dir,GoFiles,Imports,Deps", module+"...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	return pkgs
}

// tree returns the first element behind the module, "" for foreign packages.
func tree(importPath string) string {
	rest, ok := strings.CutPrefix(importPath, module)
	if !ok {
		return ""
	}
	first, _, _ := strings.Cut(rest, "/")
	return first
}

func TestArrows(t *testing.T) {
	pkgs := list(t)
	if len(pkgs) < 8 {
		t.Fatalf("only %d packages found", len(pkgs))
	}
	for _, p := range pkgs {
		from := tree(p.ImportPath)
		ok, known := allowed[from]
		if !known {
			t.Errorf("%s: the house has no room %q", p.ImportPath, from)
			continue
		}
		for _, i := range p.Imports {
			to := tree(i)
			if to == "" || to == from || to == "internal" || to == "finding" || contains(ok, to) {
				continue
			}
			t.Errorf("%s imports %s: %s may import %v only", p.ImportPath, i, from, ok)
		}
		for _, b := range banned[from] {
			for _, d := range p.Deps {
				if d == b || strings.HasPrefix(d, b+"/") {
					t.Errorf("%s reaches %s", p.ImportPath, d)
				}
			}
		}
	}
}

// TestBucketsAreFarAway: one package talks to S3 servers, and only commands take it;
// all else is handed a place. No program contains the server of the tests.
func TestBucketsAreFarAway(t *testing.T) {
	const client, door = "github.com/minio/minio-go/v7", module + "internal/blob/s3"
	found := false
	for _, p := range list(t) {
		if from := tree(p.ImportPath); contains(p.Deps, client) && p.ImportPath != door && from != "cmd" {
			t.Errorf("%s reaches %s", p.ImportPath, client)
		}
		found = found || p.ImportPath == door && contains(p.Imports, client)
		for _, d := range p.Deps {
			if strings.HasPrefix(d, "github.com/johannesboyne/gofakes3") {
				t.Errorf("%s reaches %s, which is for tests", p.ImportPath, d)
			}
		}
	}
	if !found {
		t.Errorf("%s does not import %s", door, client)
	}
}

// TestStreamerIsOnTop: the parts of the runtime do not know the Streamer that they
// are parts of; only what drives a whole one does.
func TestStreamerIsOnTop(t *testing.T) {
	for _, p := range list(t) {
		if tree(p.ImportPath) != "runtime" || p.ImportPath == module+"runtime" || p.ImportPath == module+"runtime/simulate" {
			continue
		}
		if contains(p.Imports, module+"runtime") {
			t.Errorf("%s imports runtime", p.ImportPath)
		}
	}
}

// TestRenderKnowsNoOpenGL: the renderer is built, whole, where there is no OpenGL;
// only devices and surfaces call it.
func TestRenderKnowsNoOpenGL(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,GoFiles,Deps", module+"preview/render")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var p struct{ GoFiles, Deps []string }
	if err := json.Unmarshal(out, &p); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"collect.go", "draw_gpu.go", "renderer_gpu.go", "shadow_plan.go"} {
		if !contains(p.GoFiles, f) {
			t.Errorf("%s is not built without OpenGL", f)
		}
	}
	for _, d := range p.Deps {
		if strings.HasPrefix(d, "github.com/go-gl/") {
			t.Errorf("the renderer reaches %s", d)
		}
	}
}

// TestCookHasNoClock keeps results independent of when and where they are
// made: the pipeline does not read the clock or random numbers.
func TestCookHasNoClock(t *testing.T) {
	for _, p := range list(t) {
		switch tree(p.ImportPath) {
		case "format", "manifest", "partition", "cook":
		default:
			continue
		}
		for _, i := range p.Imports {
			if i == "time" && slices.Contains(havePlaces, p.ImportPath) {
				readsNoClock(t, p)
				continue
			}
			if i == "time" || path.Dir(i) == "math/rand" || i == "math/rand" || i == "crypto/rand" {
				t.Errorf("%s imports %s", p.ImportPath, i)
			}
		}
	}
}

// havePlaces are packages that use places of objects, which have ages and may not answer.
var havePlaces = []string{module + "cook", module + "cook/publish", module + "cook/store"}

// readsNoClock: what is published has ages, and the caller says what time it is.
func readsNoClock(t *testing.T, p pkg) {
	t.Helper()
	for _, name := range p.GoFiles {
		data, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range []string{"time.Now", "time.Since", "time.Until", "time.After", "time.Sleep", "time.NewTimer"} {
			if strings.Contains(string(data), call) {
				t.Errorf("%s of %s calls %s", name, p.ImportPath, call)
			}
		}
	}
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}
