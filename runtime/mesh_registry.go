package runtime

import (
	"context"
	"slices"
	"sync"

	"github.com/untoldkit/untold/runtime/payload"
)

// RootID names the owner of streamed meshes: a full tile, or an entity without
// one, from its load to its unload. 0 is none; ids are not used twice.
type RootID uint64

// StubID names a mesh, or a LOD group, that is streamed on its own.
type StubID struct {
	Root  RootID
	Index int32 // among the stubs of the root
}

// CPUEntry says where the geometry of a mesh lies in the main memory.
type CPUEntry struct {
	Name  string // unique in its root, the same in every load
	Part  int32  // of the root's asset, see Key
	Bytes int64  // of GPU memory, to reserve it before the upload
}

// Prewarmer decodes the textures of a root in the background, before the first
// of its meshes is uploaded.
type Prewarmer interface {
	// Prewarm decodes. It is called once per root, on a goroutine of its own, and
	// should end soon after ctx does. asset is valid until it returns.
	Prewarm(ctx context.Context, root RootID, asset *payload.Asset) error
}

// CPURegistry keeps what streamed meshes are uploaded from: an entry per mesh,
// entries by group and level for LOD groups, and for each root one pin on the
// decoded asset whose buffers they share. Entries outlive uploads and
// evictions, so a mesh that comes back is uploaded from the main memory.
// ReleaseWarm drops the pin and keeps the entries; the Streamer reads the file
// again when a mesh of the root is wanted.
//
// Everything of a root is kept under the one id of the root and goes with
// RemoveRoot. Methods are safe for concurrent use.
type CPURegistry struct {
	mu     sync.Mutex
	roots  map[RootID]*cpuRoot
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

// cpuRoot is what is kept for one root.
type cpuRoot struct {
	asset      *payload.Asset    // nil: released, or not there yet
	parts      map[int32]cpuPart // geometry by part, of an asset that comes without
	bytes      int64
	entries    []cpuStub // by stub
	prewarming bool

	// textures guards the decoding of textures, and nothing else: uploads of
	// other roots, and those of this root after it, run side by side.
	textures sync.Mutex
	decoded  bool // under textures
}

// cpuStub holds a mesh, or the levels of a group.
type cpuStub struct {
	mesh   CPUEntry
	levels []CPUEntry // of a group: by level as stored; else nil
	known  bool
}

// NewCPURegistry returns an empty registry; prewarmer may be nil.
func NewCPURegistry(prewarmer Prewarmer) *CPURegistry {
	ctx, cancel := context.WithCancel(context.Background())
	return &CPURegistry{roots: map[RootID]*cpuRoot{}, prewarmer: prewarmer, ctx: ctx, cancel: cancel}
}

func (c *CPURegistry) root(id RootID) *cpuRoot {
	r := c.roots[id]
	if r == nil {
		r = &cpuRoot{}
		c.roots[id] = r
	}
	return r
}

// StoreAsset pins the decoded asset of a root, in the place of the one that may
// be pinned already, and starts the prewarm of its textures unless they have
// been decoded. The registry takes over the asset.
func (c *CPURegistry) StoreAsset(id RootID, asset *payload.Asset) {
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
func (c *CPURegistry) prewarm(id RootID, r *cpuRoot, asset *payload.Asset) {
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
func (r *cpuRoot) ensure(decode func() error) error {
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

// EnsureTextures calls decode unless the textures of the root have been decoded,
// one caller per root at a time; the next one tries again after an error.
func (c *CPURegistry) EnsureTextures(id RootID, decode func() error) error {
	c.mu.Lock()
	r := c.roots[id]
	c.mu.Unlock()
	if r == nil {
		return nil
	}
	return r.ensure(decode)
}

// takeFinished ends the prewarms that are over; true if there were any. So a
// prewarm that ends in the middle of an Update is seen by the next one.
func (c *CPURegistry) takeFinished() bool {
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

// PrewarmActive reports whether the textures of a root are being decoded: its
// meshes wait until they are.
func (c *CPURegistry) PrewarmActive(id RootID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.roots[id]
	return r != nil && r.prewarming
}

// stub returns the place of an entry, a new one when it is unknown.
func (c *CPURegistry) stub(id StubID) *cpuStub {
	r := c.root(id.Root)
	if n := int(id.Index) + 1; n > len(r.entries) {
		r.entries = append(r.entries, make([]cpuStub, n-len(r.entries))...)
	}
	return &r.entries[id.Index]
}

// lookup returns an entry, nil when it is unknown.
func (c *CPURegistry) lookup(id StubID) *cpuStub {
	r := c.roots[id.Root]
	if r == nil || id.Index < 0 || int(id.Index) >= len(r.entries) || !r.entries[id.Index].known {
		return nil
	}
	return &r.entries[id.Index]
}

// StoreMesh stores the entry of a mesh.
func (c *CPURegistry) StoreMesh(id StubID, e CPUEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.stub(id) = cpuStub{mesh: e, known: true}
}

// StoreLODMesh appends the entry of a level of a LOD group; the finest comes
// first.
func (c *CPURegistry) StoreLODMesh(group StubID, e CPUEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stub(group)
	s.known = true
	s.levels = append(s.levels, e)
}

// Mesh returns the entry of a mesh; ok is false when there is none.
func (c *CPURegistry) Mesh(id StubID) (e CPUEntry, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.lookup(id)
	if s == nil || s.levels != nil {
		return e, false
	}
	return s.mesh, true
}

// LODMesh returns the entry of one level of a group, by its place in it; ok is
// false when there is none.
func (c *CPURegistry) LODMesh(group StubID, place int) (e CPUEntry, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.lookup(group)
	if s == nil || place < 0 || place >= len(s.levels) {
		return e, false
	}
	return s.levels[place], true
}

// LODMeshes returns the entries of all levels of a group; nil when the stub is
// none.
func (c *CPURegistry) LODMeshes(group StubID) []CPUEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.lookup(group); s != nil {
		return slices.Clone(s.levels)
	}
	return nil
}

// HasLODData reports whether a stub is a LOD group.
func (c *CPURegistry) HasLODData(id StubID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.lookup(id)
	return s != nil && s.levels != nil
}

// RemoveStub forgets a mesh or a LOD group.
func (c *CPURegistry) RemoveStub(id StubID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.lookup(id); s != nil {
		*s = cpuStub{}
	}
}

// Warm reports whether the geometry of a root is in the main memory.
func (c *CPURegistry) Warm(id RootID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.roots[id]
	return r != nil && r.asset != nil
}

// View returns a part of a root's asset for upload; nil when the root is not
// warm or has no such part. The caller releases it.
func (c *CPURegistry) View(id RootID, part int32) *payload.Asset {
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
func (c *CPURegistry) asset(id RootID) *payload.Asset {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.roots[id]; r != nil {
		return r.asset
	}
	return nil
}

// ReleaseWarm drops the decoded asset of a root and returns how many bytes that
// were. The entries stay.
func (c *CPURegistry) ReleaseWarm(id RootID) int64 {
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
func (c *CPURegistry) unpin(r *cpuRoot) *payload.Asset {
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

// RemoveRoot forgets a root with all its entries and its asset.
func (c *CPURegistry) RemoveRoot(id RootID) {
	c.mu.Lock()
	var old *payload.Asset
	if r := c.roots[id]; r != nil {
		old = c.unpin(r)
		delete(c.roots, id)
	}
	c.mu.Unlock()
	old.Release()
}

// CancelAll forgets everything, ends the prewarms and waits for them. The
// registry takes no further prewarms.
func (c *CPURegistry) CancelAll() {
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

// CPUUsage says what a registry holds.
type CPUUsage struct {
	Bytes      int64 // of decoded assets in the main memory
	Roots      int
	Warm       int // roots whose geometry is in the main memory
	Prewarming int
}

// Usage returns what the registry holds.
func (c *CPURegistry) Usage() CPUUsage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return CPUUsage{Bytes: c.bytes, Roots: len(c.roots), Warm: c.warm, Prewarming: c.active}
}
