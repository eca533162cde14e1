package texture

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

func TestBudgetCounts(t *testing.T) {
	for _, c := range []struct {
		name       string
		b          budget
		ask        int64
		granted    bool
		room, over int64
	}{
		{"no limit", budget{used: 1 << 40}, 1 << 40, true, math.MaxInt64, 0},
		{"fits exactly", budget{limit: 100, used: 60}, 40, true, 0, 0},
		{"one byte too many", budget{limit: 100, used: 60}, 41, false, 40, -40},
		{"what is reserved counts", budget{limit: 100, used: 60, reserved: 30}, 11, false, 10, -10},
		{"what will be freed does not yet", budget{limit: 100, used: 100, freeing: 50}, 1, false, 0, -50},
		{"a limit that was lowered", budget{limit: 100, used: 170, freeing: 50}, 1, false, -70, 20},
	} {
		b := c.b
		if got := b.reserve(c.ask); got != c.granted || b.room() != c.room || b.over() != c.over {
			t.Errorf("%s: %v, room %d, over %d; want %v, %d, %d", c.name, got, b.room(), b.over(), c.granted, c.room, c.over)
		}
	}
	b := budget{limit: 100}
	b.reserve(70)
	l := load{reserve: 70, frees: 5}
	b.freeing = 5
	b.settle(&l)
	b.settle(&l) // a load settles once
	b.use(50)
	b.use(-20)
	if want := (budget{limit: 100, used: 30, peakUsed: 50, peakReserved: 70}); b != want {
		t.Errorf("%+v, want %+v", b, want)
	}
}

func TestClaimsHoldForATick(t *testing.T) {
	c := newClaims()
	c.keep(20)
	c.keep(10)
	c.keep(30)
	if c.claimed(1e9) {
		t.Error("a claim holds before its tick")
	}
	c.turn()
	if c.claimed(10*giveWay) || !c.claimed(12) {
		t.Errorf("against 11 and 12 m: %v, %v", c.claimed(10*giveWay), c.claimed(12))
	}
	c.turn()
	if c.claimed(1e9) {
		t.Error("a claim that nobody kept holds still")
	}
}

func TestClaimsKeepTheNearestRefusals(t *testing.T) {
	c := newClaims()
	for _, d := range []float64{5, 3, 9, 1, 7, 2, 8, 4, 6, 0} {
		c.refuse(refusal{distance: d})
	}
	var got []float64
	for _, r := range c.refusals() {
		got = append(got, r.distance)
	}
	if want := []float64{0, 1, 2, 3, 4, 5, 6, 7}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if c.turn(); len(c.refusals()) != 0 {
		t.Error("refusals outlive their tick")
	}
}

func TestEntityTable(t *testing.T) {
	var table entityTable
	camera := &geom.Vec3{}
	var handles []Entity
	for _, d := range []float64{30, 10, 20} {
		_, h := table.add(at(d, ""), camera)
		handles = append(handles, h)
	}
	order := func(by func(a, b ranked) int) (out []float64) {
		for _, r := range table.rank(func(e *entity) bool { return e.distance < 25 }, by) {
			out = append(out, r.distance)
		}
		return out
	}
	if near, far := order(nearer), order(farther); !slices.Equal(near, []float64{10, 20}) || !slices.Equal(far, []float64{20, 10}) {
		t.Errorf("%v, %v", near, far)
	}
	_, i := table.find(handles[1])
	table.remove(i)
	if e, _ := table.find(handles[1]); e != nil {
		t.Error("a handle outlives its entity")
	}
	_, again := table.add(at(1, ""), camera)
	if _, j := table.find(again); j != i || again == handles[1] {
		t.Errorf("record %d with handle %x, want record %d with another one than %x", j, again, i, handles[1])
	}
	e, _ := table.find(again)
	e.place([3]float64{math.NaN()}, [3]float64{})
	if d := e.distanceTo(camera); !math.IsInf(d, 1) {
		t.Errorf("a box that is not finite is at %v", d)
	}
}

