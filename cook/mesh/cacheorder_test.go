package mesh

import (
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
)

// orderMesh returns packed vertices whose first bytes are their numbers.
func orderMesh(n int, indices ...uint32) *Packed {
	p := &Packed{Vertices: make([]byte, n*vertex.Size), Indices: indices}
	for i := range n {
		binary.LittleEndian.PutUint32(p.Vertices[i*vertex.Size:], uint32(i))
	}
	return p
}

// orderNumber returns the number that a vertex of orderMesh had at first.
func orderNumber(p *Packed, v uint32) uint32 {
	return binary.LittleEndian.Uint32(p.Vertices[int(v)*vertex.Size:])
}

// orderTriangles returns the triangles in a mesh of orderMesh vertices.
func orderTriangles(p *Packed) [][3]uint32 {
	var out [][3]uint32
	for i := 0; i+2 < len(p.Indices); i += 3 {
		out = append(out, [3]uint32{orderNumber(p, p.Indices[i]), orderNumber(p, p.Indices[i+1]), orderNumber(p, p.Indices[i+2])})
	}
	return out
}

func orderSorted(t [][3]uint32) [][3]uint32 {
	t = slices.Clone(t)
	slices.SortFunc(t, func(a, b [3]uint32) int { return slices.Compare(a[:], b[:]) })
	return t
}

// TestOptimizeOrder checks on any index buffer that triangles stay the same
// as a set, corner for corner, that vertices come in order of first use, that
// the cache is used no worse, and that nothing depends on chance.
func TestOptimizeOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "vertices")
		src := orderMesh(n, rapid.SliceOfN(rapid.Uint32Range(0, uint32(n-1)), 0, 300).Draw(t, "indices")...)
		indices := slices.Clone(src.Indices)
		p, q := *src, *src
		s := p.OptimizeOrder()
		if q.OptimizeOrder() != s || !slices.Equal(p.Indices, q.Indices) || !slices.Equal(p.Vertices, q.Vertices) {
			t.Fatal("two runs differ")
		}
		if !slices.Equal(indices, src.Indices) {
			t.Fatal("the source's indices were written into")
		}
		before, after := orderTriangles(src), orderTriangles(&p)
		if diff := cmp.Diff(orderSorted(before), orderSorted(after)); diff != "" {
			t.Fatalf("other triangles:\n%s", diff)
		}
		if !s.Reordered && !slices.Equal(before, after) {
			t.Fatal("moved triangles without saying so")
		}
		next := uint32(0)
		for _, v := range p.Indices {
			if v > next {
				t.Fatalf("vertex %d is used before %d", v, next)
			}
			next = max(next, v+1)
		}
		if int(next) != len(p.Vertices)/vertex.Size {
			t.Fatalf("%d vertices, %d used", len(p.Vertices)/vertex.Size, next)
		}
		if want := plainCacheStats(src.Indices); s.Before != want {
			t.Fatalf("before: %v, want %v", s.Before, want)
		}
		if want := plainCacheStats(p.Indices); s.After != want {
			t.Fatalf("after: %v, want %v", s.After, want)
		}
		if s.After.ACMR > s.Before.ACMR || s.After.ATVR > s.Before.ATVR {
			t.Fatalf("worse: %+v", s)
		}
	})
}

// plainCacheStats runs the model with a queue.
func plainCacheStats(indices []uint32) CacheStats {
	indices = indices[:len(indices)/3*3]
	if len(indices) == 0 {
		return CacheStats{}
	}
	var queue []uint32
	used := map[uint32]bool{}
	misses := 0.0
	for _, v := range indices {
		used[v] = true
		if slices.Contains(queue, v) {
			continue
		}
		misses++
		if queue = append(queue, v); len(queue) > 16 {
			queue = queue[1:]
		}
	}
	return CacheStats{ACMR: misses / float64(len(indices)/3), ATVR: misses / float64(len(used))}
}

func TestOptimizeOrderSmall(t *testing.T) {
	for _, c := range []struct {
		name     string
		in       *Packed
		vertices []uint32 // by their first numbers
		indices  []uint32
		stats    OrderStats
	}{
		{"empty", orderMesh(0), nil, nil, OrderStats{}},
		{"unused vertices only", orderMesh(3), nil, nil, OrderStats{}},
		{"less than a triangle", orderMesh(3, 1, 2), nil, nil, OrderStats{}},
		{
			"one triangle", orderMesh(3, 0, 1, 2),
			[]uint32{0, 1, 2},
			[]uint32{0, 1, 2},
			OrderStats{Before: CacheStats{3, 1}, After: CacheStats{3, 1}},
		},
		{
			"rest", orderMesh(3, 0, 1, 2, 1),
			[]uint32{0, 1, 2},
			[]uint32{0, 1, 2},
			OrderStats{Before: CacheStats{3, 1}, After: CacheStats{3, 1}},
		},
		{
			"first use and unused", orderMesh(6, 5, 3, 1, 1, 3, 0),
			[]uint32{5, 3, 1, 0},
			[]uint32{0, 1, 2, 2, 1, 3},
			OrderStats{Before: CacheStats{2, 1}, After: CacheStats{2, 1}},
		},
		{
			"no area", orderMesh(2, 1, 1, 1, 0, 1, 0),
			[]uint32{1, 0},
			[]uint32{0, 0, 0, 1, 0, 1},
			OrderStats{Before: CacheStats{1, 1}, After: CacheStats{1, 1}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.in.OptimizeOrder()
			if s != c.stats {
				t.Errorf("%+v, want %+v", s, c.stats)
			}
			var vertices []uint32
			for v := range len(c.in.Vertices) / vertex.Size {
				vertices = append(vertices, orderNumber(c.in, uint32(v)))
			}
			if !slices.Equal(vertices, c.vertices) || !slices.Equal(c.in.Indices, c.indices) {
				t.Errorf("vertices %v, indices %v, want %v and %v", vertices, c.in.Indices, c.vertices, c.indices)
			}
		})
	}
}

