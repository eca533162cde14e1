package runtime

import (
	"math"
	"time"

	"github.com/untoldkit/untold/runtime/config"
)

// env is what every part of a Streamer may read: the configuration, the time and
// the camera of the present call, and the scenes with the records of their
// tiles. Only the Streamer writes it, but for wake.
type env struct {
	now       time.Duration
	frame     uint64
	tickCount uint32
	wake      bool // tick in this frame: something came in
	sleepless bool // tests only: look at everything in every tick
	fetches   bool // a Fetcher brings the payloads
	scenes    []*scene

	// Parameters of cfg as durations.
	handoffMaxWait, dwell, fadeDuration time.Duration
	updateInterval, burstInterval       time.Duration
	gracePeriod, minResident            time.Duration

	camera Camera // with the last valid position and direction
	cfg    config.Config
}

// newEnv works out what follows from a configuration alone.
func newEnv(cfg *config.Config) *env {
	e := &env{
		cfg:            *cfg,
		updateInterval: seconds(cfg.UpdateInterval), burstInterval: seconds(cfg.BurstTickInterval),
		gracePeriod: seconds(cfg.UnloadGracePeriod), minResident: seconds(cfg.MinimumParsedTileResidentSeconds),
		dwell: seconds(cfg.SecondaryRepresentationMinDwellSeconds), handoffMaxWait: seconds(cfg.HandoffMaxWait),
		fadeDuration: seconds(cfg.FadeDuration),
	}
	e.camera.Forward = [3]float64{0, 0, -1}
	return e
}

// ready reports whether a resident representation can take over: the device
// can draw it, or has had long enough. A tile that streams mesh by mesh has to
// be drawable, however long that takes.
func (e *env) ready(st *repState) bool {
	return st.resident() && (st.drawable || !st.split && e.now-st.residentAt >= e.handoffMaxWait)
}

// retryable reports whether a representation may be requested now.
func (e *env) retryable(st *repState) bool {
	return st.state == TileUnloaded || st.state == TileFailed && e.now-st.failedAt >= e.backoff(st.fails)
}

// backoff returns the delay after so many consecutive failures.
func (e *env) backoff(fails uint16) time.Duration {
	d := e.cfg.RetryBackoffBase * float64(uint64(1)<<min(max(fails, 1)-1, 62))
	return seconds(min(d, e.cfg.RetryBackoffMax))
}

// outlineFirst reports whether a tile of which nothing is drawn loads its smallest
// representation first. The strict hand-off keeps the order of the engine.
func (e *env) outlineFirst() bool {
	return e.fetches && e.cfg.Handoff == config.HandoffCovered
}

// forEach visits all records by scene and tile.
func (e *env) forEach(f func(*record)) {
	for _, sc := range e.scenes {
		for _, tile := range sc.active {
			f(sc.recordOf(tile))
		}
	}
}

// forEachSplit visits the out-of-core tiles by scene and tile.
func (e *env) forEachSplit(f func(*record)) {
	for _, sc := range e.scenes {
		for _, tile := range sc.split {
			f(sc.recordOf(tile))
		}
	}
}

// activeFades counts the tiles that fade, and the places that nodes of pyramids give
// or take.
func (e *env) activeFades() int {
	n := 0
	for _, sc := range e.scenes {
		n += sc.fades
		if sc.refinement != nil {
			n += sc.refinement.fades
		}
	}
	return n
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// seconds converts a parameter; what is too long for a Duration is for ever.
func seconds(v float64) time.Duration {
	ns := math.Round(v * float64(time.Second))
	if !(ns < math.MaxInt64/4) {
		return math.MaxInt64 / 4
	}
	return time.Duration(ns)
}
