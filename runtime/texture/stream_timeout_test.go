package texture

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// answerBut answers everything but what is asked of one file.
func (l *fakeLoader) answerBut(uri string) {
	for i := 0; i < len(l.pending); {
		if l.pending[i].URI == uri {
			i++
			continue
		}
		l.answer(i)
	}
}

// asked returns how often a file was asked for.
func (l *fakeLoader) asked(uri string) (n int) {
	for _, r := range l.started {
		if r.URI == uri {
			n++
		}
	}
	return n
}

// until ticks to a time after the start, with answers for all but one file.
func (r *rig) until(d time.Duration, hung string) {
	for r.view.Now <= 1000*time.Second+d {
		r.tick()
		r.loader.answerBut(hung)
	}
}

// A first load that is never answered gives its slot back after a minute, and is
// tried again after the delays of other failures. A late answer is dropped.
func TestFirstLoadThatNeverComes(t *testing.T) {
	var errs []error
	r := newStreamRig(t, withBudget(4*texfile.MostBytes(256)), func(o *StreamOptions, _ *rig) {
		o.FirstLoads = 1
		trace := o.Trace
		o.Trace = func(e Event) { trace(e); errs = append(errs, e.Err) }
	})
	hung, other := r.add(at(10, "hung")), r.add(at(50, "other"))
	r.until(60*time.Second, "hung")
	if got := r.edges(hung, other); !slices.Equal(got, []int{0, 0}) || r.s.Stats().Loading != 1 {
		t.Fatalf("%v, %+v", got, r.s.Stats())
	}
	late := r.loader.pending[0]
	r.until(61*time.Second, "hung")
	if got := r.edges(hung, other); !slices.Equal(got, []int{0, 256}) {
		t.Fatalf("%v, %+v", got, r.s.Stats())
	}
	if st := r.s.Stats(); st.Timeouts != 1 || st.Failures != 1 || st.Missing != 1 || st.Reserved != 0 {
		t.Errorf("%+v", st)
	}
	if late.Context.Err() == nil {
		t.Error("what is given up is not cancelled")
	}
	if !slices.ContainsFunc(errs, func(err error) bool { return errors.Is(err, ErrTimeout) }) {
		t.Errorf("%v", errs)
	}
	r.until(65*time.Second, "hung")
	if n := r.loader.asked("hung"); n != 1 {
		t.Errorf("asked %d times", n)
	}
	r.until(66*time.Second, "hung")
	if n := r.loader.asked("hung"); n != 2 {
		t.Errorf("asked %d times", n)
	}
	late.Done.Loaded(late.Token, fakeFile{w: 64, h: 64}.image(late.Use, 64), nil)
	r.until(67*time.Second, "hung")
	if st := r.s.Stats(); st.Stale != 1 || st.Loading != 1 {
		t.Errorf("%+v", st)
	}
	r.until(126*time.Second, "hung") // once more, and twice the delay
	if st := r.s.Stats(); st.Timeouts != 2 || r.loader.asked("hung") != 2 {
		t.Errorf("%+v, asked %d times", st, r.loader.asked("hung"))
	}
	r.until(137*time.Second, "")
	if got := r.edges(hung, other); !slices.Equal(got, []int{256, 256}) {
		t.Errorf("%v, %+v", got, r.s.Stats())
	}
}

// A change of size that is never answered gives its slot back, with what was
// reserved for it; the texture stays as it is, and is tried again.
func TestChangeThatNeverComes(t *testing.T) {
	r := newStreamRig(t, func(o *StreamOptions, _ *rig) { o.Params.ConcurrentOps, o.Timeout = 1, 10*time.Second })
	hung, other := r.add(at(1, "hung")), r.add(at(2, "other"))
	r.ready()
	start := r.view.Now - 1000*time.Second
	r.view.Visible = []Entity{hung, other}
	r.until(start+10*time.Second, "hung")
	if got := r.edges(hung, other); !slices.Equal(got, []int{256, 256}) {
		t.Fatalf("%v", got)
	}
	r.until(start+11*time.Second, "hung")
	if got := r.edges(hung, other); !slices.Equal(got, []int{256, 2048}) {
		t.Fatalf("%v, %+v", got, r.s.Stats())
	}
	if st := r.s.Stats(); st.Timeouts != 1 || st.Reserved != 0 || st.ActiveOps != 0 {
		t.Errorf("%+v", st)
	}
	r.until(start+17*time.Second, "")
	if got := r.edges(hung, other); !slices.Equal(got, []int{2048, 2048}) {
		t.Errorf("%v, %+v", got, r.s.Stats())
	}
}

// An upload that the device never finishes gives its slot back. What it has got
// counts as there.
func TestUploadThatNeverEnds(t *testing.T) {
	device := &pacedDevice{busy: map[ID]bool{}}
	r := newStreamRig(t, func(o *StreamOptions, r *rig) {
		device.fakeDevice = r.device
		o.Device, o.Pacer, o.FirstLoads = device, device, 1
	})
	var es []Entity
	for i := range 3 {
		es = append(es, r.add(at(float64(50+i), fmt.Sprint("t", i))))
	}
	r.until(60*time.Second, "")
	if st := r.s.Stats(); st.Minimum != 1 || st.Loading != 1 {
		t.Fatalf("%+v", st)
	}
	r.until(61*time.Second, "")
	if got := r.edges(es...); !slices.Equal(got, []int{256, 256, 0}) {
		t.Errorf("%v", got)
	}
	if st := r.s.Stats(); st.Timeouts != 1 || st.Failures != 1 || st.Missing != 0 {
		t.Errorf("%+v", st)
	}
	for _, e := range es {
		r.s.Remove(e)
	}
	r.tick()
}

func TestNegativeTimeout(t *testing.T) {
	p, _ := ProfileNamed("balanced")
	if _, err := NewStreamer(StreamOptions{Params: p, Device: &fakeDevice{}, Loader: &fakeLoader{}, Timeout: -1}); !errors.Is(err, ErrParams) {
		t.Error(err)
	}
}
