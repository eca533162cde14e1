//go:build cgo && !nopreview

package render

import (
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// TestUploadBudget: a small budget moves on piece by piece, and a
// representation can be drawn only when all of it is there.
func TestUploadBudget(t *testing.T) {
	r := headless(t, Options{Width: 16, Height: 16})
	p := part{vertices: whites(100_000), indices: []uint32{0, 1, 2}}
	k := key(0, payload.RepFull)
	if err := r.Upload(k, assemble([]part{p}, nil)); err != nil {
		t.Fatal(err)
	}
	s := r.Draw(Frame{Camera: at(0), Drawn: []runtime.Drawn{{Key: k, Fade: 1}}})
	if s.NotResident != 1 || s.Pending != 1 || s.PendingBytes != 1_600_006 || r.Drawable(k) {
		t.Errorf("before: %+v", s)
	}
	pumps := 0
	for !r.Pump(Budget{Bytes: 1}) {
		pumps++
		if r.Drawable(k) {
			t.Fatalf("drawable after %d pumps", pumps)
		}
	}
	if pumps != 7 { // 1.6 MB in pieces of 256 KiB, then the indices
		t.Errorf("%d pumps", pumps+1)
	}
	s = r.Draw(Frame{Camera: at(0), Drawn: []runtime.Drawn{{Key: k, Fade: 1}}})
	if s.NotResident != 0 || s.UploadBytes != 1_600_006 || s.UploadPieces != 8 || !r.Drawable(k) {
		t.Errorf("after: %+v", s)
	}
}

// TestDevice: representations come and go in any order, and nothing is left.
func TestDevice(t *testing.T) {
	r := headless(t, Options{Width: 16, Height: 16})
	released := 0
	asset := func() *payload.Asset {
		a := assemble([]part{screen(-5)}, []records.Material{paint(1, 2, 3)})
		b := payload.NewAsset(func() { released++ })
		b.Entities, b.Meshes, b.Materials, b.Geometry, b.Strings = a.Entities, a.Meshes, a.Materials, a.Geometry, a.Strings
		return b
	}
	a, b := key(0, payload.RepFull), key(1, payload.RepFull)
	for _, k := range []payload.Key{a, b, a} { // the second a replaces the first, which still waits
		if err := r.Upload(k, asset()); err != nil {
			t.Fatal(err)
		}
	}
	if released != 1 {
		t.Errorf("%d assets were released by a replacement", released)
	}
	r.Release(b) // while it waits
	if released != 2 || r.Drawable(b) {
		t.Errorf("%d assets released", released)
	}
	r.Pump(Budget{})
	if released != 3 || !r.Drawable(a) {
		t.Errorf("%d assets released after the upload", released)
	}
	r.Release(a)
	r.Release(a)
	r.Release(key(7, payload.RepHLOD))
	if err := r.Upload(b, nil); err != nil || !r.Drawable(b) {
		t.Errorf("an empty representation: %v", err)
	}
	r.Release(b)
	bad := asset()
	bad.Meshes[0].IndexOffset = 1 << 50
	if err := r.Upload(a, bad); err == nil || r.Drawable(a) {
		t.Error("a broken asset was taken")
	}
	s := r.Draw(Frame{Camera: at(0)})
	if s.Resident != 0 || s.Pending != 0 || s.GeometryBytes != 0 || s.Materials != 0 || s.Draws != 0 || released != 3 {
		t.Errorf("left over: %+v, %d released", s, released)
	}
}

// plainVertices returns how many vertices of the plain layout a page holds.
func plainVertices(s pageSize) int { return s.vertices / compact.Plain.Size() }

// TestPagesComeAndGo: more than one page, large meshes, reuse.
func TestPagesComeAndGo(t *testing.T) {
	r := headless(t, Options{Width: 16, Height: 16})
	first, later := plainVertices(firstPage), plainVertices(laterPage)
	for i, vertices := range []int{first * 3 / 4, first * 3 / 4, later / 2} {
		big := part{vertices: whites(vertices), indices: []uint32{0, 1, 2}, wide: true}
		if err := r.Upload(key(int32(i), payload.RepFull), assemble([]part{big}, nil)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(r.pool.pages); n != 2 {
		t.Errorf("%d pages", n)
	}
	for i := range int32(3) {
		r.Release(key(i, payload.RepFull))
	}
	if n := len(r.pool.pages); n != 1 || r.pool.used != 0 {
		t.Errorf("%d pages are kept, %d bytes used", n, r.pool.used)
	}
}

// TestPagesAreMadeAhead: a page is there before it is needed, made in the course
// of two frames, and one that is needed sooner is completed at once.
func TestPagesAreMadeAhead(t *testing.T) {
	both(t, Options{Width: 16, Height: 16}, func(t *testing.T, r *Renderer) {
		upload := func(tile int32, vertices int) {
			t.Helper()
			a := assemble([]part{{vertices: whites(vertices), indices: []uint32{0, 1, 2}, wide: true}}, nil)
			if err := r.Upload(key(tile, payload.RepFull), a); err != nil {
				t.Fatal(err)
			}
		}
		pages := func(want, spares int) {
			t.Helper()
			got := 0
			if r.pool.spare != nil {
				got = 1
			}
			if n := len(r.pool.pages); n != want || got != spares {
				t.Fatalf("%d pages and %d in the making, want %d and %d", n, got, want, spares)
			}
		}
		vertexBytes, indexBytes := int64(laterPage.vertices), int64(laterPage.indices*indexUnit)
		first, later := plainVertices(firstPage), plainVertices(laterPage)
		r.Pump(Budget{})
		pages(0, 0)
		upload(0, first-later/spareRoom)
		r.Pump(Budget{})
		pages(1, 0)
		upload(1, 16)
		before := r.pool.allocated()
		r.Pump(Budget{Bytes: 1})
		if pages(1, 1); r.pool.allocated() != before+vertexBytes {
			t.Errorf("%d bytes in the first step", r.pool.allocated()-before)
		}
		r.Pump(Budget{Bytes: 1})
		if pages(2, 0); r.pool.allocated() != before+vertexBytes+indexBytes {
			t.Errorf("%d bytes in both steps", r.pool.allocated()-before)
		}
		for range 3 { // there is room
			r.Pump(Budget{})
			pages(2, 0)
		}
		upload(2, later)
		r.Pump(Budget{})
		pages(2, 1)
		upload(3, later/2) // sooner
		pages(3, 0)
		for i := range int32(4) {
			r.Release(key(i, payload.RepFull))
		}
		for range 3 {
			r.Pump(Budget{})
		}
		if pages(1, 0); r.pool.used != 0 {
			t.Errorf("%d bytes are left", r.pool.used)
		}
	})
}

// TestSteadyStateAllocatesNothing: a frame costs no garbage.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	both(t, Options{Width: 64, Height: 48, ShadowSize: 64}, func(t *testing.T, r *Renderer) {
		var assets []*payload.Asset
		for i := range 20 {
			assets = append(assets, assemble([]part{quad(geom.Vec3{float64(i), 0, -10}, right, up), screen(-20)}, []records.Material{paint(9, 9, 9), defaultMaterial()}))
			assets[i].Meshes[1].Material = 1
		}
		f := Frame{
			Camera: at(0), Drawn: put(t, r, assets...), Root: func(payload.SceneID) geom.Mat4 { return geom.Identity() },
			Lines:   []Line{{B: [3]float32{1, 1, 1}}},
			Overlay: &Overlay{Vertices: make([]OverlayVertex, 3), Indices: []uint32{0, 1, 2}},
		}
		for range inFlight + 2 { // buffers grow, shadows are drawn
			r.Draw(f)
		}
		if n := testing.AllocsPerRun(20, func() { r.Pump(Budget{}); r.Draw(f) }); n != 0 {
			t.Errorf("%v allocations per frame", n)
		}
	})
}