func TestTextureTableShares(t *testing.T) {
	p, _ := ProfileNamed("balanced")
	table := newTextureTable(p, nil, 0, 0)
	var a, b entity
	wall, relief := Slot{URI: "wall.png"}, Slot{URI: "wall.png", Use: texfile.Normal}
	i, isNew := table.acquire(&a, wall)
	if again, twice := table.acquire(&a, wall); !isNew || twice || again != i || table.list[i].refs != 1 {
		t.Errorf("%d, %v: %d uses", again, twice, table.list[i].refs)
	}
	if j, other := table.acquire(&b, wall); j != i || other || table.list[i].refs != 2 {
		t.Errorf("%d, %v: %d uses", j, other, table.list[i].refs)
	}
	if j, other := table.acquire(&b, relief); j == i || !other {
		t.Error("the same file for another use is another texture")
	}
	table.release(i)
	if table.find(ID(i)+1) != nil {
		t.Error("a texture is there after its release")
	}
}

func TestTextureTableFollowsParams(t *testing.T) {
	p, _ := ProfileNamed("balanced")
	for _, c := range []struct {
		name       string
		deviceEdge int
		scales     Scales
		want       starts
		full       float64 // wanted within
	}{
		{"by radii", 0, nil, starts{TierMinimum: 3, TierMedium: 1}, 12},
		{"a device of 512 texels", 512, nil, starts{TierMinimum: 3, TierMedium: 2, TierFull: 2}, 12},
		{"by what is seen", 0, Scales{"a": 1}, starts{TierMinimum: 3, TierMedium: 1}, 1 / (PixelSize(0, 0) * 1024)},
	} {
		table := newTextureTable(p, c.scales, c.deviceEdge, 0)
		i, _ := table.acquire(&entity{}, Slot{URI: "a"})
		r := &table.list[i]
		r.state, r.file = stateResident, square(2048)
		table.setStarts(r)
		if r.at != c.want || r.reach.full != c.full {
			t.Errorf("%s: %v within %v, want %v within %v", c.name, r.at, r.reach.full, c.want, c.full)
		}
		wide := p
		wide.MaxDimension = 2048
		if table.setParams(wide); r.at[TierMedium] != r.at[TierFull] {
			t.Errorf("%s: %v after the medium size is that of the source", c.name, r.at)
		}
		if table.setScales(nil); r.reach != &table.policy.reach {
			t.Errorf("%s: a scale is in use that is not there any more", c.name)
		}
	}
}

// First loads begin with the nearest, as large as there is room for, and no more
// at a time than there are slots.
func TestFirstLoads(t *testing.T) {
	p, _ := ProfileNamed("balanced")
	for _, c := range []struct {
		name  string
		limit int
		room  int64
		want  []int // edges by texture, the first is the farthest
	}{
		{"room for all", 4, 0, []int{256, 256, 256}},
		{"two slots", 2, 0, []int{0, 256, 256}},
		{"room for one and a half", 4, texfile.MostBytes(256) + texfile.MostBytes(128), []int{0, 128, 256}},
		{"no room", 4, 1, []int{0, 0, 0}},
	} {
		textures, b, f, cl := newTextureTable(p, nil, 0, 0), budget{limit: c.room}, firstLoads{limit: c.limit}, newClaims()
		for i, d := range []float64{30, 20, 10} {
			e := entity{distance: d}
			k, _ := textures.acquire(&e, Slot{URI: string(rune('a' + i))})
			f.push(k, &textures)
		}
		got := make([]int, 3)
		f.start(&textures, &b, func(*resource) bool { return false }, func(texture int32, edge int, _ int64) { got[texture] = edge })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		waiting := 0
		for _, edge := range c.want {
			if edge == 0 {
				waiting++
			}
		}
		coming := f.starved(&textures, &b, &cl)
		if len(f.waiting) != waiting || coming != (waiting > 0 && c.room == 0) || !coming && len(cl.refusals()) != waiting {
			t.Errorf("%s: %d wait, coming %v, %d refused", c.name, len(f.waiting), coming, len(cl.refusals()))
		}
	}
}

