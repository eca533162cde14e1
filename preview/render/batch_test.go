//go:build cgo && !nopreview

package render

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/internal/batch"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// batchBoard is the scene of the golden pictures as n tiles: the same parts
// everywhere, a little apart, and one that an entity moves.
func batchBoard(t testing.TB, dir string, n int) (assets []*payload.Asset) {
	for i := range n {
		a := board(t, dir)
		shift := float32(i) * 0.21
		for k := 0; k+vertex.Size <= len(a.Geometry.Vertices); k += vertex.Size {
			v := vertex.Get(a.Geometry.Vertices[k:])
			v.Position[1] += shift
			vertex.Put(a.Geometry.Vertices[k:], &v)
		}
		for k := range a.Meshes {
			a.Meshes[k].LocalBounds.Min[1] += shift
			a.Meshes[k].LocalBounds.Max[1] += shift
		}
		a.Entities[3].LocalTransform = f32(geom.TRS(geom.Vec3{0, 0.3, 0}, [4]float64{}, geom.Vec3{1, 1, 1}))
		assets = append(assets, a)
	}
	return assets
}

// settleBatches draws until nothing is left to merge.
func settleBatches(t testing.TB, r *Renderer, f Frame) (s Stats) {
	t.Helper()
	for range 200 {
		if err := r.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s = r.Draw(f); s.BatchWork == 0 && s.Batches > 0 {
			return s
		}
	}
	t.Fatalf("batching does not come to rest: %+v", s)
	return s
}

// TestBatchesLookTheSame: the picture is the same in every frame, whether a mesh
// is drawn alone, in a batch, or on the way, in all views; and fewer draws make
// it.
func TestBatchesLookTheSame(t *testing.T) {
	const n = 5
	for _, dir := range []string{"", t.TempDir()} {
		both(t, Options{Width: 96, Height: 72, ShadowSize: 128}, func(t *testing.T, r *Renderer) {
			f := Frame{Camera: boardCamera(), Drawn: put(t, r, batchBoard(t, dir, n)...)}
			r.Draw(f) // sees its textures
			if err := r.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			views := []ViewMode{ViewLit, ViewLOD, ViewTiles, ViewTextureTiers, ViewAlbedo, ViewNormals}
			want := map[ViewMode][]byte{}
			alone := Stats{}
			for _, f.View = range views {
				alone = r.Draw(f)
				want[f.View] = bytes.Clone(r.ReadPixels().Pix)
			}
			for i := range n {
				r.Release(key(int32(i), payload.RepFull))
			}
			r.SetBatching(&BatchOptions{Sync: true})
			r.SetBatchScene(1, 1000)
			put(t, r, batchBoard(t, dir, n)...)
			compare := func() {
				t.Helper()
				for _, f.View = range views {
					r.Draw(f)
					if got := r.ReadPixels(); !bytes.Equal(got.Pix, want[f.View]) {
						save(t, filepath.Join(t.ArtifactDir(), "differs.png"), got)
						t.Fatalf("view %v: the picture differs", f.View)
					}
					r.Pump(Budget{Bytes: 1})
				}
			}
			for range 8 {
				compare()
			}
			f.View = ViewLit
			s := settleBatches(t, r, f)
			compare()
			// Of 16 meshes per tile the pane is blended, and one is moved.
			if s.Triangles != alone.Triangles || s.Draws >= alone.Draws/2 || s.Draws != alone.Draws-s.BatchedMeshes+s.BatchDraws {
				t.Errorf("%d draws of %d triangles instead of %d of %d: %+v", s.Draws, s.Triangles, alone.Draws, alone.Triangles, s.BatchStats)
			}
		})
	}
}

