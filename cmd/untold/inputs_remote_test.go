package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/testfile"
)

// TestCookListAddress downloads a placement list, what it lists, and what that names, and
// makes what the list makes where it lies.
func TestCookListAddress(t *testing.T) {
	dir := kit(t)
	testfile.WriteTree(t, dir, map[string]string{
		"far/list.json":  `{"placements": [{"file": "slab.obj"}, {"file": "slab.obj", "position": [3, 0, 0]}]}`,
		"far/slab.obj":   strings.Replace(slab, "slab.mtl", "maps/a.mtl", 1),
		"far/maps/a.mtl": "newmtl stone\nmap_Kd b.png\n", "far/maps/b.png": string(testfile.Read(t, filepath.Join(dir, "maps", "grey stone.png"))),
		"gone.csv": "file\nslab.obj\ngone.glb\n", "up.csv": "file\n../slab.obj\n", "other.json": `{"a": 1}`,
	})
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	for _, name := range []string{"list.csv", "far/list.json"} {
		file, net := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "net")
		if r := execute(t, nil, "cook", filepath.Join(dir, filepath.FromSlash(name)), "-o", file, "--sync=false"); r.code != 0 {
			t.Fatal(r.err)
		}
		for range 2 {
			r := execute(t, nil, "cook", server.URL+"/"+name, "-o", net, "--sync=false")
			if r.code != 0 || !strings.Contains(r.stdout, "list.json: 2 objects, 4 triangles") {
				t.Fatalf("%s: exit %d\n%s%s", name, r.code, r.stdout, r.err)
			}
		}
		if diff := cmp.Diff(testfile.ReadTree(t, file), testfile.ReadTree(t, net)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for args, want := range map[string]string{
		"/gone.csv":                             server.URL + "/gone.glb does not exist; " + server.URL + "/gone.csv places it",
		"/up.csv --allow-parent-paths":          `leads out of the list's folder (what a list at an address places lies below its folder`,
		"/up.csv":                               server.URL + `/up.csv: line 2: file "../slab.obj" leads out of the list's folder`,
		"/other.json":                           server.URL + `/other.json: is no placement list: it has no "placements"`,
		"/list.csv " + server.URL + "/slab.obj": "/list.csv is a placement list, which is a scene of its own",
	} {
		r := execute(t, nil, append([]string{"cook", "-o", t.TempDir()}, strings.Fields(server.URL+args)...)...)
		if r.code == 0 || !strings.Contains(r.err, want) {
			t.Errorf("%s: exit %d, want %q\n%s", args, r.code, want, r.err)
		}
	}
}

// TestCookListAddressSecrets: a list that is not alone is refused before it is downloaded,
// without what its address keeps secret.
func TestCookListAddressSecrets(t *testing.T) {
	r := execute(t, nil, "cook", "https://me:secret@lists.invalid/list.csv?sig=secret", "a.obj", "-o", t.TempDir())
	if r.code == 0 || !strings.Contains(r.err, "https://lists.invalid/list.csv?... is a placement list") || strings.Contains(r.err, "secret") {
		t.Errorf("exit %d\n%s", r.code, r.err)
	}
}

// TestCookAsksOnce: an input that is not there, or not for everybody, is asked for once.
func TestCookAsksOnce(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusGone} {
		var asked atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.WriteHeader(status)
		}))
		r := execute(t, nil, "cook", server.URL+"/scene.glb", "-o", filepath.Join(t.TempDir(), "out"))
		server.Close()
		if n := asked.Load(); n != 1 || r.code == 0 || !strings.Contains(r.err, strconv.Itoa(status)) {
			t.Errorf("%d: asked %d times, exit %d\n%s", status, n, r.code, r.err)
		}
	}
}

// TestCookBadServers: what servers do instead of sending a file is said, with the address.
func TestCookBadServers(t *testing.T) {
	dir := kit(t)
	files := map[string][]byte{}
	for _, name := range []string{"yard.gltf", "corner.stl"} {
		files[name] = testfile.Read(t, filepath.Join(dir, name))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mode, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch {
		case mode == "moved":
			http.Redirect(w, r, "/named/"+name, http.StatusFound)
		case mode == "named": // by a type that says nothing
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write(files[name])
		case mode == "page":
			_, _ = w.Write([]byte("\n<!DOCTYPE html><title>Log in</title>"))
		case mode == "beside" && name == "scene.gltf":
			_, _ = w.Write([]byte(`{"asset": {"version": "2.0"}, "buffers": [{"uri": "a.bin", "byteLength": 4}]}`))
		case mode == "beside":
			http.NotFound(w, r)
		case mode == "circle":
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}
	}))
	defer server.Close()
	for path, want := range map[string]string{
		"/moved/yard.gltf":   "",
		"/named/corner.stl":  "",
		"/page/scene.usdc":   "/page/scene.usdc: the server sent a page (HTML or XML) and no file to cook",
		"/page/scene.usdz":   "/page/scene.usdz: the server sent a page",
		"/page/scene.obj":    "/page/scene.obj: the server sent a page",
		"/page/list.csv":     "/page/list.csv: the server sent a page",
		"/beside/scene.gltf": `/beside/scene.gltf: nothing to cook: the scene has no triangles (1 x a part of the file that is not cooked is faulty: file "a.bin" is missing`,
		"/circle/scene.glb":  "more than 5 redirects",
	} {
		r := execute(t, nil, "cook", server.URL+path, "-o", filepath.Join(t.TempDir(), "out"), "--sync=false")
		if (r.code == 0) != (want == "") || !strings.Contains(r.err, want) || strings.Contains(r.err, "untold-") {
			t.Errorf("%s: exit %d, want %q\n%s", path, r.code, want, r.err)
		}
	}
}
