package runtime

import (
	"errors"
	"math"
	"time"
)

// ErrTimeout is the error of a load that the watchdog gave up on.
var ErrTimeout = errors.New("runtime: the load did not finish in time")

// startLoad requests a representation.
func (s *Streamer) startLoad(r *record, rep Rep) {
	st := r.rep(rep)
	f := s.loads.request(r, rep, int(st.fails)+1, s.budget.splitOf(r, rep))
	st.state, st.token = TileParsing, f.request.Token
	r.touch()
	s.budget.pending += s.budget.expected(r, rep)
	s.stats.Loads++
	s.stats.StartedLoads++
	if rep == RepFull {
		f.memory = r.scene.tiles.memory[r.tile]
		s.stats.LoadingCount++
	}
	s.emitRep(loadKind(rep), r, rep)
	s.loads.send(f)
}

// loaded makes a representation resident.
func (s *Streamer) loaded(r *record, f *load, res *Result) {
	rep := f.request.Key.Rep
	start := s.device.clock.Now()
	err := s.place(r, rep, res)
	s.device.noteUpload(start)
	if err != nil {
		res.Asset.Release()
		s.failed(r, rep, err)
		return
	}
	took := milliseconds(s.now - f.started)
	s.stats.LastAsyncLoadMs = took
	if s.stats.LoadsCompleted == 0 {
		s.stats.AverageAsyncLoadMs = took
	}
	s.stats.AverageAsyncLoadMs += float64((took - s.stats.AverageAsyncLoadMs) * 0.1)
	s.stats.LoadsCompleted++
	s.loads.countLoaded(f, res)
	if rep == RepFull {
		s.stats.LoadingCount--
	} else {
		s.stats.LastAsyncReloadLODMs = took
	}
	s.makeResident(r, rep, res)
	r.scene.reloading.fails = 0
	s.emitRep(loadedKind(rep), r, rep)
	r.stamp(rep)
	s.toggled(r, rep)
}

// failed puts a representation into backoff.
func (s *Streamer) failed(r *record, rep Rep, err error) {
	st := r.rep(rep)
	if rep == RepFull {
		s.stats.LoadingCount--
	}
	if st.fails < math.MaxUint16 {
		st.fails++
	}
	st.state, st.failedAt = TileFailed, s.now
	r.touch()
	retry := s.backoff(st.fails)
	kind := failedKind(rep)
	if rep == RepFull && errors.Is(err, ErrTimeout) {
		kind = EventTileTimeout
		s.stats.Timeouts++
	} else {
		s.stats.Failures++
	}
	e := s.event(kind, r, rep)
	e.Attempt, e.RetryIn, e.Err = int(st.fails), retry, err
	s.emit(e)
	s.log.Warn("load failed", "tile", e.Tile, "rep", rep, "attempt", e.Attempt, "retry_in", retry, "err", err)
	s.reloads.suspect(r, rep, err)
}

// discarded ends the cancelled load of a full tile; those of levels are over
// when they are cancelled.
func (s *Streamer) discarded(r *record, f *load) {
	if f.request.Key.Rep != RepFull || r.full().state != TileUnloading || r.full().token != f.request.Token {
		return
	}
	r.full().state = TileUnloaded
	r.touch()
	s.stats.LoadingCount--
	s.emitRep(EventTileDiscard, r, RepFull)
}

// backoff returns the delay after so many consecutive failures.
func (e *env) backoff(fails uint16) time.Duration {
	d := e.cfg.RetryBackoffBase * float64(uint64(1)<<min(max(fails, 1)-1, 62))
	return seconds(min(d, e.cfg.RetryBackoffMax))
}

// retryable reports whether a representation may be requested now.
func (e *env) retryable(st *repState) bool {
	return st.state == TileUnloaded || st.state == TileFailed && e.now-st.failedAt >= e.backoff(st.fails)
}

// revive ends the backoff of a full tile near the camera. The levels' ends when
// they are wanted.
func (s *Streamer) revive(r *record) {
	if st := r.full(); st.state == TileFailed && r.near && s.retryable(st) {
		st.state = TileUnloaded
		s.stats.Retries++
		s.emitRep(EventTileRetry, r, RepFull)
	}
}

// cancelLoad gives up a load. A full tile stays in TileUnloading, and so blocks
// another dispatch, until its worker has answered; a level is free at once, and
// only the slot waits.
func (s *Streamer) cancelLoad(r *record, rep Rep) {
	st := r.rep(rep)
	r.touch()
	if rep != RepFull {
		st.state = TileUnloaded
		s.emitRep(unloadKind(rep), r, rep)
		r.stamp(rep)
	} else {
		st.state = TileUnloading
		s.stats.Cancels++
		s.emitRep(EventTileCancel, r, rep)
	}
	if l, over := s.loads.giveUp(st.token); over {
		s.discarded(r, &l)
	}
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
