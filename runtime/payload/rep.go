package payload

import (
	"fmt"
	"strconv"
)

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
	return RepNone, fmt.Errorf("unknown representation %q: want none, full, hlod or lod0 to lod%d", s, MaxLODLevels-1)
}

// RepSet is a set of representations.
type RepSet uint64

// Has reports whether r is in the set.
func (s RepSet) Has(r Rep) bool { return s>>r&1 != 0 }

// With returns the set with r.
func (s RepSet) With(r Rep) RepSet { return s | 1<<r }

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
