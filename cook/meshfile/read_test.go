package meshfile

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/testfile"
)

// memoryFiles are files beside a mesh in memory.
type memoryFiles map[string]string

func (m memoryFiles) open(name string) (io.ReadCloser, string, error) {
	text, ok := m[name]
	if !ok {
		return nil, "", fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(text)), "/" + name, nil
}

func (m memoryFiles) find(name string) string {
	for n := range m {
		if strings.EqualFold(n, path.Clean(name)) {
			return n
		}
	}
	return ""
}

// parse reads bytes.
func parse(data []byte, format Format, beside memoryFiles, opts Options) (*gltfscene.Made, error) {
	return read(context.Background(), "x."+strings.ToLower(format.String()), bytes.NewReader(data), int64(len(data)), beside, format, opts)
}

// load imports a file with others beside it, without its pictures.
func load(t testing.TB, name, text string, beside map[string]string, opts Options) *gltfscene.Scene {
	t.Helper()
	s, err := tryLoad(t, name, text, beside, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func tryLoad(t testing.TB, name, text string, beside map[string]string, opts Options) (*gltfscene.Scene, error) {
	t.Helper()
	dir := t.TempDir()
	for n, data := range beside {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(n)), 0o700); err != nil {
			t.Fatal(err)
		}
		testfile.Write(t, filepath.Join(dir, n), data)
	}
	at := testfile.Write(t, filepath.Join(dir, name), text)
	f, info, err := gltfscene.OpenFile(at)
	if err != nil {
		t.Fatal(err)
	}
	made, err := Read(context.Background(), at, f, FormatOf(name), opts)
	if err != nil {
		f.Close()
		return nil, err
	}
	s, err := gltfscene.OpenMade(context.Background(), at, f, info, made, gltfscene.DefaultOptions(), 1<<20, nil)
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return s, err
}

// measure returns the area and the box of all triangles in the world that have an area,
// and how many triangles there are.
func measure(t testing.TB, s *gltfscene.Scene) (area float64, box geom.Box, n int) {
	t.Helper()
	box = geom.EmptyBox()
	for i := range s.Nodes {
		node := &s.Nodes[i]
		if node.Mesh < 0 {
			continue
		}
		list, err := s.Geometry(node.Mesh)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			for k := 0; k < len(p.Indices); k += 3 {
				var at [3]geom.Vec3
				for j := range at {
					at[j] = node.World.Point(geom.FromF32(p.Positions[p.Indices[k+j]]))
				}
				own := length(at[1].Sub(at[0]).Cross(at[2].Sub(at[0]))) / 2
				if n++; own > 0 {
					area += own
					box = box.Extend(at[0]).Extend(at[1]).Extend(at[2])
				}
			}
		}
	}
	return area, box, n
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(a), math.Abs(b)) }

// noteCodes lists the notes.
func noteCodes(s *gltfscene.Scene) string {
	var out []string
	for _, n := range s.Notes {
		out = append(out, n.Code)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// TestFormatOf tells formats by names.
func TestFormatOf(t *testing.T) {
	for name, want := range map[string]Format{"a.obj": OBJ, "b/A.OBJ": OBJ, "x.ply": PLY, "x.Stl": STL, "x.glb": None, "obj": None} {
		if got := FormatOf(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAxesAndUnits: up and units become the scene's.
func TestAxesAndUnits(t *testing.T) {
	const text = "v 0 0 0\nv 2 0 0\nv 0 4 0\nv 0 0 6\nf 1 2 3\nf 1 2 4\n"
	for _, c := range []struct {
		opts Options
		max  geom.Vec3
		min  geom.Vec3
	}{
		{Options{}, geom.Vec3{2, 4, 6}, geom.Vec3{}},
		{Options{Up: "z"}, geom.Vec3{2, 6, 0}, geom.Vec3{0, 0, -4}},
		{Options{Metres: 0.5}, geom.Vec3{1, 2, 3}, geom.Vec3{}},
		{Options{Metres: 0.5, Up: "z"}, geom.Vec3{1, 3, 0}, geom.Vec3{0, 0, -2}},
	} {
		_, box, _ := measure(t, load(t, "a.obj", text, nil, c.opts))
		if box.Max != c.max || box.Min != c.min {
			t.Errorf("%+v: %v", c.opts, box)
		}
	}
}

// TestFarCoordinates: coordinates of a map keep their millimetres.
func TestFarCoordinates(t *testing.T) {
	s := load(t, "a.obj", "v 4000000.001 0 500000.002\nv 4000001.001 0 500000.002\nv 4000000.001 1 500000.002\nf 1 2 3\n", nil, Options{})
	_, box, _ := measure(t, s)
	if math.Abs(box.Min[0]-4000000.001) > 1e-4 || math.Abs(box.Max[0]-4000001.001) > 1e-4 || math.Abs(box.Min[2]-500000.002) > 1e-4 {
		t.Errorf("%.6f", box)
	}
}

// TestPieces: an object with many triangles becomes pieces of few that hang together, with
// the same surface; memory does not matter for the bytes.
func TestPieces(t *testing.T) {
	var b strings.Builder
	const n = 60
	for z := range n {
		for x := range n {
			b.WriteString(sprint("v ", x, " ", (x*z)%3, " ", z, "\n"))
		}
	}
	for z := range n - 1 {
		for x := range n - 1 {
			i := z*n + x + 1
			b.WriteString(sprint("f ", i, " ", i+n, " ", i+n+1, " ", i+1, "\n"))
		}
	}
	whole := load(t, "a.obj", b.String(), nil, Options{})
	area, box, count := measure(t, whole)
	s := load(t, "a.obj", b.String(), nil, Options{piece: 500})
	area2, box2, count2 := measure(t, s)
	if !near(area, area2) || box != box2 || count != count2 || count != 2*(n-1)*(n-1) {
		t.Errorf("%v %v %d; in pieces %v %v %d", area, box, count, area2, box2, count2)
	}
	if len(s.Meshes) < 14 || len(s.Meshes) > 40 {
		t.Errorf("%d pieces", len(s.Meshes))
	}
	for i := range s.Meshes {
		if s.Meshes[i].Triangles() > 500 {
			t.Errorf("a piece has %d triangles", s.Meshes[i].Triangles())
		}
		list, _ := s.Geometry(i)
		own := geom.EmptyBox()
		for _, p := range list {
			for _, v := range p.Positions {
				own = own.Extend(geom.FromF32(v))
			}
		}
		if d := own.Max.Sub(own.Min); d[0]*d[2] > n*n/3 {
			t.Errorf("piece %d goes from %v to %v", i, own.Min, own.Max)
		}
	}
	var first []byte
	for _, memory := range []int64{1, 1 << 30} {
		made, err := parse([]byte(b.String()), OBJ, nil, Options{piece: 500, Memory: memory * 10_000_000})
		if err != nil {
			t.Fatal(err)
		}
		all := slices.Clone(made.JSON)
		bin := make([]byte, made.Size)
		if _, err := made.Buffer.ReadAt(bin, 0); err != nil {
			t.Fatal(err)
		}
		made.Close()
		if all = append(all, bin...); first == nil {
			first = all
		} else if !bytes.Equal(first, all) {
			t.Error("the memory matters for what is made")
		}
	}
}
