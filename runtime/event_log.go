package runtime

import (
	"log/slog"

	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/payload"
)

// maxEventBacklog is how many events are kept for a caller of Events that is
// late: the oldest go first, some at a time, because those that stay are moved.
const (
	maxEventBacklog = 1 << 14
	eventsAtOnce    = 1 << 12
)

// eventLog collects what happens, stamped with the time and the frame, and
// writes what is odd to the logger too.
type eventLog struct {
	*env
	log         *slog.Logger
	logs        bool // somebody reads the log
	list, spare []event.Event
	dropped     uint64
	changes     uint64 // of anything that a Snapshot shows
}

func newEventLog(e *env, log *slog.Logger) *eventLog {
	l := &eventLog{env: e, log: log, logs: log != nil}
	if log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	return l
}

// emit appends an event.
func (l *eventLog) emit(e event.Event) {
	e.Time, e.Frame = l.now, l.frame
	l.changes++
	l.list = append(l.list, e)
}

// take returns the events since the last call. They are valid until the next one.
func (l *eventLog) take() []event.Event {
	out := l.list
	clear(l.spare)
	l.list, l.spare = l.spare[:0], out
	return out
}

// trim drops the oldest events when nobody takes them.
func (l *eventLog) trim() {
	if over := len(l.list) - maxEventBacklog; over >= eventsAtOnce {
		l.list = l.list[:copy(l.list, l.list[over:])]
		l.dropped += uint64(over)
	}
}

// event returns an event about a representation of a tile.
func (l *eventLog) event(k event.Kind, r *record, rep payload.Rep) event.Event {
	e := event.Event{Kind: k, Scene: r.scene.id, Tile: r.scene.tiles.id[r.tile], Rep: rep}
	if level, ok := rep.Level(); ok {
		e.Level = level
	}
	return e
}

func (l *eventLog) emitRep(k event.Kind, r *record, rep payload.Rep) { l.emit(l.event(k, r, rep)) }

// warn reports something odd about a tile, to the log and the logger.
func (l *eventLog) warn(r *record, rep payload.Rep, message string) {
	e := l.event(event.Warn, r, rep)
	e.Message = message
	l.emit(e)
	l.log.Warn(message, "tile", e.Tile, "rep", rep)
}

func loadKind(r payload.Rep) event.Kind {
	return [...]event.Kind{event.TileDispatch, event.HLODLoad, event.LODLoad}[classOf(r)]
}

func loadedKind(r payload.Rep) event.Kind {
	return [...]event.Kind{event.TileParsed, event.HLODLoaded, event.LODLoaded}[classOf(r)]
}

func failedKind(r payload.Rep) event.Kind {
	return [...]event.Kind{event.TileFailed, event.HLODFailed, event.LODFailed}[classOf(r)]
}

func unloadKind(r payload.Rep) event.Kind {
	return [...]event.Kind{event.TileUnload, event.HLODUnload, event.LODUnload}[classOf(r)]
}
