package runtime

import (
	"time"

	"github.com/untoldkit/untold/runtime/payload"
)

// Kind names an event.
type Kind string

// The kinds of events of this tier, in the words of the simulator's event
// stream.
const (
	EventTileDispatch     Kind = "tile.dispatch"
	EventTileParsed       Kind = "tile.parsed"
	EventTileFailed       Kind = "tile.failed"  // Attempt, RetryIn, Err
	EventTileTimeout      Kind = "tile.timeout" // Attempt, RetryIn
	EventTileRetry        Kind = "tile.retry"
	EventTileGrace        Kind = "tile.grace"
	EventTileGraceCleared Kind = "tile.grace_cleared"
	EventTileCancel       Kind = "tile.cancel"
	EventTileDiscard      Kind = "tile.discard"
	EventTileUnload       Kind = "tile.unload"
	EventHLODLoad         Kind = "hlod.load"
	EventHLODLoaded       Kind = "hlod.loaded"
	EventHLODFailed       Kind = "hlod.failed" // Attempt, RetryIn, Err
	EventHLODUnload       Kind = "hlod.unload"
	EventLODLoad          Kind = "lod.load"   // Level, here and below
	EventLODLoaded        Kind = "lod.loaded" //
	EventLODFailed        Kind = "lod.failed" // Attempt, RetryIn, Err
	EventLODUnload        Kind = "lod.unload"
	EventMeshLoad         Kind = "mesh.load" // Mesh, here and below
	EventMeshLoaded       Kind = "mesh.loaded"
	EventMeshFailed       Kind = "mesh.failed" // Attempt, RetryIn, Err
	EventMeshUnload       Kind = "mesh.unload"
	EventEvictTile        Kind = "evict.tile" // Rep; its unload event follows
	EventEvictMesh        Kind = "evict.lru"  // Mesh; its unload event follows
	EventEvictShed        Kind = "evict.shed" // Count of entities whose textures were lowered
	EventDrawn            Kind = "drawn"      // Rep
	EventSceneLoad        Kind = "scene.load"
	EventSceneUnload      Kind = "scene.unload"
	EventSceneReload      Kind = "scene.reload" // Scene has taken over from one whose manifest has changed; Message
	EventWarn             Kind = "warn"         // Message

	// Of Regions. The events of the scene come before those of its region.
	EventRegionLoad   Kind = "region.load"
	EventRegionLoaded Kind = "region.loaded"
	EventRegionFailed Kind = "region.failed" // Attempt, RetryIn, Err
	EventRegionUnload Kind = "region.unload"
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
