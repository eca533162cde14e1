package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/bom"
	"github.com/untoldkit/untold/internal/testfile"
)

// slab is a square of two triangles in OBJ.
const slab = "mtllib slab.mtl\nv 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nvt 0 0\nvt 1 1\nusemtl stone\nf 1/1 4/1 3/2 2/2\n"

// onePixel is a PNG.
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

// kit writes a folder of files to cook.
func kit(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "kit")
	pixel, err := base64.StdEncoding.DecodeString(onePixel)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "maps"), 0o700); err != nil {
		t.Fatal(err)
	}
	testfile.WriteTree(t, dir, map[string]string{
		"slab.obj": slab, "slab.mtl": "newmtl stone\nmap_Kd maps/grey stone.png\n", "maps/grey stone.png": string(pixel),
		"yard.gltf": string(boxScene(2)), "notes.txt": "x",
		"corner.stl": "solid corner\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1000 0 0\nvertex 0 1000 0\nendloop\nendfacet\nendsolid\n",
		"list.csv":   "file,name,x\nslab.obj,first,0\nslab.obj,second,2\n",
	})
	return dir
}

// TestCookInputs cooks what arguments may be.
func TestCookInputs(t *testing.T) {
	dir := kit(t)
	out := filepath.Join(t.TempDir(), "out")
	deep := filepath.Join(t.TempDir(), "deep")
	testfile.Write(t, filepath.Join(deep, "a", ".hidden", "no.stl"), "")
	testfile.Write(t, filepath.Join(deep, "b", "models", "chair.stl"), "")
	testfile.Write(t, filepath.Join(deep, "b", "models", "more", "table.stl"), "")
	for name, c := range map[string]struct {
		args []string
		want string // of what is printed
		code int
	}{
		"OBJ":            {[]string{dir + "/slab.obj"}, "slab.json: 1 object, 2 triangles", 0},
		"folder":         {[]string{dir}, "kit.json: 4 objects, 27 triangles", 0},
		"pattern":        {[]string{dir + "/*.[os]*"}, "kit.json: 2 objects, 3 triangles", 0},
		"two":            {[]string{dir + "/slab.obj", dir + "/yard.gltf"}, "kit.json: 3 objects, 26 triangles", 0},
		"one twice":      {[]string{dir + "/slab.obj", dir + "/slab.obj", dir}, "kit.json: 4 objects, 27 triangles", 0},
		"named":          {[]string{dir, "--scene-name", "my town"}, "my_town.json: 4 objects", 0},
		"one named":      {[]string{dir + "/slab.obj", "--scene-name", "floor"}, "floor.json: 1 object, 2 triangles", 0},
		"list":           {[]string{dir + "/list.csv"}, "list.json: 2 objects, 4 triangles", 0},
		"units":          {[]string{dir + "/corner.stl", "--units", "mm"}, "corner.json: 1 object, 1 triangle", 0},
		"nothing":        {[]string{dir + "/maps"}, "holds no file to cook (.gltf, .glb, .usd, .usda, .usdc, .usdz, .obj, .ply, .stl)", 2},
		"far below":      {[]string{deep}, deep + " holds no file to cook (.gltf, .glb, .usd, .usda, .usdc, .usdz, .obj, .ply, .stl), nor do the folders right below it; " + filepath.Join(deep, "b", "models") + " does: name that", 2},
		"no match":       {[]string{dir + "/*.abc"}, "no file to cook (.gltf, .glb, .usd, .usda, .usdc, .usdz, .obj, .ply, .stl) matches", 2},
		"list and more":  {[]string{dir + "/list.csv", dir + "/slab.obj"}, "is a placement list, which is a scene of its own", 2},
		"unknown unit":   {[]string{dir + "/slab.obj", "--units", "ft"}, `--units is "ft"; use mm, cm, m, in`, 2},
		"unknown axis":   {[]string{dir + "/slab.obj", "--up", "x"}, `--up is "x"; use y or z`, 2},
		"axes of glTF":   {[]string{dir + "/yard.gltf", "--up", "z"}, "--up has no effect: glTF and USD have axes and units of their own", 2},
		"foreign":        {[]string{dir + "/a.fbx"}, "FBX files are not read (convert it first: assimp export a.fbx a.glb -fglb2)", 1},
		"not downloaded": {[]string{dir + "/slab.obj", "--max-download", "1G"}, "--max-download has no effect", 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := execute(t, nil, append([]string{"cook", "-o", filepath.Join(out, strings.ReplaceAll(name, " ", "-")), "--sync=false"}, c.args...)...)
			if r.code != c.code || !strings.Contains(r.stdout+r.err, c.want) {
				t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.err)
			}
		})
	}
	r := execute(t, nil, "inspect", filepath.Join(out, "units"))
	if !strings.Contains(r.stdout, "scene 1 x 0 x 1 m") {
		t.Errorf("a corner of 1000 mm, z upwards:\n%s", r.stdout)
	}
	made := filepath.Join(t.TempDir(), "slab.untold")
	if r := execute(t, nil, "convert", dir+"/slab.obj", "-o", made); r.code != 0 || !strings.Contains(r.stdout, "1 mesh, 2 triangles, 1 material, 1 texture") {
		t.Errorf("convert: exit %d\n%s%s", r.code, r.stdout, r.err)
	}
}