// TestWarm: what is drawn to have programs compiled leaves nothing behind.
func TestWarm(t *testing.T) {
	both(t, Options{Width: 64, Height: 48, ShadowSize: 64, Warm: true}, func(t *testing.T, r *Renderer) {
		if len(r.reps) != 0 || r.pool.used != 0 || r.materials.list.used != 0 {
			t.Errorf("%d representations, %d bytes, %d materials", len(r.reps), r.pool.used, r.materials.list.used)
		}
		for _, name := range append(r.programs.mesh[:], r.programs.debug[:]...) {
			if name == 0 {
				t.Error("a program is left to the frame that needs it")
			}
		}
		f := Frame{Camera: boardCamera(), Drawn: put(t, r, board(t, ""))}
		s := r.Draw(f)
		if s.ShadowCascades != r.shadows.sharp() || s.GeometryBytes == 0 {
			t.Errorf("%+v", s)
		}
		got := r.ReadPixels()
		cold := headless(t, Options{Width: 64, Height: 48, ShadowSize: 64, Plain: r.options.Plain})
		f.Drawn = put(t, cold, board(t, ""))
		cold.Draw(f)
		if d := difference(got, cold.ReadPixels()); d > 0.001 {
			t.Errorf("%.2f %% of the picture differ", 100*d)
		}
	})
}
