package texture

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// ground returns a part of one texture that lies on 250 x 250 m from a distance on.
func ground(d float64, uri string) Part {
	return Part{Min: [3]float64{d, -1, -125}, Max: [3]float64{d + 250, 0, 125}, Slots: []Slot{{URI: uri}}}
}

// sharingRig returns a rig with textures of known scale, whose Device may trim them.
func sharingRig(t *testing.T, scales Scales, budget int64, trim bool) *rig {
	return newStreamRig(t, withScales(scales), withBudget(budget), func(o *StreamOptions, r *rig) {
		o.Params, _ = AlignToManifest(224, 336)
		if trim {
			withTrim(o, r)
		}
	})
}

// lag returns how many times as large as pixels the texels of an entity's texture are.
func (r *rig) lag(e Entity) float64 {
	at := &r.s.entities.list[uint32(e)]
	t := &r.s.textures.list[at.textures[0]]
	return 1 / (t.scale * at.distance * r.s.textures.pixel * float64(t.edge()))
}

// Ground that is seen to the horizon is as blurred far away as it is near: where memory is
// short, nearest first would leave the farthest a smear, and what nobody sees would keep
// what it once had.
func TestBlurIsSharedByWhatIsSeen(t *testing.T) {
	for _, c := range []struct {
		name   string
		budget int64
		most   float64 // blur
	}{
		{"enough for what is seen", 12 << 20, 1.6}, // of the nearest, which has no larger size
		{"half of that", 6 << 20, 2.5},
		{"a quarter", 3 << 20, 4},
	} {
		for name, trim := range map[string]bool{"trimmed": true, "loaded": false} {
			t.Run(c.name+", "+name, func(t *testing.T) {
				scales := Scales{}
				r := sharingRig(t, scales, c.budget, trim)
				var all, seen []Entity
				for i := range 24 {
					uri := fmt.Sprint("node", i)
					scales[uri], r.loader.files[uri] = 1./250, fakeFile{w: 512, h: 512}
					e := r.add(ground(300+40*float64(i), uri))
					if all = append(all, e); i%3 == 0 {
						seen = append(seen, e)
					}
				}
				r.view.Visible = all
				r.settle()
				r.view.Visible = seen
				r.settle()
				least, most := math.Inf(1), 0.
				for _, e := range seen {
					least, most = min(least, max(1, r.lag(e))), max(most, r.lag(e))
				}
				if most > c.most || most > 2*least {
					t.Errorf("texels are %.2f to %.2f times as large as pixels; %v", least, most, r.edges(seen...))
				}
			})
		}
	}
}

// TestSharesAreFair: at rest in a budget that is too small nothing that is seen would be
// less blurred if something else gave up a level for it, but for what hysteresis leaves.
func TestSharesAreFair(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		scales := Scales{}
		n := rapid.IntRange(2, 16).Draw(rt, "n")
		budget := int64(n)*texfile.MostBytes(64) + rapid.Int64Range(0, int64(n)*3_000_000).Draw(rt, "room")
		r := sharingRig(t, scales, budget, rapid.Bool().Draw(rt, "trim"))
		for i := range n {
			uri := fmt.Sprint("t", i)
			scales[uri] = rapid.SampledFrom([]float64{0.001, 0.004, 0.02, 0.25}).Draw(rt, "scale")
			edge := rapid.SampledFrom([]int{64, 200, 512, 1024}).Draw(rt, "source")
			r.loader.files[uri] = fakeFile{w: edge, h: max(1, edge/rapid.IntRange(1, 2).Draw(rt, "narrow"))}
			e := r.add(ground(rapid.Float64Range(1, 2000).Draw(rt, "d"), uri))
			if rapid.IntRange(0, 3).Draw(rt, "seen") > 0 {
				r.view.Visible = append(r.view.Visible, e)
			}
		}
		r.settle()
		for range 2 { // what is seen changes
			r.view.Camera[0] = rapid.Float64Range(0, 300).Draw(rt, "camera")
			r.settle()
		}
		list := r.s.textures.list
		// What it needs by so much more than is there, as it counts.
		blurBy := func(more float64, i, level int) float64 {
			if x := more * list[i].texels / float64(list[i].file.Edge(level)); x > 1 {
				return x * list[i].weight
			}
			return 0
		}
		blur := func(i, level int) float64 { return blurBy(1, i, level) }
		worst := -1
		for i := range list {
			if t := &list[i]; t.seen && t.start > 0 && (worst < 0 || blur(i, t.start) > blur(worst, list[worst].start)) {
				worst = i
			}
		}
		if worst < 0 || blur(worst, list[worst].start) <= 1 {
			return
		}
		t := &list[worst]
		was := blur(worst, t.start)
		for d := range list {
			donor := &list[d]
			if d == worst || donor.start+1 >= donor.file.Mips || donor.file.Edge(donor.start+1) < leastShared || donor.seen && donor.start >= donor.at[TierMinimum] {
				continue
			}
			is := max(was/2, blurBy(blurKeep, d, donor.start+1))
			for i := range list {
				if o := &list[i]; i != worst && i != d && o.seen && o.start > 0 {
					is = max(is, blur(i, o.start))
				}
			}
			spare := r.s.budget.room() + donor.bytes - donor.file.Bytes(donor.start+1) - (t.file.Bytes(t.start-1) - t.bytes)
			if is < was/blurKeep && float64(spare) >= blurSpare*float64(budget) {
				rt.Fatalf("%s of %d texels is blurred %.2f times and could be %.2f times, if %s gave up %d texels", t.name.slot.URI, t.edge(), was, is, donor.name.slot.URI, donor.edge())
			}
		}
	})
}

