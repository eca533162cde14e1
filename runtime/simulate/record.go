package simulate

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/untoldkit/untold/runtime/event"
	"github.com/untoldkit/untold/runtime/texture"
)

// Record is one line of the event stream.
type Record struct {
	T     time.Duration // since frame 0
	Frame uint64
	Event string
	Keys  []Key // in the order of the line
}

// NewRecord converts an event of the runtime; times count from origin.
func NewRecord(e *event.Event, origin time.Duration) Record {
	r := Record{T: e.Time - origin, Frame: e.Frame, Event: string(e.Kind)}
	if e.Tile != "" {
		r.add("tile", e.Tile)
	}
	if e.Mesh != "" {
		r.add("mesh", e.Mesh)
	}
	if e.Region != "" {
		r.add("region", e.Region)
	}
	if e.Count > 0 {
		r.add("count", float64(e.Count))
	}
	switch e.Kind {
	case event.LODLoad, event.LODLoaded, event.LODFailed, event.LODUnload:
		r.add("level", float64(e.Level))
	case event.Drawn, event.EvictTile:
		r.add("rep", e.Rep.String())
	case event.Warn, event.SceneReload:
		r.add("message", e.Message)
	}
	switch e.Kind {
	case event.TileFailed, event.TileTimeout, event.HLODFailed, event.LODFailed, event.MeshFailed, event.RegionFailed:
		r.add("attempt", float64(e.Attempt))
		r.add("retry_in", e.RetryIn.Seconds())
	}
	if e.Err != nil {
		r.add("error", e.Err.Error())
	}
	return r
}

// NewTextureRecord converts an event of a texture, which has no time of its own.
func NewTextureRecord(e *texture.Event, slot texture.Slot, at time.Duration, frame uint64) Record {
	r := Record{T: at, Frame: frame, Event: e.Kind.String()}
	r.add("texture", slot.URI)
	if e.Kind != texture.EventRelease {
		r.add("to", float64(e.To))
	}
	if e.Err != nil {
		r.add("error", e.Err.Error())
	}
	return r
}

func (r *Record) add(name string, value any) { r.Keys = append(r.Keys, Key{name, value}) }

// value returns the value of a key.
func (r *Record) value(name string) (any, bool) {
	for _, k := range r.Keys {
		if k.Name == name {
			return k.Value, true
		}
	}
	return nil, false
}

// AppendJSON appends the record as one line of JSON without the line feed.
func (r *Record) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"t":`...)
	dst = appendSeconds(dst, r.T)
	dst = append(dst, `,"frame":`...)
	dst = strconv.AppendUint(dst, r.Frame, 10)
	dst = append(dst, `,"event":`...)
	dst = appendString(dst, r.Event)
	for _, k := range r.Keys {
		dst = append(dst, ',')
		dst = appendString(dst, k.Name)
		dst = append(dst, ':')
		switch v := k.Value.(type) {
		case string:
			dst = appendString(dst, v)
		case float64:
			dst = strconv.AppendFloat(dst, v, 'f', -1, 64)
		}
	}
	return append(dst, '}')
}

// String returns the record for a person to read: "tile.parsed tile=a".
func (r *Record) String() string { return describeEvent(r.Event, r.Keys) }

func describeEvent(event string, keys []Key) string {
	var b strings.Builder
	b.WriteString(event)
	for _, k := range keys {
		b.WriteString(" " + k.Name + "=")
		switch v := k.Value.(type) {
		case string:
			if strings.ContainsAny(v, " \t\n\"") {
				v = strconv.Quote(v)
			}
			b.WriteString(v)
		case float64:
			b.WriteString(strconv.FormatFloat(v, 'f', -1, 64))
		}
	}
	return b.String()
}

// appendSeconds writes a time in seconds to the microsecond, without an
// exponent.
func appendSeconds(dst []byte, t time.Duration) []byte {
	return strconv.AppendFloat(dst, t.Round(time.Microsecond).Seconds(), 'f', -1, 64)
}

// appendString writes a JSON string; < and > stay as they are.
func appendString(dst []byte, s string) []byte {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	// A string always has an encoding.
	_ = enc.Encode(s)
	return append(dst, strings.TrimSuffix(b.String(), "\n")...)
}
