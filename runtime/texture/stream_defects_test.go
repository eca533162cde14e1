package texture

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// Defects of the reference engine that concern textures, which must not exist here.

// TestShedMeasuresInWorldSpace: the camera of a view and the boxes of parts
// are of the same space, whatever transform the scene has; a shed measures like
// a tick. Here the scene is shrunk to a tenth and moved by 100 m, which is in
// the boxes; a camera transformed twice would find the order reversed.
func TestShedMeasuresInWorldSpace(t *testing.T) {
	r := newStreamRig(t, withTrim)
	var es []Entity
	for i := range 3 {
		es = append(es, r.add(at(100, fmt.Sprint("t", i))))
	}
	r.view.Camera = [3]float64{100, 0, 0}
	r.view.Visible = es
	r.settle()
	for i, local := range []float64{50, 300, 600} {
		p := at(100+local/10, "")
		r.s.Move(es[i], p.Min, p.Max) // 5, 30 and 60 m
	}
	if n := r.s.Shed(1); n != 1 {
		t.Fatalf("shed %d", n)
	}
	if got := r.edges(es...); !slices.Equal(got, []int{2048, 2048, 256}) {
		t.Errorf("%v", got)
	}
	if n := r.s.Shed(2); n != 2 {
		t.Fatalf("shed %d", n)
	}
	if got := r.edges(es...); !slices.Equal(got, []int{1024, 256, 256}) {
		t.Errorf("%v", got)
	}
}

// TestFirstLoadsCount: what comes first is counted like any other bytes, as
// reserved from the moment it is asked for.
func TestFirstLoadsCount(t *testing.T) {
	r := newStreamRig(t, withBudget(10*texfile.MostBytes(256)))
	r.add(at(100, "a"))
	r.add(at(100, "a")) // the same file
	r.add(at(100, "b"))
	r.tick()
	if st := r.s.Stats(); st.Bytes != 0 || st.Reserved != 2*texfile.MostBytes(256) || st.Loading != 2 {
		t.Errorf("asked for: %+v", st)
	}
	r.loader.answerAll()
	r.tick()
	if st := r.s.Stats(); st.Bytes != 2*texfile.MostBytes(256) || st.Reserved != 0 || st.Minimum != 2 {
		t.Errorf("there: %+v", st)
	}
}

// TestFirstLoadsWithoutRoom: where not all have room at the minimum size it becomes
// smaller for all, and grows again when there is room.
func TestFirstLoadsWithoutRoom(t *testing.T) {
	r := newStreamRig(t, withBudget(5*texfile.MostBytes(256)/2))
	a, b := r.add(at(100, "a")), r.add(at(101, "b"))
	r.view.Visible = []Entity{a, b}
	r.settle()
	if got := r.edges(a, b); !slices.Equal(got, []int{128, 128}) {
		t.Errorf("%v", got)
	}
	// What has come already gives way to what comes later.
	more := []Entity{a, b}
	for i := range 30 {
		more = append(more, r.add(at(102, fmt.Sprint("c", i))))
	}
	r.view.Visible = more
	r.settle()
	for i, edge := range r.edges(more...) {
		if edge != 32 && edge != 64 {
			t.Errorf("texture %d of 32 has %d texels", i, edge)
		}
	}
	for _, e := range more[2:] {
		r.s.Remove(e)
	}
	r.s.Remove(a)
	r.view.Visible = []Entity{b}
	r.settle()
	if got := r.edges(b); got[0] != 256 {
		t.Errorf("%v", got)
	}
}

// TestEverythingHasSomething: however near others are, what comes later has textures, too.
func TestEverythingHasSomething(t *testing.T) {
	for _, trim := range []bool{true, false} {
		options := []func(*StreamOptions, *rig){withBudget(2 * texfile.MostBytes(1024))}
		if trim {
			options = append(options, withTrim)
		}
		r := newStreamRig(t, options...)
		all := []Entity{r.add(at(1, "near")), r.add(at(15, "next"))}
		r.view.Visible = all
		r.settle()
		if got := r.edges(all...); got[0] < 1024 {
			t.Fatalf("alone %v", got)
		}
		for i := range 200 {
			all = append(all, r.add(at(100+float64(i), fmt.Sprint("c", i))))
			r.view.Visible = all
			if i%10 == 0 {
				r.tick()
				r.loader.answerAll()
			}
		}
		r.settle()
		for i, edge := range r.edges(all...) {
			if edge == 0 {
				t.Fatalf("with trims %t texture %d of %d has nothing: %v", trim, i, len(all), r.edges(all...))
			}
		}
	}
}