// The blur grows as soon as something does not fit, and becomes less when there has been
// room for some time; it ends where nothing gives way any more.
func TestBlurFollowsWhatFits(t *testing.T) {
	var s share
	least, spared := 0, 0
	fits := func(step int, spare float64) bool { return step >= least && (spare == 0 || step >= spared) }
	for _, c := range []struct {
		now                 time.Duration
		least, spared, want int
	}{
		{0, 0, 0, 0},
		{1, 9, 10, 9},
		{2, 4, 5, 9},
		{blurCalm, 4, 5, 9},
		{blurCalm + 2, 4, 5, 5},
		{2 * blurCalm, 4, 5, 5},
		{4 * blurCalm, 4, 5, 5},
		{5 * blurCalm, 0, 0, 5},
		{6 * blurCalm, 0, 0, 0},
		{7 * blurCalm, math.MaxInt, 0, blurLast},
		{8 * blurCalm, math.MaxInt, 0, blurLast},
	} {
		least, spared = c.least, c.spared
		if s.follow(c.now, blurCalm, fits); s.step != c.want {
			t.Fatalf("at %v, from %d on: step %d, want %d", c.now, c.least, s.step, c.want)
		}
	}
	for step := 1; step < blurLast; step++ {
		if was, is := blurAt(step), blurAt(step+1); !(was >= 1 && is > was && is < 1.1*was) {
			t.Fatalf("step %d: %v, then %v", step, was, is)
		}
	}
}

// Pictures that must not depend on time are drawn when textures have come to rest: with Force
// they do while the clock stands, also where a lesser blur would do for some time first, and
// right after geometry was on its way.
func TestForceNeedsNoTime(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		scales := Scales{}
		n := rapid.IntRange(2, 16).Draw(rt, "n")
		r := sharingRig(t, scales, int64(n)*texfile.MostBytes(64)+rapid.Int64Range(0, int64(n)*1_000_000).Draw(rt, "room"), rapid.Bool().Draw(rt, "trim"))
		var all []Entity
		for i := range n {
			uri := fmt.Sprint("t", i)
			scales[uri] = rapid.SampledFrom([]float64{0.001, 0.004, 0.02, 0.25}).Draw(rt, "scale")
			edge := rapid.SampledFrom([]int{64, 200, 512, 1024}).Draw(rt, "source")
			r.loader.files[uri] = fakeFile{w: edge, h: edge}
			all = append(all, r.add(ground(rapid.Float64Range(1, 2000).Draw(rt, "d"), uri)))
		}
		for range 4 {
			r.view.Camera[0] = rapid.Float64Range(0, 300).Draw(rt, "camera")
			r.view.Visible = all[:rapid.IntRange(0, n).Draw(rt, "seen")]
			r.view.Busy, r.view.Force = true, false
			for range rapid.IntRange(0, 8).Draw(rt, "ticks") {
				r.tick()
				r.loader.answerAll()
			}
			r.view.Busy, r.view.Force = false, true
			for tries := 0; ; tries++ {
				r.s.Update(r.view)
				r.loader.answerAll()
				if r.s.Idle() {
					break
				}
				if tries > 200 {
					rt.Fatalf("no rest: %+v, share %+v", r.s.Stats(), r.s.share)
				}
			}
			forced := r.edges(all...)
			r.view.Force = false
			r.settle()
			if then := r.edges(all...); !slices.Equal(forced, then) {
				rt.Fatalf("at rest %v, after a while %v", forced, then)
			}
		}
	})
}

// A mesh without extent on which a texture would repeat endlessly shows nothing of it: what
// it needs is a number, and it gives way.
func TestShareOfPointsIsANumber(t *testing.T) {
	file, err := texfile.NewSize(1024, 1024, texfile.RGBA8)
	if err != nil {
		t.Fatal(err)
	}
	for _, distance := range []float64{0, 10, 1e300} {
		for _, side := range []float64{0, 1} {
			r := resource{refs: 1, scaled: true, scale: math.MaxFloat64, state: stateResident, file: file, portion: &portion{}}
			r.at[TierMinimum] = 2
			r.expect(&sight{true, max(distance, leastAway), side}, PixelSize(0, 0))
			if math.IsNaN(r.texels) || math.IsNaN(r.weight) || r.fair(2) < r.at[TierMinimum] {
				t.Errorf("at %v m, of %v m: %v texels, weight %v, level %d", distance, side, r.texels, r.weight, r.fair(2))
			}
		}
	}
}
