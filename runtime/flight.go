package runtime

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"
)

// ErrTimeout is the error of a load that the watchdog gave up on.
var ErrTimeout = errors.New("runtime: the load did not finish in time")

// class groups representations that share a cap on concurrent loads.
type class uint8

const (
	classFull class = iota
	classHLOD
	classLOD
	classes
)

func classOf(r Rep) class { return min(class(r-RepFull), classLOD) }

// phase is where a request is.
type phase uint8

const (
	phaseFetching phase = iota // at the Fetcher
	phaseWaiting               // fetched, waits for a slot
	phaseParsing               // at the Loader, holds a slot
	phaseParts                 // at a PartLoader: the geometry of a stub
)

// maxFetches is how many requests of one class may be at the Fetcher or wait
// for a slot behind it: enough to keep the slots busy, few enough to follow a
// camera that turns round.
const maxFetches = 8

// flight is a request that has not been answered. It outlives its tile's
// interest: the slot is taken until the worker is done.
type flight struct {
	request    Request
	scene      *scene // nil once the scene is gone
	class      class
	phase      phase
	orphan     bool    // nobody waits for the answer
	reread     bool    // of a tile that is resident, see readAgain
	stubs      []int32 // in phaseParts: whose geometry it is
	wanted     int     // how many of them are waited for
	memory     int64
	started    time.Duration
	parseStart time.Duration
	cancel     context.CancelFunc
}

// freeSlots returns how many requests of a class may start now.
func (s *Streamer) freeSlots(c class) int {
	if s.deps.Fetcher != nil {
		return maxFetches - s.fetching[c]
	}
	return s.parseSlots(c)
}

func (s *Streamer) parseSlots(c class) int {
	limit := [...]int{s.cfg.MaxConcurrentTileLoads, s.cfg.MaxConcurrentHLODLoads, s.cfg.MaxConcurrentLODLoads}[c]
	return limit - s.parsing[c]
}

// fitsParseBudget reports whether a full tile of so many bytes may be parsed
// beside those in flight. One tile may always load.
func (s *Streamer) fitsParseBudget(memory int64) bool {
	return s.parseMemory == 0 && s.parsing[classFull] == 0 ||
		float64(s.parseMemory)+float64(memory) <= s.cfg.TileParseMemoryBudgetMB*mib
}

// startLoad requests a representation.
func (s *Streamer) startLoad(r *record, rep Rep) {
	st := r.rep(rep)
	f := s.request(r, rep, int(st.fails)+1)
	st.state, st.token = TileParsing, f.request.Token
	r.touch()
	s.pending += s.expected(r, rep)
	s.stats.Loads++
	s.stats.StartedLoads++
	if rep == RepFull {
		f.memory = r.scene.tiles.memory[r.tile]
		s.stats.LoadingCount++
	}
	s.emitRep(loadKind(rep), r, rep)
	s.send(f)
}

// request makes a flight for a representation.
func (s *Streamer) request(r *record, rep Rep, attempt int) *flight {
	t := r.scene.tiles
	p := t.payloadOf(r.tile, rep)
	s.lastToken++
	f := s.newFlight()
	ctx, cancel := context.WithCancel(s.ctx)
	*f = flight{
		request: Request{
			Token: s.lastToken, Key: r.key(rep), TileID: t.id[r.tile], Attempt: attempt,
			Dir: r.scene.dir, Path: p.path, Size: p.size, SHA256: p.sha256, Split: s.splitOf(r, rep, p.size),
			Context: ctx, Done: &s.completions,
		},
		scene: r.scene, class: classOf(rep), started: s.now, cancel: cancel,
	}
	s.stats.BytesRequested += p.size
	s.flights = append(s.flights, f)
	return f
}

// send hands a flight to the Fetcher, or without one to the Loader.
func (s *Streamer) send(f *flight) {
	if s.deps.Fetcher != nil {
		s.fetching[f.class]++
		s.deps.Fetcher.Fetch(f.request)
		return
	}
	s.startParse(f)
}

