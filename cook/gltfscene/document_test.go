package gltfscene

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
)

// TestDocumentFaults loads whole documents; each is one line of JSON.
func TestDocumentFaults(t *testing.T) {
	const asset = `"asset":{"version":"2.0"}`
	for _, tt := range []struct {
		name, json string
		err        error
		text       string
	}{
		{"empty", ``, ErrMalformed, "the file is empty"},
		{"text", `hello`, ErrMalformed, "neither binary glTF"},
		{"html", `<html>`, ErrMalformed, "download's error page"},
		{"lfs", "version https://git-lfs.github.com/spec/v1", ErrMalformed, "git lfs pull"},
		{"b3dm", "b3dm\x01\x00\x00\x00", ErrMalformed, "b3dm"},
		{"utf-16", "\xFF\xFE{\x00", ErrMalformed, "UTF-16"},
		{"syntax", "{\n  \"asset\": }", ErrMalformed, "line 2, column 12"},
		{"cut off", `{"asset":{"version":"2.`, ErrMalformed, "the JSON is invalid"},
		{"no asset", `{}`, ErrMalformed, "asset: is missing"},
		{"no version", `{"asset":{}}`, ErrMalformed, "asset.version: is missing"},
		{"version", `{"asset":{"version":"two"}}`, ErrMalformed, "must look like"},
		{"version of words", `{"asset":{"version":"2.x"}}`, ErrMalformed, "must look like"},
		{"glTF 1.0.1", `{"asset":{"version":"1.0.1"}}`, ErrUnsupported, "this is glTF 1.0"},
		{"glTF 1 of a draft", `{"asset":{"version":"1.0.1-dev"}}`, ErrUnsupported, "this is glTF 1.0"},
		{"glTF 1", `{"asset":{"version":"1.0"}}`, ErrUnsupported, "this is glTF 1.0"},
		{"glTF 1 number", `{"asset":{"version":1.0}}`, ErrUnsupported, "this is glTF 1.0"},
		{"glTF 1 objects", `{"meshes":{"a":{}}}`, ErrUnsupported, "this is glTF 1.0"},
		{"glTF 3", `{"asset":{"version":"3.0"}}`, ErrUnsupported, "glTF 3.0"},
		{"minVersion", `{"asset":{"version":"2.1","minVersion":"2.1"}}`, ErrUnsupported, "needs glTF 2.1"},
		{"twice", `{` + asset + `,"nodes":[],"nodes":[]}`, ErrMalformed, "nodes: occurs twice"},
		{"scene", `{` + asset + `,"scene":1,"scenes":[{}]}`, ErrMalformed, "names scene 1, but the file has 1"},
		{"scene type", `{` + asset + `,"scene":"a","scenes":[{}]}`, ErrMalformed, `scene: is "a"`},
		{"scenes type", `{` + asset + `,"scenes":{}}`, ErrMalformed, "scenes: is an object, must be an array"},
		{"null scene", `{` + asset + `,"scenes":[null]}`, ErrMalformed, "scenes[0]: is null, must be an object"},
		{"root index", `{` + asset + `,"scenes":[{"nodes":[2]}],"nodes":[{}]}`, ErrMalformed, "scenes[0].nodes[0]: names node 2"},
		{"child index", `{` + asset + `,"scenes":[{"nodes":[0]}],"nodes":[{"children":[1]}]}`, ErrMalformed, "nodes[0].children[0]: names node 1"},
		{"null node", `{` + asset + `,"scenes":[{"nodes":[0]}],"nodes":[null]}`, ErrMalformed, "nodes[0]: is null"},
		{"self", `{` + asset + `,"scenes":[{"nodes":[0]}],"nodes":[{"children":[0]}]}`, ErrMalformed, "cycle"},
		{"cycle", `{` + asset + `,"scenes":[{"nodes":[0]}],"nodes":[{"children":[1]},{"children":[2]},{"children":[1]}]}`, ErrMalformed, "nodes[2].children[0]: node 1 is its own ancestor"},
		{"two parents", `{` + asset + `,"scenes":[{"nodes":[0,1]}],"nodes":[{"children":[2]},{"children":[2]},{}]}`, ErrMalformed, "node 2 is placed twice"},
		{"root twice", `{` + asset + `,"scenes":[{"nodes":[0,0]}],"nodes":[{}]}`, ErrMalformed, "node 0 is placed twice"},
		{"mesh index", `{` + asset + `,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}]}`, ErrMalformed, "nodes[0].mesh: names mesh 0, but the file has 0"},
		{"null mesh", `{` + asset + `,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],"meshes":[null]}`, ErrMalformed, "meshes[0]: is null"},
		{"null primitive", `{` + asset + `,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],"meshes":[{"primitives":[null]}]}`, ErrMalformed, "meshes[0].primitives[0]: is null"},
		{"mode", `{` + asset + `,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],"meshes":[{"primitives":[{"attributes":{},"mode":7}]}]}`, ErrMalformed, "mode: is 7, must be one of"},
		{"material", `{` + asset + `,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"accessors":[null]}`, ErrMalformed, "accessors[0]: is null"},
		{"matrix", `{` + asset + `,"scenes":[{"nodes":[0]}],"nodes":[{"matrix":[1,2,3]}]}`, ErrMalformed, "nodes[0].matrix: has 3 numbers, must have 16"},
		{"projection", `{` + asset + `,"scenes":[{"nodes":[0]}],"nodes":[{"matrix":[1,0,0,1,0,1,0,0,0,0,1,0,0,0,0,1]}]}`, ErrMalformed, "is not affine"},
		{"rotation", `{` + asset + `,"scenes":[{"nodes":[0]}],"nodes":[{"rotation":[0,0,1]}]}`, ErrMalformed, "has 3 numbers, must have 4"},
		{"infinite", `{` + asset + `,"scenes":[{"nodes":[0]}],"nodes":[{"translation":[1e999,0,0]}]}`, ErrMalformed, "out of range"},
		{"overflow", `{` + asset + `,"scenes":[{"nodes":[0]}],"nodes":[{"scale":[1e300,1,1],"children":[1]},{"scale":[1e300,1,1]}]}`, ErrMalformed, "nodes[1]: its world transform is not finite"},
		{"case", `{` + asset + `,"scenes":[{"nodes":[0]}],"nodes":[{"Mesh":0}]}`, ErrMalformed, `must be spelled "mesh"`},
		{"key twice", `{` + asset + `,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0,"mesh":1}]}`, ErrMalformed, "occurs twice"},
		{"fraction", `{` + asset + `,"scenes":[{"nodes":[0.5]}],"nodes":[{}]}`, ErrMalformed, "is 0.5, must be a whole number"},
		{"huge index", `{` + asset + `,"scenes":[{"nodes":[99999999999999999999]}],"nodes":[{}]}`, ErrMalformed, "must be a whole number"},
		{"required", `{` + asset + `,"extensionsRequired":["ACME_gizmo"]}`, ErrUnsupported, "ACME_gizmo is required"},
		{"extension list", `{` + asset + `,"extensionsUsed":[1]}`, ErrMalformed, "extensionsUsed[0]: is a number"},
		{"extension list type", `{` + asset + `,"extensionsRequired":{}}`, ErrMalformed, "must be an array"},
		{"extensions type", `{` + asset + `,"extensions":[]}`, ErrMalformed, "extensions: is an array"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := LoadBytes(context.Background(), "dir/x.gltf", []byte(tt.json), DefaultOptions())
			if !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("got %v, want %v with %q", err, tt.err, tt.text)
			}
			var e *Error
			if !errors.As(err, &e) || e.File != "dir/x.gltf" || !strings.HasPrefix(err.Error(), "dir/x.gltf: ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("bad form: %q", err.Error())
			}
		})
	}
}

