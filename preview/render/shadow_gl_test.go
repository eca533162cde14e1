//go:build cgo && !nopreview

package render

import (
	"bytes"
	"slices"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// pillar returns a tile of a plain: its floor and a pillar of n quads, so that
// it holds 2 n + 2 triangles.
func pillar(x, z float64, n int) *payload.Asset {
	parts := []part{quad(geom.Vec3{x, 0, z}, geom.Vec3{5, 0, 0}, geom.Vec3{0, 0, -5})}
	side := part{wide: true}
	for i := range n {
		y := 6 * float64(i) / float64(n)
		q := quad(geom.Vec3{x, y + 3/float64(n), z}, geom.Vec3{1, 0, 0}, geom.Vec3{0, 3 / float64(n), 0})
		for _, k := range q.indices {
			side.indices = append(side.indices, k+uint32(len(side.vertices)))
		}
		side.vertices = append(side.vertices, q.vertices...)
	}
	return assemble(append(parts, side), []records.Material{defaultMaterial()})
}

// plain is a grid of pillars around the origin, each a tile.
func plain(t *testing.T, r *Renderer, side, triangles int) (drawn []runtime.Drawn) {
	t.Helper()
	for i := range side * side {
		k := key(int32(i), payload.RepFull)
		if err := r.Upload(k, pillar(10*float64(i%side-side/2), -10*float64(i/side), triangles/2)); err != nil {
			t.Fatal(err)
		}
		drawn = append(drawn, runtime.Drawn{Key: k, Fade: 1})
	}
	r.Pump(Budget{})
	return drawn
}

func lookingOver() runtime.Camera {
	return runtime.Camera{Position: [3]float64{0, 12, 10}, Forward: [3]float64{0, -0.4, -1}, FovYDegrees: 60, Near: 0.1, Far: 1000}
}

// TestShadowsSettle: maps that were drawn a part at a time, while the scene
// came, are in the end those of a renderer that has drawn the scene at once,
// bit by bit.
func TestShadowsSettle(t *testing.T) {
	both(t, Options{Width: 160, Height: 120, ShadowSize: 256, Samples: 1}, func(t *testing.T, r *Renderer) {
		drawn := plain(t, r, 6, 3000)
		f := Frame{Camera: lookingOver()}
		frames, most := 0, 0
		for n := 0; ; n = min(n+3, len(drawn)) {
			f.Drawn = drawn[:n]
			s := r.Draw(f)
			most = max(most, s.ShadowTriangles)
			if frames++; n == len(drawn) && s.ShadowTriangles == 0 {
				break
			}
			if frames > 300 {
				t.Fatal("the maps are never done")
			}
		}
		got := r.ReadPixels()
		if all := len(drawn) * 3000; most > all/2 {
			t.Errorf("%d triangles of %d in one frame: the maps were drawn at once", most, all)
		}
		if err := r.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := r.Draw(f); s.ShadowCascades != r.shadows.sharp() {
			t.Errorf("%d maps are drawn after Settle", s.ShadowCascades)
		}
		if want := r.ReadPixels(); !bytes.Equal(got.Pix, want.Pix) {
			t.Errorf("%.2f %% of the picture differ from that of maps drawn at once", 100*difference(got, want))
		}
		f.Drawn = drawn[:1]
		r.Draw(f)
		r.exactShadows()
		r.Draw(f)
		if bytes.Equal(r.ReadPixels().Pix, got.Pix) {
			t.Error("the shadows are not seen")
		}
	})
}

// TestShadowsAreEven flies over a scene whose tiles come and go all the time:
// no frame draws much more of the maps than the others, and no change waits
// longer than two turns.
func TestShadowsAreEven(t *testing.T) {
	r := headless(t, Options{Width: 64, Height: 48, ShadowSize: 64, Samples: 1})
	drawn := plain(t, r, 12, 1000)
	total := 0
	for _, n := range r.reps {
		total += n.cost
	}
	f := Frame{Camera: lookingOver()}
	var work []int
	late := 0
	for i := range 120 {
		// Every frame one tile is another one: it was replaced.
		k := drawn[i%len(drawn)].Key
		f.Drawn = append(f.Drawn[:0], drawn...)
		if i%2 == 0 {
			if err := r.Upload(k, pillar(10*float64(k.Tile%12-6), -10*float64(k.Tile/12), 500)); err != nil {
				t.Fatal(err)
			}
			r.Pump(Budget{})
		}
		f.Camera.Position[2] -= 0.4
		s := r.Draw(f)
		if i > 0 { // the first draws them whole
			work = append(work, s.ShadowTriangles)
			late = max(late, s.ShadowLate)
		}
	}
	slices.Sort(work)
	p50, most := work[len(work)/2], work[len(work)-1]
	t.Logf("triangles per frame %d, at most %d, of %d; late by at most %d frames", p50, most, total, late)
	if p50 == 0 || most > 2*p50 || most > total/3 {
		t.Errorf("triangles per frame are %d, at most %d of %d", p50, most, total)
	}
	if bound := 2*slices.Max(buildFrames[:]) + 1; late > bound {
		t.Errorf("a map is late by %d frames, want at most %d", late, bound)
	}
}

// TestShadowsOfJumps: after a jump, and under another sun, no old map is used.
func TestShadowsOfJumps(t *testing.T) {
	r := headless(t, Options{Width: 80, Height: 60, ShadowSize: 128, Samples: 1})
	f := Frame{Camera: lookingOver(), Drawn: plain(t, r, 8, 200)}
	for _, change := range []func(){
		func() { f.Camera.Position = [3]float64{400, 12, -400} },
		func() { f.Camera = lookingOver() },
		func() { f.Sun = [3]float64{-1, 0.5, 0.2} },
	} {
		r.Draw(f)
		change()
		r.Draw(f)
		got := r.ReadPixels()
		r.exactShadows()
		r.Draw(f)
		if d := difference(got, r.ReadPixels()); d > 0.001 {
			t.Errorf("%.2f %% of the picture differ", 100*d)
		}
	}
}

// TestShadowsFade: while a tile fades into another one in its place, which looks the same,
// picture and shadow are those of either one; a half of it alone has half a shadow.
func TestShadowsFade(t *testing.T) {
	both(t, Options{Width: 160, Height: 120, ShadowSize: 256, Samples: 1}, func(t *testing.T, r *Renderer) {
		a, b := plain(t, r, 1, 200)[0], runtime.Drawn{Key: key(7, payload.RepFull)}
		if err := r.Upload(b.Key, pillar(0, 0, 100)); err != nil {
			t.Fatal(err)
		}
		r.Pump(Budget{})
		picture := func(d ...runtime.Drawn) []uint8 {
			r.exactShadows()
			r.Draw(Frame{Camera: lookingOver(), Sun: [3]float64{-0.4, 0.8, 0.5}, Drawn: d})
			return bytes.Clone(r.ReadPixels().Pix)
		}
		whole := picture(a)
		for _, fade := range []float64{0.9, 0.75, 0.5, 0.3, 0.1} {
			a.Fade, b.From, b.Fade = fade, fade, 1-fade
			if got := picture(a, b); !bytes.Equal(got, whole) {
				t.Errorf("two that share %v are not what one alone is", fade)
			}
			if fade == 0.5 && bytes.Equal(picture(a), whole) {
				t.Error("half a tile is a whole one")
			}
		}
	})
}
