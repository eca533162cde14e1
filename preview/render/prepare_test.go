package render

import (
	"bytes"
	"math"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// part is a mesh of a test's asset.
type part struct {
	vertices  []vertex.Vertex
	indices   []uint32
	wide      bool
	material  uint32
	transform *geom.Mat4
}

// assemble makes an asset as a loader does; offsets are packed without padding.
func assemble(parts []part, materials []records.Material, textures ...string) *payload.Asset {
	a := payload.NewAsset(nil)
	a.Materials = materials
	for i, p := range parts {
		kind := vertex.Index16
		if p.wide {
			kind = vertex.Index32
		}
		e := records.Entity{ID: uint32(i), ParentID: records.NoIndex, FirstMesh: uint32(i), MeshCount: 1, LocalTransform: [16]float32{0: 1, 5: 1, 10: 1, 15: 1}}
		if p.transform != nil {
			e.LocalTransform = f32(*p.transform)
		}
		a.Entities = append(a.Entities, e)
		v := vertex.Append(nil, p.vertices)
		box := records.Bounds{Min: p.vertices[0].Position, Max: p.vertices[0].Position}
		for _, u := range p.vertices {
			for k, x := range u.Position {
				box.Min[k], box.Max[k] = min(box.Min[k], x), max(box.Max[k], x)
			}
		}
		n := records.Mesh{
			EntityID: uint32(i), Material: p.material, IndexType: kind, VertexCount: uint32(len(p.vertices)), IndexCount: uint32(len(p.indices)),
			VertexStride: vertex.Size, VertexOffset: uint64(len(a.Geometry.Vertices)), IndexOffset: uint64(len(a.Geometry.Indices)),
			VertexSize: uint64(len(v)), IndexSize: uint64(len(p.indices) * kind.Size()), LocalBounds: box,
		}
		a.Geometry.Vertices = append(a.Geometry.Vertices, v...)
		a.Geometry.Indices = vertex.AppendIndices(a.Geometry.Indices, kind, p.indices)
		a.Meshes = append(a.Meshes, n)
	}
	for i := range textures {
		a.Textures = append(a.Textures, records.Texture{URIOffset: uint32(i)})
	}
	a.Strings = func(i uint32) string {
		if int(i) < len(textures) {
			return textures[i]
		}
		return ""
	}
	return a
}

// whites returns so many vertices in one place.
func whites(n int) []vertex.Vertex {
	vs := make([]vertex.Vertex, n)
	for i := range vs {
		vs[i].Color = [4]uint8{255, 255, 255, 255}
	}
	return vs
}

// quad returns a rectangle around center, facing right x up.
func quad(center, right, up geom.Vec3) part {
	n := right.Cross(up).Normalize(0, geom.Vec3{0, 0, 1})
	r := right.Normalize(0, geom.Vec3{1, 0, 0})
	var p part
	for _, c := range [][2]float64{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}} {
		p.vertices = append(p.vertices, vertex.Vertex{
			Position: center.Add(right.Scale(c[0])).Add(up.Scale(c[1])).F32(),
			Normal:   vertex.PackNormal(n.F32()), Tangent: vertex.PackTangent([4]float32{float32(r[0]), float32(r[1]), float32(r[2]), 1}),
			UV0:   [2]uint16{vertex.Half(float32(c[0]+1) / 2), vertex.Half(float32(c[1]+1) / 2)},
			Color: [4]uint8{255, 255, 255, 255},
		})
	}
	p.indices = []uint32{0, 1, 2, 0, 2, 3}
	return p
}

// TestEstimate: what is estimated of quads is about what they take, with base vertices and
// without.
func TestEstimate(t *testing.T) {
	const inFile, vertices, indices = 4*vertex.Size + 6*2, 4 * 16, 6 * 2
	for absolute, took := range map[bool]float64{false: vertices + indices, true: vertices + 2*indices} {
		r := &Renderer{absolute: absolute}
		if got := float64(r.Estimate(100*inFile)) / 100; got < took || got > 1.5*took {
			t.Errorf("absolute %t: %v bytes, takes %v", absolute, got, took)
		}
	}
}

// TestOddOffsets: 32-bit indices behind an odd number of 16-bit ones start
// where no draw call can point; they are moved.
func TestOddOffsets(t *testing.T) {
	small, big := quad(geom.Vec3{}, geom.Vec3{1, 0, 0}, geom.Vec3{0, 1, 0}), quad(geom.Vec3{5, 0, 0}, geom.Vec3{1, 0, 0}, geom.Vec3{0, 1, 0})
	small.indices, big.wide = small.indices[:3], true
	a := assemble([]part{small, big, big}, nil)
	// The third mesh shares the ranges of the second.
	a.Meshes[2].VertexOffset, a.Meshes[2].IndexOffset = a.Meshes[1].VertexOffset, a.Meshes[1].IndexOffset
	if a.Meshes[1].IndexOffset%4 == 0 {
		t.Fatal("the test has no odd offset")
	}
	p, err := prepare(a, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]uint32{small.indices, big.indices, big.indices} {
		m := p.meshes[i]
		kind, size := vertex.Index16, 2
		if m.wide {
			kind, size = vertex.Index32, 4
		}
		from := int(m.firstIndex) * size
		got := vertex.Indices(p.bundles[m.bundle].indices[from:from+int(m.indexCount)*size], kind)
		for k := range want {
			if got[k] != want[k] {
				t.Errorf("mesh %d: indices %v, want %v", i, got, want)
				break
			}
		}
		src, b := a.Meshes[i], &p.bundles[m.bundle]
		stride := b.packing.Layout.Size()
		stored := b.packing.Append(nil, a.Geometry.Vertices[src.VertexOffset:][:src.VertexSize])
		if stride != 16 || !bytes.Equal(b.vertices[int(m.baseVertex)*stride:][:len(stored)], stored) {
			t.Errorf("mesh %d: vertices differ", i)
		}
	}
	if p.meshes[1].firstIndex != p.meshes[2].firstIndex {
		t.Error("a shared range was copied twice")
	}
}