func TestContainerFaults(t *testing.T) {
	b, _ := oneTriangle()
	good := b.glb()
	for _, tt := range []struct {
		name string
		edit func([]byte) []byte
		err  error
		text string
	}{
		{"version 1", func(d []byte) []byte { d[4] = 1; return d }, ErrUnsupported, "glTF 1.0"},
		{"version 3", func(d []byte) []byte { d[4] = 3; return d }, ErrUnsupported, "version 3"},
		{"header", func(d []byte) []byte { return d[:10] }, ErrMalformed, "cut off after 10 of 12"},
		{"cut", func(d []byte) []byte { return d[:len(d)-1] }, ErrMalformed, "it is cut off"},
		{"short length", func(d []byte) []byte { d[8], d[9] = 3, 0; return d }, ErrMalformed, "length of 3"},
		{"chunk length", func(d []byte) []byte { d[15] = 0x7F; return d }, ErrMalformed, "are left"},
		{"no JSON", func(d []byte) []byte { d[16] = 'X'; return d }, ErrMalformed, "must be JSON"},
		{"no chunks", func(d []byte) []byte { d = d[:12]; d[8], d[9] = 12, 0; return d }, ErrMalformed, "no JSON chunk"},
		{"no BIN", func(d []byte) []byte {
			n := 20 + binary.LittleEndian.Uint32(d[12:])
			binary.LittleEndian.PutUint32(d[8:], n)
			return d[:n]
		}, ErrMissingFile, "has no uri"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := LoadBytes(context.Background(), "x.glb", tt.edit(bytes.Clone(good)), DefaultOptions())
			if !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, want %v with %q", err, tt.err, tt.text)
			}
		})
	}
	lost := bytes.Clone(good)
	lost[12]++ // the header of the next chunk is then read one byte late
	if _, err := LoadBytes(context.Background(), "x.glb", lost, DefaultOptions()); !errors.Is(err, ErrMalformed) {
		t.Errorf("chunks that do not follow each other: %v", err)
	}
	for n := range good {
		if _, err := LoadBytes(context.Background(), "x.glb", good[:n], DefaultOptions()); err == nil {
			t.Fatalf("the first %d of %d bytes load", n, len(good))
		}
	}
	s, err := LoadBytes(context.Background(), "x.glb", append(bytes.Clone(good), 1, 2, 3), DefaultOptions())
	if err != nil || note(s, "glb-trailing-bytes").Count != 1 {
		t.Errorf("trailing bytes: %v", err)
	}
}