// TestBatchesComeAndGo: representations fade, leave and come back under batches,
// and nothing is left in the end.
func TestBatchesComeAndGo(t *testing.T) {
	const n = 4
	both(t, Options{Width: 64, Height: 48}, func(t *testing.T, r *Renderer) {
		dir := t.TempDir()
		r.SetBatching(&BatchOptions{Sync: true})
		r.SetBatchScene(1, 1000)
		f := Frame{Camera: boardCamera(), Drawn: put(t, r, batchBoard(t, dir, n)...)}
		all := settleBatches(t, r, f)
		if all.BatchBytes == 0 || all.BatchBytes >= all.GeometryBytes || all.BatchedMeshes == 0 {
			t.Errorf("%+v", all.BatchStats)
		}
		f.Drawn[1].Fade = 0.5
		if s := r.Draw(f); s.BatchedMeshes != all.BatchedMeshes*(n-1)/n || s.NotResident != 0 {
			t.Errorf("one of %d fades: %+v", n, s.BatchStats)
		}
		f.Drawn[1].Fade = 1
		if s := r.Draw(f); s.BatchedMeshes != all.BatchedMeshes || s.Draws != all.Draws {
			t.Errorf("it is back: %+v", s.BatchStats)
		}
		f.Drawn = f.Drawn[1:] // the first, whose material a batch has copied
		r.Release(key(0, payload.RepFull))
		if s := r.Draw(f); s.BatchedMeshes != all.BatchedMeshes*(n-1)/n {
			t.Errorf("one of %d is released: %+v", n, s.BatchStats)
		}
		if s := settleBatches(t, r, f); s.BatchedMeshes != all.BatchedMeshes*(n-1)/n {
			t.Errorf("merged again: %+v", s.BatchStats)
		}
		r.RelieveBatches(memory.PressureCritical)
		if s := r.Draw(f); s.Batches != 0 || s.BatchDraws != 0 {
			t.Errorf("pressure: %+v", s.BatchStats)
		}
		for i := range n {
			r.Release(key(int32(i), payload.RepFull))
		}
		f.Drawn = nil
		s := r.Draw(f)
		for range 8 {
			r.Pump(Budget{})
			s = r.Draw(f)
		}
		if s.BatchBytes != 0 || s.GeometryBytes != 0 || s.Materials != 0 || s.Textures != 0 || len(r.textures.sets.byKey) != 0 || r.batches.pool.Out() != 0 {
			t.Errorf("left over: %+v", s)
		}
	})
}

// TestBatchLimit: a bound takes batches back, and the picture stays whole.
func TestBatchLimit(t *testing.T) {
	const n = 3
	r := headless(t, Options{Width: 64, Height: 48})
	r.SetBatching(&BatchOptions{Sync: true})
	r.SetBatchScene(1, 1000)
	f := Frame{Camera: boardCamera(), Drawn: put(t, r, batchBoard(t, "", n)...)}
	all := settleBatches(t, r, f)
	r.LimitBatches(1)
	s := r.Draw(f)
	if s.Batches != 0 || s.BatchDraws != 0 || s.Triangles != all.Triangles {
		t.Errorf("%+v", s)
	}
	for range 5 {
		s = r.Draw(f)
	}
	if s.BatchBytes != 0 {
		t.Errorf("%d bytes are left", s.BatchBytes)
	}
	r.LimitBatches(0)
	if s = settleBatches(t, r, f); s.Batches != all.Batches {
		t.Errorf("%+v", s.BatchStats)
	}
	cells := r.AppendBatchCells(nil)
	if len(cells) == 0 || cells[0].State != batch.CellBatched {
		t.Errorf("%+v", cells)
	}
	r.SetBatching(nil)
	if s = r.Draw(f); s.Batches != 0 || s.Triangles != all.Triangles || len(r.AppendBatchCells(nil)) != 0 {
		t.Errorf("switched off: %+v", s)
	}
}

// TestBatchesInTheBackground merges in a goroutine.
func TestBatchesInTheBackground(t *testing.T) {
	r := headless(t, Options{Width: 64, Height: 48})
	r.SetBatching(&BatchOptions{})
	r.SetBatchScene(1, 1000)
	f := Frame{Camera: boardCamera(), Drawn: put(t, r, batchBoard(t, "", 3)...)}
	before := r.Draw(f)
	for k := 0; ; k++ {
		r.Pump(Budget{})
		s := r.Draw(f)
		if s.Triangles != before.Triangles || s.NotResident != 0 {
			t.Fatalf("frame %d: %+v", k, s)
		}
		if s.BatchDraws > 0 && s.BatchWork == 0 {
			return
		}
		r.ReadPixels() // lets time pass: the worker needs a frame or a few
		if k == 5000 {
			t.Fatalf("no batch: %+v", s.BatchStats)
		}
	}
}

// TestBatchedFramesAllocateNothing: a frame with batches costs no garbage.
func TestBatchedFramesAllocateNothing(t *testing.T) {
	both(t, Options{Width: 64, Height: 48, ShadowSize: 64}, func(t *testing.T, r *Renderer) {
		r.SetBatching(&BatchOptions{Sync: true})
		r.SetBatchScene(1, 1000)
		f := Frame{Camera: boardCamera(), Drawn: put(t, r, batchBoard(t, "", 4)...)}
		settleBatches(t, r, f)
		for range inFlight + 6 {
			r.Draw(f)
		}
		if n := testing.AllocsPerRun(20, func() { r.Pump(Budget{}); r.Draw(f) }); n != 0 {
			t.Errorf("%v allocations per frame", n)
		}
	})
}
