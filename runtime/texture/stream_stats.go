package texture

import (
	"math"
	"time"

	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// Stats are the counters of a Streamer.
type Stats struct {
	// Since NewStreamer.
	Loads      uint64 // textures that came for the first time
	Upgrades   uint64 // changes to a larger size
	Downgrades uint64 // changes to a smaller size, those of sheds included
	Sheds      uint64 // entities that gave memory up
	Refused    uint64 // upgrades put off for lack of room
	Failures   uint64 // loads and uploads that failed, Timeouts included
	Timeouts   uint64 // those that took longer than StreamOptions.Timeout
	Stale      uint64 // answers that nobody waited for any more
	PeakBytes  int64
	// PeakReserved is the most that was reserved at a time.
	PeakReserved int64

	// Now.
	Entities  int
	Tracked   int // entities with a texture above the minimum
	ActiveOps int // entities that are changing
	Textures  int
	Waiting   int // textures that have not come yet and are not being loaded
	Loading   int // textures being loaded or uploaded for the first time
	Missing   int // textures whose first load failed
	// Minimum, Medium and Full count the textures on the device by size: within
	// the limits of the tiers, or larger. One that has its source's size is Full.
	Minimum, Medium, Full int
	Bytes                 int64 // on the device
	Reserved              int64 // kept free for upgrades and first loads under way
	Budget                int64 // 0: no limit
	// Hold is how long a pressure hold still lasts.
	Hold time.Duration
	// Idle means that nothing is under way and the last tick found nothing to do
	// but what has no room, waits for a delay, or is missing.
	Idle bool
}

// Stats returns the counters. It looks at every entity and does not allocate.
func (s *Streamer) Stats() Stats {
	st := s.stats
	st.ActiveOps, st.Loading = s.ops, s.first.running
	b := &s.budget
	st.Bytes, st.Reserved, st.Budget = b.used, b.reserved, b.limit
	st.PeakBytes, st.PeakReserved = b.peakUsed, b.peakReserved
	st.Hold = max(0, s.hold-s.now)
	for i := range s.textures.list {
		t := &s.textures.list[i]
		if t.refs == 0 {
			continue
		}
		st.Textures++
		switch t.state {
		case stateWaiting:
			st.Waiting++
		case stateMissing:
			st.Missing++
		case stateResident:
			switch t.tier() {
			case TierFull:
				st.Full++
			case TierMedium:
				st.Medium++
			default:
				st.Minimum++
			}
		}
	}
	for i := range s.entities.list {
		e := &s.entities.list[i]
		if !e.live {
			continue
		}
		st.Entities++
		for _, k := range e.textures {
			if s.textures.list[k].aboveMinimum() {
				st.Tracked++
				break
			}
		}
	}
	st.Idle = s.Idle()
	return st
}

// Idle is Stats.Idle alone.
func (s *Streamer) Idle() bool { return s.resting && len(s.loads.list) == 0 }

// Look is what can be said of one texture, for debug views.
type Look struct {
	Edge    int   // longest edge on the device in texels; 0: nothing there yet
	Source  int   // longest edge of the source, 0 while unknown
	Tier    Tier  // as in Stats; of no meaning while Edge is 0
	Busy    bool  // being loaded or uploaded
	Missing bool  // the first load failed
	Bytes   int64 // on the device
}

// Look returns what can be said of a texture; nothing for an ID without one.
func (s *Streamer) Look(id ID) Look {
	t := s.textures.find(id)
	if t == nil {
		return Look{}
	}
	l := Look{Edge: t.edge(), Busy: t.busy, Missing: t.state == stateMissing, Bytes: t.bytes}
	if l.Edge > 0 {
		l.Source, l.Tier = t.file.Edge(0), t.tier()
	}
	return l
}

// TexelPixels returns how many pixels the largest texel of an entity whose box is seen covers,
// for the camera and the pixels of the last Update: of colours and normals of known scale that
// could be finer, 0 where there are none. While one of its colours or normals has not come it
// is infinite.
func (s *Streamer) TexelPixels(h Entity, sees func(boxMin, boxMax [3]float64) bool) (most float64) {
	e, _ := s.entities.find(h)
	if e == nil || !sees(e.box.Min, e.box.Max) {
		return 0
	}
	distance := e.distanceTo(&s.camera)
	for _, i := range e.textures {
		t := &s.textures.list[i]
		switch {
		case t.name.slot.Use == texfile.Data:
		case t.state == stateWaiting || t.state == stateLoading:
			return math.Inf(1)
		case t.state == stateResident && t.measured() && t.start > t.at[TierFull]:
			most = max(most, s.textures.texelPixels(t, t.file.Edge(t.start), distance))
		}
	}
	return most
}

// EventKind says what an Event reports.
type EventKind uint8

// The kinds.
const (
	EventStart     EventKind = iota // a load begins
	EventLoad                       // a texture came for the first time, or again at the same size
	EventUpgrade                    // it became larger
	EventDowngrade                  // it became smaller
	EventFail                       // a change failed; the texture stays as it is
	EventMissing                    // the first load failed
	EventRelease                    // nobody uses it any more
)

// String returns tex.start, tex.load, ... as in the records of simulate.
func (k EventKind) String() string {
	return [...]string{"tex.start", "tex.load", "tex.upgrade", "tex.downgrade", "tex.fail", "tex.missing", "tex.release"}[min(k, EventRelease)]
}

// Event is something that has happened to a texture.
type Event struct {
	Kind     EventKind
	Texture  ID
	From, To int   // longest edges in texels, 0 for nothing; To of a failed load is what was asked for
	Err      error // of EventFail and EventMissing
}

// Slot returns the folder, URI and use of a texture, for messages; false for an
// ID without one.
func (s *Streamer) Slot(id ID) (Slot, bool) {
	t := s.textures.find(id)
	if t == nil {
		return Slot{}, false
	}
	return t.name.slot, true
}

func (s *Streamer) trace(e Event) {
	if s.events != nil {
		s.events(e)
	}
}
