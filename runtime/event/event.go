// Package event names what a Streamer reports: loads, evictions, hand-offs. It decides nothing.
package event

import (
	"time"

	"github.com/untoldkit/untold/runtime/payload"
)

// Kind names an event.
type Kind string

// The kinds of events in the words of the simulator's event
// stream.
const (
	TileDispatch     Kind = "tile.dispatch"
	TileParsed       Kind = "tile.parsed"
	TileFailed       Kind = "tile.failed"  // Attempt, RetryIn, Err
	TileTimeout      Kind = "tile.timeout" // Attempt, RetryIn
	TileRetry        Kind = "tile.retry"
	TileGrace        Kind = "tile.grace"
	TileGraceCleared Kind = "tile.grace_cleared"
	TileCancel       Kind = "tile.cancel"
	TileDiscard      Kind = "tile.discard"
	TileUnload       Kind = "tile.unload"
	HLODLoad         Kind = "hlod.load"
	HLODLoaded       Kind = "hlod.loaded"
	HLODFailed       Kind = "hlod.failed" // Attempt, RetryIn, Err
	HLODUnload       Kind = "hlod.unload"
	LODLoad          Kind = "lod.load"   // Level, here and below
	LODLoaded        Kind = "lod.loaded" //
	LODFailed        Kind = "lod.failed" // Attempt, RetryIn, Err
	LODUnload        Kind = "lod.unload"
	MeshLoad         Kind = "mesh.load" // Mesh, here and below
	MeshLoaded       Kind = "mesh.loaded"
	MeshFailed       Kind = "mesh.failed" // Attempt, RetryIn, Err
	MeshUnload       Kind = "mesh.unload"
	EvictTile        Kind = "evict.tile" // Rep; its unload event follows
	EvictMesh        Kind = "evict.lru"  // Mesh; its unload event follows
	EvictShed        Kind = "evict.shed" // Count of entities whose textures were lowered
	Drawn            Kind = "drawn"      // Rep
	SceneLoad        Kind = "scene.load"
	SceneUnload      Kind = "scene.unload"
	SceneReload      Kind = "scene.reload" // Scene has taken over from one whose manifest has changed; Message
	Warn             Kind = "warn"         // Message

	// Of Regions. The events of the scene come before those of its region.
	RegionLoad   Kind = "region.load"
	RegionLoaded Kind = "region.loaded"
	RegionFailed Kind = "region.failed" // Attempt, RetryIn, Err
	RegionUnload Kind = "region.unload"
)

// Event is one entry of the log. Fields that a kind does not use are zero.
type Event struct {
	Time    time.Duration // of the Clock
	Frame   uint64        // number of Update calls completed before it, from 0
	Kind    Kind
	Scene   payload.SceneID
	Tile    string      // tile_id, "" for events of a scene
	Rep     payload.Rep // what was loaded, unloaded, drawn
	Level   int         // of a LOD, from 0 = finest
	Mesh    string      // name of a mesh of an out-of-core tile, unique in it
	Region  string      // Region.ID
	Count   int
	Attempt int // consecutive failures, this one included
	RetryIn time.Duration
	Err     error
	Message string
	// Latency is set when a tile draws its full representation, and when a mesh
	// is loaded: the time since the camera came within the streaming radius.
	Latency time.Duration
}
