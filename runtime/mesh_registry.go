package runtime

import (
	"context"
	"sync"

	"github.com/untoldkit/untold/runtime/payload"
)

// RootID names the owner of streamed meshes: a full tile, or an entity without
// one, from its load to its unload. 0 is none; ids are not used twice.
type RootID uint64

// stubID names a mesh, or a LOD group, that is streamed on its own.
type stubID struct {
	Root  RootID
	Index int32 // among the stubs of the root
}

// meshEntry says which part of a root's asset is uploaded for a mesh, or for one
// level of a LOD group.
type meshEntry struct {
	part  int32 // see payload.Key
	bytes int64 // of GPU memory
}

// Prewarmer decodes the textures of a root in the background, before the first
// of its meshes is uploaded.
type Prewarmer interface {
	// Prewarm decodes. It is called once per root, on a goroutine of its own, and
	// should end soon after ctx does. asset is valid until it returns.
	Prewarm(ctx context.Context, root RootID, asset *payload.Asset) error
}

// meshRegistry keeps what streamed meshes are uploaded from: for each mesh its
// entries, and for each root one pin on the decoded asset whose buffers they
// share. Entries outlive uploads and evictions: a mesh that was evicted is
// uploaded again from them, without a load. releaseWarm drops the pin and keeps
// the entries; the Streamer reads the file again when a mesh of the root is
// wanted.
//
// Everything of a root is kept under its id and goes with removeRoot. Methods are
// safe for concurrent use.
type meshRegistry struct {
	mu     sync.Mutex
	roots  map[RootID]*meshRoot
	bytes  int64 // of all pinned assets
	warm   int   // roots with a pin
	active int   // prewarms that are running

	prewarmer Prewarmer
	ctx       context.Context
	cancel    context.CancelFunc
	tasks     sync.WaitGroup
	finished  []RootID // prewarms that nobody has taken notice of
	notify    func()
}

// meshRoot is what is kept for one root.
type meshRoot struct {
	asset      *payload.Asset     // nil: released, or not there yet
	parts      map[int32]meshPart // geometry by part, of an asset that comes without
	bytes      int64
	entries    [][]meshEntry // by stub, those of a LOD group by level, the finest first
	prewarming bool

	// textures guards the decoding of textures, and nothing else: uploads of
	// other roots, and those of this root after it, run side by side.
	textures sync.Mutex
	decoded  bool // under textures
}

// newMeshRegistry returns an empty registry; prewarmer may be nil.
func newMeshRegistry(prewarmer Prewarmer) *meshRegistry {
	ctx, cancel := context.WithCancel(context.Background())
	return &meshRegistry{roots: map[RootID]*meshRoot{}, prewarmer: prewarmer, ctx: ctx, cancel: cancel}
}

func (c *meshRegistry) root(id RootID) *meshRoot {
	r := c.roots[id]
	if r == nil {
		r = &meshRoot{}
		c.roots[id] = r
	}
	return r
}

// storeAsset pins the decoded asset of a root, in the place of the one that may
// be pinned already, and starts the prewarm of its textures unless they have
// been decoded. The registry takes over the asset.
func (c *meshRegistry) storeAsset(id RootID, asset *payload.Asset) {
	asset.Ready = nil // only parts of it go to a Device
	c.mu.Lock()
	r := c.root(id)
	old := c.unpin(r)
	r.asset, r.bytes = asset, asset.CPUBytes()
	c.bytes += r.bytes
	c.warm++
	if c.prewarmer != nil && !r.prewarming && c.ctx.Err() == nil {
		if held := asset.Retain(); held != nil {
			r.prewarming = true
			c.active++
			c.tasks.Go(func() { c.prewarm(id, r, held) })
		}
	}
	c.mu.Unlock()
	old.Release()
}

// prewarm runs on its own goroutine.
func (c *meshRegistry) prewarm(id RootID, r *meshRoot, asset *payload.Asset) {
	// What cannot be decoded is drawn white: no reason to hold meshes back.
	_ = r.ensure(func() error { return c.prewarmer.Prewarm(c.ctx, id, asset) })
	asset.Release()
	c.mu.Lock()
	c.finished = append(c.finished, id)
	notify := c.notify
	c.mu.Unlock()
	if notify != nil {
		notify()
	}
}

// ensure decodes the textures of a root unless that has been done.
func (r *meshRoot) ensure(decode func() error) error {
	r.textures.Lock()
	defer r.textures.Unlock()
	if r.decoded {
		return nil
	}
	if err := decode(); err != nil {
		return err
	}
	r.decoded = true
	return nil
}

