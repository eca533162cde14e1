package runtime

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// beforeAndBehind returns two rows of tiles, away from the origin along -z and z, with the
// representations of leveled.
func beforeAndBehind(n int) (*manifest.Manifest, func(payload.Request) int64) {
	m, bytes := leveled(2 * n)
	for i := range m.Tiles {
		z, side := float64(20+40*(i/2)), "before"
		if i%2 == 1 {
			side = "behind"
		} else {
			z = -z
		}
		b := around(0, 0, z, 5)
		m.Tiles[i].ID, m.Tiles[i].Bounds, m.Tiles[i].Center = fmt.Sprintf("%s%d", side, i/2), b, b.Box().Center()
	}
	return m, bytes
}

// rowsRig returns a camera between the rows of beforeAndBehind, with so little memory that
// detail is short.
func rowsRig(t testing.TB, n int, budget int64, opts ...rigOption) (*rig, func(payload.Request) int64) {
	m, bytes := beforeAndBehind(n)
	r := newRig(t, m, append([]rigOption{withLatency(0.05), withConfig(func(c *config.Config) {
		c.MinimumParsedTileResidentSeconds, c.UnloadGracePeriod = 0.5, 0.5
		c.MaxQueryRadius, c.OutOfCorePolicy = 2000, config.OutOfCoreImmediate
		c.EnableFrustumGate, c.FillIdleSlots = false, false
	})}, opts...)...)
	r.loader.Bytes, r.memory = bytes, memory.Memory{GeometryBudget: budget}
	return r, bytes
}

// detailOn adds up by side what is drawn.
func detailOn(r *rig, bytes func(payload.Request) int64) (before, behind int64) {
	for _, d := range r.s.AppendDrawn(nil) {
		size := bytes(payload.Request{Key: payload.Key{Rep: d.Rep}})
		if d.Tile%2 == 0 {
			before += size
		} else {
			behind += size
		}
	}
	return before, behind
}

// TestOutOfViewDetail: where memory is short, what is in view has more of it than what has
// not been for a while, nothing of which disappears; the camera decides, not the scene.
func TestOutOfViewDetail(t *testing.T) {
	const n = 5
	run := func(detail float64, lens bool) *rig {
		r, _ := rowsRig(t, n, 400, withConfig(func(c *config.Config) { c.MaxQueryRadius, c.OutOfViewDetail = 1000, detail }))
		if lens {
			r.lens()
		}
		r.until(30)
		return r
	}
	_, bytes := beforeAndBehind(n)
	for _, c := range []struct {
		detail float64
		lens   bool
	}{{1, true}, {0.5, false}} {
		if before, behind := detailOn(run(c.detail, c.lens), bytes); max(before, behind) > 2*min(before, behind) {
			t.Errorf("detail %v, lens %v: %d before and %d behind, want them alike", c.detail, c.lens, before, behind)
		}
	}
	r := run(0.25, true)
	before, behind := detailOn(r, bytes)
	if before <= 2*behind {
		t.Errorf("%d is drawn before and %d behind, want more than twice as much before", before, behind)
	}

	// A look back loads nothing anew; one that lasts turns it round.
	turn := func(seconds float64) {
		r.camera.Forward[2] = -r.camera.Forward[2]
		r.until(r.now() + seconds)
	}
	turn(5)
	turn(30)
	if again, _ := detailOn(r, bytes); again != before {
		t.Errorf("%d is drawn before after a look back, %d ahead of it", again, before)
	}
	turn(40)
	if was, is := detailOn(r, bytes); is <= 2*was {
		t.Errorf("%d is drawn where the camera now looks, %d where it looked", is, was)
	}
	if st := r.s.Stats(); st.Undrawn > 0 || st.GeometryUsed > 400 || len(r.s.AppendDrawn(nil)) != 2*n {
		t.Errorf("%d undrawn, %d in use, %d drawn", st.Undrawn, st.GeometryUsed, len(r.s.AppendDrawn(nil)))
	}
}

// TestAbsence: something is out of view after a time or a way, and on a long way more than once.
func TestAbsence(t *testing.T) {
	for _, c := range []struct {
		since time.Duration
		gone  float64
		want  uint8
	}{
		{0, 0, 0},
		{outOfViewAfter, 0, 0},
		{outOfViewAfter + 1, 0, 1},
		{time.Hour, outOfViewWay, 1},
		{0, outOfViewWay, 0},
		{0, outOfViewWay + 1, 1},
		{0, 2*outOfViewWay + 1, 2},
		{time.Hour, 4 * outOfViewWay, 2},
		{0, 4*outOfViewWay + 1, 3},
		{time.Hour, 1e6, 3},
	} {
		s := newSight(1)
		s.viewedAt[0], s.viewedOn[0] = 5, 7
		if changed := s.judge(0, 5+c.since, 7+c.gone); s.absent[0] != c.want || changed != (c.want > 0) {
			t.Errorf("after %v and %v m: %d, changed %v, want %d", c.since, c.gone, s.absent[0], changed, c.want)
		}
	}
}

