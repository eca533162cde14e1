package batch

import (
	"testing"
	"time"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// BenchmarkMerge measures merging 64 meshes of 1,000 triangles; the baseline is
// a plain copy of the same bytes into the same buffers.
func BenchmarkMerge(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int // triangles per mesh
	}{{"16 bits", 1000}, {"32 bits", 1100}} {
		b.Run(c.name, func(b *testing.B) {
			assets := NewAssets(0)
			triangles := make([]int, 64)
			for i := range triangles {
				triangles[i] = c.n
			}
			a := assetOf(triangles...)
			assets.Put(tile0, a)
			job := Job{Groups: make([]Group, 1)}
			g := &job.Groups[0]
			for i := range a.Meshes {
				m := &a.Meshes[i]
				g.Members = append(g.Members, Member{Ref{tile0, int32(i)}, m.VertexCount, m.IndexCount})
				g.Vertices += m.VertexCount
				g.Indices += m.IndexCount
			}
			var pool Pool
			m := job.Merge(assets, &pool)
			buffers := m.Merged[0].Buffers
			b.SetBytes(int64(len(buffers.Vertices) + len(buffers.Indices)))
			// Alternating, so that both see the same machine.
			var plain, merged time.Duration
			b.ReportAllocs()
			for b.Loop() {
				start := time.Now()
				copy(buffers.Vertices, a.Geometry.Vertices)
				copy(buffers.Indices, a.Geometry.Indices)
				mid := time.Now()
				r := job.Merge(assets, &pool)
				merged += time.Since(mid)
				plain += mid.Sub(start)
				r.release()
			}
			b.ReportMetric(float64(merged)/float64(plain), "of-a-copy")
			b.ReportMetric(float64(b.N)*float64(len(buffers.Vertices)+len(buffers.Indices))/1e9/merged.Seconds(), "GB/s")
		})
	}
}

// BenchmarkUpdate measures a frame of 3,000 representations of 8 meshes, with
// the lists that are drawn; the baseline is listing every mesh to be drawn
// alone, which is what a frame does without batches.
func BenchmarkUpdate(b *testing.B) {
	for _, c := range []struct {
		name   string
		change bool
	}{{"still", false}, {"one comes and goes per frame", true}} {
		b.Run(c.name, func(b *testing.B) {
			r := newRig(b)
			var drawn []runtime.Drawn
			items := make([]Item, 8)
			place := func(i int) (payload.Key, []Item) {
				for k := range items {
					x := float32(i%60)*10 + float32(k)
					z := float32(i/60) * 10
					items[k] = Item{
						Static: true, Material: uint64(k % 2), Vertices: 3, Indices: 3,
						Bounds: records.Bounds{Min: [3]float32{x, 0, z}, Max: [3]float32{x + 1, 1, z + 1}},
					}
				}
				return key(int32(i), payload.RepFull), items
			}
			mesh := r.mesh(0, 0, 1)
			for i := range 3000 {
				k, items := place(i)
				r.resident[k] = []testMesh{mesh, mesh, mesh, mesh, mesh, mesh, mesh, mesh}
				r.b.Add(k, items)
				drawn = append(drawn, runtime.Drawn{Key: k, Fade: 1})
			}
			sees := func(payload.SceneID, records.Bounds) bool { return true }
			f := Frame{Drawn: drawn, Sees: sees}
			for range 3000 {
				r.b.Update(f)
				r.merge()
			}
			draws, alone := r.b.AppendDraws(nil), r.b.AppendAlone(nil)
			b.ReportAllocs()
			var plain time.Duration
			refs := make([]Ref, 0, 8*len(drawn))
			n := 0
			for b.Loop() {
				b.StopTimer()
				start := time.Now()
				refs = refs[:0]
				for i := range drawn {
					for k := range r.b.owners[drawn[i].Key].items {
						refs = append(refs, Ref{drawn[i].Key, int32(k)})
					}
				}
				plain += time.Since(start)
				b.StartTimer()
				if c.change {
					k, items := place(n % len(drawn))
					r.b.Add(k, items)
				}
				r.b.Update(f)
				draws, alone = r.b.AppendDraws(draws[:0]), r.b.AppendAlone(alone[:0])
				n++
				b.StopTimer()
				r.merge()
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed())/float64(plain), "of-listing")
			b.ReportMetric(float64(len(draws)+len(alone))/float64(len(refs)), "draws-of-meshes")
		})
	}
}
