package cook

import (
	"context"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/cook/store"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

// yard is a scene that can be edited: a ground over all tiles, and things on it.
type yard struct {
	things []thing
	paints []paint
}

type thing struct {
	name  string
	x, z  int // metres
	mesh  int // of yardMeshes
	paint int
}

type paint struct {
	name    string
	color   [3]int // of 255
	texture int    // -1: none; else its picture's colour
}

const yardMeshes = 2

func newYard() *yard {
	y := &yard{paints: []paint{{"red", [3]int{200, 20, 20}, -1}, {"brick", [3]int{255, 255, 255}, 120}, {"steel", [3]int{90, 90, 90}, -1}}}
	for x := 4; x < 48; x += 10 {
		for z := 4; z < 48; z += 10 {
			y.things = append(y.things, thing{fmt.Sprintf("thing%d_%d", x, z), x, z, (x + z) % yardMeshes, (x * z) % 3})
		}
	}
	return y
}

// write replaces a scene's file.
func (y *yard) write(t testing.TB, path string) {
	t.Helper()
	d := &model{}
	for _, p := range y.paints {
		base := obj{"baseColorFactor": []float64{float64(p.color[0]) / 255, float64(p.color[1]) / 255, float64(p.color[2]) / 255, 1}, "metallicFactor": 0}
		if p.texture >= 0 {
			base["baseColorTexture"] = obj{"index": d.texture(dataImage(p.name, color.NRGBA{uint8(p.texture), 90, 60, 255}))}
		}
		add(&d.materials, obj{"name": p.name, "pbrMetallicRoughness": base})
	}
	grass := add(&d.materials, obj{"name": "grass"})
	ground := d.plate(48, 24)
	ground["material"] = grass
	d.node("ground", ground)
	// A mesh for each paint that shows it.
	meshes := map[[2]int]int{}
	for _, o := range y.things {
		key := [2]int{o.mesh, o.paint}
		mesh, ok := meshes[key]
		if !ok {
			mesh = d.box()
			meshes[key] = mesh
			prim := d.meshes[mesh]["primitives"].([]obj)[0]
			prim["material"] = o.paint
			d.meshes[mesh]["name"] = fmt.Sprintf("mesh%d", o.mesh)
		}
		add(&d.nodes, obj{"name": o.name, "mesh": mesh, "translation": []float64{float64(o.x), 1, float64(o.z)}})
	}
	testfile.Write(t, path, testfile.Read(t, d.save(t)))
}

// plate is a flat square with its corner at the origin.
func (d *model) plate(side float32, n int) obj {
	var pos, normal, uv []float32
	var idx []uint16
	for i := range n + 1 {
		for k := range n + 1 {
			x, z := side*float32(i)/float32(n), side*float32(k)/float32(n)
			pos, normal, uv = append(pos, x, float32((i*7+k*3)%5)/20, z), append(normal, 0, 1, 0), append(uv, x, z)
			if i > 0 && k > 0 {
				a, b := uint16((i-1)*(n+1)+k-1), uint16(i*(n+1)+k-1)
				idx = append(idx, a, a+1, b, b, a+1, b+1)
			}
		}
	}
	return obj{"indices": d.indices(idx...), "attributes": obj{
		"POSITION": d.floats(3, pos...), "NORMAL": d.floats(3, normal...), "TEXCOORD_0": d.floats(2, uv...),
	}}
}

func yardOptions() Options {
	o := levelOptions()
	o.FitDistances = false // pictures take long
	o.HLODs = []manifest.HLODLevel{{Suffix: "_hlod", ReductionRatio: 0.3}}
	return o
}

// edit changes a yard or the options in one way.
func (y *yard) edit(t *rapid.T, o *Options) string {
	i := rapid.IntRange(0, len(y.things)-1).Draw(t, "thing")
	switch what := rapid.SampledFrom([]string{"move", "delete", "add", "recolour", "paint", "texture", "rename", "option", "nothing"}).Draw(t, "edit"); what {
	case "move":
		y.things[i].x, y.things[i].z = rapid.IntRange(2, 46).Draw(t, "x"), rapid.IntRange(2, 46).Draw(t, "z")
		return what
	case "delete":
		if len(y.things) > 10 {
			y.things = slices.Delete(y.things, i, i+1)
		}
		return what
	case "add":
		n := thing{fmt.Sprintf("new%d", len(y.things)), rapid.IntRange(2, 46).Draw(t, "x"), rapid.IntRange(2, 46).Draw(t, "z"), rapid.IntRange(0, yardMeshes-1).Draw(t, "mesh"), 0}
		y.things = slices.Insert(y.things, i, n)
		return what
	case "recolour":
		y.things[i].paint = rapid.IntRange(0, len(y.paints)-1).Draw(t, "paint")
		return what
	case "paint":
		y.paints[rapid.IntRange(0, len(y.paints)-1).Draw(t, "paint")].color[0] = rapid.IntRange(10, 250).Draw(t, "red")
		return what
	case "texture":
		y.paints[rapid.IntRange(0, len(y.paints)-1).Draw(t, "paint")].texture = rapid.IntRange(-1, 255).Draw(t, "picture")
		return what
	case "rename":
		y.things[i].name += "b"
		return what
	case "option":
		switch rapid.IntRange(0, 7).Draw(t, "option") {
		case 0:
			o.Merge = !o.Merge
		case 1:
			o.Instances = !o.Instances
		case 2:
			o.LODMinTriangles = 40 - o.LODMinTriangles
		case 3:
			o.LODErrorPixels = 5 - o.LODErrorPixels
		case 4:
			o.HLODAtlas = !o.HLODAtlas
		case 5:
			o.Pyramid = !o.Pyramid
		case 6:
			o.FitDistances = !o.FitDistances // takes long
		default:
			o.TileSize[0], o.TileSize[2] = 40-o.TileSize[0], 40-o.TileSize[2] // 16 or 24 m
		}
		return what
	}
	return "nothing"
}

// TestCookRemembers: whatever is edited, a cook over an earlier one gives the bytes of a
// cook from nothing, and says the same about them.
func TestCookRemembers(t *testing.T) {
	base := t.TempDir()
	n := 0
	race.Checks(t, 3) // make test does all of them without the detector
	rapid.Check(t, func(rt *rapid.T) {
		n++
		scene, out := filepath.Join(base, fmt.Sprint(n), "yard.gltf"), filepath.Join(base, fmt.Sprint(n), "out")
		y, o := newYard(), yardOptions()
		o.TileSize[0], o.TileSize[2], o.LODMinTriangles, o.LODErrorPixels, o.nodeTexels = 16, 16, 12, 2, 64
		o.FitDistances, o.Pyramid = false, rapid.IntRange(0, 3).Draw(rt, "pyramid") == 3 // it takes most of the time
		y.write(t, scene)
		if _, err := Run(t.Context(), scene, out, o); err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(1, 2).Draw(rt, "cooks") {
			var edits []string
			for range rapid.IntRange(1, 2).Draw(rt, "edits") {
				edits = append(edits, y.edit(rt, &o))
			}
			y.write(t, scene)
			got, err := Run(t.Context(), scene, out, o)
			if err != nil {
				rt.Fatal(err)
			}
			full := o
			full.Full = true
			fresh := t.TempDir()
			want, err := Run(t.Context(), scene, fresh, full)
			if err != nil {
				rt.Fatal(err)
			}
			if d := cmp.Diff(testfile.ReadTree(t, fresh), testfile.ReadTree(t, out)); d != "" {
				rt.Fatalf("after %v the bytes differ: %.3000s", edits, d)
			}
			got.ManifestPath, got.Reused, got.Unchanged = want.ManifestPath, want.Reused, want.Unchanged
			if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
				rt.Fatalf("after %v the results differ: %s", edits, d)
			}
		}
	})
}

