package mesh

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/partition"
)

// cellsOf lists the cells of pieces with their numbers of triangles.
func cellsOf(pieces []Piece) map[[3]int]int {
	out := map[[3]int]int{}
	for _, p := range pieces {
		out[p.Cell] += p.Mesh.Triangles()
	}
	return out
}

func TestSplitTriangle(t *testing.T) {
	m := soup(geom.Vec3{0, 0, 0}, geom.Vec3{4, 0, 0}, geom.Vec3{0, 0, -4})
	m.UV[0] = [][2]float32{{0, 0}, {1, 0}, {0, 1}}
	pieces := split(t, m, ClipGrid{Planes: [3][]float64{{1}, nil, {2}}})
	want := []Piece{
		{Cell: [3]int{0, 0, 0}, Mesh: &Mesh{
			Positions: []geom.Vec3{{0, 0, -2}, {0, 0, 0}, {1, 0, 0}, {1, 0, -2}},
			UV:        [2][][2]float32{{{0, 0.5}, {0, 0}, {0.25, 0}, {0.25, 0.5}}},
			Indices:   []uint32{0, 1, 2, 2, 3, 0},
		}},
		{Cell: [3]int{1, 0, 0}, Mesh: &Mesh{
			Positions: []geom.Vec3{{1, 0, 0}, {4, 0, 0}, {2, 0, -2}, {1, 0, -2}},
			UV:        [2][][2]float32{{{0.25, 0}, {1, 0}, {0.5, 0.5}, {0.25, 0.5}}},
			Indices:   []uint32{0, 1, 2, 0, 2, 3},
		}},
		{Cell: [3]int{0, 0, 1}, Mesh: &Mesh{
			Positions: []geom.Vec3{{0, 0, -2}, {1, 0, -2}, {1, 0, -3}, {0, 0, -4}},
			UV:        [2][][2]float32{{{0, 0.5}, {0.25, 0.5}, {0.25, 0.75}, {0, 1}}},
			Indices:   []uint32{0, 1, 2, 2, 3, 0},
		}},
		{Cell: [3]int{1, 0, 1}, Mesh: &Mesh{
			Positions: []geom.Vec3{{2, 0, -2}, {1, 0, -3}, {1, 0, -2}},
			UV:        [2][][2]float32{{{0.5, 0.5}, {0.25, 0.75}, {0.25, 0.5}}},
			Indices:   []uint32{0, 1, 2},
		}},
	}
	if d := cmp.Diff(want, pieces); d != "" {
		t.Error(d)
	}
}

// TestSplitHalfOpen: what only touches a plane is not cut, and what lies in a
// plane goes to the cell above it along u, h and v.
func TestSplitHalfOpen(t *testing.T) {
	g := ClipGrid{Planes: [3][]float64{{0, 1}, {0, 1}, {0, 1}}}
	for _, c := range []struct {
		name    string
		a, b, c geom.Vec3
		cell    [3]int
	}{
		{"in a u plane", geom.Vec3{1, 0.1, -0.1}, geom.Vec3{1, 0.9, -0.1}, geom.Vec3{1, 0.1, -0.9}, [3]int{2, 1, 1}},
		{"in an h plane", geom.Vec3{0.1, 0, -0.1}, geom.Vec3{0.9, 0, -0.1}, geom.Vec3{0.1, 0, -0.9}, [3]int{1, 1, 1}},
		{"in a v plane", geom.Vec3{0.1, 0.1, -1}, geom.Vec3{0.9, 0.1, -1}, geom.Vec3{0.1, 0.9, -1}, [3]int{1, 1, 2}},
		{"in the v plane at 0", geom.Vec3{0.1, 0.1, 0}, geom.Vec3{0.9, 0.1, 0}, geom.Vec3{0.1, 0.9, 0}, [3]int{1, 1, 1}},
		{"fills its cell", geom.Vec3{0, 0, 0}, geom.Vec3{1, 1, 0}, geom.Vec3{0, 1, -1}, [3]int{1, 1, 1}},
		{"edge on a plane, below", geom.Vec3{0, 0.1, -0.1}, geom.Vec3{0, 0.9, -0.1}, geom.Vec3{-1, 0.1, -0.9}, [3]int{0, 1, 1}},
		{"corner on a plane, above", geom.Vec3{1, 0.1, -0.1}, geom.Vec3{2, 0.9, -0.1}, geom.Vec3{2, 0.1, -0.9}, [3]int{2, 1, 1}},
		{"a point on three planes", geom.Vec3{1, 1, -1}, geom.Vec3{1, 1, -1}, geom.Vec3{1, 1, -1}, [3]int{2, 2, 2}},
		{"negative zero", geom.Vec3{math.Copysign(0, -1), 0.1, 0}, geom.Vec3{0, 0.9, 0}, geom.Vec3{0, 0.1, math.Copysign(0, -1)}, [3]int{1, 1, 1}},
	} {
		m := soup(c.a, c.b, c.c)
		pieces := split(t, m, g)
		if len(pieces) != 1 || pieces[0].Cell != c.cell || pieces[0].Mesh != m {
			t.Errorf("%s: %d pieces, the first in %v: want the mesh itself in %v", c.name, len(pieces), pieces[0].Cell, c.cell)
		}
		// Beside another triangle the mesh cannot be passed on.
		m.Positions = append(m.Positions, geom.Vec3{-5, -5, 5}, geom.Vec3{-6, -5, 5}, geom.Vec3{-5, -6, 5})
		m.Indices = append(m.Indices, 3, 4, 5)
		if d := cmp.Diff(map[[3]int]int{{}: 1, c.cell: 1}, cellsOf(split(t, m, g))); d != "" {
			t.Errorf("%s, with another: %s", c.name, d)
		}
	}
}

