package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/glb"
	"github.com/untoldkit/untold/internal/glbwrite"
	"github.com/untoldkit/untold/internal/scenecheck"
	"github.com/untoldkit/untold/internal/testfile"
)

// boxPart writes a part that is one or several boxes, as kit makers would.
func boxPart(t *testing.T, dir, name string, boxes ...geom.Box) {
	t.Helper()
	w, err := glbwrite.Create(filepath.Join(dir, name+".glb"), "stand-in")
	if err != nil {
		t.Fatal(err)
	}
	w.Object(glb.Materials, map[string]any{"name": "atlas", "pbrMetallicRoughness": map[string]any{"metallicFactor": 0}})
	p := glbwrite.Primitive{}
	for _, b := range boxes {
		first := uint32(len(p.Pos))
		for _, c := range b.Corners() {
			p.Pos = append(p.Pos, c.F32())
		}
		for _, i := range []uint32{0, 4, 6, 0, 6, 2, 5, 1, 3, 5, 3, 7, 0, 1, 5, 0, 5, 4, 6, 7, 3, 6, 3, 2, 1, 0, 2, 1, 2, 3, 4, 5, 7, 4, 7, 6} {
			p.Index = append(p.Index, first+i)
		}
	}
	m := w.Mesh(name, []glbwrite.Primitive{p})
	n := w.Node(&glbwrite.Node{Name: name, Mesh: m, Camera: -1, Light: -1})
	if _, err := w.Close("s", []int{n}); err != nil {
		t.Fatal(err)
	}
}

func box(x0, y0, z0, x1, y1, z1 float64) geom.Box {
	return geom.Box{Min: geom.Vec3{x0, y0, z0}, Max: geom.Vec3{x1, y1, z1}}
}

// dungeonKit writes parts of 4 m; the floor has its pivot in a corner.
func dungeonKit(t *testing.T) string {
	dir := t.TempDir()
	boxPart(t, dir, "floor_tile_large", box(0, -0.1, 0, 4, 0, 4))
	boxPart(t, dir, "wall", box(-2, 0, -0.5, 2, 4, 0.5))
	boxPart(t, dir, "wall_cracked", box(-0.5, 0, -2, 0.5, 4, 2))
	boxPart(t, dir, "wall_doorway", box(-2, 0, -0.5, -1, 4, 0.5), box(1, 0, -0.5, 2, 4, 0.5), box(-1, 3, -0.5, 1, 4, 0.5))
	boxPart(t, dir, "wall_corner", box(-2, 0, -0.5, 0.5, 4, 0.5))
	boxPart(t, dir, "chest", box(-0.5, 0, -0.3, 0.5, 0.7, 0.3))
	boxPart(t, dir, "barrel_small", box(-0.3, 0, -0.3, 0.3, 0.9, 0.3))
	return dir
}

func assemble(t *testing.T, args ...string) (path, log string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "scene.glb")
	var b strings.Builder
	if err := run(append(args, "-o", path), &b); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, b.String())
	}
	return path, b.String()
}

func TestDungeon(t *testing.T) {
	path, log := assemble(t, "-kit", dungeonKit(t), "-kind", "dungeon", "-cells", "20", "-seed", "2")
	r, err := scenecheck.File(path)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for n := range r.Names {
		kind, _, _ := strings.Cut(n, "_")
		count[kind]++
	}
	for kind, least := range map[string]int{"Floor": 60, "Wall": 60, "Doorway": 4, "Loot": 5, "Room": 4, "Corridors": 1} {
		if count[kind] < least {
			t.Errorf("%d nodes of kind %s, want %d at least", count[kind], kind, least)
		}
	}
	if s := r.Box.Size(); max(s[0], s[2]) > 80.01 || s[1] > 4.2 {
		t.Errorf("the dungeon measures %v m", s)
	}
	if len(r.Doc.Meshes) > 7 || len(r.Doc.Materials) != 1 {
		t.Errorf("%d meshes and %d materials: parts were not shared", len(r.Doc.Meshes), len(r.Doc.Materials))
	}
	if strings.Contains(log, "warning") {
		t.Errorf("unexpected warnings:\n%s", log)
	}
}