// TestQuickLoads: more first loads are under way at a time while they come quickly.
func TestQuickLoads(t *testing.T) {
	f := firstLoads{limit: 2, most: 6}
	if f.slots() != 2 {
		t.Errorf("%d slots before anything has come", f.slots())
	}
	if f.answered(100 * time.Millisecond); f.slots() != 2 {
		t.Errorf("%d slots after a quick load", f.slots())
	}
	if f.answered(100 * time.Millisecond); f.slots() != 6 {
		t.Errorf("%d slots after as many quick loads as there are", f.slots())
	}
	if f.answered(time.Second); f.slots() != 6 {
		t.Errorf("%d slots after a single slow load", f.slots())
	}
	if f.answered(time.Second); f.slots() != 2 {
		t.Errorf("%d slots where loads are slow", f.slots())
	}
	if few := (firstLoads{limit: 8, most: 8, answers: 8}); few.slots() != 8 {
		t.Errorf("%d slots without more", few.slots())
	}
}

// TestQuickLoadsOfWhatCame: loads that fail or are cancelled at once do not count as quick.
func TestQuickLoadsOfWhatCame(t *testing.T) {
	r := newStreamRig(t, func(o *StreamOptions, _ *rig) { o.FirstLoads, o.QuickLoads = 2, 6 })
	for i := range 4 {
		e := r.add(at(float64(10+i), fmt.Sprintf("%d.png", i)))
		r.tick()
		r.s.Remove(e)
	}
	for i := range 4 {
		uri := fmt.Sprintf("fails %d.png", i)
		r.loader.files[uri] = fakeFile{err: errors.New("refused")}
		r.add(at(float64(20+i), uri))
	}
	for range 4 {
		r.tick()
		r.loader.answerAll()
	}
	if st := r.s.Stats(); st.Failures < 4 || r.s.first.slots() != 2 {
		t.Errorf("%d slots after %d failures", r.s.first.slots(), st.Failures)
	}
	for i := range 4 {
		r.add(at(float64(30+i), fmt.Sprintf("comes %d.png", i)))
	}
	for range 4 {
		r.tick()
		r.loader.answerAll()
	}
	if st := r.s.Stats(); st.Loads < 4 || r.s.first.slots() != 6 {
		t.Errorf("%d slots after %d loads", r.s.first.slots(), st.Loads)
	}
}

func TestFirstLoadsRevive(t *testing.T) {
	p, _ := ProfileNamed("balanced")
	textures, f := newTextureTable(p, nil, 0, 0), firstLoads{limit: 1}
	for i, set := range []func(*resource){
		func(r *resource) {},                // damaged: it stays missing
		func(r *resource) { r.need = 1000 }, // too large for what was left
		func(r *resource) { r.late = true },
	} {
		k, _ := textures.acquire(&entity{}, Slot{URI: string(rune('a' + i))})
		r := &textures.list[k]
		r.state, r.retryAt = stateMissing, 5*time.Second
		set(r)
	}
	if f.revive(&textures, 4*time.Second); len(f.waiting) != 0 {
		t.Errorf("%v before the delay is over", f.waiting)
	}
	if f.revive(&textures, 5*time.Second); !slices.Equal(f.waiting, []int32{1, 2}) {
		t.Errorf("%v, want 1 and 2", f.waiting)
	}
}

func TestLoadsByToken(t *testing.T) {
	loader := &fakeLoader{files: map[string]fakeFile{"a": {w: 4, h: 4}, "b": {w: 4, h: 4}}}
	l := loads{loader: loader, done: newCompletions()}
	l.start(load{texture: 7, maxSize: 4}, Slot{URI: "a"})
	l.start(load{texture: 8, maxSize: 4}, Slot{URI: "b"})
	loader.answerAll()
	if gone := l.end(l.of(7)); gone.texture != 7 || loader.started[0].Context.Err() != context.Canceled {
		t.Errorf("%+v is not cancelled", gone)
	}
	var found []int
	l.deliver(func(c *completion) { found = append(found, l.awaiting(c.token)) })
	if !slices.Equal(found, []int{-1, 0}) {
		t.Errorf("%v: the answer to what is over finds a load", found)
	}
	l.list[0].uploading = true
	if l.awaiting(2) != -1 || l.of(7) != -1 {
		t.Error("an upload waits for an answer")
	}
}