func TestSplitOnPlanes(t *testing.T) {
	g := ClipGrid{Planes: [3][]float64{{0}, nil, nil}}
	for _, c := range []struct {
		name  string
		mesh  *Mesh
		want  map[[3]int]int
		count int // of distinct places
	}{
		{
			"a corner on the plane, opposite side cut", soup(geom.Vec3{0, 0, 0}, geom.Vec3{1, 1, 0}, geom.Vec3{-1, 1, 0}),
			map[[3]int]int{{0}: 1, {1}: 1},
			4,
		},
		{
			"corners on both sides of one on the plane", soup(geom.Vec3{0, 0, 0}, geom.Vec3{1, 0, 0}, geom.Vec3{-1, 0, 0}),
			map[[3]int]int{{0}: 1, {1}: 1},
			3,
		},
		{"a box cut through", cube(), map[[3]int]int{{0}: 2 + 4*3, {1}: 2 + 4*3}, 16},
		{
			"two triangles, an edge on the plane between them", soup(
				geom.Vec3{0, 0, 0}, geom.Vec3{0, 1, 0}, geom.Vec3{-1, 0, 0}, geom.Vec3{0, 0, 0}, geom.Vec3{1, 0, 0}, geom.Vec3{0, 1, 0}),
			map[[3]int]int{{0}: 1, {1}: 1},
			4,
		},
	} {
		pieces := split(t, c.mesh, g)
		if d := cmp.Diff(c.want, cellsOf(pieces)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		if n := len(places(pieces)); n != c.count {
			t.Errorf("%s: %d places, want %d", c.name, n, c.count)
		}
	}
}

func TestSplitTrivial(t *testing.T) {
	g := gridOf(geom.Vec3{}, geom.Vec3{1, 1, 1}, 3, 3, 3)
	if p := (&Mesh{}).Split(g); p != nil {
		t.Errorf("pieces of nothing: %v", p)
	}
	if n := (&Mesh{}).CountSplit(g, 1); n != (SplitCount{}) {
		t.Errorf("of nothing: %v", n)
	}
	m := cube()
	if p := m.Split(ClipGrid{}); len(p) != 1 || p[0].Mesh != m || p[0].Cell != [3]int{} {
		t.Errorf("without planes: %v", p)
	}
	// Vertices that no triangle uses do not count.
	m = soup(geom.Vec3{0.1, 0.1, -0.1}, geom.Vec3{0.2, 0.1, -0.1}, geom.Vec3{0.1, 0.2, -0.1}, geom.Vec3{9, 9, 9})
	m.Indices = m.Indices[:3]
	if p := m.Split(g); len(p) != 1 || p[0].Mesh != m {
		t.Errorf("with a vertex elsewhere: %v", p)
	}
	// Broken input does not panic; packing refuses it.
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64} {
		for axis := range 3 {
			for k := range 3 {
				m := soup(geom.Vec3{0.5, 0.5, -0.5}, geom.Vec3{1.5, 2.5, -1.5}, geom.Vec3{2.5, 0.5, -2.5})
				m.Positions[k][axis] = bad
				m.Split(g)
				m.CountSplit(g, 1000)
			}
		}
	}
}

// TestSplitEqualPlanes: so far from the origin that planes coincide, the cells
// between them stay empty.
func TestSplitEqualPlanes(t *testing.T) {
	g := ClipGrid{Planes: [3][]float64{{1, 1, 1, 2, 2}, nil, {-1, -1}}}
	pieces := split(t, soup(geom.Vec3{0, 0, 0}, geom.Vec3{3, 0, 0}, geom.Vec3{0, 0, 3}), g)
	var cells [][3]int
	for _, p := range pieces {
		cells = append(cells, p.Cell)
	}
	want := [][3]int{{0, 0, 0}, {3, 0, 0}, {0, 0, 2}, {3, 0, 2}, {5, 0, 2}}
	if d := cmp.Diff(want, cells); d != "" {
		t.Error(d)
	}
}

