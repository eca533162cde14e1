package runtime

import "github.com/untoldkit/untold/runtime/payload"

// deliver takes what has been loaded since the last Update, and notices that
// prewarms have ended.
func (s *Streamer) deliver() {
	answered := s.loads.take(func(l load, res *payload.Result) {
		if res.Err != nil && !l.orphan && !l.reread && l.phase != phaseParts && l.record() != nil {
			s.residency.count.lastFailedMs = milliseconds(s.now - l.started)
		}
		s.finish(&l, res)
	})
	if prewarmed := s.meshes.registry.takeFinished(); prewarmed || answered {
		s.wake = true
	}
}

// watchdog gives up on what loaders and fetchers don't answer.
func (s *Streamer) watchdog() {
	s.loads.expire(func(l load) { s.finish(&l, &payload.Result{Err: ErrTimeout}) })
}

// finish takes over the answer to a load that has ended.
func (s *Streamer) finish(l *load, res *payload.Result) {
	r := l.record()
	switch {
	case r == nil:
		res.Asset.Release()
	case l.orphan:
		res.Asset.Release()
		s.residency.discarded(r, l)
	case l.phase == phaseParts:
		s.meshes.partsLoaded(r, l, res)
	case l.reread:
		if s.meshes.rereadDone(r, l, res) {
			s.residency.unload(r, payload.RepFull)
		}
	case res.Err != nil:
		res.Asset.Release()
		s.residency.failed(r, l.request.Key.Rep, res.Err)
	default:
		s.residency.loaded(r, l, res)
	}
}
