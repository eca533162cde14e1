package batch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// assetOf returns an asset of one entity whose meshes are given by their numbers
// of triangles.
func assetOf(triangles ...int) *payload.Asset {
	a := payload.NewAsset(nil)
	a.Entities = []records.Entity{{ID: 0, ParentID: records.NoIndex, MeshCount: uint32(len(triangles)), LocalTransform: [16]float32{0: 1, 5: 1, 10: 1, 15: 1}}}
	for i, n := range triangles {
		m := records.Mesh{
			IndexType: vertex.Index16, VertexCount: uint32(n + 2), IndexCount: uint32(3 * n), VertexStride: vertex.Size,
			VertexOffset: uint64(len(a.Geometry.Vertices)), VertexSize: uint64(n+2) * vertex.Size,
			IndexOffset: uint64(len(a.Geometry.Indices)), IndexSize: uint64(6 * n),
			LocalBounds: records.Bounds{Min: [3]float32{float32(i), 0, 0}, Max: [3]float32{float32(i + 1), 1, 1}},
		}
		a.Meshes = append(a.Meshes, m)
		a.Geometry.Vertices = append(a.Geometry.Vertices, bytes.Repeat([]byte{byte(i + 1)}, int(m.VertexSize))...)
		for k := range 3 * n {
			a.Geometry.Indices = binary.LittleEndian.AppendUint16(a.Geometry.Indices, uint16(k/3+k%3))
		}
	}
	return a
}

func anyMaterial(int) (uint64, bool) { return 1, true }

func TestItems(t *testing.T) {
	if Items(nil, anyMaterial) != nil {
		t.Error("an asset that is not there has meshes")
	}
	a := assetOf(2)
	want := Item{Static: true, Bounds: a.Meshes[0].LocalBounds, Material: 1, Vertices: 4, Indices: 6}
	if got := Items(a, anyMaterial); len(got) != 1 || got[0] != want {
		t.Errorf("%+v", got)
	}
	if got := Items(a, func(index int) (uint64, bool) { return 0, index >= 0 }); got[0].Static {
		t.Error("a mesh whose material may not be merged is static")
	}
	for name, change := range map[string]func(a *payload.Asset, m *records.Mesh){
		"index type":   func(_ *payload.Asset, m *records.Mesh) { m.IndexType = 9 },
		"no indices":   func(_ *payload.Asset, m *records.Mesh) { m.IndexCount, m.IndexSize = 0, 0 },
		"no triangles": func(_ *payload.Asset, m *records.Mesh) { m.IndexCount, m.IndexSize = 4, 8 },
		"sizes":        func(_ *payload.Asset, m *records.Mesh) { m.VertexCount++ },
		"vertices out": func(_ *payload.Asset, m *records.Mesh) { m.VertexOffset = 1 },
		"indices out":  func(_ *payload.Asset, m *records.Mesh) { m.IndexOffset = 1<<64 - 2 },
		"overflow":     func(_ *payload.Asset, m *records.Mesh) { m.VertexCount, m.VertexSize = 1<<31, 1<<36 },
		"box":          func(_ *payload.Asset, m *records.Mesh) { m.LocalBounds.Min[1] = 7 },
		"moved":        func(a *payload.Asset, _ *records.Mesh) { a.Entities[0].LocalTransform[12] = 1 },
		"moved above":  func(a *payload.Asset, _ *records.Mesh) { hang(a, 1).LocalTransform[12] = 1 },
		"cycle": func(a *payload.Asset, _ *records.Mesh) {
			hang(a, 1).ParentID = 0
			a.Entities = append(a.Entities, records.Entity{ID: 9, ParentID: records.NoIndex}) // not the identity
		},
		"released":      func(a *payload.Asset, _ *records.Mesh) { a.Release() },
		"infinite box":  func(_ *payload.Asset, m *records.Mesh) { m.LocalBounds.Max[0] = float32(inf) },
		"box not a box": func(_ *payload.Asset, m *records.Mesh) { m.LocalBounds.Max[0] = float32(inf - inf) },
	} {
		a := assetOf(2)
		change(a, &a.Meshes[0])
		if got := Items(a, anyMaterial); got[0].Static {
			t.Errorf("%s: static", name)
		}
	}
	// Transforms elsewhere do not matter.
	a = assetOf(2)
	hang(a, 1)
	a.Entities = append(a.Entities, records.Entity{ID: 9, ParentID: records.NoIndex})
	if got := Items(a, anyMaterial); !got[0].Static {
		t.Error("moved by something else")
	}
}

var inf = func() float64 { x := 1e300; return x * x }()

// hang puts an entity above the first one.
func hang(a *payload.Asset, id uint32) *records.Entity {
	e := a.Entities[0]
	e.ID, e.ParentID, e.MeshCount = id, records.NoIndex, 0
	a.Entities[0].ParentID = id
	a.Entities = append(a.Entities, e)
	return &a.Entities[len(a.Entities)-1]
}

