package payload

import (
	"context"
	"errors"
)

// ErrClosed is returned by calls on a Streamer or a loader that has been closed,
// and answers the requests that a loader had left.
var ErrClosed = errors.New("the streamer is closed")

// Loader reads and decodes payload files.
type Loader interface {
	// Start begins to load and returns at once. It is called on the owner
	// goroutine. Every request is answered exactly once by
	// req.Done.Loaded, from any goroutine.
	Start(req Request)
}

// Fetcher brings a payload to the local disk before it is loaded.
type Fetcher interface {
	// Fetch begins to fetch and returns at once. Every request is answered
	// exactly once by req.Done.Fetched, from any goroutine. Fetches have
	// deadlines of their own; the parse watchdog starts after them.
	Fetch(req Request)
}

// PartLoader loads the geometry of an Asset that came without any.
type PartLoader interface {
	// LoadParts begins to load some of the meshes of the Asset, as places in its
	// Meshes, and returns at once. It is called on the owner goroutine. Every
	// request is answered exactly once by req.Done.Loaded, from any goroutine,
	// with an Asset that has these Meshes, in this order, and their Geometry. It
	// has deadlines of its own, as a Fetcher.
	LoadParts(req Request, meshes []int)
}

// Request asks for one representation of one tile.
type Request struct {
	// Token is the request's generation: unique and ascending in request order.
	// Answers whose token is no longer current are dropped.
	Token   uint64
	Key     Key
	TileID  string
	Attempt int     // 1 for the first, counts consecutive failures
	Dir     string  // the base of the scene: a folder or an address
	Path    string  // of the payload from Dir, with slashes: open by payloadpath.Open
	Local   Fetched // what a Fetcher brought; its File takes the place of Dir and Path
	Size    int64   // declared bytes of the file, 0 when unknown
	SHA256  string  // declared hash of the file, "" when unknown
	Split   *Split  // for a Fetcher: which files may come in parts; nil: none
	Shared  bool    // other tiles or entities may name the same file: worth a MeshCache
	// Kept is what a MeshCache has of the file. A Loader that finds the file
	// unchanged may answer with another handle on it.
	Kept    *Asset
	Context context.Context
	Done    *Completions
}

// Result is a Loader's answer to a Request.
type Result struct {
	Err           error  // nil on success
	Asset         *Asset // may be nil when the device needs none
	GeometryBytes int64  // GPU memory of vertices and indices
	TextureBytes  int64
	Nodes         int // renderable nodes
}
