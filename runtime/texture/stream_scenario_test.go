package texture

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// The scenarios of textures.

func TestH1Distances(t *testing.T) {
	for _, trim := range []bool{false, true} {
		t.Run(fmt.Sprintf("trim %v", trim), func(t *testing.T) {
			r := newStreamRig(t, func(o *StreamOptions, r *rig) {
				if trim {
					withTrim(o, r)
				}
			})
			e := r.add(at(25, "a"))
			r.ready()
			r.view.Visible = []Entity{e}
			if got := r.edges(e); got[0] != 256 {
				t.Fatalf("begins with %d", got)
			}
			for _, step := range []struct {
				d    float64
				edge int
			}{{25, 256}, {19, 256}, {16.9, 1024}, {11, 1024}, {10.1, 2048}, {13.5, 2048}, {13.9, 1024}, {22.9, 1024}, {23.1, 256}} {
				p := at(step.d, "a")
				r.s.Move(e, p.Min, p.Max)
				r.tick() // one evaluation
				r.loader.answerAll()
				r.s.Update(View{Now: r.s.now}) // takes the answer over; no tick is due
				if got := r.edges(e); got[0] != step.edge {
					t.Errorf("at %v m: %d, want %d", step.d, got, step.edge)
				}
			}
			if st := r.s.Stats(); st.Upgrades != 2 || st.Downgrades != 2 || st.Reserved != 0 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// upgraded returns entities at distances whose textures are at full size, and
// those of the first of them come first in the result.
func upgraded(r *rig, distances ...float64) (es []Entity) {
	for i := range distances {
		es = append(es, r.add(at(1, fmt.Sprint("t", i))))
	}
	r.view.Visible = es
	r.settle()
	for i, d := range distances {
		p := at(d, "")
		r.s.Move(es[i], p.Min, p.Max)
	}
	return es
}

func TestH3Shed(t *testing.T) {
	for _, trim := range []bool{false, true} {
		r := newStreamRig(t, func(o *StreamOptions, r *rig) {
			if trim {
				withTrim(o, r)
			}
		})
		es := upgraded(r, 5, 15, 30, 40, 50)
		r.events = nil
		finish := func() {
			r.loader.answerAll()
			r.s.Update(View{Now: r.s.now})
			r.check()
		}
		if n := r.s.Shed(4); n != 4 {
			t.Errorf("shed %d, want 4", n)
		}
		finish()
		if got := r.edges(es...); !slices.Equal(got, []int{2048, 256, 256, 256, 256}) {
			t.Errorf("trim %v: after a shed of 4: %v", trim, got)
		}
		if !trim {
			var order []string
			for _, e := range r.events {
				if strings.HasPrefix(e, "tex.start") {
					order = append(order, e)
				}
			}
			if got := strings.Join(order, ", "); got != "tex.start 5 2048>256, tex.start 4 2048>256, tex.start 3 2048>256, tex.start 2 2048>256" {
				t.Errorf("not the farthest first: %v", got)
			}
		}
		if n := r.s.Shed(8); n != 1 {
			t.Errorf("then shed %d, want 1", n)
		}
		finish()
		if got := r.edges(es...); !slices.Equal(got, []int{1024, 256, 256, 256, 256}) {
			t.Errorf("trim %v: after a shed of 8: %v", trim, got)
		}
		if n := r.s.Shed(8); n != 0 {
			t.Errorf("nothing is left, but shed %d", n)
		}
	}
}

func TestShedLeavesChangingEntitiesAlone(t *testing.T) {
	r := newStreamRig(t)
	es := upgraded(r, 40, 50)
	r.tick() // both begin to go down
	if n := r.s.Shed(8); n != 0 {
		t.Errorf("shed %d", n)
	}
	r.loader.answerAll()
	r.tick()
	if got := r.edges(es...); !slices.Equal(got, []int{256, 256}) {
		t.Errorf("%v", got)
	}
}

func TestPressureHold(t *testing.T) {
	r := newStreamRig(t)
	es := upgraded(r, 5, 15)
	fresh := r.add(at(3, "fresh"))
	r.loader.answerAll()
	if n := r.s.Shed(20); n != 2 {
		t.Fatalf("shed %d", n)
	}
	r.view.Visible = append(r.view.Visible, fresh)
	begin := r.s.now
	for r.view.Now < begin+2900*time.Millisecond {
		r.tick()
		r.loader.answerAll()
	}
	// What was shed stays, and what is new gets the medium size.
	if got := r.edges(es[0], es[1], fresh); !slices.Equal(got, []int{1024, 256, 1024}) {
		t.Errorf("during the hold: %v", got)
	}
	if left := r.s.Stats().Hold; left <= 0 || left > 3*time.Second {
		t.Errorf("%v of the hold left", left)
	}
	r.view.Now = begin + 3*time.Second
	r.settle()
	if got := r.edges(es[0], es[1], fresh); !slices.Equal(got, []int{2048, 1024, 2048}) {
		t.Errorf("after the hold: %v", got)
	}
}

func TestH5Slots(t *testing.T) {
	r := newStreamRig(t)
	var old []Entity
	for i := range 5 {
		old = append(old, r.add(at(5, fmt.Sprint("old", i))))
	}
	r.ready()
	burst := func(uri string) Part {
		p := at(5, uri)
		p.Burst = true
		return p
	}
	b1, b2 := r.add(burst("b1")), r.add(burst("b2"))
	r.tick() // their first loads
	r.loader.answerAll()
	r.view.Visible = append([]Entity{old[0], b1, old[0], old[1], b2}, old...)
	r.events = nil
	r.tick()
	ids := append(r.s.Textures(nil, b1), append(r.s.Textures(nil, b2), r.s.Textures(nil, old[0])...)...)
	var want []string
	for _, id := range ids {
		want = append(want, fmt.Sprintf("tex.start %d 256>2048", id))
	}
	var got []string
	for _, e := range r.events {
		if strings.HasPrefix(e, "tex.start") {
			got = append(got, e)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if st := r.s.Stats(); st.ActiveOps != 3 {
		t.Errorf("%d operations", st.ActiveOps)
	}
	r.events = nil
	r.tick()
	if len(r.events) != 0 {
		t.Errorf("all slots are taken, but %v", r.events)
	}
	r.settle()
	if got := r.edges(append(old, b1, b2)...); slices.Min(got) != 2048 {
		t.Errorf("in the end %v", got)
	}
	if n := len(r.loader.started); n != 7+7 {
		t.Errorf("%d loads, want 7 first loads and 7 upgrades", n)
	}
}

// TestBurstEndsWithItsTick: what found no slot in its first tick competes with
// all others, and out of sight it waits.
func TestBurstEndsWithItsTick(t *testing.T) {
	r := newStreamRig(t)
	var es []Entity
	for i := range 5 {
		p := at(5, fmt.Sprint("b", i))
		p.Burst = true
		es = append(es, r.add(p))
	}
	r.settle()
	if got := r.edges(es...); !slices.Equal(got, []int{2048, 2048, 2048, 256, 256}) {
		t.Errorf("%v", got)
	}
}

func TestH7FixedMeshes(t *testing.T) {
	r := newStreamRig(t)
	p := at(1, "hlod")
	p.Fixed, p.Burst = true, true
	e := r.add(p)
	r.view.Visible = []Entity{e}
	r.settle()
	if got := r.edges(e); got[0] != 256 || r.s.Stats().Upgrades != 0 {
		t.Errorf("%v, %+v", got, r.s.Stats())
	}
	// A texture that it shares goes up for the other user's sake, and down when
	// that one has gone.
	full := r.add(at(1, "hlod"))
	r.view.Visible = []Entity{e, full}
	r.settle()
	if got := r.edges(e, full); !slices.Equal(got, []int{2048, 2048}) {
		t.Errorf("shared: %v", got)
	}
	r.s.Remove(full)
	r.view.Visible = []Entity{e}
	r.settle()
	if got := r.edges(e); got[0] != 256 {
		t.Errorf("alone again: %v", got)
	}
}

func TestLevelsLimitTiers(t *testing.T) {
	r := newStreamRig(t)
	var es []Entity
	for level := range 4 {
		p := at(1, fmt.Sprint("level", level))
		p.Level, p.Levels = level, 4
		es = append(es, r.add(p))
	}
	r.view.Visible = es
	r.settle()
	if got := r.edges(es...); !slices.Equal(got, []int{2048, 1024, 1024, 256}) {
		t.Errorf("%v", got)
	}
	r.s.SetLevel(es[0], 3, 4)
	r.s.SetLevel(es[3], 0, 4)
	r.settle()
	if got := r.edges(es...); !slices.Equal(got, []int{256, 1024, 1024, 2048}) {
		t.Errorf("after a change of levels %v", got)
	}
}

// TestOutOfSight: P2 keeps what is near although it is not seen, and lets go of
// what is far; nothing that is not seen goes up from the minimum.
func TestOutOfSight(t *testing.T) {
	r := newStreamRig(t)
	es := upgraded(r, 5, 15, 50)
	small := r.add(at(1, "small"))
	r.view.Visible = nil
	r.settle()
	if got := r.edges(append(es, small)...); !slices.Equal(got, []int{2048, 1024, 256, 256}) {
		t.Errorf("%v", got)
	}
	p := at(2, "")
	r.s.Move(es[1], p.Min, p.Max)
	r.settle()
	if got := r.edges(es[1]); got[0] != 2048 {
		t.Errorf("above the minimum and near again: %v", got)
	}
}

func TestBudgetRefusesUpgrades(t *testing.T) {
	first := texfile.MostBytes(256)
	// Room for both at 256 and one at 1024: 5,242,880 bytes more.
	r := newStreamRig(t, withBudget(2*first+5242880))
	a, b := r.add(at(15, "a")), r.add(at(15, "b"))
	r.ready()
	r.view.Visible = []Entity{a, b}
	r.tick()
	if st := r.s.Stats(); st.Reserved != 5242880 || st.Refused != 1 {
		t.Errorf("%+v", st)
	}
	r.loader.answerAll()
	r.settle()
	if got := r.edges(a, b); !slices.Equal(got, []int{1024, 256}) {
		t.Errorf("%v", got)
	}
	if st := r.s.Stats(); st.Reserved != 0 || st.Bytes != 2*first+5242880 {
		t.Errorf("%+v", st)
	}
}

// TestDowngradesNeedNoRoom: of an entity whose upgrade is refused the
// downgrades still run.
func TestDowngradesNeedNoRoom(t *testing.T) {
	r := newStreamRig(t)
	r.loader.files["small"] = fakeFile{w: 512, h: 512}
	big := r.add(at(1, "big"))
	r.view.Visible = []Entity{big}
	r.settle()
	p := at(16, "big")
	p.Slots = append(p.Slots, Slot{URI: "small"})
	e := r.add(p)
	r.settle()
	r.s.Remove(big) // now the texture is too large for the one that is left
	small := r.s.Textures(nil, e)[1]
	if got := r.s.Look(small).Edge; got != 512 {
		t.Fatalf("%d", got)
	}
	r.s.SetLevel(e, 1, 2)
	r.settle()
	r.s.SetBudget(r.s.Stats().Bytes)
	r.s.SetLevel(e, 0, 2)
	r.settle()
	if got := []int{r.edges(e)[0], r.s.Look(small).Edge}; !slices.Equal(got, []int{256, 256}) {
		t.Errorf("%v without room", got)
	}
}

// TestRoomForMediumInsteadOfFull: nearer is never coarser for lack of room.
func TestRoomForMediumInsteadOfFull(t *testing.T) {
	r := newStreamRig(t, withBudget(texfile.MostBytes(1024)))
	e := r.add(at(1, "a"))
	r.view.Visible = []Entity{e}
	r.settle()
	if got := r.edges(e); got[0] != 1024 {
		t.Errorf("%v", got)
	}
}

func TestFartherGivesWay(t *testing.T) {
	for _, trim := range []bool{false, true} {
		r := newStreamRig(t, withBudget(texfile.MostBytes(1024)+texfile.MostBytes(256)), func(o *StreamOptions, r *rig) {
			if trim {
				withTrim(o, r)
			}
		})
		far := r.add(at(15, "far"))
		r.view.Visible = []Entity{far}
		r.settle()
		near := r.add(at(14, "near")) // not a tenth nearer
		r.view.Visible = []Entity{far, near}
		r.settle()
		if got := r.edges(far, near); !slices.Equal(got, []int{1024, 256}) {
			t.Errorf("trim %v: about as far: %v", trim, got)
		}
		p := at(13, "")
		r.s.Move(near, p.Min, p.Max)
		r.settle()
		if got := r.edges(far, near); !slices.Equal(got, []int{256, 1024}) {
			t.Errorf("trim %v: a tenth nearer: %v", trim, got)
		}
	}
}

// TestLoweredBudget: what is over it goes, the farthest first, without being
// asked.
func TestLoweredBudget(t *testing.T) {
	r := newStreamRig(t, withTrim)
	es := upgraded(r, 1, 2, 3, 4)
	r.tick()
	r.s.SetBudget(2*texfile.MostBytes(2048) + 2*texfile.MostBytes(1024))
	r.s.Update(View{Now: r.view.Now, Visible: es, Force: true})
	r.settle()
	if got := r.edges(es...); !slices.Equal(got, []int{2048, 2048, 1024, 1024}) {
		t.Errorf("%v", got)
	}
	r.s.SetBudget(0)
	r.settle()
	if got := r.edges(es...); slices.Min(got) != 2048 {
		t.Errorf("%v", got)
	}
}

func TestNearestFirst(t *testing.T) {
	r := newStreamRig(t, func(o *StreamOptions, _ *rig) { o.NearestFirst = true })
	var es []Entity
	for i, d := range []float64{9, 7, 5, 3, 1} {
		es = append(es, r.add(at(d, fmt.Sprint("t", i))))
	}
	r.ready()
	r.view.Visible = es
	r.tick()
	if got := r.loader.pending; len(got) != 3 || got[0].URI != "t4" || got[1].URI != "t3" || got[2].URI != "t2" {
		t.Errorf("%v", got)
	}
}