func TestMaterials(t *testing.T) {
	a := assetOf(1)
	a.Dir = "scene/tiles"
	a.Strings = func(off uint32) string { return []string{"../wall.png", "../tiles/../wall.png", "roof.png"}[off] }
	a.Textures = []records.Texture{{URIOffset: 0}, {URIOffset: 1}, {URIOffset: 2}}
	plain := records.Material{
		BaseColorTexture: 0, NormalTexture: records.NoIndex, MetallicTexture: records.NoIndex, RoughnessTexture: records.NoIndex,
		EmissiveTexture: records.NoIndex, OcclusionTexture: records.NoIndex, HeightTexture: records.NoIndex, Roughness: 0.5,
	}
	same, roof, rough, blend, cutout, slot := plain, plain, plain, plain, plain, plain
	same.NameOffset, same.BaseColorTexture = 77, 1
	roof.BaseColorTexture = 2
	rough.Roughness = 0.6
	blend.Flags = records.MaterialBlend
	cutout.Flags = records.MaterialCutout
	slot.BaseColorTexture, slot.EmissiveTexture = records.NoIndex, 0
	a.Materials = []records.Material{plain, same, roof, rough, blend, cutout, slot}
	m := NewMaterials()
	of := m.Of(a)
	first, ok := of(0)
	if !ok {
		t.Fatal("not to be merged")
	}
	if n, ok := of(1); n != first || !ok {
		t.Error("name and spelling of a path make a difference")
	}
	seen := map[uint64]int{first: 0}
	for _, i := range []int{2, 3, 5, 6, -1} {
		n, ok := of(i)
		if old, dup := seen[n]; dup || !ok {
			t.Errorf("material %d counts as %d (%v)", i, old, ok)
		}
		seen[n] = i
	}
	if _, ok := of(4); ok {
		t.Error("a blended material may be merged")
	}
	b := assetOf(1) // another file that says the same
	b.Dir, b.Strings, b.Textures, b.Materials = "scene/lods", a.Strings, a.Textures, a.Materials[:1]
	if n, _ := m.Of(b)(0); n != first {
		t.Error("another asset's material is another one")
	}
}

// TestMerge: 16-bit indices as long as they reach, 32 bits from there on, and
// back, whatever the members have.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		geometry := meshMap{}
		g := Group{}
		want := []uint32{}
		base := uint32(0)
		for i := range rapid.IntRange(1, 4).Draw(t, "members") {
			// Around the limit of 65,536 vertices in sum.
			n := uint32(rapid.SampledFrom([]int{1, 3, 5, 32768, 32767, 65530, 65536}).Draw(t, "vertices"))
			kind := rapid.SampledFrom([]vertex.IndexType{vertex.Index16, vertex.Index32}).Draw(t, "kind")
			ref := Ref{Mesh: int32(i)}
			m := MeshGeometry{Vertices: bytes.Repeat([]byte{byte(i)}, int(n)*vertex.Size), Type: kind}
			indices := uint32(3 * rapid.IntRange(1, 5).Draw(t, "triangles"))
			for range indices {
				v := rapid.SampledFrom([]uint32{0, n - 1, n / 2}).Draw(t, "index")
				want = append(want, base+v)
				if kind == vertex.Index16 {
					m.Indices = binary.LittleEndian.AppendUint16(m.Indices, uint16(v))
				} else {
					m.Indices = binary.LittleEndian.AppendUint32(m.Indices, v)
				}
			}
			geometry[ref] = m
			g.Members = append(g.Members, Member{ref, n, indices})
			g.Vertices += n
			g.Indices += indices
			base += n
		}
		var pool Pool
		m := g.merge(geometry, &pool)
		if m.Err != nil {
			t.Fatal(m.Err)
		}
		if (m.Buffers.Type == vertex.Index32) != (base > 1<<16) {
			t.Fatalf("%d vertices with type %v", base, m.Buffers.Type)
		}
		at := uint32(0)
		for i, x := range g.Members {
			if m.Ranges[i] != (Range{at, x.Indices}) {
				t.Fatalf("member %d: %+v, want [%d, %d)", i, m.Ranges[i], at, at+x.Indices)
			}
			for k := at; k < at+x.Indices; k++ {
				v := uint32(0)
				if m.Buffers.Type == vertex.Index16 {
					v = uint32(binary.LittleEndian.Uint16(m.Buffers.Indices[2*k:]))
				} else {
					v = binary.LittleEndian.Uint32(m.Buffers.Indices[4*k:])
				}
				if v != want[k] || m.Buffers.Vertices[int(v)*vertex.Size] != byte(i) {
					t.Fatalf("index %d is %d, want %d of member %d", k, v, want[k], i)
				}
			}
			at += x.Indices
		}
		m.Buffers.Release()
		m.Buffers.Release()
		if pool.Out() != 0 {
			t.Fatalf("%d buffers are out", pool.Out())
		}
	})
}

// meshMap is a Source.
type meshMap map[Ref]MeshGeometry

func (m meshMap) Geometry(ref Ref) (MeshGeometry, bool) {
	g, ok := m[ref]
	return g, ok
}