// startParse hands a flight to the Loader; the watchdog begins.
func (s *Streamer) startParse(f *flight) {
	f.phase, f.parseStart = phaseParsing, s.now
	s.parsing[f.class]++
	s.parseMemory += f.memory
	s.deps.Loader.Start(f.request)
}

// promote starts the parses of fetched flights while slots are free, in the
// order of their requests.
func (s *Streamer) promote() {
	if s.deps.Fetcher == nil {
		return
	}
	for _, f := range s.flights {
		if f.phase != phaseWaiting || s.parseSlots(f.class) <= 0 ||
			f.class == classFull && !s.fitsParseBudget(f.memory) {
			continue
		}
		s.fetching[f.class]--
		s.startParse(f)
	}
}

// deliver takes all answers that have come since the last Update.
func (s *Streamer) deliver() {
	s.answers = s.completions.box.Drain(s.answers)
	for i := range s.answers {
		a := &s.answers[i]
		if at := s.flightByToken(a.token); at >= 0 {
			s.answered(at, a)
		} else {
			s.stats.Stale++
			a.result.Asset.Release()
		}
		*a = completion{}
	}
	if prewarmed := s.registry.takeFinished(); prewarmed || len(s.answers) > 0 {
		s.wake = true
	}
}

// answered handles one answer to the flight at index at.
func (s *Streamer) answered(at int, a *completion) {
	f := s.flights[at]
	if a.fetched != (f.phase == phaseFetching) {
		s.stats.Stale++ // a second answer
		a.result.Asset.Release()
		return
	}
	if a.fetched && a.result.Err == nil && !f.orphan {
		f.phase, f.request.Local = phaseWaiting, a.local
		return
	}
	done := *f
	s.endFlight(at)
	r := done.record()
	switch {
	case r == nil:
		a.result.Asset.Release()
	case done.orphan:
		a.result.Asset.Release()
		s.discarded(r, &done)
	case done.phase == phaseParts:
		s.partsLoaded(r, &done, &a.result)
	case done.reread:
		s.rereadDone(r, &done, &a.result)
	case a.result.Err != nil:
		a.result.Asset.Release()
		s.stats.LastFailedAsyncLoadMs = milliseconds(s.now - done.started)
		s.failed(r, done.request.Key.Rep, a.result.Err)
	default:
		s.loaded(r, &done, &a.result)
	}
}

// record returns the tile that a flight was for, nil when its scene is gone.
func (f *flight) record() *record {
	if f.scene == nil {
		return nil
	}
	return f.scene.recordOf(f.request.Key.Tile)
}

// endFlight frees what a flight holds.
func (s *Streamer) endFlight(at int) {
	f := s.flights[at]
	f.cancel()
	switch f.phase {
	case phaseParsing:
		s.parsing[f.class]--
		s.parseMemory -= f.memory
	case phaseParts:
		s.partLoads--
	default:
		s.fetching[f.class]--
	}
	s.flights = slices.Delete(s.flights, at, at+1)
	*f = flight{}
	s.spareFlights = append(s.spareFlights, f)
}

func (s *Streamer) newFlight() *flight {
	if n := len(s.spareFlights); n > 0 {
		f := s.spareFlights[n-1]
		s.spareFlights = s.spareFlights[:n-1]
		return f
	}
	return new(flight)
}

// flightByToken returns the index of a flight, -1 when it is over. Flights are
// in the order of their tokens.
func (s *Streamer) flightByToken(token uint64) int {
	at, ok := slices.BinarySearchFunc(s.flights, token, func(f *flight, t uint64) int {
		switch {
		case f.request.Token < t:
			return -1
		case f.request.Token > t:
			return 1
		}
		return 0
	})
	if !ok {
		return -1
	}
	return at
}

