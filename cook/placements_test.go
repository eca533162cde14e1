package cook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/testfile"
)

// brick is a unit triangle with a corner at the origin.
const brick = "o brick\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"

// TestPlacementLists reads the same list as JSON and as CSV.
func TestPlacementLists(t *testing.T) {
	dir := t.TempDir()
	testfile.WriteTree(t, dir, map[string]string{
		"a.obj": brick,
		"list.json": `{"title": "x", "placements": [
			{"file": "a.obj"},
			{"file": "a.obj", "name": "turned", "position": [1, 2, 3], "rotation": 90, "scale": 2, "extras": {"id": 7, "kind": "wall"}},
			{"file": "a.obj", "rotation": [90, 0, 0], "scale": [1, 2, 3]},
			{"file": "a.obj", "rotation": [0, 0.6, 0, 0.8]}]}`,
		"list.csv": "file,name,X,y,z,yaw,rx,ry,rz,qx,qy,qz,qw,scale,sx,sy,sz,id,kind\n" +
			"a.obj,,,,,,,,,,,,,,,,,,\n" +
			"a.obj,turned,1,2,3,90,,,,,,,,2,,,,7,wall\n" +
			"a.obj,,,,,,90,,,,,,,,1,2,3,,\n" +
			"\"a.obj\",,,,,,,,,0,0.6,0,0.8,,,,,,\n",
		"semicolons.csv": "\xEF\xBB\xBFfile;name;x;y;z;yaw;scale;extras\na.obj;turned;1;2;3;90;2;\"{\"\"kind\"\": \"\"wall\"\", \"\"id\"\": 7}\"\n",
	})
	var first []Item
	for _, name := range []string{"list.json", "list.csv"} {
		if !isPlacementList(filepath.Join(dir, name)) {
			t.Errorf("%s is no list", name)
		}
		items, err := readPlacements(filepath.Join(dir, name), false, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = items
			first[1].Extras = []byte(`{"id":7,"kind":"wall"}`) // without the space
		}
		if got, want := fmt.Sprint(items), fmt.Sprint(first); got != want {
			t.Errorf("%s:\n%s\n%s", name, got, want)
		}
	}
	m := first[1].world()
	if p := m.Point(geom.Vec3{1, 0, 0}); p.Sub(geom.Vec3{1, 2, 1}).Len() > 1e-9 {
		t.Errorf("turned about y: %v", p)
	}
	m = first[2].world()
	if p := m.Point(geom.Vec3{0, 1, 0}); p.Sub(geom.Vec3{0, 0, 2}).Len() > 1e-9 {
		t.Errorf("turned about x: %v", p)
	}
	items, err := readPlacements(filepath.Join(dir, "semicolons.csv"), false, 1000)
	if err != nil || fmt.Sprint(items[0].world()) != fmt.Sprint(first[1].world()) || string(items[0].Extras) != `{"id":7,"kind":"wall"}` {
		t.Errorf("%v %v %s", err, items, items[0].Extras)
	}
}

// TestPlacementListTooLong: what is too long is not read.
func TestPlacementListTooLong(t *testing.T) {
	at := testfile.Write(t, filepath.Join(t.TempDir(), "list.csv"), "file\n")
	if err := os.Truncate(at, maxList+1); err != nil {
		t.Fatal(err)
	}
	_, err := readPlacements(at, false, 1000)
	if err == nil || err.Error() != at+": is longer than the 67.1 MB that a list may have (divide it, and cook the parts into folders of their own)" || !errors.Is(err, gltfscene.ErrTooLarge) {
		t.Error(err)
	}
}

