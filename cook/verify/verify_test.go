package verify

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

// tile returns a container with one triangle.
func tile(t *testing.T) []byte {
	t.Helper()
	b := format.NewBuilder(format.FileTile)
	vs := make([]vertex.Vertex, 3)
	for i := range vs {
		vs[i] = vertex.Vertex{
			Position: [3]float32{float32(i % 2), float32(i / 2), 0},
			Normal:   vertex.PackNormal([3]float32{0, 0, 1}), Tangent: vertex.PackTangent([4]float32{1, 0, 0, 1}),
		}
	}
	err := b.AddObject(format.Object{
		Name: "o", MeshName: "m", Material: records.NoIndex,
		Vertices: vertex.Append(nil, vs), Indices: []uint32{0, 1, 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := b.File().Encode(format.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// scene writes a manifest with two tiles, both files present.
func scene(t *testing.T) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	data := tile(t)
	box := manifest.Bounds{Max: [3]float64{1, 1, 0}}
	m := &manifest.Manifest{
		Version: 3, PartitioningMode: manifest.ModeUniformGrid, PayloadDir: "tiles",
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 10, UnloadRadius: 20, Priority: 10},
	}
	for _, id := range []string{"tile_0_0_0", "tile_1_0_0"} {
		testfile.Write(t, filepath.Join(dir, "tiles", id+".untold"), data)
		m.Tiles = append(m.Tiles, manifest.Tile{
			ID: id, Path: "tiles/" + id + ".untold", FileSizeBytes: int64(len(data)), Bounds: box, Center: box.Center(),
		})
	}
	path = filepath.Join(dir, "yard.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	return dir, path
}

func judge(t *testing.T, paths ...string) *Report {
	t.Helper()
	r, err := Paths(context.Background(), paths, Options{Jobs: 3})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *Report) codes() []string {
	var out []string
	for _, f := range r.Files {
		for _, x := range f.Findings {
			out = append(out, string(x.Code))
		}
	}
	return out
}

func TestSoundScene(t *testing.T) {
	dir, path := scene(t)
	testfile.Write(t, filepath.Join(dir, "package.json"), []byte(`{"name": "no manifest"}`))
	testfile.Write(t, filepath.Join(dir, ".git", "x.untold"), []byte("not looked at"))
	for _, paths := range [][]string{{dir}, {path}, {dir, path, filepath.Join(dir, "tiles")}} {
		r := judge(t, paths...)
		if !r.OK || len(r.Files) != 3 || r.Errors+r.Warnings > 0 {
			t.Errorf("%v: %d files, %v", paths, len(r.Files), r.codes())
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(dir, path string)
		want  string
	}{
		{"missing tile", func(dir, _ string) { os.Remove(filepath.Join(dir, "tiles", "tile_1_0_0.untold")) }, "file-missing"},
		{"cut tile", func(dir, _ string) { os.Truncate(filepath.Join(dir, "tiles", "tile_1_0_0.untold"), 500) }, "chunk-out-of-bounds"},
		{"empty tile", func(dir, _ string) { os.Truncate(filepath.Join(dir, "tiles", "tile_1_0_0.untold"), 0) }, "truncated-file"},
		{"no JSON", func(_, path string) { os.WriteFile(path, []byte(`{"tiles": `), 0o644) }, "manifest-syntax"},
		{"escaping path", func(_, path string) {
			b, _ := os.ReadFile(path)
			os.WriteFile(path, bytes.ReplaceAll(b, []byte("tiles/tile_1_0_0"), []byte("../tile_1_0_0")), 0o644)
		}, "path-escapes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, path := scene(t)
			c.spoil(dir, path)
			r := judge(t, path)
			if r.OK || r.Errors == 0 || !slices.Contains(r.codes(), c.want) {
				t.Errorf("want %s, got %v", c.want, r.codes())
			}
		})
	}
}

func TestNothingToJudge(t *testing.T) {
	if _, err := Paths(context.Background(), []string{t.TempDir()}, Options{}); !errors.Is(err, ErrNoFiles) {
		t.Errorf("empty folder: %v", err)
	}
	if _, err := Paths(context.Background(), []string{filepath.Join(t.TempDir(), "no")}, Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing path: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir, _ := scene(t)
	if _, err := Paths(ctx, []string{dir}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestProgressIsComplete(t *testing.T) {
	dir, _ := scene(t)
	var last int
	_, err := Paths(context.Background(), []string{dir}, Options{Jobs: 2, Progress: func(done, total int) {
		if done != last+1 || total != 3 {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	}})
	if err != nil || last != 3 {
		t.Errorf("%d, %v", last, err)
	}
}

func TestDryRunHasNoFilesToJudge(t *testing.T) {
	dir, path := scene(t)
	m, err := manifest.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	m.DryRun = true
	for i := range m.Tiles {
		m.Tiles[i].FileSizeBytes = 0
	}
	os.RemoveAll(filepath.Join(dir, "tiles"))
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	if r := judge(t, path); r.Errors > 0 {
		t.Errorf("%v", r.codes())
	}
}

// TestTextures: cooked textures are judged alone and below a folder.
func TestTextures(t *testing.T) {
	dir, _ := scene(t)
	var b bytes.Buffer
	w, err := utex.NewWriter(&b, 4, 4, utex.ASTC4x4, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range w.Info().Levels {
		if err := w.WriteLevel(make([]byte, l.Size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(dir, "tiles", "Textures", "good.utex"), b.Bytes())
	testfile.Write(t, filepath.Join(dir, "tiles", "Textures", "CUT.UTEX"), b.Bytes()[:b.Len()-1])
	r, err := Paths(context.Background(), []string{dir}, Options{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	if r.OK || r.Errors != 1 || len(r.Files) != 5 {
		t.Errorf("%+v", r)
	}
	for _, f := range r.Files {
		cut := filepath.Base(f.Path) == "CUT.UTEX"
		if texture := IsTexture(f.Path); texture && f.Findings[len(f.Findings)-1].Code != CodeTextureUnnamed {
			t.Errorf("no container names it: %+v", f)
		}
		if cut == f.OK || cut && (len(f.Findings) != 2 || f.Findings[0].Code != utex.CodeLayout || f.Findings[0].Offset != 40) {
			t.Errorf("%+v", f)
		}
	}
	if r, err = Paths(context.Background(), []string{filepath.Join(dir, "tiles", "Textures", "good.utex")}, Options{}); err != nil || !r.OK || len(r.Files) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
