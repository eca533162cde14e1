package runtime

import (
	"math"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

func TestBackoff(t *testing.T) {
	cfg := config.Default()
	s := &env{cfg: cfg}
	// N failures, then so many seconds.
	for n, want := range map[uint16]float64{0: 5, 1: 5, 2: 10, 3: 20, 4: 40, 5: 60, 6: 60, 1000: 60, math.MaxUint16: 60} {
		if got := s.backoff(n).Seconds(); got != want {
			t.Errorf("after %d failures %v s, want %v", n, got, want)
		}
	}
	s.cfg.RetryBackoffBase, s.cfg.RetryBackoffMax = 0, 0
	if got := s.backoff(math.MaxUint16); got != 0 {
		t.Errorf("without backoff: %v", got)
	}
}

func TestSeconds(t *testing.T) {
	for v, want := range map[float64]time.Duration{0: 0, 0.1: 100 * time.Millisecond, 0.016: 16 * time.Millisecond, math.Inf(1): math.MaxInt64 / 4, 1e300: math.MaxInt64 / 4} {
		if got := seconds(v); got != want {
			t.Errorf("%v s: %v, want %v", v, got, want)
		}
	}
}

// What is cancelled while it waits for a parse slot never reaches the Loader.
func TestCancelBetweenFetchAndParse(t *testing.T) {
	f := &fakeFetcher{latency: 100 * time.Millisecond}
	r := newRig(t, sceneOf(tileAt("a", face(10)), tileAt("b", face(20))), withFetcher(f), withLatency(30),
		withConfig(func(c *config.Config) { c.MaxConcurrentTileLoads, c.EnableImportanceSort = 1, false }))
	for r.now() < 10 {
		f.deliver()
		if r.now() > 1 {
			r.camera.Position[0] = -700
		}
		r.step()
	}
	r.expect(`0 tile.dispatch a; 0 tile.dispatch b; 1.1 tile.cancel a; 1.1 tile.cancel b; 1.1 tile.discard b`)
	if len(r.loader.Started) != 1 || r.s.loads.fetching != [classes]int{} {
		t.Errorf("%d parses started, fetching %v", len(r.loader.Started), r.s.loads.fetching)
	}
}

// Failures, timeouts, cancels and retries count the events of their names.
func TestCountersCountTheirEvents(t *testing.T) {
	r := newRig(t, sceneOf(tileAt("a", face(0), hlodAt(95), lodsAt(60)), tileAt("b", face(20)), tileAt("c", face(30), hlodAt(60))),
		withConfig(func(c *config.Config) {
			c.TileParseTimeoutSeconds, c.RetryBackoffBase, c.MaxConcurrentTileLoads = 2, 1, 8
		}),
		withFault(func(q payload.Request) string {
			return map[string]string{"a": "hang", "b": "fail"}[q.TileID]
		}))
	r.path(30, [2]float64{0, -98}, [2]float64{5, -40}, [2]float64{12, -20}, [2]float64{15, -700}, [2]float64{20, -30}, [2]float64{20.1, -800})
	st := r.s.Stats()
	for _, c := range []struct {
		name  string
		count uint64
		kinds []string
	}{
		{"failures", st.Failures, []string{"tile.failed", "hlod.failed", "lod.failed"}},
		{"timeouts", st.Timeouts, []string{"tile.timeout"}},
		{"cancels", st.Cancels, []string{"tile.cancel"}},
		{"retries", st.Retries, []string{"tile.retry"}},
	} {
		if n := len(r.events(c.kinds...)); n == 0 || c.count != uint64(n) {
			t.Errorf("%d %s, %d events\n%v", c.count, c.name, n, r.events())
		}
	}
}

// Only Update starts loads: a download that is over starts no parse in the
// calls that tear things down.
func TestLoadsStartInUpdateOnly(t *testing.T) {
	for name, call := range map[string]func(*Streamer) error{
		"UnloadAll":   func(s *Streamer) error { s.UnloadAll(); return nil },
		"RemoveScene": func(s *Streamer) error { return s.RemoveScene(1) },
		"ReloadScene": func(s *Streamer) error {
			_, err := s.ReloadScene(1, Source{Manifest: sceneOf(), Path: "scene/scene.json"})
			return err
		},
	} {
		f := &fakeFetcher{}
		r := newRig(t, sceneOf(tileAt("a", face(10)), tileAt("b", face(20))), withFetcher(f))
		r.step()
		f.deliver()
		if err := call(r.s); err != nil {
			t.Fatal(err)
		}
		if n := len(r.loader.Started); n != 0 {
			t.Errorf("%s started %d loads", name, n)
		}
		r.step()
		if r.s.loads.parsing != [classes]int{} {
			t.Errorf("%s: %v slots are taken", name, r.s.loads.parsing)
		}
	}
}
