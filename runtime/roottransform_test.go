package runtime

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/payload"
)

// rooted gives a container a root transform: it doubles, turns by 90 degrees
// about +Y and moves: (x, y, z) -> (2z+10, 2y+20, -2x+30).
func rooted(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range [16]float32{2: -2, 5: 2, 8: 2, 12: 10, 13: 20, 14: 30, 15: 1} {
		binary.LittleEndian.PutUint32(b[76+4*i:], math.Float32bits(v))
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// rootedBox is where triangle i of writeTriangles lies then.
func rootedBox(i int) records.Bounds {
	return records.Bounds{Min: [3]float32{10, 20, 30 - 2*float32(i+1)}, Max: [3]float32{10, 22, 30 - 2*float32(i)}}
}

// worldDevice notes where what it gets stands in the world.
type worldDevice struct {
	t     *testing.T
	boxes map[payload.Key]records.Bounds
}

func (d *worldDevice) Upload(k payload.Key, a *payload.Asset) error {
	defer a.Release()
	box := geom.EmptyBox()
	for i := range a.Entities {
		e := &a.Entities[i]
		for _, m := range a.MeshesOf(e) {
			var world geom.Mat4
			for n, v := range e.LocalTransform {
				world[n] = float64(v)
			}
			box = box.Union(payload.BoxOf(m.LocalBounds).Transform(&world))
		}
	}
	if got := payload.BoundsOf(box); got != a.Bounds {
		d.t.Errorf("%+v: the transforms lead to %v, the box is %v", k, got, a.Bounds)
	}
	d.boxes[k] = a.Bounds
	return nil
}

func (d *worldDevice) Release(k payload.Key) { delete(d.boxes, k) }

// A header's root transform moves all that a Device and the schedule see of a
// file: as a whole, mesh by mesh, and in parts.
func TestRootTransform(t *testing.T) {
	for _, n := range []int{1, 60} { // whole, mesh by mesh
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			dir := t.TempDir()
			tile := tileAt("a", box(10, 20, 30-2*float64(n), 10, 22, 30), radiiAt(30, 40))
			file := filepath.Join(dir, tile.Path)
			tile.FileSizeBytes = fake.WriteTriangles(t, file, format.FileTile, format.ModeLZ4, n)
			rooted(t, file)
			clock, device := &fake.Clock{Time: fake.Epoch}, &worldDevice{t, map[payload.Key]records.Bounds{}}
			s, err := Open(context.Background(), Source{Path: filepath.Join(dir, "scene.json"), Manifest: sceneOf(tile)}, scenarioConfig(), Deps{Clock: clock, Device: device})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			settle(t, s, clock, Camera{Position: [3]float64{10, 20, 50}})
			if n == 1 {
				if got, want := device.boxes[payload.Key{Scene: 1, Rep: payload.RepFull}], rootedBox(0); got != want {
					t.Errorf("%v, want %v", got, want)
				}
				return
			}
			// 20 m in front of the first triangle, each the next 2 m on: those of
			// up to 30 m and the metre of slack are loaded.
			if len(device.boxes) != 6 {
				t.Errorf("%d parts are loaded", len(device.boxes))
			}
			for k, got := range device.boxes {
				if want := rootedBox(int(k.Part) - 1); got != want {
					t.Errorf("part %d: %v, want %v", k.Part, got, want)
				}
			}
		})
	}
}

// The same of a file that comes in parts.
func TestRootTransformInParts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.untold")
	fake.WriteTriangles(t, path, format.FileTile, format.ModeLZ4, 3)
	rooted(t, path)
	r, err := format.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	a := payload.RecordsOf(r)
	for i, p := range a.Layout().Stubs {
		if want := payload.BoxOf(rootedBox(i)); p.Box != want {
			t.Errorf("stub %d: %v, want %v", i, p.Box, want)
		}
	}
	part := payload.NewAsset(nil)
	part.Meshes = a.Meshes[2:3]
	v := a.PartView(2, part)
	if v.Bounds != rootedBox(2) || v.Entities[0].LocalTransform[14] != 30 {
		t.Errorf("%v, %v", v.Bounds, v.Entities[0].LocalTransform)
	}
	if all := (records.Bounds{Min: rootedBox(2).Min, Max: rootedBox(0).Max}); a.Bounds != all {
		t.Errorf("%v, want %v", a.Bounds, all)
	}
}