// TestBundles: meshes are stored by what their vertices need, shared ranges once, and what
// they name stays theirs.
func TestBundles(t *testing.T) {
	at := func(x float64) part { return quad(geom.Vec3{x, 0, 0}, geom.Vec3{1, 0, 0}, geom.Vec3{0, 1, 0}) }
	plain, red, bumpy, both := at(0), at(5), at(10), at(15)
	red.vertices[2].Color = [4]uint8{255, 0, 0, 255}
	both.vertices[0].Color[3] = 7
	bumpy.material, both.material, bumpy.wide, red.indices = 1, 1, true, []uint32{3, 1, 0}
	normals := defaultMaterial()
	normals.NormalTexture = 0
	materials := []records.Material{defaultMaterial(), normals}
	for name, c := range map[string]struct {
		parts  []part
		change func(a *payload.Asset)
		want   []compact.Layout // of the meshes, in the order of their records
		size   int              // of all vertices
	}{
		"one of each": {[]part{plain, red, bumpy, both}, nil, []compact.Layout{compact.Plain, compact.Colored, compact.Mapped, compact.Colored}, 4 * (16 + 24 + 20 + 24)},
		"plain":       {[]part{plain, plain}, nil, []compact.Layout{compact.Plain, compact.Plain}, 8 * 16},
		"shared with a normal map": {[]part{plain, bumpy, plain}, func(a *payload.Asset) {
			a.Meshes[0].VertexOffset, a.Meshes[0].IndexOffset, a.Meshes[0].IndexType = a.Meshes[1].VertexOffset, a.Meshes[1].IndexOffset, vertex.Index32
			a.Meshes[0].IndexSize = a.Meshes[1].IndexSize
		}, []compact.Layout{compact.Mapped, compact.Mapped, compact.Plain}, 4 * (16 + 20)},
		"overlapping": {[]part{plain, red}, func(a *payload.Asset) {
			a.Meshes[0].VertexCount, a.Meshes[0].VertexSize = 8, 8*vertex.Size
		}, []compact.Layout{compact.Colored, compact.Colored}, 8 * 24},
	} {
		a := assemble(c.parts, materials)
		if c.change != nil {
			c.change(a)
		}
		p, err := prepare(a, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		size := 0
		for i := range p.bundles {
			size += len(p.bundles[i].vertices)
		}
		if size != c.size {
			t.Errorf("%s: %d bytes of vertices", name, size)
		}
		for _, m := range p.meshes {
			rec, b := &a.Meshes[m.record], &p.bundles[m.bundle]
			if b.packing.Layout != c.want[m.record] || b.packing.Lattice != p.bundles[0].packing.Lattice {
				t.Errorf("%s: mesh %d has layout %d", name, m.record, b.packing.Layout)
			}
			for k := range m.indexCount {
				from := int(rec.IndexOffset) + int(k)*rec.IndexType.Size()
				v := int(vertex.IndexAt(a.Geometry.Indices[from:], rec.IndexType, 0))
				src := a.Geometry.Vertices[int(rec.VertexOffset)+v*vertex.Size:][:vertex.Size]
				i := int(m.firstIndex) + int(k)
				kind := vertex.Index16
				if m.wide {
					kind = vertex.Index32
				}
				n := int(m.baseVertex) + int(vertex.IndexAt(b.indices, kind, i))
				if got := b.vertices[n*b.packing.Layout.Size():][:b.packing.Layout.Size()]; !bytes.Equal(got, b.packing.Append(nil, src)) {
					t.Errorf("%s: mesh %d: corner %d is another vertex", name, m.record, k)
				}
			}
		}
	}
}

func TestPrepareRefuses(t *testing.T) {
	for name, breakIt := range map[string]func(m *records.Mesh){
		"vertices outside":  func(m *records.Mesh) { m.VertexOffset = 1 << 40 },
		"indices outside":   func(m *records.Mesh) { m.IndexOffset = math.MaxUint64 - 5 },
		"sizes disagree":    func(m *records.Mesh) { m.VertexCount++ },
		"no index type":     func(m *records.Mesh) { m.IndexType = 0 },
		"index count wraps": func(m *records.Mesh) { m.IndexCount = math.MaxUint32; m.IndexSize = 2 * math.MaxUint32 },
	} {
		a := assemble([]part{quad(geom.Vec3{}, geom.Vec3{1, 0, 0}, geom.Vec3{0, 1, 0})}, nil)
		breakIt(&a.Meshes[0])
		if _, err := prepare(a, nil); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestWorldTransforms: parents first, cycles and missing parents end.
func TestWorldTransforms(t *testing.T) {
	move := func(x float32) [16]float32 { return [16]float32{0: 1, 5: 1, 10: 1, 15: 1, 12: x} }
	w := worldTransforms([]records.Entity{
		{ID: 1, ParentID: 2, LocalTransform: move(1)},
		{ID: 2, ParentID: records.NoIndex, LocalTransform: move(10)},
		{ID: 3, ParentID: 4, LocalTransform: move(1)},
		{ID: 4, ParentID: 3, LocalTransform: move(1)},
		{ID: 5, ParentID: 99, LocalTransform: move(7)},
	})
	for id, x := range map[uint32]float64{1: 11, 2: 10, 5: 7} {
		if m := w[id]; m[12] != x {
			t.Errorf("entity %d is at %v, want %v", id, m[12], x)
		}
	}
}

// TestUsedMaterials: only what meshes use is taken over; what does not exist
// becomes the default.
func TestUsedMaterials(t *testing.T) {
	q := quad(geom.Vec3{}, geom.Vec3{1, 0, 0}, geom.Vec3{0, 1, 0})
	a := assemble([]part{q, q, q, q}, []records.Material{{NormalTexture: records.NoIndex, Metallic: 0.1}, {NormalTexture: records.NoIndex, Metallic: 0.2}, {NormalTexture: records.NoIndex, Metallic: 0.3}})
	for i, m := range []uint32{2, records.NoIndex, 2, 7} {
		a.Meshes[i].Material = m
	}
	p, err := prepare(a, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.materials) != 2 || p.materials[0].Metallic != 0.3 || p.materials[1] != defaultMaterial() {
		t.Errorf("materials %+v", p.materials)
	}
	for i, want := range []int32{0, 1, 0, 1} {
		if p.meshes[i].material != want {
			t.Errorf("mesh %d has material %d, want %d", i, p.meshes[i].material, want)
		}
	}
}

func TestMeshBox(t *testing.T) {
	nan := float32(math.NaN())
	id := geom.Identity()
	for _, b := range []records.Bounds{{Min: [3]float32{nan}}, {Min: [3]float32{1}, Max: [3]float32{-1}}} {
		if box := meshBox(b, &id); box.Size()[0] < hugeBox {
			t.Errorf("%v became %v, which may be culled", b, box)
		}
	}
	turned := geom.TRS(geom.Vec3{10, 0, 0}, [4]float64{0, math.Sqrt2 / 2, 0, math.Sqrt2 / 2}, geom.Vec3{1, 1, 1})
	box := meshBox(records.Bounds{Max: [3]float32{4, 1, 2}}, &turned)
	if want := (geom.Vec3{2, 1, 4}); box.Size().Sub(want).Len() > 1e-6 {
		t.Errorf("size %v, want %v", box.Size(), want)
	}
}

func TestMaterials(t *testing.T) {
	inf := float32(math.Inf(1))
	m := records.Material{
		Flags:     records.MaterialCutout | records.MaterialDoubleSided | records.MaterialUnlit,
		BaseColor: [4]float32{inf, -1, 0.5, 2}, Emissive: [3]float32{5, 0, 0}, Metallic: 3, Roughness: float32(math.NaN()),
		AlphaCutoff: 0.25, NormalScale: -1, Reserved: [2]uint32{records.ChannelsMetalRough, 0},
		BaseColorTexture: 0, NormalTexture: 9, MetallicTexture: records.NoIndex, RoughnessTexture: 1, EmissiveTexture: records.NoIndex, OcclusionTexture: records.NoIndex,
	}
	if k := kindOf(&m); k != (surfaceKind{alphaMask, true}) {
		t.Errorf("kind %+v", k)
	}
	list := texture.MaterialSlots(nil, &m, make([]records.Texture, 2), func(uint32) string { return "a.png" }, "")[:slots]
	if list[slotBase].URI == "" || list[slotRoughness].URI == "" || list[slotNormal].URI != "" || list[slotNormal].Use != texfile.Normal || list[slotEmissive].Use != texfile.Color {
		t.Errorf("textures %v", list)
	}
	p := packMaterial(nil, &m, 1|8)
	if len(p) != materialFloats {
		t.Fatalf("%d floats", len(p))
	}
	if p[0] != 0 || p[1] != 0 || p[2] != 0.5 || p[3] != 1 || p[4] != 5 || p[7] != 0.25 || p[8] != 1 || p[9] != 0 || p[10] != -1 {
		t.Errorf("packed %v", p)
	}
	flags := uint32(p[12])
	if flags&^0xf00 != 1|8|flagUnlit|flagDoubleSided|flagMasked || flags>>flagMetallicShift&3 != 2 || flags>>flagRoughnessShift&3 != 1 {
		t.Errorf("flags %x", flags)
	}
}
