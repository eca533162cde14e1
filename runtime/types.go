package runtime

import (
	"time"

	"github.com/untoldkit/untold/runtime/payload"
)

// Camera is a point of view in world space. With FovYDegrees of 0 there is no
// view: the frustum gate passes everything and occlusion is not considered.
type Camera struct {
	Position    [3]float64 // metres
	Forward     [3]float64 // view direction, any length; zero keeps the last one
	Up          [3]float64 // zero: +Y
	FovYDegrees float64    // full vertical angle, in (0, 180)
	Aspect      float64    // width over height
	Near, Far   float64    // metres, 0 < Near < Far
}

// TileState is the state of a tile's full representation.
type TileState uint8

// The states. Unloading is only seen while a cancelled load has not answered.
const (
	TileUnloaded TileState = iota
	TileParsing            // requested: downloading, queued or being parsed
	TileParsed             // resident
	TileFailed             // waiting for the next attempt
	TileUnloading
)

var tileStateNames = [...]string{"unloaded", "parsing", "parsed", "failed", "unloading"}

// String returns the name in lower case.
func (s TileState) String() string { return tileStateNames[min(s, TileUnloading)] }

// Drawn is one entry of the list to draw.
//
// A tile that fades has two entries, and so has a place that passes from a node of
// the pyramid to what lies below it, or back: one for what goes and one for what
// comes, or more where something fades within what fades. The opacities of all that
// is drawn in one place add up to 1. A device that dithers draws of each entry the
// pixels whose threshold, from 0 to 1, lies from From up to From + Fade: those of
// one place lie side by side, so that each pixel is covered once. Both are multiples
// of 1/4096 and add up exactly.
type Drawn struct {
	payload.Key
	Fade float64 // opacity: 1, or less while it fades in (rising) or out (falling)
	From float64 // where its part of a dithered mask begins; 0 when it does not fade
	// Parts is, of a node of the pyramid, the children for which it is drawn: bit i
	// is the entity that the payload names by the id of child i. 0: everything. A
	// node has an entry for each opacity that it has, one behind the other, and no
	// two name the same child.
	Parts uint64
}

// TileStatus describes a tile that is not idle.
type TileStatus struct {
	Scene    payload.SceneID
	Tile     int32  // index in the manifest's tiles
	ID       string // tile_id
	State    TileState
	Wanted   payload.Rep    // what the tile should show at its distance
	Resident payload.RepSet // what is uploaded
	Drawn    payload.Rep
	Fading   payload.Rep // the outgoing representation of a running fade, or RepNone
	Progress float64     // of the fade, 0 to 1
	Distance float64     // metres from the camera to the box, as of the last tick

	// Of a full tile that streams mesh by mesh; Meshes is 0 for others.
	Meshes, MeshesLoaded int
	Visual               TileVisualState
}

// Snapshot is an immutable picture of a Streamer, safe to share between
// goroutines.
type Snapshot struct {
	Frame uint64
	Time  time.Duration
	Tiles []TileStatus // only tiles that are not idle, by scene and index
	Stats Stats
}
