package cook

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/untoldkit/untold/internal/glbwrite"
)

// TestPlanningMemory: what is known of a mesh with its node, once a scene is planned, takes
// no more than some hundred bytes for each.
func TestPlanningMemory(t *testing.T) {
	const meshes, most = 20_000, 1200
	scene := filepath.Join(t.TempDir(), "small.glb")
	w, err := glbwrite.Create(scene, "test")
	if err != nil {
		t.Fatal(err)
	}
	p := glbwrite.Primitive{
		Material: -1, Pos: [][3]float32{{0, 0, 0}, {1, 0, 0}, {0, 0, -1}}, Normal: [][3]float32{{0, 1, 0}, {0, 1, 0}, {0, 1, 0}},
		UV0: make([][2]float32, 3), Index: []uint32{0, 1, 2},
	}
	var roots []int
	for i := range meshes {
		mesh := w.Mesh(fmt.Sprintf("Shape_%d", i), []glbwrite.Primitive{p})
		roots = append(roots, w.Node(&glbwrite.Node{
			Name: fmt.Sprintf("Thing_%d", i), Mesh: mesh, Camera: -1, Light: -1, Translation: [3]float32{float32(i % 100), 0, float32(i / 100)},
		}))
	}
	if _, err := w.Close("scene", roots); err != nil {
		t.Fatal(err)
	}
	used := func() int64 {
		runtime.GC()
		runtime.GC() // what pools hold
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := used()
	o := DefaultOptions()
	c, err := planScene(context.Background(), scene, &o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.scene.Close()
	each := (used() - before) / meshes
	runtime.KeepAlive(c)
	t.Logf("%d bytes for each mesh and node", each)
	if each > most {
		t.Errorf("%d bytes for each mesh and node, at most %d", each, most)
	}
}