// TestCookDeeper: what lies farther down in a folder than what is cooked of it is counted, but
// for what is hidden, and layers of USD, which may be parts of others.
func TestCookDeeper(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kit")
	scene := string(boxScene(1))
	testfile.WriteTree(t, dir, map[string]string{
		"a/b/c/two.gltf": scene, "a/b/notes.txt": "x", "a/b/.git/no.glb": "", "a/b/part.usda": "#usda 1.0\n", "a/one.gltf": scene,
	})
	for _, c := range []struct{ add, want string }{
		{"", "note: 1 file in folders below " + dir + " is left out, such as " + filepath.Join(dir, "a", "b", "c", "two.gltf") + ": a folder is read with those right below it at most; name the others as well"},
		{"top.gltf", "note: 2 files in folders below " + dir + " are left out, such as " + filepath.Join(dir, "a", "b", "c", "two.gltf")},
	} {
		if c.add != "" {
			testfile.Write(t, filepath.Join(dir, c.add), scene)
		}
		r := execute(t, nil, "cook", dir, "-o", filepath.Join(t.TempDir(), "out"), "--dry-run")
		if r.code != 0 || !strings.Contains(r.err, c.want) {
			t.Errorf("exit %d, want %q\n%s", r.code, c.want, r.err)
		}
		if r := execute(t, nil, "cook", dir, "-o", filepath.Join(t.TempDir(), "out"), "--dry-run", "--quiet"); strings.Contains(r.err, "left out") {
			t.Errorf("with --quiet:\n%s", r.err)
		}
	}
	all := []string{filepath.Join(dir, "a"), filepath.Join(dir, "a", "b", "c"), filepath.Join(dir, "*.gltf")}
	if r := execute(t, nil, append([]string{"cook", "-o", filepath.Join(t.TempDir(), "out"), "--dry-run"}, all...)...); r.code != 0 || strings.Contains(r.err, "left out") {
		t.Errorf("exit %d, all are named:\n%s", r.code, r.err)
	}
}

// TestCookNothing: a folder without a triangle is named as what it is.
func TestCookNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "void")
	for _, name := range []string{"a.gltf", "b.gltf"} {
		testfile.Write(t, filepath.Join(dir, name), `{"asset":{"version":"2.0"},"scenes":[{}]}`)
	}
	r := execute(t, nil, "cook", dir, "-o", filepath.Join(t.TempDir(), "out"))
	if r.code != 1 || !strings.Contains(r.err, "error: void (2 files): nothing to cook") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// TestMentions: what a glTF names beside it is found, whatever stands before its JSON.
func TestMentions(t *testing.T) {
	const doc = `{"buffers":[{"uri":"a%20b.bin"},{"uri":"data:,"}],"images":[{"uri":"c.png"},{}]}`
	for _, before := range []string{"", bom.UTF8} {
		if got := endingOf([]byte(before+doc), int64(len(before+doc))); got != ".gltf" {
			t.Errorf("%q: %q of the standard input", before, got)
		}
		at := filepath.Join(t.TempDir(), "a.gltf")
		testfile.Write(t, at, before+doc)
		if got, err := mentions(at); err != nil || !slices.Equal(got, []string{"a b.bin", "c.png"}) {
			t.Errorf("%q: %q, %v", before, got, err)
		}
	}
}