// TestFastCameraLeavesDetailBehind: what a camera has flown past gives its memory to what lies
// before it at once, not after a time in which it would have passed that too.
func TestFastCameraLeavesDetailBehind(t *testing.T) {
	const n, speed, budget = 8, 60., 500
	fly := func(detail float64) (before int64) {
		r, bytes := rowsRig(t, n, budget, withConfig(func(c *config.Config) { c.OutOfViewDetail = detail }))
		r.lens()
		way := float64(20 + 40*n)
		r.camera.Position[2] = way // before the row that will lie behind
		r.until(30)
		for start := r.now(); r.camera.Position[2] > 0; {
			r.step()
			r.camera.Position[2] = max(0, way-speed*(r.now()-start))
		}
		if st := r.s.Stats(); st.Undrawn > 0 || st.GeometryUsed > budget {
			t.Errorf("%d undrawn, %d in use", st.Undrawn, st.GeometryUsed)
		}
		before, _ = detailOn(r, bytes)
		return before
	}
	if plain, before := fly(1), fly(0.5); 10*before < 12*plain {
		t.Errorf("%d is drawn before it, %d where what is behind counts alike", before, plain)
	}
}

// TestWhatComesIntoViewIsNotHeldBack: what was evicted while it was out of view comes back as soon
// as it is in view, not after the time for which what has found no room stays away.
func TestWhatComesIntoViewIsNotHeldBack(t *testing.T) {
	m, _ := beforeAndBehind(1)
	r := newRig(t, m, withConfig(func(c *config.Config) { c.MaxQueryRadius = 1000 }))
	r.lens()
	r.until(1)
	sc := r.s.scenes[0]
	look := func(want ...bool) {
		t.Helper()
		sc.lookAround()
		for tile, held := range want {
			r := sc.recordOf(int32(tile))
			if got, all := r.rep(payload.RepLOD0).inEvictionHold(sc.now), r.evicted != payload.RepNone; got != held || all != held {
				t.Errorf("tile %d, absent %d: held back %v, all of it %v, want %v", tile, sc.sight.absent[tile], got, all, held)
			}
		}
	}
	sc.lookAround()
	for tile := range int32(2) {
		r := sc.activate(tile)
		r.evicted, r.evictedAt = payload.RepLOD0, sc.now
		r.holdBack(payload.RepLOD0)
	}
	look(true, true) // one in view all the time, the other never
	r.camera.Forward[2] = -r.camera.Forward[2]
	r.s.setCamera(r.camera)
	look(true, false)
}

// TestInViewWithoutALens: a camera that loses its lens sees all, and one with a very wide
// lens no less than its own angle.
func TestInViewWithoutALens(t *testing.T) {
	m, _ := beforeAndBehind(1)
	b := around(-5000, 0, -300, 5) // 87 degrees from ahead
	m.Tiles[1].Bounds, m.Tiles[1].Center = b, b.Box().Center()
	r := newRig(t, m, withConfig(func(c *config.Config) { c.MaxQueryRadius = 1e5 }))
	r.lens()
	r.camera.Far, r.camera.Aspect = 1e5, 1
	r.step()
	sc := r.s.scenes[0]
	if sc.lookAround(); sc.sight.absent[1] == 0 || sc.sight.absent[0] > 0 {
		t.Errorf("out of view: %v", sc.sight.absent)
	}
	r.camera.FovYDegrees = 178
	r.step()
	if sc.lookAround(); sc.sight.absent[1] > 0 {
		t.Error("what a wide lens shows is out of view")
	}
	r.camera.FovYDegrees = 60
	for range 200 {
		r.step()
		sc.lookAround()
	}
	if sc.sight.absent[1] == 0 {
		t.Error("what has not been in view for a while is not out of view")
	}
	r.camera.FovYDegrees = 0
	r.step()
	if sc.lookAround(); sc.sight.absent[1] > 0 {
		t.Error("something is out of view of a camera without a lens")
	}
}

// TestOutOfViewAsleepAndAwake: tiles that sleep are judged by what is in view as those are
// that do not.
func TestOutOfViewAsleepAndAwake(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		turns := rapid.SliceOfN(rapid.IntRange(1, 150), 2, 6).Draw(rt, "frames between turns")
		step := rapid.Float64Range(-1, 1).Draw(rt, "step")
		radius := rapid.SampledFrom([]float64{100, 150, 1000}).Draw(rt, "query radius")
		budget := rapid.Int64Range(50, 1000).Draw(rt, "budget")
		play := func(sleepless bool) []string {
			m, bytes := beforeAndBehind(5)
			r := newRig(t, m, withLatency(0.05), withConfig(func(c *config.Config) {
				c.MinimumParsedTileResidentSeconds, c.UnloadGracePeriod = 0.5, 0.5
				c.MaxQueryRadius, c.OutOfCorePolicy = radius, config.OutOfCoreImmediate
			}))
			r.loader.Bytes, r.memory, r.s.sleepless = bytes, memory.Memory{GeometryBudget: budget}, sleepless
			r.lens()
			for _, frames := range turns {
				r.camera.Forward[2] = -r.camera.Forward[2]
				for range frames {
					r.camera.Position[2] += step
					r.step()
				}
			}
			return r.log
		}
		if asleep, awake := play(false), play(true); !slices.Equal(asleep, awake) {
			rt.Fatalf("asleep:\n%v\nawake:\n%v", asleep, awake)
		}
	})
}