// TestByteOrderMark: a mark before the JSON is skipped, and a note tells of it.
func TestByteOrderMark(t *testing.T) {
	b, _ := oneTriangle()
	const mark = "\xEF\xBB\xBF"
	for name, data := range map[string][]byte{
		"x.gltf": append([]byte(mark), b.gltf()...),
		"x.glb":  makeGLB(append([]byte(mark), b.json("")...), b.bin),
	} {
		s, err := LoadBytes(context.Background(), name, data, DefaultOptions())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n := note(s, "byte-order-mark"); n.Count != 1 || n.Warning || s.Triangles() != 1 {
			t.Errorf("%s: notes %+v", name, s.Notes)
		}
	}
}

// TestVersions: further parts of a version say nothing of the format.
func TestVersions(t *testing.T) {
	for _, version := range []string{"2.0", "2.1", "2.0.0", "2.0.1"} {
		b, _ := oneTriangle()
		b.doc["asset"] = object{"version": version}
		b.load(t)
	}
}

// TestUnalignedChunks: chunks whose lengths are no multiples of 4 follow each other without
// a gap, and a note tells of them.
func TestUnalignedChunks(t *testing.T) {
	b, _ := oneTriangle()
	js := b.json("")
	for len(js)%4 != 1 {
		js = append(js, ' ')
	}
	for _, bin := range [][]byte{b.bin, append(bytes.Clone(b.bin), 1, 2)} {
		data := binary.LittleEndian.AppendUint32([]byte("glTF"), 2)
		data = binary.LittleEndian.AppendUint32(data, uint32(28+len(js)+len(bin)))
		data = binary.LittleEndian.AppendUint32(data, uint32(len(js)))
		data = append(append(data, "JSON"...), js...)
		data = binary.LittleEndian.AppendUint32(data, uint32(len(bin)))
		data = append(append(data, "BIN\x00"...), bin...)
		s, err := LoadBytes(context.Background(), "x.glb", data, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		if n := note(s, "glb-unaligned"); n.Count != 1 || n.Warning || s.Triangles() != 1 {
			t.Errorf("notes %+v", s.Notes)
		}
	}
}

// TestUnusedFaults verifies that faults in what the scene does not use are
// notes, not errors.
func TestUnusedFaults(t *testing.T) {
	for name, extra := range map[string]object{
		"accessors[1]":         {"accessors": []any{object{"componentType": "FLOAT"}}},
		"meshes[1]":            {"meshes": []any{object{"primitives": []any{nil}}}},
		"animations[0]":        {"animations": []any{object{"channels": 3}}},
		"skins[0].joints[0]":   {"skins": []any{object{"joints": []int{99}}}},
		"cameras[0].type":      {"cameras": []any{object{"type": "fisheye"}}},
		"samplers":             {"samplers": object{}},
		"textures[0].source":   {"textures": []any{object{"source": 3}}},
		"images[0]":            {"images": []any{object{}}},
		"nodes[1].children[0]": {"nodes": []any{object{"children": []int{1}}}},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := oneTriangle()
			for key, v := range extra {
				old, _ := b.doc[key].([]any)
				if more, ok := v.([]any); ok {
					b.doc[key] = append(old, more...)
				} else {
					b.doc[key] = v
				}
			}
			s := b.load(t)
			n := note(s, "unused-part-faulty")
			if n.Count != 1 || !strings.HasPrefix(n.Where, name) || !n.Warning || s.Triangles() != 1 {
				t.Errorf("notes %+v", s.Notes)
			}
		})
	}
}