// TestSplitGround cuts two triangles into the 400 tiles of a plan.
func TestSplitGround(t *testing.T) {
	m := &Mesh{
		Positions: []geom.Vec3{{-250, 0, 250}, {250, 0, 250}, {250, 0, -250}, {-250, 0, -250}},
		Normals:   [][3]float32{{0, 1, 0}, {0, 1, 0}, {0, 1, 0}, {0, 1, 0}},
		Indices:   []uint32{0, 1, 2, 0, 2, 3},
	}
	plan, err := partition.Grid([]partition.Object{{Box: m.Bounds(), Policy: partition.PolicyForceLocal}}, partition.GridOptions{Clip: true})
	if err != nil {
		t.Fatal(err)
	}
	pieces := split(t, m, NewClipGrid(plan, plan.Objects[0].Cells))
	if len(pieces) != 400 || len(plan.Tiles) != 400 {
		t.Fatalf("%d pieces, %d tiles", len(pieces), len(plan.Tiles))
	}
	for i, p := range pieces {
		if want := plan.Tiles[i].Coord; p.Cell != [3]int{want[0] - plan.Tiles[0].Coord[0], 0, want[2] - plan.Tiles[0].Coord[2]} {
			t.Fatalf("piece %d is in cell %v, the tile has %v", i, p.Cell, want)
		}
		if len(p.Mesh.Positions) != 4 || p.Mesh.Triangles() != 2 {
			t.Errorf("cell %v: %d vertices, %d triangles", p.Cell, len(p.Mesh.Positions), p.Mesh.Triangles())
		}
		if p.Mesh.Bounds() != plan.Tiles[i].Content {
			t.Errorf("cell %v: bounds %v, content %v", p.Cell, p.Mesh.Bounds(), plan.Tiles[i].Content)
		}
	}
	if n := len(places(pieces)); n != 21*21 {
		t.Errorf("%d places, want %d", n, 21*21)
	}
}

// TestSplitBoundaryStored: the packed vertices on the plane between two tiles
// are the same in all their bytes.
func TestSplitBoundaryStored(t *testing.T) {
	m := hills(40)
	m.GenerateTangents()
	for _, offset := range []float64{0, 6.4e6} {
		far := copyOf(m)
		for i := range far.Positions {
			far.Positions[i][0] += offset
		}
		plane := offset + 34.2 // no other vertex is stored at its place, even far out
		pieces := split(t, far, ClipGrid{Planes: [3][]float64{{plane}}})
		var on [2]map[string]bool
		for side, p := range pieces {
			on[side] = map[string]bool{}
			packed := pack(t, p.Mesh, PackOptions{})
			for i, v := range vertices(packed) {
				if v.Position[0] == float32(plane) {
					on[side][string(packed.Vertices[32*i:][:32])] = true
				}
			}
		}
		if d := cmp.Diff(on[0], on[1]); d != "" || len(on[0]) < 40 && offset == 0 {
			t.Errorf("offset %v: %d vertices on the plane: %s", offset, len(on[0]), d)
		}
	}
}

// TestSplitNotConvex feeds the clipper polygons as only rounding could make
// them, here large: a W that passes the plane four times, and outlines that
// touch it and return.
func TestSplitNotConvex(t *testing.T) {
	for _, c := range []struct {
		name  string
		u     []float64 // the corners' u; they go round a convex outline otherwise
		plane float64
	}{
		{"passes four times", []float64{-1, 1, -1, 1}, 0},
		{"touches from below", []float64{-1, 0, -1, 1}, 0},
		{"touches from above", []float64{1, 0, 1, -1}, 0},
		{"runs along it from below", []float64{-1, 0, 0, -1, 1}, 0},
		{"runs along it and passes", []float64{-1, 0, 0, 1, 1}, 0},
		{"comes back along it", []float64{1, 0, 0, -1, -1}, 0},
		{"touches and passes six times", []float64{-1, 1, -1, 0, -1, 1, 0, 1, -1, 1}, 0},
		{"lies in it", []float64{0, 0, 0, 0}, 0},
	} {
		m, n := &Mesh{}, len(c.u)
		for i, u := range c.u {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
			m.Positions = append(m.Positions, geom.Vec3{u, cos, sin})
		}
		// The back is a fan from a point that no plane cuts off.
		var outline []clipCorner
		m.Positions = append(m.Positions, geom.Vec3{-3, 0, 0})
		for i := range n {
			a, b := uint32(i), uint32((i+1)%n)
			outline = append(outline, clipCorner{a, a, b})
			m.Indices = append(m.Indices, b, a, uint32(n))
		}
		clip := newClipper(m, ClipGrid{Planes: [3][]float64{{c.plane}, {0.1}, nil}})
		for i := 0; i < len(m.Indices); i += 3 {
			clip.triangle([3]uint32(m.Indices[i : i+3]))
		}
		clip.cut(0, outline, [3]int{})
		pieces := gathered(clip)
		if open := edgeBalance(false, meshesOf(pieces)...); len(open) != 0 {
			t.Errorf("%s: %d edges are open: %v", c.name, len(open), open)
		}
		for i := range pieces {
			checkCell(t, &pieces[i], clip.grid)
		}
	}
}

