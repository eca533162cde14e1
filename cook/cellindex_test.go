package cook

import (
	"errors"
	"io"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/planfile"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/cook/store"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/fuzzbound"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/glbwrite"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/partition"
)

// TestCellIndex: the runs that cells need give the pieces of these cells as all of the
// primitive does, and what is not the same is noticed.
func TestCellIndex(t *testing.T) {
	o := ClassicOptions()
	b := newTileBuilder(&gltfscene.Scene{}, nil, nil, &o, &notes{})
	indexed := 0
	rapid.Check(t, func(t *rapid.T) {
		p := sheet(t, rapid.IntRange(2, 12).Draw(t, "side"))
		if rapid.Bool().Draw(t, "in order") {
			sortTriangles(p)
		}
		if rapid.IntRange(0, 9).Draw(t, "flat") == 0 && p.UV[0] != nil { // a triangle with no direction
			p.UV[0][p.Indices[0]] = p.UV[0][p.Indices[1]]
		}
		world := geom.TRS(geom.Vec3{3, 0, -7}, [4]float64{0, 0.6, 0, 0.8}, geom.Vec3{1, 1, 1})
		var planes []float64
		for x := -200.0; x <= 200; x += 41.3 {
			planes = append(planes, x)
		}
		grid := mesh.ClipGrid{Planes: [3][]float64{planes, nil, planes}}
		runs, sums := newRowCut(b, placed{}, p, &world, grid).index()
		if runs == nil {
			return
		}
		indexed++
		chosen := map[[3]int]bool{}
		odds := rapid.IntRange(1, 9).Draw(t, "odds")
		for u := range len(planes) + 1 {
			for v := range len(planes) + 1 {
				chosen[[3]int{u, 0, v}] = rapid.IntRange(0, 9).Draw(t, "wanted") < odds
			}
		}
		wanted := func(cell [3]int) bool { return chosen[cell] }
		x := cellIndex{runs: runs, cells: sums}
		ranges, some := x.choose(wanted)
		var list []uint32
		for _, r := range ranges {
			list = append(list, between(r.First, r.End)...)
		}
		c := newRowCut(b, placed{}, p, &world, grid)
		c.locate()
		part := c.take(list)
		if !x.matches(&part, some, wanted) {
			t.Fatal("what the index was made of is refused")
		}
		var want, got []mesh.Piece
		for _, piece := range b.bakePrimitive(placed{}, p, &world).shape.Split(grid) {
			if wanted(piece.Cell) {
				want = append(want, piece)
			}
		}
		if len(list) > 0 {
			if err := b.bakePrimitive(placed{}, &part, &world).shape.SplitCells(grid, wanted, func(piece mesh.Piece) error {
				got = append(got, piece)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%.2000s", d)
		}
		if len(list) > 0 {
			part.Positions[rapid.IntRange(0, len(part.Positions)-1).Draw(t, "changed")][1]++
			if x.matches(&part, some, wanted) {
				t.Fatal("a vertex has moved")
			}
		}
	})
	if indexed == 0 {
		t.Error("nothing had an index")
	}
}

// TestIndexOfTwoCells: what lies in two cells is read in parts, too, unless nearly all of it
// is needed in both.
func TestIndexOfTwoCells(t *testing.T) {
	o := ClassicOptions()
	b := newTileBuilder(&gltfscene.Scene{}, nil, nil, &o, &notes{})
	world := geom.Identity()
	strip := func(long int) *gltfscene.Primitive {
		p := &gltfscene.Primitive{Material: -1}
		for i := range 40 {
			x, to := float32(i)/2, float32(i)/2+float32(long)
			p.Positions = append(p.Positions, [3]float32{x, 0, 0}, [3]float32{x, 0, 1}, [3]float32{to, 0, 0})
			p.Indices = append(p.Indices, uint32(3*i), uint32(3*i+1), uint32(3*i+2))
		}
		return p
	}
	grid := mesh.ClipGrid{Planes: [3][]float64{{20}, nil, nil}}
	for long, want := range map[int]bool{1: true, 5: true, 60: false} {
		if runs, _ := newRowCut(b, placed{}, strip(long), &world, grid).index(); (runs != nil) != want {
			t.Errorf("triangles %d m long: %d runs", long, len(runs))
		}
	}
}

// sortTriangles puts triangles into the order of rows, as exporters of terrains do.
func sortTriangles(p *gltfscene.Primitive) {
	var list [][3]uint32
	for i := 0; i < len(p.Indices); i += 3 {
		list = append(list, [3]uint32(p.Indices[i:]))
	}
	slices.SortStableFunc(list, func(a, b [3]uint32) int {
		return int(p.Positions[a[0]][2]-p.Positions[b[0]][2])*1000 + int(p.Positions[a[0]][0]-p.Positions[b[0]][0])
	})
	p.Indices = p.Indices[:0]
	for _, t := range list {
		p.Indices = append(p.Indices, t[:]...)
	}
}

// terrain writes two nodes with a mesh of two sheets each over 200 m, a small third one,
// and returns the path.
func terrain(t *testing.T, side int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "terrain.glb")
	w, err := glbwrite.Create(path, "test")
	if err != nil {
		t.Fatal(err)
	}
	var roots []int
	for n := range 3 {
		var list []glbwrite.Primitive
		for k := range 2 {
			p := glbwrite.Primitive{Material: -1}
			for y := range side + 1 {
				for x := range side + 1 {
					p.Pos = append(p.Pos, [3]float32{float32(x) * 200 / float32(side), float32(20*k + 40*n + x*y%7), float32(y) * 200 / float32(side)})
					p.Normal = append(p.Normal, [3]float32{0, 1, 0})
					if n != 1 {
						p.UV0 = append(p.UV0, [2]float32{float32(x), float32(y)})
					}
				}
			}
			for y := range uint32(side) {
				for x := range uint32(side) {
					a := y*uint32(side+1) + x
					b := a + uint32(side) + 1
					p.Index = append(p.Index, a, b, a+1, a+1, b, b+1)
				}
			}
			if n == 0 && k == 1 { // in no order: it is read as a whole
				for i := 0; i+3 < len(p.Index); i += 3 {
					j := 3 * (i / 3 * 7919 % (len(p.Index) / 3))
					for c := range 3 {
						p.Index[i+c], p.Index[j+c] = p.Index[j+c], p.Index[i+c]
					}
				}
			}
			list = append(list, p)
		}
		mesh := w.Mesh("sheet", list)
		roots = append(roots, w.Node(&glbwrite.Node{Name: "Sheet", Mesh: mesh, Camera: -1, Light: -1}))
		if side = side / 2; n == 1 {
			side = 3
		}
	}
	if _, err := w.Close("scene", roots); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPlanOfTerrain: shards that read parts of primitives alone, with little memory too,
// give the bytes of one machine.
func TestPlanOfTerrain(t *testing.T) {
	scene := terrain(t, 64)
	o := ClassicOptions()
	o.NoSync, o.TileSize[0], o.TileSize[2] = true, 25, 25
	fresh := t.TempDir()
	one := mustRun(t, scene, fresh, o)
	want := testfile.ReadTree(t, fresh)
	plan := writePlan(t, scene, o)
	for _, n := range []int{2, 7, 64} {
		p, _ := place(t)
		o := o
		o.Store, o.Plan = store.New(p, nil), plan
		for i := range n {
			if o.Memory = 0; i%2 == 1 {
				o.Memory = 1 << 20 // rows of what is read are cut
			}
			if res, err := RunShard(t.Context(), scene, Shard{i, n}, o); err != nil || res.Payloads != one.Tiles {
				t.Fatalf("%+v, %v", res, err)
			}
			if n == 7 && i == 5 {
				break // the last one is lost
			}
		}
		o.Memory, o.RequireStore = 0, n != 7
		out := t.TempDir()
		mustRun(t, scene, out, o)
		if d := cmp.Diff(want, testfile.ReadTree(t, out)); d != "" {
			t.Errorf("%d shards: %.500s", n, d)
		}
	}
	p, err := readPlan(plan, &o)
	if err != nil {
		t.Fatal(err)
	}
	var list []cellIndex
	if err := p.section(p.cut, func(c *planfile.Coder) { codeIndexes(c, &list) }); err != nil {
		t.Fatal(err)
	}
	if len(list) != 4 || len(list[0].runs) < 64 || list[1].runs != nil || len(list[2].runs) == 0 {
		t.Fatalf("%d indexes", len(list))
	}

	// Indexes of something else.
	for name, c := range map[string]struct {
		edit  func(x *cellIndex)
		wants error
	}{
		"object":   {func(x *cellIndex) { x.object = 9 }, ErrDamagedPlan},
		"placed":   {func(x *cellIndex) { x.placed = 1 }, ErrDamagedPlan},
		"part":     {func(x *cellIndex) { x.part = 1 }, ErrDamagedPlan},
		"few":      {func(x *cellIndex) { x.runs = x.runs[1:] }, ErrDamagedPlan},
		"none":     {func(x *cellIndex) { x.runs[0].triangles = 0 }, ErrDamagedPlan},
		"cells":    {func(x *cellIndex) { x.runs[0].cells.most[0] = 8 }, ErrDamagedPlan},
		"reversed": {func(x *cellIndex) { x.runs[0].cells = cellBox{least: [3]uint16{1, 0, 0}} }, ErrDamagedPlan},
		"sum":      {func(x *cellIndex) { x.cells[9].sum[3] ^= 4 }, ErrStalePlan},
		"no sum":   {func(x *cellIndex) { x.cells = x.cells[1:] }, ErrStalePlan},
		"whole":    {func(x *cellIndex) { x.runs, x.cells = nil, nil }, ErrStalePlan},
		"others": {func(x *cellIndex) {
			x.runs[9].triangles, x.runs[10].triangles = x.runs[9].triangles-1, x.runs[10].triangles+1
		}, ErrStalePlan},
	} {
		list := slices.Clone(list)
		x := &list[0]
		x.runs, x.cells = slices.Clone(x.runs), slices.Clone(x.cells)
		c.edit(x)
		w := planfile.NewWriter()
		codeIndexes(w, &list)
		section, err := w.Section()
		if err != nil {
			t.Fatal(err)
		}
		o := o
		o.Memory, o.RequireStore, o.Plan = 0, false, filepath.Join(t.TempDir(), "other.plan")
		at, _ := place(t)
		o.Store = store.New(at, nil)
		head, err := planfile.Read(plan)
		if err != nil {
			t.Fatal(err)
		}
		head[len(head)-2] = section
		if err := atomicfile.Write(o.Plan, func(to io.Writer) error { return planfile.Write(to, head) }); err != nil {
			t.Fatal(err)
		}
		_, err1 := RunShard(t.Context(), scene, Shard{0, 2}, o)
		_, err2 := RunShard(t.Context(), scene, Shard{1, 2}, o)
		if !errors.Is(errors.Join(err1, err2), c.wants) { // one may need nothing of what is wrong
			t.Errorf("%s: %v, %v", name, err1, err2)
		}
	}
}

// TestCellIndexOverflow: runs that need more cells than a number holds are too many.
func TestCellIndexOverflow(t *testing.T) {
	in := partition.CellRange{Max: [3]int32{1 << 16, 1 << 16, 1 << 16}}
	for _, most := range []uint16{1<<15 - 1, mostCells - 1} { // 2^45 cells, and about 2^48
		box := cellBox{most: [3]uint16{most, most, most}}
		for n := int32(1); n > 0; n *= 2 { // 2^19 times 2^45 is 0
			x := cellIndex{runs: []cellRun{{n, box}}}
			if x.covers(int(n), in) {
				t.Errorf("%d triangles in %d cells each", n, box.number())
			}
		}
	}
}

// FuzzCellIndexes: what a plan says of cells is refused, or leads to cells that there are
// and to as many triangles, and never costs more than its bytes allow.
func FuzzCellIndexes(f *testing.F) {
	scene := &gltfscene.Scene{Meshes: []gltfscene.Mesh{{Parts: []gltfscene.Part{{Triangles: 20}, {Triangles: 3}}}}}
	opts := DefaultOptions()
	c := &scenePlan{opts: &opts, scene: scene, objects: []object{{placed: []placed{{}}}}, planned: &partition.Plan{Objects: make([]partition.Classification, 1)}}
	c.planned.Objects[0].InTiles = true
	c.planned.Objects[0].Cells.Max[0], c.planned.Objects[0].Cells.Max[2] = 3, 2
	if !c.isCut(0) {
		f.Fatal("the object is not cut")
	}
	good := []cellIndex{
		{runs: []cellRun{{12, cellBox{most: [3]uint16{1, 0, 2}}}, {8, cellBox{[3]uint16{3, 0, 1}, [3]uint16{3, 0, 2}}}}, cells: []cellSum{{cell: [3]uint16{3, 0, 2}}}},
		{part: 1, whole: sum{7}},
	}
	w := planfile.NewWriter()
	codeIndexes(w, &good)
	section, err := w.Section()
	if err != nil {
		f.Fatal(err)
	}
	r, err := planfile.Open(section)
	if err != nil {
		f.Fatal(err)
	}
	var back cellIndexes
	if codeIndexes(r, (*[]cellIndex)(&back)); r.End() != nil || !back.check(c) || cmp.Diff(cellIndexes(good), back, cmp.AllowUnexported(cellIndex{}, cellRun{}, cellBox{}, cellSum{})) != "" {
		f.Fatalf("%+v, %v", back, r.Err())
	}
	d, err := zstd.NewReader(nil)
	if err != nil {
		f.Fatal(err)
	}
	defer d.Close()
	raw, err := d.DecodeAll(section[8:], nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzbound.Run(t, len(data), fuzzbound.Limits{Alloc: 4 << 20, PerByte: 1 << 10}, func() {
			r := planfile.OpenRaw(data)
			var list cellIndexes
			if codeIndexes(r, (*[]cellIndex)(&list)); r.End() != nil || !list.check(c) {
				return
			}
			for k := range list {
				ranges, _ := list[k].choose(func(cell [3]int) bool {
					if cell[0] > 3 || cell[1] > 0 || cell[2] > 2 {
						t.Errorf("cell %v", cell)
					}
					return true
				})
				n := 0
				for _, r := range ranges {
					n += r.End - r.First
				}
				if most := scene.Meshes[0].Parts[list[k].part].Triangles; n != most && len(ranges) > 0 || n > math.MaxInt32 {
					t.Errorf("%d of %d triangles", n, most)
				}
			}
			if n := len(list.of(0, 0)); n != len(list) {
				t.Errorf("%d of %d indexes are found", n, len(list))
			}
		})
	})
}