// names lists the nodes of a scene.
func names(s *Scene) (out string) {
	for _, n := range s.Nodes {
		out += n.Name + " "
	}
	return out
}

// TestNoScene: without scenes every node is placed once, children below their
// parents and levels of detail beside their owners.
func TestNoScene(t *testing.T) {
	b, _ := oneTriangle()
	delete(b.doc, "scenes")
	b.doc["extensionsUsed"] = []string{lodName}
	b.doc["nodes"] = []any{
		object{"name": "child", "mesh": 0},
		object{"name": "parent", "children": []int{0}, "translation": []int{1, 2, 3}},
		object{"name": "far", "mesh": 0},
		object{"name": "near", "mesh": 0, "extensions": object{lodName: object{"ids": []int{2}}}},
	}
	s := b.load(t)
	if got := names(s); got != "parent child near far " {
		t.Errorf("nodes %q", got)
	}
	if s.Triangles() != 2 || s.Nodes[1].World[13] != 2 || len(s.LODs) != 1 {
		t.Errorf("%d triangles, %d groups, %v", s.Triangles(), len(s.LODs), s.Nodes)
	}
	if n := note(s, "no-scene"); n.Count != 1 || !n.Warning {
		t.Errorf("notes %v", s.Notes)
	}
	b.doc["nodes"] = []any{object{"children": []int{1}}, object{"children": []int{2}}, object{"children": []int{1}}}
	if _, err := LoadBytes(context.Background(), "a.glb", b.glb(), DefaultOptions()); !errors.Is(err, ErrMalformed) {
		t.Errorf("a node with two parents: %v", err)
	}
}

func TestScenes(t *testing.T) {
	b := newBuilder()
	b.doc["nodes"] = []any{object{"name": "a"}, object{"name": "b"}, object{}}
	b.doc["scenes"] = []any{object{"nodes": []int{0}}, object{"nodes": []int{1, 2}}}
	load := func(scene int) (string, error) {
		s, err := LoadBytes(context.Background(), "dir/some.name.glb", b.glb(), Options{Scene: scene})
		if err != nil {
			return "", err
		}
		if s.Name != "some.name" || s.Source != "some.name.glb" {
			t.Errorf("Name %q, Source %q", s.Name, s.Source)
		}
		return names(s), nil
	}
	for scene, want := range map[int]string{DefaultScene: "a ", 0: "a ", 1: "b node_2 "} {
		if got, err := load(scene); err != nil || got != want {
			t.Errorf("scene %d: got %q, %v", scene, got, err)
		}
	}
	if _, err := load(2); !errors.Is(err, ErrNoSuchScene) {
		t.Errorf("scene 2: %v", err)
	}
	b.doc["scene"] = 1
	if got, err := load(DefaultScene); err != nil || got != "b node_2 " {
		t.Errorf("default scene 1: got %q, %v", got, err)
	}
	delete(b.doc, "scene")
	delete(b.doc, "scenes")
	s := b.load(t)
	if names(s) != "a b node_2 " || note(s, "no-scene").Count != 1 {
		t.Errorf("without scenes: %q, notes %v", names(s), s.Notes)
	}
}

func TestTransforms(t *testing.T) {
	b := newBuilder()
	b.doc["scenes"] = []any{object{"nodes": []int{0}}}
	b.doc["nodes"] = []any{
		object{"translation": []int{1, 2, 3}, "children": []int{3, 1}, "extras": object{"a": []int{1}}},
		object{"matrix": []float64{2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 10, 0, 0, 1}, "scale": []int{5, 5, 5}},
		object{},
		object{"rotation": []float64{0, 0, 2, 2}, "scale": []int{0, 1, 1}, "children": []int{2}},
	}
	s := b.load(t)
	order := []int{0, 3, 2, 1}
	for i, n := range s.Nodes {
		if n.Index != order[i] {
			t.Fatalf("node %d is %d of the file, want %d", i, n.Index, order[i])
		}
	}
	if got, want := s.Nodes[3].World.Point(geom.Vec3{1, 1, 1}), (geom.Vec3{13, 4, 5}); got != want {
		t.Errorf("matrix: got %v, want %v", got, want)
	}
	if got := s.Nodes[2].World.Point(geom.Vec3{9, 1, 1}).Sub(geom.Vec3{0, 2, 4}); got.Len() > 1e-15 {
		t.Errorf("rotation of length 2.8 and scale 0: off by %v", got)
	}
	if string(s.Nodes[0].Extras) != `{"a":[1]}` || s.Nodes[1].Parent != 0 || note(s, "matrix-and-trs").Count != 1 {
		t.Errorf("extras %s, notes %v", s.Nodes[0].Extras, s.Notes)
	}
}

