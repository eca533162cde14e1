package texture

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// fakeFile is what a URI stands for.
type fakeFile struct {
	w, h, mips int // mips 0: down to 1 x 1
	enc        texfile.Encoding
	err        error
}

// zeros backs the levels of all fake images.
var zeros = make([]byte, 4*4096*4096)

func (f fakeFile) image(use texfile.Use, maxSize int) *texfile.Image {
	s, err := texfile.NewSize(f.w, f.h, f.enc)
	if err != nil {
		panic(err)
	}
	if f.mips != 0 {
		s.Mips = f.mips
	}
	img := s.Blank(use, maxSize)
	for k := range img.Levels {
		img.Levels[k].Pix = zeros[:img.LevelBytes(k)]
	}
	img.Blank = false
	return img
}

// fakeLoader answers when it is told to.
type fakeLoader struct {
	files   map[string]fakeFile
	started []Request
	pending []Request
}

func (l *fakeLoader) Start(r Request) {
	if n := len(l.started); n > 0 && l.started[n-1].Token >= r.Token {
		panic("tokens do not ascend")
	}
	l.started = append(l.started, r)
	l.pending = append(l.pending, r)
}

func (l *fakeLoader) answer(i int) {
	r := l.pending[i]
	l.pending = slices.Delete(l.pending, i, i+1)
	f, ok := l.files[r.URI]
	switch {
	case !ok:
		r.Done.Loaded(r.Token, nil, errors.New("no such file"))
	case f.err != nil:
		r.Done.Loaded(r.Token, nil, f.err)
	default:
		r.Done.Loaded(r.Token, f.image(r.Use, r.MaxSize), nil)
	}
}

func (l *fakeLoader) answerAll() {
	for len(l.pending) > 0 {
		l.answer(0)
	}
}

// fakeDevice checks what a Streamer does to it.
type fakeDevice struct {
	t       testing.TB
	has     map[ID]*texfile.Image
	refuse  error
	uploads int
}

func (d *fakeDevice) Upload(id ID, img *texfile.Image) error {
	if id == 0 {
		d.t.Error("upload of no texture")
	}
	if _, _, err := texfile.SizeOf(img); err != nil {
		d.t.Error(err)
	}
	if d.refuse != nil {
		return d.refuse
	}
	d.has[id] = img
	d.uploads++
	return nil
}

func (d *fakeDevice) Release(id ID) {
	if _, ok := d.has[id]; !ok {
		d.t.Errorf("release of %d, which was not uploaded", id)
	}
	delete(d.has, id)
}

func (d *fakeDevice) bytes() (n int64) {
	for id := range d.has {
		n += d.has[id].Bytes()
	}
	return n
}

// trimmingDevice can make textures smaller by itself.
type trimmingDevice struct {
	*fakeDevice
	trims int
}

func (d *trimmingDevice) Trim(id ID, levels int) bool {
	img := d.has[id]
	if img == nil || levels < 1 || levels >= len(img.Levels) {
		d.t.Errorf("trim of %d levels of texture %d: %+v", levels, id, img)
	}
	img.Levels = img.Levels[levels:]
	d.trims++
	return true
}

// pacedDevice needs time for uploads.
type pacedDevice struct {
	*fakeDevice
	busy map[ID]bool
}

func (d *pacedDevice) Upload(id ID, img *texfile.Image) error {
	d.busy[id] = true
	return d.fakeDevice.Upload(id, img)
}

func (d *pacedDevice) Uploaded(id ID) bool { return !d.busy[id] }

// rig is a Streamer with everything around it under control.
type rig struct {
	t      testing.TB
	s      *Streamer
	loader *fakeLoader
	device *fakeDevice
	events []string
	view   View
}

