package preview

import (
	"errors"
	"fmt"

	"github.com/untoldkit/untold/runtime"
)

// ErrNothingLoads is matched by the error of a headless run that shows nothing
// because no file of what is wanted can be loaded.
var ErrNothingLoads = errors.New("preview: nothing can be loaded")

// diskAttempts is how often a file on the disk is tried: what is missing or damaged
// is no better five seconds later, but for one that was just being written.
const diskAttempts = 2

// futile is what is known of tiles that fail to load, by their ids: the worst of
// their representations, which all are tried in turn.
type futile struct {
	tiles map[string]failedLoad
	tick  uint64 // of the runtime, since when nothing is on its way
}

// failedLoad is the latest failure of a tile.
type failedLoad struct {
	attempt int
	err     error
	over    bool // it is as likely to succeed as it will ever be
}

// lost notes a load that went wrong.
func (a *app) lost(e *runtime.Event) {
	if !isFailure(e.Kind) || e.Err == nil {
		return
	}
	if a.futile.tiles == nil {
		a.futile.tiles = map[string]failedLoad{}
	}
	last := failedLoad{attempt: e.Attempt, err: e.Err, over: e.RetryIn.Seconds() >= a.o.Config.RetryBackoffMax}
	if a.o.Fetcher == nil {
		last.over = e.Attempt >= diskAttempts
	}
	a.futile.tiles[e.Tile] = last
}

// nothingLoads ends a run that would show nothing however long it waited: all
// that is wanted has failed, so often that the delay before the next attempt is the
// longest (on a disk diskAttempts times), and nothing is on its way.
func (a *app) nothingLoads() error {
	st := a.s.Stats()
	f := &a.futile
	if !a.still() || len(a.drawn) > 0 || len(f.tiles) == 0 || st.ActiveLoads > 0 || st.PendingLoadBacklog > 0 || st.LoadCandidates > 0 {
		f.tick = st.Ticks
		return nil
	}
	if st.Ticks < f.tick+wantTicks {
		return nil // what has just failed may be followed by another representation
	}
	wanted, first := 0, ""
	for _, t := range a.s.Snapshot().Tiles {
		if t.Wanted == runtime.RepNone {
			continue
		}
		if last, ok := f.tiles[t.ID]; !ok || !last.over || t.Resident != 0 {
			return nil
		}
		if wanted++; first == "" {
			first = t.ID
		}
	}
	if wanted == 0 {
		return nil
	}
	last := f.tiles[first]
	return fmt.Errorf("%w: none of the %d tiles of %s that are wanted, tried %s; %s: %w. Run untold validate on it, or cook the scene again",
		ErrNothingLoads, wanted, a.open.Source.Path, times(last.attempt), first, last.err)
}

// times writes a count of attempts.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
