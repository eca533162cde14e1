package scenecheck

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/glbwrite"
	"github.com/untoldkit/untold/internal/testfile"
)

// tetra is a closed tetrahedron of volume 1/6.
func tetra() glbwrite.Primitive {
	return glbwrite.Primitive{
		Material: -1, Pos: [][3]float32{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		Index: []uint32{0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3},
	}
}

func write(t *testing.T, nodes []glbwrite.Node, roots []int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.glb")
	w, err := glbwrite.Create(path, "test")
	if err != nil {
		t.Fatal(err)
	}
	w.Mesh("tetra", []glbwrite.Primitive{tetra()})
	for i := range nodes {
		w.Node(&nodes[i])
	}
	if _, err := w.Close("s", roots); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFile(t *testing.T) {
	leaf := glbwrite.Node{Name: "leaf", Mesh: 0, Camera: -1, Light: -1, Scale: [3]float32{-1, 2, 1}}
	top := glbwrite.Node{Name: "top", Mesh: 0, Camera: -1, Light: -1, Translation: [3]float32{5, 0, 0}, Children: []int{0}}
	r, err := File(write(t, []glbwrite.Node{leaf, top}, []int{1}))
	if err != nil {
		t.Fatal(err)
	}
	want := geom.Box{Min: geom.Vec3{4, 0, 0}, Max: geom.Vec3{6, 2, 1}}
	if r.Nodes != 2 || r.DrawnTriangles != 8 || r.MeshTriangles != 4 || r.Mirrored != 1 || r.Skewed != 1 || r.Degenerate != 0 || r.Box != want {
		t.Errorf("unexpected report: %+v", r)
	}
}

func TestFileFindsFaults(t *testing.T) {
	plain := glbwrite.Node{Name: "n", Mesh: 0, Camera: -1, Light: -1}
	bad := plain
	bad.Rotation = [4]float32{0, 0, 0, 2}
	for name, path := range map[string]string{
		"lost node":  write(t, []glbwrite.Node{plain, plain}, []int{0}),
		"twice":      write(t, []glbwrite.Node{plain}, []int{0, 0}),
		"quaternion": write(t, []glbwrite.Node{bad}, []int{0}),
		"no file":    filepath.Join(t.TempDir(), "none.glb"),
	} {
		if _, err := File(path); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	cut := write(t, []glbwrite.Node{plain}, []int{0})
	b := testfile.Read(t, cut)
	testfile.Write(t, cut, b[:len(b)-8])
	if _, err := File(cut); err == nil {
		t.Error("truncated file: no error")
	}
}

func TestVolume(t *testing.T) {
	p := tetra()
	pos := make([]geom.Vec3, len(p.Pos))
	for i, v := range p.Pos {
		pos[i] = geom.FromF32(v)
	}
	if v, closed := Volume(pos, p.Index); !closed || math.Abs(v-1.0/6) > 1e-12 {
		t.Errorf("volume %g closed %v, want 1/6 and true", v, closed)
	}
	if _, closed := Volume(pos, p.Index[3:]); closed {
		t.Error("three faces of a tetrahedron pass for closed")
	}
}