// takeFinished ends the prewarms that are over; true if there were any. So a
// prewarm that ends in the middle of an Update is seen by the next one.
func (c *meshRegistry) takeFinished() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.finished)
	for _, id := range c.finished {
		c.active--
		if r := c.roots[id]; r != nil {
			r.prewarming = false
		}
	}
	c.finished = c.finished[:0]
	return n > 0
}

// prewarmActive reports whether the textures of a root are being decoded: its
// meshes wait until they are.
func (c *meshRegistry) prewarmActive(id RootID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.roots[id]
	return r != nil && r.prewarming
}

// storeMesh stores the entries of a mesh: one, or one for each level of a LOD
// group, the finest first.
func (c *meshRegistry) storeMesh(id stubID, entries ...meshEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.root(id.Root)
	if n := int(id.Index) + 1; n > len(r.entries) {
		r.entries = append(r.entries, make([][]meshEntry, n-len(r.entries))...)
	}
	r.entries[id.Index] = entries
}

// mesh returns the entries of a mesh, nil when it is unknown.
func (c *meshRegistry) mesh(id stubID) []meshEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.roots[id.Root]
	if r == nil || id.Index < 0 || int(id.Index) >= len(r.entries) {
		return nil
	}
	return r.entries[id.Index]
}

// isWarm reports whether the geometry of a root is in the main memory.
func (c *meshRegistry) isWarm(id RootID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.roots[id]
	return r != nil && r.asset != nil
}

// view returns a part of a root's asset for upload; nil when the root is not
// warm or has no such part. The caller releases it.
func (c *meshRegistry) view(id RootID, part int32) *payload.Asset {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.roots[id]
	if r == nil || r.asset == nil {
		return nil
	}
	n := r.asset.Layout()
	if part < 1 || int(part) > len(n.Nodes) {
		return nil
	}
	if r.asset.Parts == nil {
		return r.asset.View(int(n.Nodes[part-1]))
	}
	if p, ok := r.parts[part]; ok {
		return r.asset.PartView(int(n.Nodes[part-1]), p.asset)
	}
	return nil
}

// asset returns the pinned asset of a root, nil when it is not warm.
func (c *meshRegistry) asset(id RootID) *payload.Asset {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.roots[id]; r != nil {
		return r.asset
	}
	return nil
}

// releaseWarm drops the decoded asset of a root and returns how many bytes that
// were. The entries stay.
func (c *meshRegistry) releaseWarm(id RootID) int64 {
	c.mu.Lock()
	r := c.roots[id]
	if r == nil || r.asset == nil {
		c.mu.Unlock()
		return 0
	}
	freed := r.bytes
	old := c.unpin(r)
	c.mu.Unlock()
	old.Release()
	return freed
}

// unpin takes the asset off a root; the caller releases it without the lock.
func (c *meshRegistry) unpin(r *meshRoot) *payload.Asset {
	old := r.asset
	if old != nil {
		c.bytes -= r.bytes
		c.warm--
	}
	for _, p := range r.parts {
		p.asset.Release()
	}
	r.asset, r.parts, r.bytes = nil, nil, 0
	return old
}

// removeRoot forgets a root with all its entries and its asset.
func (c *meshRegistry) removeRoot(id RootID) {
	c.mu.Lock()
	var old *payload.Asset
	if r := c.roots[id]; r != nil {
		old = c.unpin(r)
		delete(c.roots, id)
	}
	c.mu.Unlock()
	old.Release()
}

// cancelAll forgets everything, ends the prewarms and waits for them. The
// registry takes no further prewarms.
func (c *meshRegistry) cancelAll() {
	c.mu.Lock()
	c.cancel()
	assets := make([]*payload.Asset, 0, len(c.roots))
	for _, r := range c.roots {
		assets = append(assets, c.unpin(r))
	}
	clear(c.roots)
	c.mu.Unlock()
	for _, a := range assets {
		a.Release()
	}
	c.tasks.Wait()
	c.takeFinished()
}

// registryUsage says what a registry holds.
type registryUsage struct {
	Bytes      int64 // of decoded assets in the main memory
	Roots      int
	Warm       int // roots whose geometry is in the main memory
	Prewarming int
}

// usage returns what the registry holds.
func (c *meshRegistry) usage() registryUsage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return registryUsage{Bytes: c.bytes, Roots: len(c.roots), Warm: c.warm, Prewarming: c.active}
}