// loaded makes a representation resident.
func (s *Streamer) loaded(r *record, f *flight, res *Result) {
	rep := f.request.Key.Rep
	start := s.deps.Clock.Now()
	err := s.place(r, rep, res)
	s.stats.LastApplyLoadedMeshMs = milliseconds(s.deps.Clock.Now() - start)
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
	s.countLoaded(f, res)
	if rep == RepFull {
		s.stats.LoadingCount--
	} else {
		s.stats.LastAsyncReloadLODMs = took
	}
	s.makeResident(r, rep, res)
	r.scene.reloading.fails = 0
	s.emitRep(loadedKind(rep), r, rep)
	s.stamp(r, rep)
	s.toggled(r, rep)
}

// countLoaded counts the bytes of a file that has been loaded. Those of one that
// comes in parts count with the parts.
func (s *Streamer) countLoaded(f *flight, res *Result) {
	if res.Asset != nil && res.Asset.Parts != nil {
		s.stats.BytesRequested -= f.request.Size
		return
	}
	s.stats.BytesLoaded += f.request.Size
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
	s.suspect(r, rep, err)
}

// discarded ends the cancelled load of a full tile; those of levels are over
// when they are cancelled.
func (s *Streamer) discarded(r *record, f *flight) {
	if f.request.Key.Rep != RepFull || r.full().state != TileUnloading || r.full().token != f.request.Token {
		return
	}
	r.full().state = TileUnloaded
	r.touch()
	s.stats.LoadingCount--
	s.emitRep(EventTileDiscard, r, RepFull)
}

// backoff returns the delay after so many consecutive failures.
func (s *Streamer) backoff(fails uint16) time.Duration {
	d := s.cfg.RetryBackoffBase * float64(uint64(1)<<min(max(fails, 1)-1, 62))
	return seconds(min(d, s.cfg.RetryBackoffMax))
}

// retryable reports whether a representation may be requested now.
func (s *Streamer) retryable(st *repState) bool {
	return st.state == TileUnloaded || st.state == TileFailed && s.now-st.failedAt >= s.backoff(st.fails)
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

// watchdog gives up on loads that take too long, of every class: none may keep
// a slot for good. Downloads have deadlines of their own; theirs here only
// guards against a Fetcher that never answers.
func (s *Streamer) watchdog() {
	parse := seconds(s.cfg.TileParseTimeoutSeconds)
	fetch := seconds(s.cfg.HTTP.ResourceTimeout*float64(s.cfg.HTTP.Attempts)) + parse
	for at := 0; at < len(s.flights); {
		f := s.flights[at]
		late := f.phase == phaseParsing && s.now-f.parseStart > parse || (f.phase == phaseFetching || f.phase == phaseParts) && s.now-f.started > fetch
		if !late {
			at++
			continue
		}
		done := *f
		s.endFlight(at)
		if r := done.record(); r != nil && done.orphan {
			s.discarded(r, &done)
		} else if r != nil && done.phase == phaseParts {
			s.partsLoaded(r, &done, &Result{Err: ErrTimeout})
		} else if r != nil && done.reread {
			s.rereadDone(r, &done, &Result{Err: ErrTimeout})
		} else if r != nil {
			s.failed(r, done.request.Key.Rep, ErrTimeout)
		}
	}
}

// cancelLoad gives up a load. A full tile stays in TileUnloading, and so blocks
// another dispatch, until its worker has answered; a level is free at once, and
// only the slot waits.
func (s *Streamer) cancelLoad(r *record, rep Rep) {
	st := r.rep(rep)
	at := s.flightByToken(st.token)
	r.touch()
	if rep != RepFull {
		st.state = TileUnloaded
		s.emitRep(unloadKind(rep), r, rep)
		s.stamp(r, rep)
	} else {
		st.state = TileUnloading
		s.stats.Cancels++
		s.emitRep(EventTileCancel, r, rep)
	}
	if at < 0 {
		return
	}
	f := s.flights[at]
	f.orphan = true
	f.cancel()
	if f.phase == phaseWaiting { // no worker has it
		done := *f
		s.endFlight(at)
		s.discarded(r, &done)
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
