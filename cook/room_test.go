package cook

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/fuzzbound"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/partition"
)

// crowd is one grid mesh of 2*side*side triangles that many nodes show.
func crowd(side, nodes int, flat bool) *model {
	d := &model{}
	var at, up, uv []float32
	var idx []uint16
	for y := range side + 1 {
		for x := range side + 1 {
			at = append(at, float32(x)/float32(side), 0, float32(y)/float32(side))
			up = append(up, 0, 1, 0)
			uv = append(uv, float32(x), float32(y))
		}
	}
	for y := range side {
		for x := range side {
			a := uint16(y*(side+1) + x)
			b := a + uint16(side) + 1
			idx = append(idx, a, b, a+1, a+1, b, b+1)
		}
	}
	p := obj{"attributes": obj{"POSITION": d.floats(3, at...), "NORMAL": d.floats(3, up...), "TEXCOORD_0": d.floats(2, uv...)}, "indices": d.indices(idx...)}
	if flat {
		delete(attributes(p), "NORMAL")
	}
	mesh := add(&d.meshes, obj{"primitives": []obj{p}})
	for i := range nodes {
		add(&d.nodes, obj{"mesh": mesh, "translation": []float32{0, float32(i) / 1000, 0}})
	}
	return d
}

// TestPlacedTriangles: a small file that places many triangles is refused
// before they take memory, by both commands, with the counts and a remedy.
func TestPlacedTriangles(t *testing.T) {
	scene := crowd(100, 2000, false).save(t) // 20,000 triangles, 40,000,000 placed: 2.8 GB
	for name, c := range map[string]struct {
		change func(*Options)
		want   []string
	}{
		"memory": {func(o *Options) { o.Memory = 1 << 30 }, []string{"2000 objects place 40000000 triangles", "takes some 2892 MB, and 1074 MB", "Options.MaxTriangles"}},
		"levels": {func(o *Options) { *o = levelOptions(); o.Memory = 3 << 30 }, []string{"40000000 triangles", "and 3221 MB"}},
		"limit":  {func(o *Options) { o.MaxTriangles = 39_999_999 }, []string{"scenes[0]: 2000 nodes place 40000000 triangles (20000 in 1 mesh", "the limit is 39999999", "raise Options.MaxTriangles"}},
		"cut":    {func(o *Options) { o.Memory, o.TileSize[0] = 1<<28, 0.3 }, []string{"2000 objects place ", "and 268 MB"}},
	} {
		for _, convert := range []bool{false, true} {
			if convert && (name == "levels" || name == "cut") {
				continue
			}
			o := ClassicOptions()
			c.change(&o)
			dir := t.TempDir()
			var err error
			n := fuzzbound.Allocated(func() {
				if convert {
					_, err = Convert(context.Background(), scene, filepath.Join(dir, "a.untold"), o)
				} else {
					_, err = Run(context.Background(), scene, dir, o)
				}
			})
			if !errors.Is(err, gltfscene.ErrTooLarge) {
				t.Fatalf("%s, convert %v: %v", name, convert, err)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), filepath.Base(scene)) {
					t.Errorf("%s, convert %v: %q is not in %v", name, convert, part, err)
				}
			}
			if n > 64<<20 {
				t.Errorf("%s, convert %v: %d bytes allocated before it is refused", name, convert, n)
			}
			if list := testfile.ReadTree(t, dir); len(list) != 0 {
				t.Errorf("%s, convert %v: left behind %v", name, convert, list)
			}
		}
	}
}

// TestMemoryDoesNotChangeBytes: what the memory carries is cooked to the same
// bytes however little there is, one tile after the other; a limit of the
// caller's stands in place of the estimate.
func TestMemoryDoesNotChangeBytes(t *testing.T) {
	d := crowd(20, 6, true)
	for i, n := range d.nodes {
		n["translation"] = []float32{float32(40 * i), 0, 3}
	}
	scene := d.save(t)
	want := t.TempDir()
	mustRun(t, scene, want, ClassicOptions())
	for name, change := range map[string]func(*Options){
		"tight": func(o *Options) { o.Memory = 400_000 },
		"any":   func(o *Options) { o.Memory, o.MaxTriangles = 1, -1 },
		"limit": func(o *Options) { o.Memory, o.MaxTriangles = 1, 6*800 },
	} {
		o := ClassicOptions()
		o.Jobs = 4
		change(&o)
		got := t.TempDir()
		mustRun(t, scene, got, o)
		a, b := testfile.ReadTree(t, want), testfile.ReadTree(t, got)
		for k := range a {
			if a[k] != b[k] {
				t.Errorf("%s: %s differs", name, k)
			}
		}
	}
	o := ClassicOptions()
	o.Memory = 100_000
	if _, err := Run(context.Background(), scene, t.TempDir(), o); !errors.Is(err, gltfscene.ErrTooLarge) {
		t.Errorf("a tile that does not fit: %v", err)
	}
}

// TestInstancesWeighOnce: a mesh that a container stores once counts once.
func TestInstancesWeighOnce(t *testing.T) {
	scene := crowd(50, 100, false).save(t) // 36 MB baked
	o := ClassicOptions()
	o.Memory = 4 << 20
	if _, err := Run(context.Background(), scene, t.TempDir(), o); !errors.Is(err, gltfscene.ErrTooLarge) {
		t.Errorf("baked: %v", err)
	}
	o.Instances = true
	mustRun(t, scene, t.TempDir(), o)
	// Each entity has a record all the same, and each object a place in a tile.
	o.Memory = 400_000
	if _, err := Run(context.Background(), crowd(1, 2000, false).save(t), t.TempDir(), o); !errors.Is(err, gltfscene.ErrTooLarge) {
		t.Errorf("2000 records: %v", err)
	}
	o.Memory = 40_000
	if _, err := Run(context.Background(), crowd(1, 2000, false).save(t), t.TempDir(), o); !errors.Is(err, partition.ErrTooManyCells) {
		t.Errorf("2000 places: %v", err)
	}
}

// TestLoadProperties: the estimate grows with what is placed, the share of a
// tile is never more than the whole, and no count overflows it.
func TestLoadProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &room{opts: &Options{}, meshes: make([]geometryLoad, 3)}
		for i := range r.meshes {
			r.meshes[i] = geometryLoad{vertices: rapid.Int64Range(0, 1<<32).Draw(t, "v"), triangles: rapid.Int64Range(0, 1<<32).Draw(t, "t")}
		}
		var members []int
		var cells []int64
		last := int64(0)
		for i := range rapid.IntRange(1, 50).Draw(t, "objects") {
			r.objects = append(r.objects, object{placed: []placed{{mesh: i % 3}}})
			members = append(members, i)
			cells = append(cells, rapid.Int64Range(0, 400).Draw(t, "cells"))
			whole, share := r.load(members, func(object int) int64 { return cells[object] }, nil)
			if share.triangles > whole.triangles+int64(len(members)) || whole.bytes(true) < whole.bytes(false) {
				t.Fatalf("%+v of %+v", share, whole)
			}
			if b := whole.bytes(true); b < last {
				t.Fatalf("%d bytes after %d", b, last)
			} else {
				last = b
			}
		}
	})
}
