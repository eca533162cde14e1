package batch

import (
	"cmp"
	"slices"

	"github.com/untoldkit/untold/runtime/payload"
)

// plan is what is to be done for one cell.
type plan struct {
	items  []*item
	groups [][]*item // to be merged, two or more each
	kept   []*batch  // still right

	// Of all groups, for the guard, and of those to be merged.
	vertices, indices, bytes          int64
	newVertices, newIndices, newBytes int64
}

func compareKeys(a, b payload.Key) int {
	return cmp.Or(cmp.Compare(a.Scene, b.Scene), cmp.Compare(a.Tile, b.Tile), cmp.Compare(a.Rep, b.Rep), cmp.Compare(a.Part, b.Part))
}

// compareGroups puts meshes that can be merged beside each other.
func compareGroups(a, b *item) int {
	return cmp.Or(
		cmp.Compare(a.owner.key.Rep, b.owner.key.Rep), cmp.Compare(a.Level, b.Level),
		cmp.Compare(a.Material, b.Material), cmp.Compare(a.Channels, b.Channels),
	)
}

// plan groups the meshes of a cell and compares the groups with the batches
// that are there.
func (b *Batcher) plan(c *cell, p *plan) {
	*p = plan{items: append(p.items[:0], c.members...), groups: p.groups[:0], kept: p.kept[:0]}
	// Within a group the meshes of one representation stay together: they come
	// and go together, so that the ranges to draw are few.
	slices.SortFunc(p.items, func(x, y *item) int {
		return cmp.Or(compareGroups(x, y), compareKeys(x.owner.key, y.owner.key), cmp.Compare(x.mesh, y.mesh))
	})
	for rest := p.items; len(rest) > 0; {
		n := 1
		for n < len(rest) && compareGroups(rest[0], rest[n]) == 0 {
			n++
		}
		group := rest[:n]
		rest = rest[n:]
		if n < 2 {
			continue
		}
		vertices, indices := int64(0), int64(0)
		for _, x := range group {
			vertices += int64(x.Vertices)
			indices += int64(x.Indices)
		}
		bytes := bytesOf(vertices, indices)
		p.vertices, p.indices, p.bytes = p.vertices+vertices, p.indices+indices, p.bytes+bytes
		if batch := batchOf(group); batch != nil {
			p.kept = append(p.kept, batch)
			continue
		}
		p.groups = append(p.groups, group)
		p.newVertices, p.newIndices, p.newBytes = p.newVertices+vertices, p.newIndices+indices, p.newBytes+bytes
	}
}

// batchOf returns the batch that holds just this group, or nil.
func batchOf(group []*item) *batch {
	batch := group[0].batch
	if batch == nil || len(batch.members) != len(group) {
		return nil
	}
	for _, x := range group {
		if x.batch != batch {
			return nil
		}
	}
	return batch
}

// keep carries the batches that are still right over to this round.
func (b *Batcher) keep(c *cell, p *plan) {
	for _, k := range p.kept {
		k.round = c.generation
	}
}

// jobGroups returns the groups as a job names them.
func (p *plan) jobGroups() []Group {
	out := make([]Group, len(p.groups))
	for i, group := range p.groups {
		g := &out[i]
		g.Members = make([]Member, len(group))
		for k, x := range group {
			g.Members[k] = Member{x.ref(), x.Vertices, x.Indices}
			g.Vertices += x.Vertices
			g.Indices += x.Indices
		}
	}
	return out
}