// newStreamRig returns a rig with the scenario's parameters: upgrade 12,
// downgrade 20, hysteresis 0.15, 1024 and 256, 3 operations.
func newStreamRig(t testing.TB, change ...func(*StreamOptions, *rig)) *rig {
	t.Helper()
	p, err := ProfileNamed("balanced")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, loader: &fakeLoader{files: map[string]fakeFile{}}, device: &fakeDevice{t: t, has: map[ID]*texfile.Image{}}}
	o := StreamOptions{Params: p, Device: r.device, Loader: r.loader, FirstLoads: 1 << 20, Trace: func(e Event) {
		r.events = append(r.events, fmt.Sprintf("%v %d %d>%d", e.Kind, e.Texture, e.From, e.To))
	}}
	for _, f := range change {
		f(&o, r)
	}
	if r.s, err = NewStreamer(o); err != nil {
		t.Fatal(err)
	}
	r.view.Now = 1000 * time.Second
	return r
}

func withBudget(n int64) func(*StreamOptions, *rig) {
	return func(o *StreamOptions, _ *rig) { o.Budget = n }
}

func withTrim(o *StreamOptions, r *rig) {
	o.Trimmer = &trimmingDevice{fakeDevice: r.device}
}

// at returns a part of one texture whose box begins at a distance on the x axis.
func at(d float64, uri string) Part {
	return Part{Min: [3]float64{d, -1, -1}, Max: [3]float64{d + 2, 1, 1}, Slots: []Slot{{URI: uri}}}
}

// add registers a part and makes sure that its files exist, 2048 x 2048.
func (r *rig) add(p Part) Entity {
	for _, s := range p.Slots {
		if _, ok := r.loader.files[s.URI]; !ok {
			r.loader.files[s.URI] = fakeFile{w: 2048, h: 2048}
		}
	}
	return r.s.Add(p)
}

// tick updates once at the next tick.
func (r *rig) tick() {
	r.s.Update(r.view)
	r.view.Now += 200 * time.Millisecond
	r.check()
}

// settle ticks and answers until nothing is left to do, and fails when that
// does not come.
func (r *rig) settle() {
	r.t.Helper()
	for range 400 {
		r.tick()
		r.loader.answerAll()
		if r.s.Idle() {
			return
		}
	}
	r.t.Fatalf("no rest: %+v; last events %v", r.s.Stats(), r.events[max(0, len(r.events)-20):])
}

// ready loads everything at the minimum, with nothing visible.
func (r *rig) ready() {
	r.t.Helper()
	visible := r.view.Visible
	r.view.Visible = nil
	r.settle()
	r.view.Visible = visible
	r.events = nil
}

// edges returns the longest edges of the first textures of entities.
func (r *rig) edges(es ...Entity) []int {
	var out []int
	for _, e := range es {
		for _, id := range r.s.Textures(nil, e)[:1] {
			out = append(out, r.s.Look(id).Edge)
		}
	}
	return out
}

// check compares the counters with what is there.
func (r *rig) check() {
	r.t.Helper()
	s := r.s
	st := s.Stats()
	var reserved, frees int64
	ops, first := map[int32]int{}, 0
	for _, f := range s.loads.list {
		reserved += f.reserve
		frees += f.frees
		if f.entity >= 0 {
			ops[f.entity]++
		} else {
			first++
		}
		if !s.textures.list[f.texture].busy {
			r.t.Error("a load of an idle texture")
		}
	}
	if reserved != st.Reserved || frees != s.budget.freeing || len(ops) != st.ActiveOps || first != st.Loading {
		r.t.Errorf("loads have %d reserved, %d to free, %d operations, %d first loads; counters %d, %d, %d, %d",
			reserved, frees, len(ops), first, st.Reserved, s.budget.freeing, st.ActiveOps, st.Loading)
	}
	for e, n := range ops {
		if s.entities.list[e].op != n {
			r.t.Errorf("entity %d has %d loads, counts %d", e, n, s.entities.list[e].op)
		}
	}
	if got := r.device.bytes(); got != st.Bytes {
		r.t.Errorf("%d bytes on the device, counted %d", got, st.Bytes)
	}
	if st.Budget > 0 && st.Bytes+st.Reserved > st.Budget {
		r.t.Errorf("%d + %d bytes exceed the budget of %d", st.Bytes, st.Reserved, st.Budget)
	}
}
