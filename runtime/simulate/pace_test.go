package simulate

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/payload"
)

// fakeWall is a clock on the wall that only sleeping moves on.
type fakeWall struct {
	now     time.Time
	slept   time.Duration
	sleeps  int
	onSleep func()
}

func (w *fakeWall) Now() time.Time { return w.now }

func (w *fakeWall) Sleep(ctx context.Context, d time.Duration) error {
	if d > 0 {
		w.now, w.slept, w.sleeps = w.now.Add(d), w.slept+d, w.sleeps+1
	}
	if w.onSleep != nil {
		w.onSleep()
	}
	return ctx.Err()
}

// line answers each request a fixed time on the wall later.
type line struct {
	wall    *fakeWall
	takes   time.Duration
	due     []time.Time
	waiting []payload.Request
	dirs    []string
	fail    bool
}

func (l *line) Fetch(req payload.Request) {
	l.due, l.waiting, l.dirs = append(l.due, l.wall.now.Add(l.takes)), append(l.waiting, req), append(l.dirs, req.Dir)
}

// deliver answers what is due.
func (l *line) deliver() {
	for len(l.due) > 0 && !l.due[0].After(l.wall.now) {
		var err error
		if l.fail {
			err = errors.New("no answer")
		}
		l.waiting[0].Done.Fetched(l.waiting[0].Token, payload.Fetched{File: "there"}, err)
		l.due, l.waiting = l.due[1:], l.waiting[1:]
	}
}

// TestRealFetcher: the simulated time and the wall clock agree while there are
// downloads, and the run flies when there are none.
func TestRealFetcher(t *testing.T) {
	s := load(t, scenarios+"/d01.json")
	s.Latency = Latency{} // no parse time
	w := &fakeWall{now: time.Unix(1_000_000, 0)}
	l := &line{wall: w, takes: 350 * time.Millisecond}
	w.onSleep = l.deliver
	r := mustRun(t, s, Options{Fetcher: l, Base: "https://cdn.example.com/scene/", wall: w})
	var dispatched, parsed time.Duration
	for _, x := range r.Records {
		switch x.Event {
		case "tile.dispatch":
			dispatched = x.T
		case "tile.parsed":
			parsed = x.T
		}
	}
	// Four frames of 0.1 s for the download, one for the parse.
	if took := parsed - dispatched; took < 400*time.Millisecond || took > 500*time.Millisecond {
		t.Errorf("the load takes %v", took)
	}
	if w.slept < 400*time.Millisecond || w.slept > 500*time.Millisecond {
		t.Errorf("the run sleeps %v", w.slept)
	}
	if !slices.Equal(l.dirs, []string{"https://cdn.example.com/scene/"}) {
		t.Errorf("%q", l.dirs)
	}
	if r.Report.BytesRequested == 0 || r.Report.BytesLoaded != r.Report.BytesRequested || r.Report.Loads != 1 {
		t.Errorf("%+v", r.Report)
	}
}

// TestRealSettles: what is under way at the end comes, but is not waited for
// without end, and is not measured.
func TestRealSettles(t *testing.T) {
	for takes, whole := range map[time.Duration]bool{2 * time.Second: true, 20 * time.Second: false} {
		s := load(t, scenarios+"/d01.json")
		s.Latency, s.Duration = Latency{}, 500*time.Millisecond
		w := &fakeWall{now: time.Unix(1_000_000, 0)}
		l := &line{wall: w, takes: takes}
		w.onSleep = l.deliver
		r := mustRun(t, s, Options{Fetcher: l, wall: w})
		if (r.Report.BytesLoaded == r.Report.BytesRequested) != whole || r.Report.Frames != 6 {
			t.Errorf("%v: %+v", takes, r.Report)
		}
		if last := r.Records[len(r.Records)-1]; last.T > s.Duration {
			t.Errorf("%v: an event at %v", takes, last.T)
		}
		if limit := min(takes, settleTime) + time.Second; w.slept > limit {
			t.Errorf("%v: sleeps %v", takes, w.slept)
		}
	}
}

// TestRealFailures: a download that fails is tried again after the backoff,
// which needs no time on the wall.
func TestRealFailures(t *testing.T) {
	s := load(t, scenarios+"/d01.json")
	w := &fakeWall{now: time.Unix(1_000_000, 0)}
	l := &line{wall: w, takes: 100 * time.Millisecond, fail: true}
	w.onSleep = l.deliver
	r := mustRun(t, s, Options{Fetcher: l, wall: w})
	if r.Report.Failures == 0 || r.Report.Loads != r.Report.Failures || w.slept > time.Duration(r.Report.Loads)*300*time.Millisecond {
		t.Errorf("%+v after %v", r.Report, w.slept)
	}
}

// TestRealStops: the end of the context ends a wait for the network.
func TestRealStops(t *testing.T) {
	s := load(t, scenarios+"/d01.json")
	ctx, cancel := context.WithCancel(context.Background())
	w := &fakeWall{now: time.Unix(1_000_000, 0), onSleep: cancel}
	if _, err := Run(ctx, s, Options{Fetcher: &line{wall: w, takes: time.Hour}, wall: w}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if w.sleeps != 1 {
		t.Errorf("%d sleeps after the end", w.sleeps)
	}
}

func TestPacer(t *testing.T) {
	const dt = 10 * time.Millisecond
	w := &fakeWall{now: time.Unix(1_000_000, 0)}
	p := pacer{wall: w}
	frame := func(busy bool, works time.Duration) time.Duration {
		t.Helper()
		w.now = w.now.Add(works)
		before := w.slept
		if err := p.frame(context.Background(), busy, dt); err != nil {
			t.Fatal(err)
		}
		return w.slept - before
	}
	for i, c := range []struct {
		busy        bool
		works, want time.Duration
	}{
		{false, 3 * time.Millisecond, 0},
		{true, 3 * time.Millisecond, dt}, // the first frame with a load begins to count
		{true, 3 * time.Millisecond, 7 * time.Millisecond},
		{true, 15 * time.Millisecond, 0}, // late by 5 ms
		{true, 2 * time.Millisecond, 3 * time.Millisecond},
		{false, time.Millisecond, 0},
		{true, time.Millisecond, dt},
		{true, time.Second, dt}, // too late to catch up
		{true, 0, dt},
	} {
		if got := frame(c.busy, c.works); got != c.want {
			t.Errorf("frame %d sleeps %v, want %v", i, got, c.want)
		}
	}
}
