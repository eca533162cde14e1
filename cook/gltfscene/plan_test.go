package gltfscene

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"
	"github.com/qmuntal/gltf"

	"github.com/untoldkit/untold/cook/internal/planfile"
	"github.com/untoldkit/untold/internal/fuzzbound"
)

// recorded opens a file and returns what Record writes of it, unpacked; nil if it does not
// load.
func recorded(t testing.TB, path string, keep int64) (*Scene, []byte) {
	t.Helper()
	opts := DefaultOptions()
	opts.AllowMissingImages = true
	s, err := Open(t.Context(), path, opts, keep, nil)
	if err != nil {
		return nil, nil
	}
	return s, record(t, s)
}

// record returns what Record writes of a scene, unpacked.
func record(t testing.TB, s *Scene) []byte {
	t.Helper()
	c := planfile.NewWriter()
	if err := s.Record(c); err != nil {
		t.Fatalf("%s: %v", s.Source, err)
	}
	section, err := c.Section()
	if err != nil {
		t.Fatal(err)
	}
	d, err := zstd.NewReader(bytes.NewReader(section[8:]))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	raw := make([]byte, 0, 1<<10)
	w := bytes.NewBuffer(raw)
	if _, err := w.ReadFrom(d); err != nil {
		t.Fatal(err)
	}
	return w.Bytes()
}

// followPlan opens a scene by what was recorded of it.
func followPlan(t testing.TB, path string, raw []byte, keep int64) (*Scene, error) {
	t.Helper()
	return follow(t, path, planfile.OpenRaw(raw), keep)
}

func follow(t testing.TB, path string, c *planfile.Coder, keep int64) (*Scene, error) {
	t.Helper()
	f, info, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenPlanned(t.Context(), Planned{Name: path, Main: f, Info: info, Files: []string{path}, Plan: c}, DefaultOptions(), keep,
		func(*Scene, int, []Primitive) error { return nil })
	if err == nil {
		err = c.End()
	}
	return s, err
}

// TestMadeIsSpilled: what poses and cuts have made lies in a temporary file where memory is
// short, in a cook and in one that follows a plan, and is the same.
func TestMadeIsSpilled(t *testing.T) {
	posed, _ := skinned()
	for name, b := range map[string]*builder{
		"posed": posed, "cut": plate(object{"wrapS": 33071, "wrapT": 33648}, object{}),
	} {
		path := filepath.Join(t.TempDir(), "a.glb")
		if err := os.WriteFile(path, b.glb(), 0o600); err != nil {
			t.Fatal(err)
		}
		var want []Primitive
		for _, keep := range []int64{1 << 30, 1} {
			a, raw := recorded(t, path, keep)
			followed, err := followPlan(t, path, raw, keep)
			if err != nil {
				t.Fatal(name, err)
			}
			for i, s := range []*Scene{a, followed} {
				list, err := s.Geometry(0)
				if want == nil {
					want = list
				}
				if err != nil || !reflect.DeepEqual(list, want) {
					t.Errorf("%s, keeping %d bytes, %d: %v, %v", name, keep, i, list, err)
				}
				if spilled := len(s.geometry.spills) > 0; spilled != (keep == 1 || i == 0) {
					t.Errorf("%s, keeping %d bytes, %d: in a temporary file: %v", name, keep, i, spilled)
				}
				s.Close()
			}
		}
	}
}

// TestRecordIsReadBack: a plan gives the scene that it was made of, with the same geometry
// and images, whatever these are stored like.
func TestRecordIsReadBack(t *testing.T) {
	seen := 0
	check := func(path string, keep int64) {
		t.Helper()
		a, raw := recorded(t, path, keep)
		if a == nil {
			return
		}
		seen++
		defer a.Close()
		b, err := followPlan(t, path, raw, keep)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		defer b.Close()
		for _, v := range [][2]any{{a.Nodes, b.Nodes}, {a.LODs, b.LODs}, {a.Meshes, b.Meshes}, {a.Materials, b.Materials}, {a.Lights, b.Lights}, {a.Cameras, b.Cameras}, {a.Notes, b.Notes}, {a.Name, b.Name}, {a.Generator, b.Generator}} {
			if d := cmp.Diff(v[0], v[1], cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(Image{})); d != "" {
				t.Errorf("%s: %.600s", path, d)
			}
		}
		for i := range a.Meshes {
			x, err1 := a.Geometry(i)
			y, err2 := b.Geometry(i)
			// cmp.Diff of all geometry takes 20 times as long.
			if !reflect.DeepEqual(x, y) || err1 != nil || err2 != nil {
				t.Errorf("%s: mesh %d: %v, %v: %.300s", path, i, err1, err2, cmp.Diff(x, y))
			}
		}
		for i := range a.Images {
			x, err1 := a.Images[i].Bytes()
			y, err2 := b.Images[i].Bytes()
			if !bytes.Equal(x, y) || (err1 == nil) != (err2 == nil) || a.Images[i].Place != b.Images[i].Place {
				t.Errorf("%s: image %d: %v, %v", path, i, err1, err2)
			}
		}
	}
	dir := t.TempDir()
	for i, b := range seeds() {
		path := filepath.Join(dir, string(rune('a'+i))+".glb")
		if err := os.WriteFile(path, b.glb(), 0o600); err != nil {
			t.Fatal(err)
		}
		check(path, 1<<20)
	}
	for _, path := range planScenes(t) {
		check(path, 1<<30)
		check(path, 1<<8) // nothing is kept: views of compressed scenes are spilled
	}
	if seen < 3 {
		t.Errorf("%d scenes", seen)
	}
}

