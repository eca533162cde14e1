package runtime

import "github.com/untoldkit/untold/runtime/payload"

// meshPart is the geometry of a part that was loaded on its own.
type meshPart struct {
	asset *payload.Asset
	load  *meshPartLoad
}

// meshPartLoad is what the parts of one load share: its buffers are free when all of
// them are.
type meshPartLoad struct {
	bytes int64
	parts int // that are kept
}

// ready reports whether the geometry of a stub is in the main memory, as far as
// the asset of its root is.
func (c *meshRegistry) ready(id RootID, p *payload.Stub) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.roots[id]
	if r == nil || r.asset == nil || r.asset.Parts == nil {
		return true
	}
	for _, x := range p.Parts {
		if _, ok := r.parts[x.Index]; !ok {
			return false
		}
	}
	return true
}

// storeParts keeps the geometry of some stubs: the meshes of their parts one
// behind the other. It is false when the root is not warm any more or loaded has
// other meshes. A part that has come before is replaced.
func (c *meshRegistry) storeParts(id RootID, plan *payload.Layout, stubs []int32, loaded *payload.Asset) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.roots[id]
	if r == nil || r.asset == nil || r.asset.Parts == nil || loaded == nil {
		return false
	}
	at := 0
	for _, stub := range stubs {
		for _, x := range plan.Stubs[stub].Parts {
			at += len(r.asset.MeshesOf(&r.asset.Entities[plan.Nodes[x.Index-1]]))
		}
	}
	if at != len(loaded.Meshes) {
		return false
	}
	if r.parts == nil {
		r.parts = map[int32]meshPart{}
	}
	load := &meshPartLoad{bytes: int64(len(loaded.Geometry.Vertices) + len(loaded.Geometry.Indices))}
	was := r.bytes
	at = 0
	for _, stub := range stubs {
		for _, x := range plan.Stubs[stub].Parts {
			n := len(r.asset.MeshesOf(&r.asset.Entities[plan.Nodes[x.Index-1]]))
			if part := loaded.Retain(); part != nil {
				part.Meshes = part.Meshes[at : at+n : at+n]
				r.keepPart(x.Index, meshPart{part, load})
			}
			at += n
		}
	}
	c.bytes += r.bytes - was
	return true
}

// keepPart puts a part in the place of the one that may be there. The bytes of a
// load count from its first part to its last.
func (r *meshRoot) keepPart(at int32, p meshPart) {
	if p.load.parts++; p.load.parts == 1 {
		r.bytes += p.load.bytes
	}
	if old, ok := r.parts[at]; ok {
		if old.load.parts--; old.load.parts == 0 {
			r.bytes -= old.load.bytes
		}
		old.asset.Release()
	}
	r.parts[at] = p
}
