package runtime

import (
	"fmt"
	"strconv"
	"time"
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

// Rep names a representation of a tile: RepNone, RepFull, RepHLOD or LOD(i).
type Rep uint8

// The representations. LOD(0), the finest per-tile level, is RepLOD0.
const (
	RepNone Rep = iota
	RepFull
	RepHLOD
	RepLOD0
)

// MaxLODLevels is the largest number of LOD levels of one tile.
const MaxLODLevels = 32

// LOD returns the representation of LOD level i; 0 is the finest.
func LOD(i int) Rep { return RepLOD0 + Rep(i) }

// Level returns the level of a LOD, counted from 0, and whether r is one.
func (r Rep) Level() (int, bool) { return int(r) - int(RepLOD0), r >= RepLOD0 }

// String returns none, full, hlod, lod0, lod1, ...
func (r Rep) String() string {
	switch r {
	case RepNone:
		return "none"
	case RepFull:
		return "full"
	case RepHLOD:
		return "hlod"
	}
	return "lod" + strconv.Itoa(int(r-RepLOD0))
}

// ParseRep is the inverse of String.
func ParseRep(s string) (Rep, error) {
	for r := RepNone; r < RepLOD0+MaxLODLevels; r++ {
		if s == r.String() {
			return r, nil
		}
	}
	return RepNone, fmt.Errorf("runtime: unknown representation %q: want none, full, hlod or lod0 to lod%d", s, MaxLODLevels-1)
}

// RepSet is a set of representations.
type RepSet uint64

// Has reports whether r is in the set.
func (s RepSet) Has(r Rep) bool { return s>>r&1 != 0 }

// With returns the set with r.
func (s RepSet) With(r Rep) RepSet { return s | 1<<r }

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

// SceneID names a scene of a Streamer. Ids are not used twice.
type SceneID uint32

// Key names one representation of one tile, or a part of one, for a Device.
type Key struct {
	Scene SceneID
	Tile  int32 // index in the manifest's tiles; the shared bucket comes last
	Rep   Rep
	// Part is 0 for the whole representation. A full tile that streams mesh by
	// mesh is never uploaded as a whole: its renderable nodes are, one by one,
	// as the parts 1, 2, ... in the order of Asset.Entities.
	Part int32
}

// Drawn is one entry of the list to draw.
type Drawn struct {
	Key
	// Fade is the opacity: 1, or less while it fades in (rising) or out
	// (falling). Two entries of a tile that fade add up to 1.
	Fade float64
}

// TileStatus describes a tile that is not idle.
type TileStatus struct {
	Scene    SceneID
	Tile     int32  // index in the manifest's tiles
	ID       string // tile_id
	State    TileState
	Wanted   Rep    // what the tile should show at its distance
	Resident RepSet // what is uploaded
	Drawn    Rep
	Fading   Rep     // the outgoing representation of a running fade, or RepNone
	Progress float64 // of the fade, 0 to 1
	Distance float64 // metres from the camera to the box, as of the last tick

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
