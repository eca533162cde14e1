package manifest

import (
	"fmt"
	"math"

	"github.com/untoldkit/untold/internal/human"
)

// Pyramid is a tree of merged HLODs above the tiles: each node stands in for all
// that lies below it when that is far away. It is a key of ours, which the reference
// engine passes over; every tile can be shown without it.
type Pyramid struct {
	Nodes []PyramidNode `json:"nodes"` // children before their parents
}

// maxNodeChildren is the greatest number of children of a node.
const maxNodeChildren = 64

// PyramidNode is one merged HLOD. Its payload has an entity for each child of which
// something is left, named by the child's id and in the order of Children, so that a
// node can be drawn for some of its children only.
type PyramidNode struct {
	ID       string   `json:"node_id"`  // unique among nodes and tiles
	Level    int      `json:"level"`    // above that of each child; tiles are of level 0, and in grids below nodes of level 1 alone
	Children []string `json:"children"` // ids, at most 64; each has one parent
	// Path of the payload, as Tile.Path.
	Path                 string  `json:"path_relative_to_manifest"`
	FileSizeBytes        int64   `json:"file_size_bytes"`
	SHA256               string  `json:"sha256,omitempty"`
	TriangleCount        int     `json:"triangle_count,omitempty"`
	GeometryBytes        int64   `json:"geometry_bytes,omitempty"` // of its vertices and indices on the GPU, 0 when unknown
	EstimatedMemoryBytes int64   `json:"estimated_memory_bytes"`   // on the GPU, textures included
	GeometricError       float64 `json:"geometric_error"`          // greatest distance from the full geometry, metres; at least any child's
	VisualError          float64 `json:"visual_error"`             // size of what is seen of the difference, metres; at least any child's
	Bounds               Bounds  `json:"bounds"`
}

// GPUBytes returns how many bytes of geometry a node may be expected to take on the GPU, as
// Level.GPUBytes.
func (n *PyramidNode) GPUBytes() int64 { return gpuBytes(n.GeometryBytes, n.FileSizeBytes) }

// pyramid reads a pyramid; it must be called through loose.
func (s *scanner) pyramid() *Pyramid {
	p := &Pyramid{}
	s.members(func(key string) bool {
		if key != "nodes" {
			return false
		}
		p.Nodes = short((*scanner).pyramidNode)(s)
		return true
	})
	return p
}

// pyramidNode reads a node. One that does not say what is seen of its difference is not
// perfect, or it would be drawn for all below it from any distance: its geometric error
// counts, which is no smaller, or where it has none either the size of its box, since no
// error is larger than what it is of.
func (s *scanner) pyramidNode() PyramidNode {
	v := plain[struct {
		PyramidNode
		Geometric *float64 `json:"geometric_error"`
		Visual    *float64 `json:"visual_error"`
	}](s)
	n := v.PyramidNode
	if v.Geometric != nil {
		n.GeometricError = *v.Geometric
	}
	switch {
	case v.Visual != nil:
		n.VisualError = *v.Visual
	case s.failed():
	case v.Geometric != nil:
		n.VisualError = n.GeometricError
		s.remark("the node has no visual_error; its geometric_error counts for it")
	default:
		n.VisualError = n.Bounds.Box().Size().Len()
		s.remark("the node has neither visual_error nor geometric_error; the size of its box counts for what is seen")
	}
	return n
}

func (e *encoder) pyramid(p *Pyramid) {
	e.open('{')
	lines(e.line("    ", "nodes"), "    ", p.Nodes, e.pyramidNode)
	e.raw("\n  }")
}