func TestNewClipGrid(t *testing.T) {
	plan := &partition.Plan{Origin: geom.Vec3{-0.3, 0.1, 6.4e6 + 0.7}, TileSize: geom.Vec3{0.1, 7.3, 1.1}}
	r := partition.CellRange{Min: [3]int32{-4, 2, 7}, Max: [3]int32{9, 2, 20}}
	g := NewClipGrid(plan, r)
	if len(g.Planes[0]) != 13 || g.Planes[1] != nil || len(g.Planes[2]) != 13 {
		t.Fatalf("planes: %v", g.Planes)
	}
	for i, x := range g.Planes[0] {
		k := -4 + i // the plane is between k and k + 1
		if low, high := plan.Cell([3]int{k}).Max[0], plan.Cell([3]int{k + 1}).Min[0]; x != low || x != high {
			t.Errorf("u plane %d is %v, the cells have %v and %v", i, x, low, high)
		}
	}
	for i, x := range g.Planes[2] {
		k := 7 + i
		if low, high := plan.Cell([3]int{0, 0, k}).Min[2], plan.Cell([3]int{0, 0, k + 1}).Max[2]; -x != low || -x != high {
			t.Errorf("v plane %d is %v, the cells have Z %v and %v", i, x, low, high)
		}
	}
	// An overlapping range has the same planes.
	part := NewClipGrid(plan, partition.CellRange{Min: [3]int32{0, 2, 9}, Max: [3]int32{3, 2, 9}})
	if d := cmp.Diff([3][]float64{g.Planes[0][4:7], nil, nil}, part.Planes); d != "" {
		t.Error(d)
	}
	if math.Signbit(g.Planes[0][3]) && g.Planes[0][3] == 0 {
		t.Error("a plane at negative zero")
	}
}

// TestMeshAttributes fails when Mesh gets an attribute that Split does not know
// of: newClipper, vertex and take list them.
func TestMeshAttributes(t *testing.T) {
	var fields []string
	for i := range reflect.TypeFor[Mesh]().NumField() {
		fields = append(fields, reflect.TypeFor[Mesh]().Field(i).Name)
	}
	if d := cmp.Diff([]string{"Positions", "Normals", "Tangents", "UV", "Colors", "Indices"}, fields); d != "" {
		t.Error(d)
	}
}

func TestSplitAssets(t *testing.T) {
	for _, file := range []string{"models/AnisotropyBarnLamp/AnisotropyBarnLamp.gltf", "models/FlightHelmet/FlightHelmet.gltf"} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := loadShared(t, file)
			for i := range s.Meshes {
				for k := range s.Meshes[i].Primitives {
					m := meshFrom(&s.Meshes[i].Primitives[k])
					box := m.Bounds()
					var g ClipGrid
					for n := range 7 {
						x := box.Min.Add(box.Size().Scale(float64(n+1) / 8))
						g.Planes[0], g.Planes[1] = append(g.Planes[0], x[0]), append(g.Planes[1], x[1])
						g.Planes[2] = append(g.Planes[2], -box.Max[2]+(x[2]-box.Min[2]))
					}
					if pieces := split(t, m, g); len(pieces) < 8 {
						t.Errorf("%d pieces", len(pieces))
					}
				}
			}
		})
	}
}

func ExampleMesh_Split() {
	m := Mesh{
		Positions: []geom.Vec3{{0, 0, 0}, {10, 0, 0}, {0, 5, 0}},
		Indices:   []uint32{0, 1, 2},
	}
	for _, p := range m.Split(ClipGrid{Planes: [3][]float64{{4}, nil, nil}}) {
		fmt.Println(p.Cell, p.Mesh.Triangles(), p.Mesh.Bounds())
	}
	// Output:
	// [0 0 0] 2 {[0 0 0] [4 5 0]}
	// [1 0 0] 1 {[4 0 0] [10 3 0]}
}

// gathered returns the pieces of a clipper.
func gathered(c *clipper) (out []Piece) {
	c.pieces(func(p Piece) error {
		out = append(out, p)
		return nil
	})
	return out
}