// TestFractionalIntegers accepts 1.0 where a whole number is meant.
func TestFractionalIntegers(t *testing.T) {
	b, _ := oneTriangle()
	js := string(b.gltf())
	js = strings.Replace(js, `"count":3`, `"count":3.0`, 1)
	js = strings.Replace(js, `"mesh":0`, `"mesh":0e0`, 1)
	js = strings.Replace(js, `"byteLength":36}],"buffers"`, `"byteLength":3.6e1}],"buffers"`, 1)
	s, err := LoadBytes(context.Background(), "x.gltf", []byte(js), DefaultOptions())
	if err != nil || s.Triangles() != 1 {
		t.Fatal(err)
	}
}

// TestDeepHierarchy places a chain of nodes that recursion would not survive
// cheaply.
func TestDeepHierarchy(t *testing.T) {
	depth := 100_000
	if race.Enabled {
		depth = 10_000 // make test goes all the way down without the detector
	}
	var js strings.Builder
	js.WriteString(`{"asset":{"version":"2.0"},"scenes":[{"nodes":[0]}],"nodes":[`)
	for i := range depth {
		fmt.Fprintf(&js, `{"translation":[0,1,0],"children":[%d]},`, i+1)
	}
	js.WriteString(`{}]}`)
	s, err := LoadBytes(context.Background(), "x.gltf", []byte(js.String()), DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if last := s.Nodes[depth].World; last[13] != float64(depth) {
		t.Errorf("the last node is at %v", last[13])
	}
}

func TestContext(t *testing.T) {
	b, _ := oneTriangle()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := LoadBytes(ctx, "x.glb", b.glb(), DefaultOptions()); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

// TestHostileSizesDoNotAllocate loads small files that claim to be large.
func TestHostileSizesDoNotAllocate(t *testing.T) {
	for name, edit := range map[string]func(b *builder){
		"count":      func(b *builder) { b.acc(0)["count"] = int64(3 << 30) },
		"zeros":      func(b *builder) { b.acc(0)["count"] = int64(3 << 40); delete(b.acc(0), "bufferView") },
		"byteLength": func(b *builder) { b.viewObj(0)["byteLength"] = int64(1 << 40) },
	} {
		b, _ := oneTriangle()
		edit(b)
		data := b.glb()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := LoadBytes(context.Background(), "x.glb", data, DefaultOptions()); err == nil {
			t.Errorf("%s: no error", name)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
			t.Errorf("%s: %d bytes allocated", name, used)
		}
	}
}

// TestZeroPadding accepts JSON chunks that old exporters pad with zeros.
func TestZeroPadding(t *testing.T) {
	b, _ := oneTriangle()
	js := b.json("")
	for len(js)%4 != 3 {
		js = append(js, ' ')
	}
	s, err := LoadBytes(context.Background(), "x.glb", makeGLB(append(js, 0), b.bin), DefaultOptions())
	if err != nil || note(s, "glb-json-padding").Count != 1 {
		t.Errorf("got %v", err)
	}
}

// TestManyUnknownExtensions verifies that notes stay few.
func TestManyUnknownExtensions(t *testing.T) {
	b, _ := oneTriangle()
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprint("ACME_", i))
	}
	b.doc["extensionsUsed"] = names
	if s := b.load(t); len(s.Notes) > 70 || note(s, "extensions-ignored").Count < 900 {
		t.Errorf("%d notes", len(s.Notes))
	}
}

// BenchmarkLoad loads 2,000 nodes with a mesh each.
func BenchmarkLoad(b *testing.B) {
	doc := newBuilder()
	pos := doc.floats("VEC3", 3, triangle()...)
	for range 2000 {
		doc.mesh(object{"attributes": object{"POSITION": pos}})
	}
	data := doc.glb()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := LoadBytes(context.Background(), "x.glb", data, DefaultOptions()); err != nil {
			b.Fatal(err)
		}
	}
}