func (e *encoder) pyramidNode(n *PyramidNode) {
	e.where = "the pyramid node " + n.ID
	e.object(func() {
		e.key("node_id").str(n.ID)
		e.key("level").integer(n.Level)
		e.key("children").strs(n.Children)
		e.key("path_relative_to_manifest").path(n.Path)
		e.key("file_size_bytes").int64(n.FileSizeBytes)
		if n.SHA256 != "" {
			e.key("sha256").str(n.SHA256)
		}
		if n.TriangleCount != 0 {
			e.key("triangle_count").integer(n.TriangleCount)
		}
		if n.GeometryBytes != 0 {
			e.key("geometry_bytes").int64(n.GeometryBytes)
		}
		e.key("estimated_memory_bytes").int64(n.EstimatedMemoryBytes)
		e.key("geometric_error").float(n.GeometricError)
		e.key("visual_error").float(n.VisualError)
		e.key("bounds").bounds(&n.Bounds)
	})
}

// pyramid checks the nodes: that they are a forest whose errors never fall going up.
func (v *validator) pyramid() {
	p := v.m.Pyramid
	if p == nil {
		return
	}
	floors := v.m.HasFloors()
	type known struct {
		level             int
		inside            bool // a tile that is wanted only from within
		geometric, visual float64
		parent            string
		at                string
	}
	below := make(map[string]*known, len(v.m.Tiles)+len(p.Nodes))
	for i := range v.m.Tiles {
		t := &v.m.Tiles[i]
		below[t.ID] = &known{at: v.tilePointer(i), inside: floors && t.Interior && v.m.InteriorZone != nil}
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		at := fmt.Sprintf("/pyramid/nodes/%d", i)
		own := &known{level: n.Level, geometric: n.GeometricError, visual: n.VisualError, at: at}
		v.payload(at+"/path_relative_to_manifest", at, n.Path, n.FileSizeBytes, n.SHA256, true)
		v.box(n.Bounds, at+"/bounds", codeBounds)
		if n.EstimatedMemoryBytes < 0 || n.GeometryBytes < 0 {
			v.add(codePyramid, at+"/estimated_memory_bytes", "the node takes %d bytes, its geometry %d", n.EstimatedMemoryBytes, n.GeometryBytes)
		}
		if !finiteError(n.GeometricError) || !finiteError(n.VisualError) {
			v.add(codePyramid, at, "the errors %v m and %v m are not both finite and at least 0", n.GeometricError, n.VisualError)
		}
		switch {
		case n.Level < 1:
			v.add(codePyramid, at+"/level", "the level %d is below 1", n.Level)
		case len(n.Children) == 0:
			v.add(codePyramid, at+"/children", "the node has no children")
		case len(n.Children) > maxNodeChildren:
			v.add(codePyramid, at+"/children", "the node has %d children, at most %d are allowed", len(n.Children), maxNodeChildren)
		}
		for _, id := range n.Children[:min(len(n.Children), maxNodeChildren)] {
			c := below[id]
			name := human.Clip(id, 80)
			switch {
			case c == nil:
				v.add(codePyramid, at+"/children", "there is no tile %q, and no node of that name before this one", name)
			case c.parent != "":
				v.add(codePyramid, at+"/children", "%q has a parent already: %s", name, c.parent)
			case c.level >= n.Level || c.level == 0 && n.Level > 1 && !floors:
				v.add(codePyramid, at+"/level", "the child %q of a node of level %d is of level %d", name, n.Level, c.level)
			case c.inside:
				v.add(codePyramid, at+"/children", "the tile %q is wanted only inside the interior zone, and the node would show it outside", name)
			case c.geometric > n.GeometricError || c.visual > n.VisualError:
				v.add(codePyramid, at, "the errors %v m and %v m are smaller than those of the child %q", n.GeometricError, n.VisualError, name)
			}
			if c != nil && c.parent == "" {
				c.parent = at
			}
		}
		switch first := below[n.ID]; {
		case n.ID == "":
			v.add(codePyramid, at+"/node_id", "the node id is empty")
		case first != nil:
			v.add(codePyramid, at+"/node_id", "the node id %q is also that of %s", human.Clip(n.ID, 80), first.at)
		default:
			below[n.ID] = own
		}
	}
}

func finiteError(x float64) bool { return x >= 0 && !math.IsInf(x, 1) }
