package manifestbuild

import (
	"path"

	"github.com/untoldkit/untold/manifest"
)

// olderNodes has the file names of the older manifest's pyramid. No file tells what a node
// stands in for, so without an older manifest there is no pyramid.
func (b *builder) olderNodes() map[string]*payload {
	out := map[string]*payload{}
	if from := b.opts.From; from != nil && from.Pyramid != nil {
		for i := range from.Pyramid.Nodes {
			out[path.Base(from.Pyramid.Nodes[i].Path)] = nil
		}
	}
	return out
}

// pyramid brings the nodes that have a file up to date and leaves out the others,
// with what they stood in for that is no more.
func (b *builder) pyramid(m *manifest.Manifest) {
	older := m.Pyramid
	m.Pyramid = nil
	if older == nil {
		return
	}
	known := map[string]bool{}
	for i := range m.Tiles {
		known[m.Tiles[i].ID] = true
	}
	var nodes []manifest.PyramidNode
	for _, n := range older.Nodes {
		p := b.nodes[path.Base(n.Path)]
		var children []string
		for _, id := range n.Children {
			if known[id] {
				children = append(children, id)
			}
		}
		if p == nil || len(children) == 0 {
			b.note("lost-node", n.Path, true, "the node %s of the pyramid is left out: it has no file, or nothing below it has", n.ID)
			continue
		}
		known[n.ID] = true
		if n.SHA256 != p.sha256 {
			// The textures that it takes are not known here.
			n.EstimatedMemoryBytes = max(n.EstimatedMemoryBytes, p.memory)
		}
		n.Path, n.Children = p.path, children
		n.FileSizeBytes, n.SHA256, n.TriangleCount, n.GeometryBytes, n.Bounds = p.size, p.sha256, p.triangles, p.memory, p.bounds
		nodes = append(nodes, n)
	}
	if len(nodes) > 0 {
		m.Pyramid = &manifest.Pyramid{Nodes: nodes}
	}
}
