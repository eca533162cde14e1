package runtime

// maxEventBacklog is how many events are kept for a caller of Events that is
// late: the oldest go first.
const maxEventBacklog = 1 << 14

// Events returns what happened since the last call, in order. The slice is
// valid until the call of Events after this one. When Events is not called,
// the last few thousand events are kept.
func (s *Streamer) Events() []Event {
	out := s.events
	clear(s.eventsSpare)
	s.events, s.eventsSpare = s.eventsSpare[:0], out
	return out
}

// emit appends to the log.
func (s *Streamer) emit(e Event) {
	e.Time, e.Frame = s.now, s.frame
	s.snapshot = nil
	s.events = append(s.events, e)
}

// trimEvents bounds the log, once per Update.
func (s *Streamer) trimEvents() {
	if over := len(s.events) - maxEventBacklog; over > 0 {
		s.events = s.events[:copy(s.events, s.events[over:])]
		s.stats.DroppedEvents += uint64(over)
	}
}

// event returns an event about a representation of a tile.
func (s *Streamer) event(k Kind, r *record, rep Rep) Event {
	e := Event{Kind: k, Scene: r.scene.id, Tile: r.scene.tiles.id[r.tile], Rep: rep}
	if level, ok := rep.Level(); ok {
		e.Level = level
	}
	return e
}

func (s *Streamer) emitRep(k Kind, r *record, rep Rep) { s.emit(s.event(k, r, rep)) }

// warn reports something odd about a tile, to the log and the logger.
func (s *Streamer) warn(r *record, rep Rep, message string) {
	e := s.event(EventWarn, r, rep)
	e.Message = message
	s.emit(e)
	s.log.Warn(message, "tile", e.Tile, "rep", rep)
}

func loadKind(r Rep) Kind {
	return [...]Kind{EventTileDispatch, EventHLODLoad, EventLODLoad}[classOf(r)]
}

func loadedKind(r Rep) Kind {
	return [...]Kind{EventTileParsed, EventHLODLoaded, EventLODLoaded}[classOf(r)]
}

func failedKind(r Rep) Kind {
	return [...]Kind{EventTileFailed, EventHLODFailed, EventLODFailed}[classOf(r)]
}

func unloadKind(r Rep) Kind {
	return [...]Kind{EventTileUnload, EventHLODUnload, EventLODUnload}[classOf(r)]
}