// TestFirstLoadsComeBeforeSizes: something that has nothing to show yet gets
// room from what is above the minimum, if that is farther away.
func TestFirstLoadsComeBeforeSizes(t *testing.T) {
	r := newStreamRig(t, withTrim, withBudget(texfile.MostBytes(1024)))
	r.loader.files["table"] = fakeFile{w: 512, h: 512, mips: 1} // cannot begin smaller
	far := r.add(at(15, "far"))
	r.view.Visible = []Entity{far}
	r.settle()
	if got := r.edges(far); got[0] != 1024 || r.s.budget.room() != 0 {
		t.Fatalf("%v, room %d", got, r.s.budget.room())
	}
	near, table := r.add(at(5, "near")), r.add(at(6, "table"))
	r.view.Visible = []Entity{near, far, table}
	for range 60 { // the table waits for its delay
		r.tick()
		r.loader.answerAll()
	}
	r.settle()
	if got := r.edges(near, far, table); got[0] < 256 || got[1] != 256 || got[2] != 512 {
		t.Errorf("%v", got)
	}
}

// TestFirstLoadsThatNeverFit: what has no room even when all else is at the minimum
// keeps none from others, and does not stand in the way of those for whom room can be
// made.
func TestFirstLoadsThatNeverFit(t *testing.T) {
	budget := texfile.MostBytes(1024) + 3*texfile.MostBytes(256)
	for _, c := range []struct {
		name         string
		edge, tables int
	}{
		{"larger than the budget", 2048, 1},
		{"larger than what the others leave", 1250, 1},
		{"more than refusals are kept", 2048, len(claims{}.refused) + 1},
	} {
		for _, trim := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, trims %t", c.name, trim), func(t *testing.T) {
				options := []func(*StreamOptions, *rig){withBudget(budget)}
				if trim {
					options = append(options, withTrim)
				}
				r := newStreamRig(t, options...)
				for i := range c.tables {
					uri := fmt.Sprint("table", i)
					r.loader.files[uri] = fakeFile{w: c.edge, h: c.edge, mips: 1} // cannot begin smaller
					r.add(at(1, uri))
				}
				near, far := r.add(at(13, "near")), r.add(at(16, "far"))
				for range 60 { // the tables wait for their delay
					r.tick()
					r.loader.answerAll()
				}
				if st := r.s.Stats(); st.Waiting != c.tables || st.Textures != c.tables+2 {
					t.Fatalf("%+v", st)
				}
				r.view.Visible = []Entity{far}
				r.settle()
				if got := r.edges(near, far); !slices.Equal(got, []int{256, 1024}) {
					t.Errorf("the far one alone: %v", got)
				}
				r.view.Visible = []Entity{near, far}
				r.settle()
				if got := r.edges(near, far); !slices.Equal(got, []int{1024, 256}) {
					t.Errorf("both: %v", got)
				}
			})
		}
	}
}

// TestFirstLoadsOutlastUpgrades: what has room as soon as an upgrade that is under way
// has come, and is taken back, does not lose it to others meanwhile.
func TestFirstLoadsOutlastUpgrades(t *testing.T) {
	r := newStreamRig(t, withTrim, withBudget(texfile.MostBytes(1024)+5*texfile.MostBytes(256)))
	r.loader.files["table"] = fakeFile{w: 1250, h: 1250, mips: 1} // cannot begin smaller
	r.loader.files["near"] = fakeFile{w: 512, h: 512}             // too near to be taken back
	far, near := r.add(at(16, "far")), r.add(at(5, "near"))
	r.ready()
	r.view.Visible = []Entity{far}
	r.tick()
	table := r.add(at(100, "table"))
	r.tick()
	r.loader.answer(1)
	for range 40 { // the table waits for its delay
		r.tick()
	}
	if st := r.s.Stats(); st.ActiveOps != 1 || st.Waiting != 1 {
		t.Fatalf("%+v", st)
	}
	r.view.Visible = []Entity{far, near}
	r.settle()
	// Beside the table the minimum is 16 and the medium size 64.
	if got := r.edges(far, near, table); !slices.Equal(got, []int{64, 256, 1250}) {
		t.Errorf("%v", got)
	}
}