// TestOptimizeOrderGrid knows what is good: a terrain in rows costs a vertex
// per triangle, and the least possible is a half.
func TestOptimizeOrderGrid(t *testing.T) {
	id := geom.Identity()
	src := bake(t, hills(100), &id)
	for _, c := range []struct {
		name  string
		order func(p *Packed)
	}{
		{"rows", func(*Packed) {}},
		{"shuffled", func(p *Packed) { orderShuffle(p, 1) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := *src
			c.order(&p)
			s := p.OptimizeOrder()
			t.Logf("%+v", s)
			if !s.Reordered || s.After.ACMR > 0.62 || s.After.ATVR > 1.21 {
				t.Errorf("%+v", s)
			}
			again := p.OptimizeOrder()
			if again.After.ACMR > s.After.ACMR {
				t.Errorf("a second run made it worse: %+v", again)
			}
		})
	}
}

// orderShuffle puts the triangles into a random order.
func orderShuffle(p *Packed, seed uint64) {
	p.Indices = slices.Clone(p.Indices)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(p.Indices)/3, func(i, k int) {
		for c := range 3 {
			p.Indices[3*i+c], p.Indices[3*k+c] = p.Indices[3*k+c], p.Indices[3*i+c]
		}
	})
}

// TestOptimizeOrderHub has vertices with very many triangles, which a search
// around each of them would make quadratic.
func TestOptimizeOrderHub(t *testing.T) {
	const n = 50_000
	p := orderMesh(2*n + 2)
	for i := range uint32(n) {
		p.Indices = append(p.Indices, 0, i+2, (i+1)%n+2) // a disc
	}
	for i := range uint32(n) {
		p.Indices = append(p.Indices, 1, (i*7919)%n+2, n+2+i) // loose blades around a second hub
	}
	before := orderSorted(orderTriangles(p))
	s := p.OptimizeOrder()
	t.Logf("%+v", s)
	if s.After.ACMR > s.Before.ACMR || !slices.Equal(before, orderSorted(orderTriangles(p))) {
		t.Errorf("%+v", s)
	}
}

// TestOptimizeOrderAssets compares with meshoptimizer 1.3's vertex cache
// optimiser on the same packed meshes: the sum of transformed vertices over a
// file's primitives.
func TestOptimizeOrderAssets(t *testing.T) {
	for _, c := range []struct {
		file string
		atvr float64 // meshoptimizer's
	}{
		{"models/FlightHelmet/FlightHelmet.gltf", 1.1708},
		{"models/Mountains/Mountains.gltf", 1.2289},
		{"models/dutch_ship_medium_1k/dutch_ship_medium_1k.gltf", 1.0605},
		{"models/dragon-lods/TilesetWithDiscreteLOD_dragon_medium.glb", 1.3042},
		{"models/dragon-lods/TilesetWithDiscreteLOD_dragon_low.glb", 1.2986},
		{"models/armor/armor.gltf", 1.0734},
		{"models/AnisotropyBarnLamp/AnisotropyBarnLamp.gltf", 1.0516},
	} {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			s := loadShared(t, c.file)
			id := geom.Identity()
			var before, after, used, triangles float64
			for i := range s.Meshes {
				for k := range s.Meshes[i].Primitives {
					p := bake(t, meshFrom(&s.Meshes[i].Primitives[k]), &id)
					if len(p.Indices) == 0 {
						continue
					}
					o := p.OptimizeOrder()
					n := float64(len(p.Indices) / 3)
					triangles += n
					before += o.Before.ACMR * n
					after += o.After.ACMR * n
					used += float64(len(p.Vertices) / vertex.Size)
				}
			}
			t.Logf("ACMR %.3f -> %.3f, ATVR %.3f -> %.3f, %.3f of meshoptimizer's",
				before/triangles, after/triangles, before/used, after/used, after/used/c.atvr)
			if after/used > c.atvr*1.02 {
				t.Errorf("ATVR %.4f, meshoptimizer has %.4f", after/used, c.atvr)
			}
		})
	}
}

// BenchmarkOptimizeOrder sorts a terrain in rows and a shuffled one. The
// baseline only measures the order and renumbers the vertices.
func BenchmarkOptimizeOrder(b *testing.B) {
	id := geom.Identity()
	rows := bake(b, hills(256), &id)
	mixed := *rows
	orderShuffle(&mixed, 1)
	for _, c := range []struct {
		name string
		mesh *Packed
	}{{"rows", rows}, {"shuffled", &mixed}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var s OrderStats
			for b.Loop() {
				p := *c.mesh
				s = p.OptimizeOrder()
			}
			perSecond(b, len(c.mesh.Vertices)/vertex.Size, len(c.mesh.Indices)/3)
			b.ReportMetric(s.After.ATVR, "ATVR")
		})
		b.Run(c.name+"-baseline", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p := *c.mesh
				cacheStats(p.Indices, len(p.Vertices)/vertex.Size)
				p.sortVertices()
			}
			perSecond(b, len(c.mesh.Vertices)/vertex.Size, len(c.mesh.Indices)/3)
		})
	}
}
