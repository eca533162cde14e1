package simulate

import (
	"strings"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// Scenario is a parsed scenario file. Times are relative to frame 0.
type Scenario struct {
	Name, Note string
	Cooked     bool // made by Cooked: the input was a manifest

	// Manifest is the scene. Parse leaves it nil when the file names a
	// manifest by its path; Load reads that one too.
	Manifest     *manifest.Manifest
	ManifestPath string           // as in the file, relative to its folder
	Tiles        map[string]Extra // what a manifest cannot say, by tile id
	// Textures are the sizes of the textures that tiles and nodes name; those of
	// a cooked scene are in its files.
	Textures map[string]texfile.Size

	// World is where the scene is and what streams beside it; entities and the tiles
	// of regions stand in Tiles too. WorldPath names a file that Load reads it from,
	// relative to the scenario's folder.
	World
	WorldPath string

	Config config.Config

	DT       time.Duration // time between frames
	Duration time.Duration // the last frame is the last one not after it
	Path     CameraPath

	Latency  Latency // from request to completion, without Download
	Download Latency // network time before the parse starts
	Faults   []Fault
	Memory   []MemoryKey
	Pressure []PressureKey
	Actions  []Action
	// Visible, when set, is from when on geometry enters the published visible
	// set, in the frame after it became resident. Nil: at once.
	Visible *time.Duration

	Exact       bool // events of tiles, HLODs and LODs that Expect lacks are differences
	Expect      []Expectation
	ExpectNone  []Expectation
	ExpectStats []StatExpectation
}

// Downloads reports whether payloads take network time.
func (s *Scenario) Downloads() bool {
	l := &s.Download
	return l.Default > 0 || len(l.Reps)+len(l.Tiles)+len(l.Attempts) > 0
}

// Extra is what a scenario says about a tile beyond its manifest entry.
type Extra struct {
	Nodes    int64   // renderable nodes of the full geometry, at most MaxNodes
	Meshes   []Mesh  // these nodes one by one; nil: Nodes equal ones in the tile's box
	GPUBytes int64   // of the full geometry
	HLOD     int64   // GPU bytes of the HLOD
	LODs     []int64 // GPU bytes of the LODs, the finest first
	// Textures of the full geometry, in the tile's box, of the HLOD and of the
	// LODs, by name.
	Textures, HLODTextures []string
	LODTextures            [][]string
	Parsed                 bool // resident before frame 0
}

// Mesh is a node of a tile's full geometry.
type Mesh struct {
	Name     string
	Parent   string // of a node before it, "": none
	Bounds   manifest.Bounds
	GPUBytes int64 // 0: nothing to render, only a parent
	Textures []string
}

// Latency gives times by representation and tile.
type Latency struct {
	Default  time.Duration
	Reps     map[string]time.Duration   // by "full", "lod", "hlod", "mesh" or "texture"
	Tiles    map[string]time.Duration   // by "id" or "id/rep"
	Attempts map[string][]time.Duration // the same keys; one for each attempt, the last repeats
}

// Of returns the latency of one attempt, counted from 1, to load a
// representation ("full", "hlod", "lod0", ...) of a tile.
func (l *Latency) Of(tile, rep string, attempt int) time.Duration {
	for _, key := range [...]string{tile + "/" + rep, tile} {
		if list := l.Attempts[key]; len(list) > 0 {
			return list[max(0, min(attempt, len(list))-1)]
		}
	}
	for _, key := range [...]string{tile + "/" + rep, tile} {
		if d, ok := l.Tiles[key]; ok {
			return d
		}
	}
	if d, ok := l.Reps[strings.TrimRight(rep, "0123456789")]; ok {
		return d
	}
	return l.Default
}

// Fault makes loads of one representation of a tile, or the uploads of one of
// its nodes, fail or never complete, or the loads of a texture fail.
type Fault struct {
	Tile, Rep string
	Mesh      string // name of a node; "": a load of Rep
	Texture   string // name of a texture; then nothing else but Times counts
	Hang      bool
	Times     int64 // the first so many attempts; 0: all
}

// MemoryKey sets budgets and the use of memory by others from a time on. A nil
// field keeps its value.
type MemoryKey struct {
	T                             time.Duration
	GeometryBudget, TextureBudget *int64
	GeometryUsed, TextureUsed     *int64
}

// PressureKey is a memory pressure signal of the operating system.
type PressureKey struct {
	T        time.Duration
	Critical bool // else a warning
}

// The values of Action.Do.
const (
	ForceUnloadAll = "forceUnloadAll"
	ReloadScene    = "reloadScene"
	SetTransform   = "setTransform" // of the scene, to Transform
)

// Action is something that the program around the runtime does.
type Action struct {
	T         time.Duration
	Do        string
	Transform *[16]float64 // of SetTransform
}

// Expectation describes an event: every key that it names must agree.
type Expectation struct {
	T     time.Duration
	AnyT  bool // no time given (expect_none only)
	Event string
	Keys  []Key // besides t and event, in the order of the file
	line  int
}

// Key is a key of an event: the value is a string or a float64.
type Key struct {
	Name  string
	Value any
}

// StatExpectation is the value of a counter after
// the frame at a time.
type StatExpectation struct {
	T       time.Duration
	Counter string
	Value   float64
	line    int
}

// CameraPath is a camera over time and its lens.
type CameraPath struct {
	Keys        []CameraKey // by time
	FovYDegrees float64     // vertical
	Aspect      float64     // width over height
	Near, Far   float64     // metres
}

// CameraKey is where the camera is at a time.
type CameraKey struct {
	T        time.Duration
	Position geom.Vec3
	Forward  geom.Vec3 // not normalised
	// Linear moves there evenly from the previous key; else the camera jumps
	// at T.
	Linear bool
}