// TestSmallTextures: a texture below the medium size gets its full size
// where others get the medium one.
func TestSmallTextures(t *testing.T) {
	r := newStreamRig(t)
	r.loader.files["small"] = fakeFile{w: 512, h: 300}
	e := r.add(at(16, "small"))
	r.view.Visible = []Entity{e}
	r.settle()
	if got := r.edges(e); got[0] != 512 {
		t.Errorf("%v at 16 m", got)
	}
	p := at(22.9, "")
	r.s.Move(e, p.Min, p.Max)
	r.settle()
	if got := r.edges(e); got[0] != 512 {
		t.Errorf("%v at 22.9 m", got)
	}
	p = at(23.1, "")
	r.s.Move(e, p.Min, p.Max)
	r.settle()
	if got := r.edges(e); got[0] != 256 {
		t.Errorf("%v at 23.1 m", got)
	}
}

// TestStaleAnswers: an answer to a request that has been given up changes
// nothing, even when the same texture is asked for again in the meantime.
func TestStaleAnswers(t *testing.T) {
	r := newStreamRig(t)
	e := r.add(at(1, "a"))
	r.tick()
	r.s.Remove(e) // while it loads for the first time
	e = r.add(at(1, "a"))
	r.tick()
	if len(r.loader.pending) != 2 || r.loader.pending[0].Context.Err() == nil || r.loader.pending[1].Context.Err() != nil {
		t.Fatalf("%+v", r.loader.pending)
	}
	r.loader.answer(0)
	r.tick()
	if st := r.s.Stats(); st.Stale != 1 || st.Bytes != 0 || st.Loading != 1 {
		t.Errorf("%+v", st)
	}
	r.view.Visible = []Entity{e}
	r.loader.answerAll()
	r.tick() // begins the upgrade
	if st := r.s.Stats(); st.ActiveOps != 1 || st.Reserved == 0 {
		t.Fatalf("%+v", st)
	}
	r.s.SetLevel(e, 2, 3) // while it changes
	if st := r.s.Stats(); st.ActiveOps != 0 || st.Reserved != 0 {
		t.Errorf("%+v", st)
	}
	r.loader.answerAll()
	r.settle()
	if got := r.edges(e); got[0] != 256 || r.s.Stats().Stale != 2 {
		t.Errorf("%v, %+v", got, r.s.Stats())
	}
}

// TestClaimsOutlastSlots: room that was made for a near texture is not taken by
// a farther one while the near one waits for a slot.
func TestClaimsOutlastSlots(t *testing.T) {
	d := &pacedDevice{busy: map[ID]bool{}}
	r := newStreamRig(t, withBudget(texfile.MostBytes(1024)+texfile.MostBytes(256)), func(o *StreamOptions, r *rig) {
		d.fakeDevice, o.Device, o.Pacer, o.Params.ConcurrentOps = r.device, d, d, 1
	})
	far, near := r.add(at(16, "far")), r.add(at(13, "near"))
	for k := range 60 {
		r.view.Visible = []Entity{far}
		if k > 20 {
			r.view.Visible = []Entity{far, near} // the far one is asked first
		}
		r.tick()
		r.loader.answerAll()
		if k%3 == 0 { // uploads take some ticks
			clear(d.busy)
		}
	}
	if got := r.edges(far, near); !slices.Equal(got, []int{256, 1024}) || !r.s.Idle() || r.s.Stats().Upgrades != 2 {
		t.Errorf("%v, %+v", got, r.s.Stats())
	}
}

// TestOwnerIsAlone: loaders answer from many goroutines while the owner goes
// on; what comes out is what a loader gives that answers at once.
func TestOwnerIsAlone(t *testing.T) {
	var edges [2][]int
	for k, concurrent := range []bool{false, true} {
		var answers sync.WaitGroup
		r := newStreamRig(t, func(o *StreamOptions, r *rig) {
			inner := r.loader
			if concurrent {
				o.Loader = loaderFunc(func(q Request) {
					img := inner.files[q.URI].image(q.Use, q.MaxSize)
					answers.Go(func() { q.Done.Loaded(q.Token, img, nil) })
				})
			}
		})
		var es []Entity
		for i := range 40 {
			es = append(es, r.add(at(float64(i), fmt.Sprint("t", i))))
		}
		r.view.Visible = es
		for range 400 {
			r.tick()
			r.loader.answerAll()
			if r.s.Idle() {
				break
			}
			answers.Wait()
		}
		edges[k] = r.edges(es...)
	}
	if !slices.Equal(edges[0], edges[1]) || edges[0][0] != 2048 || edges[0][39] != 256 {
		t.Errorf("%v, from many goroutines %v", edges[0], edges[1])
	}
}

type loaderFunc func(Request)

func (f loaderFunc) Start(r Request) { f(r) }