// TestPlacementListFaults: what is wrong is said with its place.
func TestPlacementListFaults(t *testing.T) {
	for text, want := range map[string]string{
		"csv:file\n" + strings.Repeat("a.obj\n", 1001): "has more than the 1000 entries that the memory carries",
		`json:[]`:                                            "places nothing",
		`json:{"placements": 1}`:                             "is no list",
		"json:{\"placements\": [\n{]}":                       "line 2: the JSON is invalid",
		`json:[{"file": "a.obj", "scales": 1}]`:              `placements[0]: unknown field "scales"`,
		`json:[{"name": "a"}]`:                               "placements[0]: names no file",
		`json:[{"file": "../a.obj"}]`:                        `placements[0]: file "../a.obj" leads out of the list's folder`,
		`json:[{"file": "/etc/passwd"}]`:                     `placements[0]: file "/etc/passwd" leads out of the list's folder`,
		`json:[{"file": "https://x.org/a.glb"}]`:             `placements[0]: file "https://x.org/a.glb" is an address`,
		`json:[{"file": "list.json"}]`:                       `placements[0]: file "list.json" is a list itself`,
		`json:[{"file": "link.obj"}]`:                        `file "link.obj" is reached by a link that leaves the list's folder`,
		`json:[{"file": "a.obj", "position": [1, 2]}]`:       "placements[0].position: has 2 numbers, it needs 3",
		`json:[{"file": "a.obj", "position": [1e13, 0, 0]}]`: "placements[0]: 1e+13 is not between -1e12 and 1e12",
		`json:[{"file": "a.obj", "rotation": [1, 2]}]`:       "placements[0].rotation: has 2 numbers, it needs 1",
		`json:[{"file": "a.obj", "rotation": [0,0,0,0]}]`:    "placements[0].rotation: is a quaternion of length 0",
		`json:[{"file": "a.obj", "rotation": "left"}]`:       "placements[0].rotation: is neither a number nor an array of numbers",
		`json:[{"file": "a.obj", "rotation": 1e300}]`:        "placements[0]: +Inf is not between",
		`json:[{"file": "a.obj", "scale": 0}]`:               "placements[0].scale: is 0",
		`json:[{"file": "a.obj", "scale": [1, 0, 1]}]`:       "placements[0]: the scale [1 0 1] flattens it",
		`json:[{"file": "a.obj", "extras": [1]}]`:            "placements[0]: its extras are no JSON object",
		"csv:name,x\na,1\n":                                  `line 1: there is no column "file"`,
		"csv:file,file\na,b\n":                               `line 1: column "file" stands there twice`,
		"csv:file,x\na.obj,one\n":                            `line 2: x is "one", which is no number`,
		"csv:file,x\na.obj,1,2\n":                            "wrong number of fields",
		"csv:file,yaw,rx\na.obj,1,2\n":                       "line 2: gives more than one of yaw",
		"csv:file,extras\na.obj,7\n":                         "line 2: extras is no JSON object",
		"csv:file,x\na.obj,NaN\n":                            `line 2: x is "NaN"`,
	} {
		dir := t.TempDir()
		ext, text, _ := strings.Cut(text, ":")
		testfile.Write(t, filepath.Join(dir, "a.obj"), brick)
		if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.obj")); err != nil {
			t.Skip(err)
		}
		at := testfile.Write(t, filepath.Join(dir, "list."+ext), text)
		_, err := readPlacements(at, false, 1000)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), at) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzPlacements(f *testing.F) {
	f.Add([]byte(`[{"file":"a.obj","name":"b","position":[1,2,3],"rotation":[1,2,3],"scale":[1,2,3],"extras":{"a":1}}]`), false)
	f.Add([]byte("file,x,y,z,yaw,scale,kind\na.obj,1,2,3,90,2,wall\n"), true)
	f.Fuzz(func(t *testing.T, data []byte, table bool) {
		parse := parseList
		if table {
			parse = parseCSV
		}
		items, places, err := parse(data, 1000)
		if err != nil {
			return
		}
		if len(items) != len(places) {
			t.Fatal("places are missing")
		}
		for i := range items {
			if m := items[i].world(); items[i].check() == nil && !m.IsFinite() {
				t.Fatalf("%+v", items[i])
			}
		}
	})
}

