package cook

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/boxscene"
	"github.com/untoldkit/untold/manifest"
)

// TestRunInstances: a mesh used several times in a tile is stored once, unless
// a use is cut or mirrored, and nothing of the surface is lost.
func TestRunInstances(t *testing.T) {
	boxes := []boxscene.Box{
		{Name: "Lamp_A", At: [3]float64{3, 1, -3}},
		{Name: "Lamp_B", At: [3]float64{8, 1, -3}, Scale: [3]float64{2, 1, 1}},
		{Name: "Lamp_C", At: [3]float64{13, 1, -3}, Scale: [3]float64{-1, 1, 1}}, // mirrored
		{Name: "Lamp_D", At: [3]float64{25, 1, -3}},                              // on the border
		{Name: "Lamp_E", At: [3]float64{40, 1, -3}},                              // alone in its tile
	}
	scene := runScene(t, "lamps.gltf", boxes)
	areas := map[bool]float64{}
	for _, on := range []bool{false, true} {
		dir := t.TempDir()
		opts := ClassicOptions()
		opts.Instances, opts.Merge = on, false
		m := mustRun(t, scene, dir, opts).Manifest
		for i := range m.Tiles {
			path := filepath.Join(dir, filepath.FromSlash(m.Tiles[i].Path))
			if r, err := format.ValidateFile(path, format.ValidateOptions{}); err != nil || len(r.Findings) > 0 {
				t.Errorf("instances %v: %v %+v", on, err, r)
			}
			areas[on] += placedArea(t, path)
		}
		if on {
			checkInstances(t, dir, &m.Tiles[0])
		}
	}
	if math.Abs(areas[true]-areas[false]) > 1e-5*areas[false] {
		t.Errorf("area %v with instances, %v without", areas[true], areas[false])
	}
}

func checkInstances(t *testing.T, dir string, e *manifest.Tile) {
	t.Helper()
	r, err := format.Open(filepath.Join(dir, filepath.FromSlash(e.Path)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	offsets := map[string]uint64{}
	for i, x := range r.Entities() {
		offsets[r.String(x.NameOffset)] = r.Meshes()[i].VertexOffset
		if moved := x.LocalTransform[12] != 0; moved != (r.String(x.NameOffset) == "Lamp_A" || r.String(x.NameOffset) == "Lamp_B") {
			t.Errorf("%s: transform %v", r.String(x.NameOffset), x.LocalTransform)
		}
	}
	if len(offsets) != 4 || offsets["Lamp_A"] != offsets["Lamp_B"] || offsets["Lamp_C"] == offsets["Lamp_A"] || offsets["Lamp_D"] == offsets["Lamp_A"] {
		t.Errorf("vertex offsets: %v", offsets)
	}
}

// placedArea sums the surface of a container in the world.
func placedArea(t *testing.T, path string) float64 {
	t.Helper()
	r, err := format.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sum := 0.0
	for i, m := range r.Meshes() {
		vb, err := r.MeshVertices(i, nil)
		if err != nil {
			t.Fatal(err)
		}
		ib, err := r.MeshIndices(i, nil)
		if err != nil {
			t.Fatal(err)
		}
		w := r.Entities()[i].LocalTransform
		at := func(v uint32) [3]float64 {
			p := vertex.Get(vb[int(v)*vertex.Size:]).Position
			var q [3]float64
			for k := range q {
				q[k] = float64(w[k]*p[0] + w[4+k]*p[1] + w[8+k]*p[2] + w[12+k])
			}
			return q
		}
		idx := vertex.Indices(ib, m.IndexType)
		for k := 0; k+2 < len(idx); k += 3 {
			a, b, c := at(idx[k]), at(idx[k+1]), at(idx[k+2])
			var e, f [3]float64
			for n := range 3 {
				e[n], f[n] = b[n]-a[n], c[n]-a[n]
			}
			x, y, z := e[1]*f[2]-e[2]*f[1], e[2]*f[0]-e[0]*f[2], e[0]*f[1]-e[1]*f[0]
			sum += math.Sqrt(x*x+y*y+z*z) / 2
		}
	}
	return sum
}
