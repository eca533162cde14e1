package texture

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

func TestNewStreamerRefuses(t *testing.T) {
	p, _ := ProfileNamed("balanced")
	device := &fakeDevice{t: t}
	for name, o := range map[string]StreamOptions{
		"no parameters":     {Device: device},
		"no device":         {Params: p},
		"a negative budget": {Params: p, Device: device, Budget: -1},
		"a negative edge":   {Params: p, Device: device, MaxEdge: -1},
	} {
		if _, err := NewStreamer(o); !errors.Is(err, ErrParams) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTicks: nothing is judged between two ticks, but first loads do not wait.
func TestTicks(t *testing.T) {
	r := newStreamRig(t)
	e := r.add(at(1, "a"))
	r.view.Visible = []Entity{e}
	now := r.view.Now
	update := func(after time.Duration, force bool) {
		v := r.view
		v.Now, v.Force = now+after, force
		r.s.Update(v)
		r.loader.answerAll()
	}
	if !r.s.Due(now) {
		t.Error("the first tick is not due")
	}
	update(0, false)
	for after, want := range map[time.Duration]bool{-time.Second: false, 199 * time.Millisecond: false, 200 * time.Millisecond: true} {
		if got := r.s.Due(now + after); got != want {
			t.Errorf("due after %v: %v", after, got)
		}
	}
	b := r.add(at(1, "b"))
	update(10*time.Millisecond, false)
	if got := r.loader.started; len(got) != 2 || got[1].URI != "b" || got[1].MaxSize != 256 {
		t.Fatalf("%+v", got)
	}
	update(199*time.Millisecond, false)
	if n := len(r.loader.started); n != 2 {
		t.Errorf("%d loads before the tick", n)
	}
	update(200*time.Millisecond, false)
	if n := len(r.loader.started); n != 3 {
		t.Errorf("%d loads after the tick", n)
	}
	r.view.Visible = []Entity{e, b}
	update(210*time.Millisecond, true)
	if n := len(r.loader.started); n != 4 {
		t.Errorf("%d loads after a forced tick", n)
	}
	update(0, false) // a clock that goes back changes nothing
	if r.s.now != now+210*time.Millisecond {
		t.Errorf("the time is %v", r.s.now-now)
	}
}

func TestFirstLoadsAreLimitedAndNearestFirst(t *testing.T) {
	r := newStreamRig(t, func(o *StreamOptions, _ *rig) { o.FirstLoads = 0 })
	for i, d := range []float64{90, 80, 70, 60, 50, 40} {
		r.add(at(d, fmt.Sprint("t", i)))
	}
	far := at(0, "nowhere")
	far.Min[0] = math.NaN()
	r.add(far)
	var order []string
	for range 4 {
		r.tick()
		if n := len(r.loader.pending); n > 4 {
			t.Errorf("%d at a time", n)
		}
		for _, p := range r.loader.pending {
			order = append(order, p.URI)
		}
		r.loader.answerAll()
	}
	if want := []string{"t5", "t4", "t3", "t2", "t1", "t0", "nowhere"}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
}

func TestMissingTextures(t *testing.T) {
	r := newStreamRig(t)
	p := at(1, "gone")
	p.Slots = append(p.Slots, Slot{URI: "there"})
	e := r.add(p)
	delete(r.loader.files, "gone")
	r.view.Visible = []Entity{e}
	r.settle()
	st := r.s.Stats()
	if st.Missing != 1 || st.Full != 1 || st.Reserved != 0 || st.Failures != 1 {
		t.Errorf("%+v", st)
	}
	if id := r.s.Textures(nil, e)[0]; !r.s.Look(id).Missing || r.s.Look(id).Edge != 0 {
		t.Errorf("%+v", r.s.Look(id))
	}
	r.loader.files["gone"] = fakeFile{w: 64, h: 64}
	r.settle()
	if n := r.s.Stats().Missing; n != 1 {
		t.Errorf("%d missing; nobody said that it may have come", n)
	}
	r.s.Retry()
	r.settle()
	if st := r.s.Stats(); st.Missing != 0 || st.Full != 2 {
		t.Errorf("%+v", st)
	}
}

// TestFailedUpgrades are repeated with growing delays, and leave what is there.
func TestFailedUpgrades(t *testing.T) {
	r := newStreamRig(t)
	e := r.add(at(1, "a"))
	r.ready()
	r.view.Visible = []Entity{e}
	r.loader.files["a"] = fakeFile{err: errors.New("damaged")}
	var at []time.Duration
	begin := r.view.Now
	for r.view.Now < begin+100*time.Second {
		n := len(r.loader.started)
		r.tick()
		if len(r.loader.started) > n {
			at = append(at, (r.s.now-begin)/time.Second)
		}
		r.loader.answerAll()
	}
	if want := []time.Duration{0, 5, 15, 35, 75}; !slices.Equal(at, want) {
		t.Errorf("requests after %d s, want %d", at, want)
	}
	if got := r.edges(e); got[0] != 256 || r.s.Stats().Reserved != 0 {
		t.Errorf("%v", got)
	}
	r.loader.files["a"] = fakeFile{w: 2048, h: 2048}
	r.s.Retry()
	r.settle()
	if got := r.edges(e); got[0] != 2048 {
		t.Errorf("%v", got)
	}
}

func TestDeviceRefuses(t *testing.T) {
	r := newStreamRig(t)
	r.device.refuse = errors.New("no such format here")
	r.add(at(1, "a"))
	r.settle()
	if st := r.s.Stats(); st.Missing != 1 || st.Bytes != 0 || st.Reserved != 0 {
		t.Errorf("%+v", st)
	}
}

// TestLoadersThatLie: a chain that is not what was asked for is an error.
func TestLoadersThatLie(t *testing.T) {
	r := newStreamRig(t)
	r.add(at(1, "a"))
	r.tick()
	q := r.loader.pending[0]
	q.Done.Loaded(q.Token, fakeFile{w: 2048, h: 2048}.image(texfile.Color, 2048), nil)
	q.Done.Loaded(q.Token, fakeFile{w: 2048, h: 2048}.image(texfile.Color, 256), nil) // and it answers twice
	r.tick()
	if st := r.s.Stats(); st.Missing != 1 || st.Stale != 1 || st.Bytes != 0 {
		t.Errorf("%+v", st)
	}
}

// TestFileThatChanges: a file that has another size when it is read again is
// taken as it is, within the budget.
func TestFileThatChanges(t *testing.T) {
	r := newStreamRig(t, withBudget(texfile.MostBytes(2048)+1000))
	e := r.add(at(1, "a"))
	r.ready()
	r.view.Visible = []Entity{e}
	r.loader.files["a"] = fakeFile{w: 512, h: 512}
	r.settle()
	if got := r.edges(e); got[0] != 512 {
		t.Errorf("%v", got)
	}
}

func TestPacedUploads(t *testing.T) {
	d := &pacedDevice{busy: map[ID]bool{}}
	r := newStreamRig(t, func(o *StreamOptions, r *rig) { d.fakeDevice = r.device; o.Device, o.Pacer = d, d })
	p := at(1, "a")
	p.Burst = true
	e := r.add(p)
	r.tick()
	r.loader.answerAll()
	r.tick()
	if st := r.s.Stats(); st.Loading != 1 || st.Bytes != texfile.MostBytes(256) || st.Reserved != 0 || st.ActiveOps != 0 {
		t.Errorf("while it is uploaded: %+v", st)
	}
	clear(d.busy)
	r.tick()
	if st := r.s.Stats(); st.Loading != 0 || st.ActiveOps != 1 {
		t.Errorf("its burst comes when it is there: %+v", st)
	}
	r.loader.answerAll()
	r.tick()
	if st := r.s.Stats(); st.ActiveOps != 1 {
		t.Errorf("an upload keeps its slot: %+v", st)
	}
	r.s.Remove(e)
	r.check()
	if st := r.s.Stats(); st.ActiveOps != 0 || st.Bytes != 0 {
		t.Errorf("removed while it is uploaded: %+v", st)
	}
}

func TestCookedTextures(t *testing.T) {
	r := newStreamRig(t)
	r.loader.files["bc"] = fakeFile{w: 2048, h: 2048, enc: texfile.BC7}
	r.loader.files["table"] = fakeFile{w: 64, h: 8, mips: 1, enc: texfile.BC5}
	a, b := r.add(at(15, "bc")), r.add(at(1, "table"))
	r.view.Visible = []Entity{a, b}
	r.settle()
	if got := r.edges(a, b); !slices.Equal(got, []int{1024, 64}) {
		t.Errorf("%v", got)
	}
	if got := r.s.Look(r.s.Textures(nil, a)[0]); got.Bytes != (texfile.Size{Width: 1024, Height: 1024, Mips: 11, Encoding: texfile.BC7}).Bytes(0) || got.Tier != TierMedium || got.Source != 2048 {
		t.Errorf("%+v", got)
	}
}

func TestMaxEdge(t *testing.T) {
	r := newStreamRig(t, func(o *StreamOptions, _ *rig) { o.MaxEdge = 512 })
	a, b := r.add(at(1, "a")), r.add(at(15, "b"))
	r.view.Visible = []Entity{a, b}
	r.settle()
	if got := r.edges(a, b); !slices.Equal(got, []int{512, 512}) {
		t.Errorf("%v", got)
	}
	if got := r.s.Look(1); got.Tier != TierFull {
		t.Errorf("%+v", got)
	}
}

func TestSetParams(t *testing.T) {
	r := newStreamRig(t)
	e := r.add(at(15, "a"))
	r.view.Visible = []Entity{e}
	r.settle()
	p, err := AlignToManifest(80, 120)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.s.SetParams(p); err != nil || r.s.Params() != p {
		t.Fatal(err)
	}
	r.settle()
	if got := r.edges(e); got[0] != 2048 {
		t.Errorf("%v", got)
	}
	if err := r.s.SetParams(config.Textures{}); !errors.Is(err, ErrParams) || r.s.Params() != p {
		t.Errorf("%v", err)
	}
}

// TestSharedTextures: one texture per file and use, as large as the user that
// needs most wants it; slots keep their order.
func TestSharedTextures(t *testing.T) {
	r := newStreamRig(t)
	p := at(50, "a")
	p.Slots = []Slot{{URI: "a"}, {}, {URI: "./a"}, {URI: "a", Use: texfile.Data}, {URI: "../a"}, {URI: "/a"}}
	far := r.add(p)
	near := r.add(at(1, "a"))
	ids := r.s.Textures(nil, far)
	if len(ids) != 6 || ids[0] == 0 || ids[1] != 0 || ids[2] != ids[0] || ids[3] == ids[0] || ids[4] == ids[0] || ids[5] == ids[0] {
		t.Errorf("%v", ids)
	}
	if got := r.s.Textures(nil, near); got[0] != ids[0] {
		t.Errorf("%v", got)
	}
	r.view.Visible = []Entity{far, near}
	r.settle()
	if got := r.edges(far); got[0] != 2048 {
		t.Errorf("%v", got)
	}
	if n := r.s.Shed(1); n != 1 {
		t.Errorf("shed %d", n)
	}
	r.loader.answerAll()
	r.tick()
	if got := r.edges(far); got[0] != 1024 {
		t.Errorf("shed to %v although a near one uses it", got)
	}
	if slot, ok := r.s.Slot(ids[3]); !ok || slot.Use != texfile.Data {
		t.Errorf("%v", slot)
	}
}

func TestHandles(t *testing.T) {
	r := newStreamRig(t)
	a := r.add(at(1, "a"))
	r.settle()
	r.s.Remove(a)
	r.s.Remove(a)
	b := r.add(at(1, "b"))
	if a == b {
		t.Error("a handle was used twice")
	}
	r.s.Remove(a)
	r.s.Move(a, [3]float64{}, [3]float64{})
	r.s.SetLevel(a, 1, 2)
	r.s.Remove(0)
	r.s.Remove(1 << 40)
	r.view.Visible = []Entity{a, 0, 77, b}
	r.settle()
	if st := r.s.Stats(); st.Entities != 1 || st.Textures != 1 || r.s.Textures(nil, a) != nil {
		t.Errorf("%+v", st)
	}
	if _, ok := r.s.Slot(99); ok || r.s.Look(99) != (Look{}) || r.s.Look(0) != (Look{}) {
		t.Error("something about nothing")
	}
}

func TestClose(t *testing.T) {
	r := newStreamRig(t)
	e := r.add(at(1, "a"))
	r.view.Visible = []Entity{e}
	r.settle()
	r.add(at(1, "b"))
	r.tick()
	if err := r.s.Close(); err != nil {
		t.Fatal(err)
	}
	if len(r.device.has) != 0 {
		t.Errorf("left on the device: %v", r.device.has)
	}
	r.loader.answerAll() // goes nowhere
	r.s.Update(r.view)
	if r.s.Close() != nil || r.s.Add(at(1, "c")) != 0 || r.s.Shed(1) != 0 {
		t.Error("closed, but it still works")
	}
	r.check()
	if st := r.s.Stats(); st.Bytes != 0 || st.Reserved != 0 || st.Textures != 0 {
		t.Errorf("%+v", st)
	}
}

func TestUpdateDoesNotAllocate(t *testing.T) {
	for _, c := range []struct { // at ease, short of memory by distance, and by shares
		budget int64
		shares bool
	}{{}, {budget: 40 << 20}, {40 << 20, true}} {
		r := newStreamRig(t, withBudget(c.budget), withTrim, func(o *StreamOptions, _ *rig) {
			o.NearestFirst, o.Trace, o.Scales = c.budget > 0, nil, Scales{}
			for i := range 60 {
				if c.shares {
					o.Scales[fmt.Sprint("t", i)] = 0.001
				}
			}
		})
		for i := range 60 {
			p := at(float64(i), fmt.Sprint("t", i))
			p.Slots = append(p.Slots, Slot{URI: fmt.Sprint("t", i), Use: texfile.Data})
			r.view.Visible = append(r.view.Visible, r.add(p))
		}
		r.settle()
		v := r.view
		if n := testing.AllocsPerRun(100, func() {
			v.Now += 200 * time.Millisecond
			r.s.Update(v)
		}); n != 0 {
			t.Errorf("budget %d: %v allocations per tick", c.budget, n)
		}
		if st := r.s.Stats(); !st.Idle || c.budget > 0 && !c.shares && st.Refused == 0 || c.shares != (r.s.share.step > 0) {
			t.Errorf("%+v", st)
		}
	}
}

func TestMaterialSlots(t *testing.T) {
	m := records.Material{
		BaseColorTexture: 0, NormalTexture: 1, MetallicTexture: 2, RoughnessTexture: 2,
		EmissiveTexture: records.NoIndex, OcclusionTexture: 7, HeightTexture: records.NoIndex,
	}
	textures := []records.Texture{{URIOffset: 10}, {URIOffset: 20}, {URIOffset: 30}}
	str := func(o uint32) string { return fmt.Sprint("file", o) }
	want := []Slot{
		{"d", "file10", texfile.OpaqueColor, 0},
		{"d", "file20", texfile.Normal, 0},
		{"d", "file30", texfile.Data, 0},
		{"d", "file30", texfile.Data, 0},
		{"d", "", texfile.Color, 0},
		{"d", "", texfile.Data, 0},
		{"d", "", texfile.Data, 0},
	}
	if got := MaterialSlots(nil, &m, textures, str, "d"); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	for _, s := range MaterialSlots(nil, &m, textures, nil, "d") {
		if s.URI != "" {
			t.Errorf("%v without strings", s)
		}
	}
}

// TestBegun: an entity has begun when something of each of its textures has come, or when
// it is known that nothing will.
func TestBegun(t *testing.T) {
	r := newStreamRig(t)
	e := r.add(at(10, "there"))
	if r.s.Begun(e) {
		t.Error("begun before anything was asked for")
	}
	r.tick()
	if r.s.Begun(e) {
		t.Error("begun while it loads")
	}
	r.loader.answerAll()
	r.tick()
	if !r.s.Begun(e) {
		t.Error("not begun with a texture")
	}
	gone := r.add(at(10, "gone"))
	r.loader.files["gone"] = fakeFile{err: errors.New("gone")}
	r.settle()
	if !r.s.Begun(gone) || r.edges(gone)[0] != 0 {
		t.Error("what does not come is waited for")
	}
	if !r.s.Begun(0) {
		t.Error("nothing is waited for")
	}
}