// TestDungeonFloorsFillCells checks the placing of parts whose pivot lies in
// a corner: every floor must cover exactly its cell.
func TestDungeonFloorsFillCells(t *testing.T) {
	path, _ := assemble(t, "-kit", dungeonKit(t), "-kind", "dungeon", "-cells", "9")
	r, err := scenecheck.File(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for i, n := range r.Doc.Nodes {
		var x, z, k int
		if _, err := fmt.Sscanf(n.Name, "Floor_%d_%d_%d", &x, &z, &k); err != nil {
			continue
		}
		seen++
		lo := r.World[i].Point(geom.Vec3{0, 0, 0})
		if want := (geom.Vec3{float64(x) * 4, 0, float64(z) * 4}); lo.Sub(want).Len() > 1e-4 {
			t.Errorf("%s starts at %v, want %v", n.Name, lo, want)
		}
	}
	if seen == 0 {
		t.Error("no floors")
	}
}

func TestFallbacks(t *testing.T) {
	dir := t.TempDir()
	boxPart(t, dir, "road_straight", box(-1, 0, -1, 1, 0.1, 1))
	boxPart(t, dir, "house", box(-0.8, 0, -0.8, 0.8, 2, 0.8))
	path, log := assemble(t, "-kit", dir, "-cells", "8")
	if _, err := scenecheck.File(path); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"flat", "no plain ground tile", "no corner road", `house                        building`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %q:\n%s", want, log)
		}
	}
	err := run([]string{"-kit", dir, "-kind", "dungeon", "-q", "-o", filepath.Join(t.TempDir(), "d.glb")}, &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), "floor") {
		t.Errorf("a dungeon without floors: %v", err)
	}
}

func TestPartErrors(t *testing.T) {
	out := filepath.Join(t.TempDir(), "o.glb")
	tests := map[string]string{
		"no JSON":     "glTF\x02\x00\x00\x00",
		"bad JSON":    "{",
		"version 1":   `{"asset":{"version":"1.0"}}`,
		"required":    `{"asset":{"version":"2.0"},"extensionsRequired":["KHR_draco_mesh_compression"]}`,
		"escape":      `{"asset":{"version":"2.0"},"buffers":[{"uri":"../secret.bin","byteLength":4}]}`,
		"absent":      `{"asset":{"version":"2.0"},"buffers":[{"uri":"none.bin","byteLength":4}]}`,
		"short":       `{"asset":{"version":"2.0"},"buffers":[{"uri":"data:;base64,AAAA","byteLength":4}]}`,
		"view":        `{"asset":{"version":"2.0"},"buffers":[{"uri":"data:;base64,AAAA","byteLength":3}],"bufferViews":[{"buffer":0,"byteOffset":2,"byteLength":9223372036854775807}]}`,
		"accessor":    `{"asset":{"version":"2.0"},"accessors":[{"bufferView":0,"componentType":5126,"count":1,"type":"VEC3"}]}`,
		"mesh":        `{"asset":{"version":"2.0"},"nodes":[{"mesh":3}]}`,
		"cycle":       `{"asset":{"version":"2.0"},"scenes":[{"nodes":[0]}],"nodes":[{"children":[1]},{"children":[0]}]}`,
		"two parents": `{"asset":{"version":"2.0"},"scenes":[{"nodes":[0]}],"nodes":[{"children":[1,1]},{}]}`,
		"transform":   `{"asset":{"version":"2.0"},"nodes":[{"translation":[1,2]}]}`,
	}
	for name, text := range tests {
		top := t.TempDir()
		dir := filepath.Join(top, "kit")
		if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(top, "secret.bin"), []byte("1234"), 0o600)); err != nil {
			t.Fatal(err)
		}
		testfile.Write(t, filepath.Join(dir, "part.gltf"), text)
		err := run([]string{"-kit", dir, "-o", out}, &strings.Builder{})
		if !errors.Is(err, ErrPart) || !strings.Contains(err.Error(), "part.gltf") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, dir := range map[string]string{"empty": t.TempDir(), "absent": filepath.Join(t.TempDir(), "none")} {
		if err := run([]string{"-kit", dir, "-o", out}, &strings.Builder{}); err == nil {
			t.Errorf("%s folder: no error", name)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a failed run left a file")
	}
}