// TestItems: several files become one scene, each opened once, with stable names; a list
// gives the same.
func TestItems(t *testing.T) {
	dir := t.TempDir()
	testfile.WriteTree(t, dir, map[string]string{
		"a.obj":     brick,
		"b.obj":     "mtllib m.mtl\nusemtl red\n" + brick + "o other\nusemtl blue\nf 3 2 1\n",
		"m.mtl":     "newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\n",
		"list.json": `[{"file": "b.obj", "name": "B"}, {"file": "a.obj", "name": "first", "position": [5, 0, 0]}, {"file": "b.obj", "name": "B2", "position": [0, 0, 9], "extras": {"kind": "x"}}]`,
	})
	opts := DefaultOptions()
	opts.DryRun, opts.NoSync = true, true
	in, err := openInput(context.Background(), filepath.Join(dir, "list.json"), &opts)
	if err != nil {
		t.Fatal(err)
	}
	defer in.scene.Close()
	s := in.scene
	var names []string
	for i := range s.Nodes {
		n := &s.Nodes[i]
		text := n.Name
		if n.Mesh >= 0 {
			list, err := s.Geometry(n.Mesh)
			if err != nil {
				t.Fatal(err)
			}
			m := list[0].Material
			if m != s.Meshes[n.Mesh].Parts[0].Material {
				t.Errorf("materials %d and %d", m, s.Meshes[n.Mesh].Parts[0].Material)
			}
			text += ":" + s.Materials[m].Name
		}
		names = append(names, text+string(n.Extras))
	}
	want := `B brick:red other:blue B2{"kind": "x"} brick:red{"kind": "x"} other:blue{"kind": "x"} first first:default`
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s", got)
	}
	if s.Name != "list" || s.Source != "list.json" || len(s.Files) != 4 || len(s.Meshes) != 3 || filepath.Base(s.Files[0]) != "list.json" {
		t.Errorf("%q %q %q, %d meshes", s.Name, s.Source, s.Files, len(s.Meshes))
	}
	if got := s.NodePlace(7); got != "a.obj: nodes[0]" {
		t.Error(got)
	}

	// Cooked, it is up to date until one of the files changes.
	opts = DefaultOptions()
	opts.NoSync, opts.Jobs = true, 2
	out := filepath.Join(dir, "out")
	run := func(scene string, o Options) *Result {
		t.Helper()
		res, err := Run(context.Background(), scene, out, o)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	list := filepath.Join(dir, "list.json")
	res := run(list, opts)
	if res.Objects != 5 || res.Triangles != 5 {
		t.Errorf("%+v", res)
	}
	first := testfile.ReadTree(t, filepath.Join(out, "tiles"))
	if !run(list, opts).Unchanged {
		t.Error("it is made again although nothing has changed")
	}
	testfile.Write(t, filepath.Join(dir, "m.mtl"), "newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 1 1\n")
	if run(list, opts).Unchanged {
		t.Error("an MTL file has changed, and nothing was made")
	}
	testfile.Write(t, filepath.Join(dir, "m.mtl"), "newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\n")
	// The same by options, with the same bytes.
	opts.Items = []Item{
		{File: filepath.Join(dir, "b.obj"), Name: "B"},
		{File: filepath.Join(dir, "a.obj"), Name: "first", Position: geom.Vec3{5, 0, 0}},
		{File: filepath.Join(dir, "b.obj"), Name: "B2", Position: geom.Vec3{0, 0, 9}, Extras: []byte(`{"kind": "x"}`)},
	}
	run("list.scene", opts)
	for name, data := range testfile.ReadTree(t, filepath.Join(out, "tiles")) {
		if first[name] != data {
			t.Errorf("%s differs", name)
		}
	}
	if !run("list.scene", opts).Unchanged {
		t.Error("items are made again although nothing has changed")
	}
	// A manifest never takes the place of its list.
	if _, err := Run(context.Background(), list, dir, DefaultOptions()); err == nil || !strings.Contains(err.Error(), "would take the place of") {
		t.Error(err)
	}
}

// TestForeignFormats: what is not read names what converts it.
func TestForeignFormats(t *testing.T) {
	at := testfile.Write(t, filepath.Join(t.TempDir(), "a.fbx"), "Kaydara FBX Binary")
	opts := DefaultOptions()
	opts.DryRun = true
	_, err := Run(context.Background(), at, "", opts)
	if err == nil || !strings.Contains(err.Error(), "FBX files are not read (convert it first: assimp export a.fbx a.glb -fglb2)") {
		t.Error(err)
	}
}