// planScenes are small shared scenes: plain, compressed, with levels and with many files.
func planScenes(t *testing.T) (out []string) {
	root := filepath.Join("..", "..", "..", "shared", "assets")
	for _, dir := range []string{"features", "models"} {
		_ = filepath.WalkDir(filepath.Join(root, dir), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil
			}
			info, err := d.Info()
			if ext := strings.ToLower(filepath.Ext(path)); err == nil && (ext == ".glb" || ext == ".gltf") && info.Size() < 1<<16 {
				out = append(out, path)
			}
			return nil
		})
	}
	if len(out) == 0 {
		t.Log("there are no shared assets")
	}
	return out
}

// TestPlannedGeometryIsChecked: jobs and primitives that cannot be are refused before
// anything is decoded.
func TestPlannedGeometryIsChecked(t *testing.T) {
	b, prim := oneTriangle()
	prim["indices"] = b.accessor([]byte{0, 1, 2}, u8, 3, "SCALAR", nil)
	b.mesh(object{"attributes": object{"POSITION": b.floats("VEC3", 3, triangle()...)}})
	path := filepath.Join(t.TempDir(), "scene.glb")
	if err := os.WriteFile(path, b.glb(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		says string
		edit func(g *geometry)
	}{
		{"", func(*geometry) {}},
		{"the primitives of mesh 0 are behind those of mesh 1", func(g *geometry) { slices.Reverse(g.plans) }},
		{"how 0 of them are decoded is known", func(g *geometry) { g.plans = g.plans[:1] }},
		{"no elements lie in", func(g *geometry) { g.jobs.get(1).count = 0 }},
		{"is not between 0 and", func(g *geometry) { g.jobs.get(1).count = 1 << 30 }},
		{"is not between 0 and", func(g *geometry) { g.jobs.get(1).off = 1 << 30 }},
		{"byteStride 2, an element has 12 bytes", func(g *geometry) { g.jobs.get(1).stride = 2 }},
		{"an accessor is", func(g *geometry) { g.jobs.get(1).use = 3 }},
		{"meshes[0].primitives[0] does not fit its accessors", func(g *geometry) { g.plans[0].position = g.plans[0].index }},
		{"meshes[0].primitives[0] does not fit its accessors", func(g *geometry) { g.plans[0].count = 4 }},
		{"is not between 0 and 3", func(g *geometry) { g.plans[0].normal = 4 }},
		{"meshes[0].primitives[0] is none of triangles", func(g *geometry) { g.plans[0].position = 0 }},
		{"meshes[1].primitives[0] is none of triangles", func(g *geometry) { g.plans[1].mode = gltf.PrimitiveLines }},
	} {
		s, err := Open(t.Context(), path, DefaultOptions(), 1<<20, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.edit(s.geometry)
		raw := record(t, s)
		s.Close()
		s, err = followPlan(t, path, raw, 1<<20)
		if err == nil {
			s.Close()
		}
		if c.says == "" && err != nil || c.says != "" && (!errors.Is(err, planfile.ErrDamaged) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%q: %v", c.says, err)
		}
	}
}

// FuzzPlanned: whatever a plan says of a scene, it is refused, or what comes of it is sound.
func FuzzPlanned(f *testing.F) {
	path := filepath.Join(f.TempDir(), "scene.glb")
	b := seeds()[0]
	if err := os.WriteFile(path, b.glb(), 0o600); err != nil {
		f.Fatal(err)
	}
	s, raw := recorded(f, path, 1<<20)
	if s == nil {
		f.Fatal("the seed does not load")
	}
	s.Close()
	f.Add(raw)
	f.Add([]byte{})
	made := filepath.Join(f.TempDir(), "made.glb")
	if err := os.WriteFile(made, seeds()[11].glb(), 0o600); err != nil {
		f.Fatal(err)
	}
	if s, raw = recorded(f, made, 1<<20); s == nil {
		f.Fatal("the seed does not load")
	}
	s.Close()
	f.Add(raw) // of another file
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzbound.Run(t, len(data), fuzzbound.Limits{Alloc: 512 << 20, PerByte: 1 << 12}, func() { checkPlanned(t, path, data) })
	})
}

// checkPlanned follows a plan that may say anything.
func checkPlanned(t *testing.T, path string, data []byte) {
	s, err := followPlan(t, path, data, 1<<20)
	if s == nil {
		if err == nil {
			t.Error("neither a scene nor an error")
		}
		return
	}
	defer s.Close()
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Parent >= i || n.Mesh >= len(s.Meshes) {
			t.Fatalf("node %d: %+v", i, n)
		}
	}
	for i := range s.Meshes {
		list, err := s.Geometry(i)
		var e *Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("mesh %d: %v", i, err)
		}
		for _, p := range list {
			for _, v := range p.Indices {
				if int(v) >= len(p.Positions) {
					t.Fatalf("mesh %d: index %d of %d", i, v, len(p.Positions))
				}
			}
		}
	}
	for i := range s.Images {
		_, _ = s.Images[i].Bytes()
	}
}