// TestMergeOfLies: geometry that is not what was announced is left out.
func TestMergeOfLies(t *testing.T) {
	good := MeshGeometry{Vertices: make([]byte, 3*vertex.Size), Indices: make([]byte, 6), Type: vertex.Index16}
	short, odd, untyped := good, good, good
	short.Vertices = short.Vertices[:32]
	odd.Indices = odd.Indices[:5]
	untyped.Type = 0
	released := 0
	short.Release = func() { released++ }
	src := meshMap{{Mesh: 0}: good, {Mesh: 1}: short, {Mesh: 2}: odd, {Mesh: 3}: untyped, {Mesh: 5}: good}
	g := Group{Vertices: 18, Indices: 18}
	for i := range 6 {
		g.Members = append(g.Members, Member{Ref{Mesh: int32(i)}, 3, 3})
	}
	var pool Pool
	m := g.merge(src, &pool)
	if m.Err == nil || released != 1 {
		t.Errorf("%v, released %d", m.Err, released)
	}
	if got := fmt.Sprint(m.Ranges); got != "[{0 3} {0 0} {0 0} {0 0} {0 0} {3 3}]" || len(m.Buffers.Vertices) != 6*vertex.Size {
		t.Error(got)
	}
}

func TestAssets(t *testing.T) {
	released := map[int]bool{}
	make1 := func(i int) *payload.Asset {
		src := assetOf(2, 2)
		a := payload.NewAsset(func() { released[i] = true })
		a.Entities, a.Meshes, a.Geometry = src.Entities, src.Meshes, src.Geometry
		return a
	}
	const size = 2 * (4*vertex.Size + 12)
	s := NewAssets(2 * size)
	a := make1(0)
	s.Put(tile0, a)
	a.Release() // as a device does when it has copied
	if released[0] || s.Bytes() != size {
		t.Errorf("released %v, %d bytes", released, s.Bytes())
	}
	g, ok := s.Geometry(Ref{tile0, 1})
	if !ok || len(g.Vertices) != 4*vertex.Size || g.Vertices[0] != 2 {
		t.Fatalf("%v, %d bytes", ok, len(g.Vertices))
	}
	s.Drop(tile0)
	if released[0] {
		t.Error("released while it is read")
	}
	g.Release()
	if !released[0] {
		t.Error("not released")
	}
	for _, ref := range []Ref{{tile0, 0}, {tile1, 0}, {tile1, -1}} {
		if _, ok := s.Geometry(ref); ok {
			t.Errorf("%v is there", ref)
		}
	}
	s.Put(tile0, a) // released already
	for i := 1; i <= 3; i++ {
		a := make1(i)
		s.Put(key(int32(i), payload.RepFull), a)
		a.Release()
	}
	if !released[1] || released[2] || released[3] || s.Bytes() != 2*size {
		t.Errorf("not the newest two: %v, %d bytes", released, s.Bytes())
	}
	if _, ok := s.Geometry(Ref{key(2, payload.RepFull), 2}); ok {
		t.Error("a mesh that is not there")
	}
	s.Clear()
	if !released[2] || !released[3] || s.Bytes() != 0 {
		t.Errorf("%v, %d bytes", released, s.Bytes())
	}
}

// plainDevice takes everything at once.
type plainDevice struct{}

func (plainDevice) Upload(_ ID, u Upload) error { u.Buffers.Release(); return nil }
func (plainDevice) Drawable(ID) bool            { return true }
func (plainDevice) Release(ID)                  {}

// TestWorkers runs the parts together: assets come and go while goroutines
// merge.
func TestWorkers(t *testing.T) {
	assets := NewAssets(0)
	workers := NewWorkers(assets, 2, nil)
	b := New(Options{Builder: workers, Device: plainDevice{}})
	b.SetScene(1, 4)
	var drawn []runtime.Drawn
	for i := range 64 {
		a := assetOf(5, 6, 7, 8)
		k := key(int32(i%32), payload.RepFull)
		b.Remove(k)
		assets.Put(k, a)
		b.Add(k, Items(a, NewMaterials().Of(a)))
		a.Release()
		if i < 32 {
			drawn = append(drawn, runtime.Drawn{Key: k, Fade: 1})
		}
		b.Update(Frame{Drawn: drawn})
	}
	for range 20 {
		workers.jobs.Wait()
		b.Update(Frame{Drawn: drawn})
	}
	if n := len(b.AppendAlone(nil)); n != 0 {
		t.Errorf("%d meshes are alone: %+v", n, b.Stats())
	}
	for i := range 32 {
		assets.Drop(key(int32(i), payload.RepFull))
		b.Remove(key(int32(i), payload.RepFull))
		b.Update(Frame{})
	}
	var wg sync.WaitGroup
	wg.Go(func() { workers.Close() })
	b.Close()
	wg.Wait()
	workers.Close()
	workers.Start(&Job{answers: b.answers})
	if workers.pool.Out() != 0 || assets.Bytes() != 0 {
		t.Errorf("%d buffers, %d bytes are left", workers.pool.Out(), assets.Bytes())
	}
}