// TestCookStandardInput cooks what is piped in, with the bytes of the file.
func TestCookStandardInput(t *testing.T) {
	dir := kit(t)
	pipe := func(input, out string, args ...string) (string, error) {
		cmd := exec.Command(underTest(t), append([]string{"cook", "-o", out, "--sync=false"}, args...)...)
		cmd.Stdin = strings.NewReader(input)
		said, err := cmd.CombinedOutput()
		return string(said), err
	}
	for _, name := range []string{"yard.gltf", "corner.stl"} {
		file, piped := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "pipe")
		if r := execute(t, nil, "cook", filepath.Join(dir, name), "-o", file, "--sync=false"); r.code != 0 {
			t.Fatal(r.err)
		}
		if said, err := pipe(string(testfile.Read(t, filepath.Join(dir, name))), piped, "-"); err != nil || !strings.Contains(said, "stdin.json") {
			t.Fatalf("%s: %v\n%s", name, err, said)
		}
		want := testfile.ReadTree(t, filepath.Join(file, "tiles"))
		for n, data := range testfile.ReadTree(t, filepath.Join(piped, "tiles")) {
			if want[n] != data {
				t.Errorf("%s: %s differs", name, n)
			}
		}
	}
	for input, want := range map[string]string{
		"":             "the standard input is empty",
		"v 1 2\n":      "error: stdin.obj: line 1: v has 2 numbers, it needs 3",
		"\x00\x01\x02": "the standard input is neither glTF, USD, OBJ, PLY nor STL",
	} {
		said, err := pipe(input, t.TempDir(), "-")
		var ended *exec.ExitError
		if !errors.As(err, &ended) || ended.ExitCode() != exitWanting || !strings.Contains(said, want) || strings.Contains(said, os.TempDir()+string(filepath.Separator)+"untold-") {
			t.Errorf("%q: %v\n%s", input, err, said)
		}
	}
	if said, err := pipe("x", t.TempDir(), "-", "-"); err == nil || !strings.Contains(said, "can be read once") {
		t.Errorf("%v\n%s", err, said)
	}
}

// TestCookAddresses downloads inputs with the files that they name.
func TestCookAddresses(t *testing.T) {
	dir := kit(t)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	file, net := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "net")
	if r := execute(t, nil, "cook", dir+"/slab.obj", "-o", file, "--sync=false"); r.code != 0 {
		t.Fatal(r.err)
	}
	r := execute(t, nil, "cook", server.URL+"/slab.obj", "-o", net, "--sync=false")
	if r.code != 0 || !strings.Contains(r.stdout, "slab.json: 1 object, 2 triangles") || !strings.Contains(r.err, "downloading "+server.URL) {
		t.Fatalf("exit %d\n%s%s", r.code, r.stdout, r.err)
	}
	for _, d := range []string{file, net} { // the state names the files that were read
		if err := os.RemoveAll(filepath.Join(d, ".untold")); err != nil {
			t.Fatal(err)
		}
	}
	want := testfile.ReadTree(t, file)
	for n, data := range testfile.ReadTree(t, net) {
		if want[n] != data {
			t.Errorf("%s differs", n)
		}
		if bytes.Contains([]byte(data), []byte("untold-")) && strings.HasSuffix(n, ".json") {
			t.Errorf("%s names a temporary file", n)
		}
	}
	if r := execute(t, nil, "cook", server.URL+"/slab.obj", dir+"/corner.stl", "-o", filepath.Join(t.TempDir(), "both"), "--sync=false"); r.code != 0 || !strings.Contains(r.stdout, "scene.json: 2 objects, 3 triangles") {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.err)
	}
	if r := execute(t, nil, "cook", server.URL+"/notes.txt", "-o", t.TempDir()); r.code == 0 || !strings.Contains(r.err, "does not end like a file to cook") {
		t.Errorf("exit %d\n%s", r.code, r.err)
	}
}