// stamps lists when the files below a folder changed.
func stamps(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	out := map[string]time.Time{}
	for name := range testfile.ReadTree(t, dir) {
		st, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = st.ModTime()
	}
	return out
}

// touched lists the files whose times differ, or that come or go, sorted.
func touched(before, after map[string]time.Time) (out []string) {
	for name, at := range after {
		if was, ok := before[name]; !ok || !was.Equal(at) {
			out = append(out, name)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// age makes the files of a folder, and a scene, older, so that no stamp is of this very
// moment.
func age(t *testing.T, paths ...string) {
	t.Helper()
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	for _, p := range paths {
		if err := os.Chtimes(p, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCookTouchesWhatChanges: without a change nothing is touched, and when one thing
// moves only the tiles that it left and entered, with their levels, and the manifest.
func TestCookTouchesWhatChanges(t *testing.T) {
	dir := t.TempDir()
	scene, out := filepath.Join(dir, "yard.gltf"), filepath.Join(dir, "out")
	y, o := newYard(), yardOptions()
	cook := func() *Result {
		t.Helper()
		res, err := Run(t.Context(), scene, out, o)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	y.write(t, scene)
	age(t, scene)
	first := cook()
	before := stamps(t, out)
	again := cook()
	if got := touched(before, stamps(t, out)); !again.Unchanged || len(got) > 0 {
		t.Errorf("nothing has changed, but %v", got)
	}
	again.Unchanged, again.Reused = false, 0
	if d := cmp.Diff(first, again, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("another result: %s", d)
	}
	// Written again with the same content.
	y.write(t, scene)
	if res := cook(); res.Unchanged || res.Reused != res.Tiles || len(touched(before, stamps(t, out))) > 0 {
		t.Errorf("%d of %d tiles taken again, %v touched", res.Reused, res.Tiles, touched(before, stamps(t, out)))
	}
	moved := slices.IndexFunc(y.things, func(o thing) bool { return o.x == 14 && o.z == 14 })
	y.things[moved].x = 38 // from the first column of tiles to the last
	y.write(t, scene)
	res := cook()
	tiles := map[string]bool{}
	for _, name := range touched(before, stamps(t, out)) {
		if name == "yard.json" {
			continue
		}
		id, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".untold"), "_lod")
		tiles[strings.TrimSuffix(id, "_hlod")] = true
	}
	if len(tiles) != 2 || res.Reused != res.Tiles-2 {
		t.Errorf("%v were touched, %d of %d taken again", tiles, res.Reused, res.Tiles)
	}
}

// TestExplain: what has changed about a tile is said by the parts of its key.
func TestExplain(t *testing.T) {
	dir := t.TempDir()
	scene, out := filepath.Join(dir, "yard.gltf"), filepath.Join(dir, "out")
	y, o := newYard(), yardOptions()
	o.Explain = []string{"tile_0_0_0", "thing4_4", "ground", "nothing"}
	tell := func() string {
		t.Helper()
		y.write(t, scene)
		res, err := Run(t.Context(), scene, out, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Explained; len(got) != 4 || len(got[1].Tiles) != 1 || len(got[2].Tiles) != 8 || got[3].Kind != "unknown" {
			t.Errorf("%+v", got)
		}
		e := res.Explained[0]
		return fmt.Sprintf("%s %t %v", e.How, e.New, e.Changed)
	}
	for _, c := range []struct {
		edit func()
		want string
	}{
		{func() {}, "made true []"},
		{func() {}, "earlier cook false []"},
		{func() { y.things[0].x += 2 }, "earlier cook false []"}, // in the last row
		{func() { y.things[4].x += 2 }, "made false [objects]"},
		{func() { y.paints[1].color[1] = 9; y.paints[0].color[1] = 9; y.paints[2].color[1] = 9 }, "made false [materials]"},
		{func() { o.LODMinTriangles = 13 }, "made false [levels]"},
		{func() { o.Merge = false }, "made false [options]"},
	} {
		c.edit()
		if got := tell(); got != c.want {
			t.Errorf("%s, not %s", got, c.want)
		}
	}
	o.Full = true
	res, err := Run(t.Context(), scene, out, o)
	if err != nil || !res.Explained[0].Anew || res.Explained[0].How != "made" || len(res.Explained[0].Changed) > 0 {
		t.Errorf("%v, %+v", err, res)
	}
}

// TestCookDistrustsItsState: a state that is damaged, foreign or about files that have
// changed since costs time alone.
func TestCookDistrustsItsState(t *testing.T) {
	o := yardOptions()
	scene, out := cookedYard(t, o)
	want := testfile.ReadTree(t, out)
	stateAt := filepath.Join(out, filepath.FromSlash(stateFile("yard.json")))
	good := testfile.Read(t, stateAt)
	tile := filepath.Join(out, "tiles", "tile_0_0_0.untold")
	stored := testfile.Read(t, tile)
	for name, spoil := range map[string]func(){
		"the state is cut":          func() { testfile.Write(t, stateAt, good[:len(good)/2]) },
		"the state is empty":        func() { testfile.Write(t, stateAt, "") },
		"a byte of the state":       func() { testfile.Write(t, stateAt, strings.Replace(string(good), `"triangles":`, `"triangles" :`, 1)) },
		"the state is gone":         func() { must0(t, os.Remove(stateAt)) },
		"a tile is gone":            func() { must0(t, os.Remove(tile)) },
		"a tile is longer":          func() { testfile.Write(t, tile, string(stored)+"x") },
		"a tile has other bytes":    func() { testfile.Write(t, tile, strings.ToUpper(string(stored))) },
		"a tile is a folder's link": func() { must0(t, os.Remove(tile)); must0(t, os.Symlink(t.TempDir(), tile)) },
		"the manifest is gone":      func() { must0(t, os.Remove(filepath.Join(out, "yard.json"))) },
		"a tile was touched":        func() { age(t, tile) },
	} {
		spoil()
		if _, err := Run(t.Context(), scene, out, o); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(want, testfile.ReadTree(t, out)); d != "" {
			t.Errorf("%s: %.500s", name, d)
		}
		good, stored = testfile.Read(t, stateAt), testfile.Read(t, tile)
	}
}

func must0(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestVerify: bytes that change without a trace are found by reading alone.
func TestVerify(t *testing.T) {
	o := yardOptions()
	scene, out := cookedYard(t, o)
	tile := filepath.Join(out, "tiles", "tile_0_0_0.untold")
	want := testfile.Read(t, tile)
	st, err := os.Stat(tile)
	if err != nil {
		t.Fatal(err)
	}
	bad := slices.Clone(want)
	bad[len(bad)-1] ^= 1
	f, err := os.OpenFile(tile, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(bad), 0); err != nil {
		t.Fatal(err)
	}
	must0(t, f.Close())
	must0(t, os.Chtimes(tile, st.ModTime(), st.ModTime()))
	res, err := Run(t.Context(), scene, out, o)
	if err != nil || !res.Unchanged {
		t.Errorf("%v, %+v", err, res)
	}
	o.Verify = true
	if res, err = Run(t.Context(), scene, out, o); err != nil || res.Unchanged || string(testfile.Read(t, tile)) != string(want) {
		t.Errorf("%v, %+v", err, res)
	}
}

// TestCookGoesOn: what a killed cook has finished is not made again.
func TestCookGoesOn(t *testing.T) {
	dir := t.TempDir()
	scene, out := filepath.Join(dir, "yard.gltf"), filepath.Join(dir, "out")
	y, o := newYard(), yardOptions()
	y.write(t, scene)
	o.Jobs = 1
	killed := o
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	killed.Progress = func(stage string, done, _ int) {
		if stage == "cook" && done == 4 {
			cancel()
		}
	}
	if _, err := Run(ctx, scene, out, killed); err == nil {
		t.Fatal("not stopped")
	}
	res, err := Run(t.Context(), scene, out, o)
	if err != nil || res.Reused != 4 {
		t.Errorf("%v, %+v", err, res)
	}
	fresh := t.TempDir()
	if _, err := Run(t.Context(), scene, fresh, o); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(testfile.ReadTree(t, fresh), testfile.ReadTree(t, out)); d != "" {
		t.Errorf("%.500s", d)
	}
}

// TestImagesAreRemembered: images are resized or compressed once, also by cooks that share
// a store, and the bytes are the same.
func TestImagesAreRemembered(t *testing.T) {
	for _, mode := range []TextureMode{TexturesResize, TexturesBC} {
		if race.Enabled && mode == TexturesResize {
			continue // make test cooks both without the detector
		}
		scene := texturedHills(t, hillImages()...)
		o := levelOptions()
		o.Textures, o.MaxTexture, o.HLODMaxTexture = mode, 64, 32
		fresh, out := t.TempDir(), t.TempDir()
		full := o
		full.Full = true
		run := func(dir string, o Options) map[string]string {
			t.Helper()
			if _, err := Run(t.Context(), scene, dir, o); err != nil {
				t.Fatal(err)
			}
			return testfile.ReadTree(t, dir)
		}
		want := run(fresh, full)
		run(out, o)
		s := loadStateAt(t, out, strings.TrimSuffix(filepath.Base(scene), ".gltf")+".json")
		if len(s.Images) == 0 {
			t.Fatalf("%v: no image is remembered", mode)
		}
		// Another option makes everything else anew.
		o.LODMinTriangles++
		if d := cmp.Diff(want, run(out, o)); d != "" {
			t.Errorf("%v: %.500s", mode, d)
		}
		p, _ := place(t)
		o.Store = store.New(p, nil)
		for range 2 {
			if d := cmp.Diff(want, run(t.TempDir(), o)); d != "" {
				t.Errorf("%v, from a store: %.500s", mode, d)
			}
		}
		st, err := o.Store.Stat(t.Context())
		if err != nil || st.Results <= len(s.Payloads) {
			t.Errorf("%+v, %v", st, err)
		}
	}
}