func TestFlagErrors(t *testing.T) {
	for _, args := range []string{"", "-kit x", "-kit x -o a.glb -kind moon", "-kit x -o a.glb -cells 0", "-kit x -o a.glb -front up", "-kit x -o a.glb -scale 0", "-kit x -o a.glb y"} {
		if err := run(strings.Fields(args), &strings.Builder{}); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

// TestMergeKeepsExtensions merges two parts that share an image and hold an
// extension with a texture of its own.
func TestMergeKeepsExtensions(t *testing.T) {
	dir := t.TempDir()
	pos := make([]byte, 36)
	pos[12+2], pos[12+3] = 0x80, 0x3f // vertex 1 is (1,0,0)
	pos[24+10], pos[24+11] = 0x80, 0x3f
	for i, name := range []string{"grass_a", "lawn_b"} {
		text := fmt.Sprintf(`{"asset":{"version":"2.0"},"extensionsUsed":["KHR_texture_transform","KHR_materials_clearcoat"],
"nodes":[{"mesh":0,"scale":[2,%d,2]}],"meshes":[{"primitives":[{"attributes":{"POSITION":0},"material":0}]}],
"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,0,1]}],
"bufferViews":[{"buffer":0,"byteLength":36}],"buffers":[{"byteLength":36,"uri":"data:;base64,%s"}],
"images":[{"uri":"data:image/png;base64,AAAA"},{"uri":"data:image/png;base64,AAAB","mimeType":"image/png"}],
"textures":[{"source":1},{"source":1,"name":"other"}],
"materials":[{"name":"m%d","pbrMetallicRoughness":{"baseColorTexture":{"index":1,"extensions":{"KHR_texture_transform":{"scale":[2,2]}}}},
"extensions":{"KHR_materials_clearcoat":{"clearcoatTexture":{"index":0}}}}]}`, i+1, base64.StdEncoding.EncodeToString(pos), i)
		testfile.Write(t, filepath.Join(dir, name+".gltf"), text)
	}
	path, _ := assemble(t, "-kit", dir, "-cells", "9", "-pitch", "2")
	raw := testfile.Read(t, path)
	text, _, _, err := glb.Split(raw)
	if err != nil {
		t.Fatal(err)
	}
	d, err := parseDocument(raw, dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Images) != 1 || len(d.Textures) != 1 || len(d.Materials) != 1 || len(d.Accessors) != 1 {
		t.Errorf("%d images, %d textures, %d materials, %d accessors; want 1 of each", len(d.Images), len(d.Textures), len(d.Materials), len(d.Accessors))
	}
	for _, want := range []string{`"clearcoatTexture":{"index":0}`, `{"extensions":{"KHR_texture_transform":{"scale":[2,2]}},"index":0}`, `"extensionsUsed":["KHR_lights_punctual","KHR_materials_clearcoat","KHR_texture_transform"]`} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("the file does not hold %s", want)
		}
	}
}

func FuzzParseDocument(f *testing.F) {
	f.Add([]byte(`{"asset":{"version":"2.0"},"scenes":[{"nodes":[0]}],"nodes":[{"children":[1]},{"mesh":0}],"meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1}]}],"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"},{"bufferView":0,"componentType":5121,"count":3,"type":"SCALAR"}],"bufferViews":[{"buffer":0,"byteLength":36}],"buffers":[{"byteLength":36,"uri":"data:;base64,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}]}`))
	f.Add([]byte("glTF\x02\x00\x00\x00\x20\x00\x00\x00\x0c\x00\x00\x00JSON{}          "))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := parseDocument(raw, dir)
		if err != nil {
			return
		}
		p := &part{name: "fuzz", doc: d, box: geom.EmptyBox()}
		if p.measure() != nil || p.box.IsEmpty() {
			return
		}
		w, err := glbwrite.Create(filepath.Join(t.TempDir(), "o.glb"), "fuzz")
		if err != nil {
			t.Fatal(err)
		}
		defer w.Abort()
		newMerger(w).place("p", p, geom.Vec3{}, 0)
	})
}
