package gltfexport

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/glb"
)

// maxName bounds a name: hostile records may all name one huge string.
const maxName = 1024

// maxOverlap is how many times over the records of a container may name the
// same bytes or the same records. Writers share whole ranges, which are
// written once and do not count.
const maxOverlap = 4

// container exports one file.
type container struct {
	*exporter
	r    *format.Reader
	dir  string // of the file, for texture paths
	name string // of the file, for messages

	geo       format.Geometry
	vertices  map[vertexKey]vertexSet
	indices   map[indexKey]int
	meshes    map[string]int // by their primitives
	materials []int          // by record, -1 for not made yet
	written   uint64         // bytes of source ranges that were converted
	worlds    []geom.Mat4    // by entity
	lattice   lattice        // of compressed positions
	streams   streams        // of compressed geometry
}

// export adds the container's nodes and returns those without a parent. With
// a node name they are put below a node of that name.
func (c *container) export(node string) ([]int, error) {
	geo, err := c.r.ReadGeometry(c.exporter.geo)
	if err != nil {
		return nil, fmt.Errorf("gltfexport: %s: %w", c.name, err)
	}
	c.geo = geo
	c.vertices, c.indices, c.meshes = map[vertexKey]vertexSet{}, map[indexKey]int{}, map[string]int{}
	c.materials = make([]int, len(c.r.Materials()))
	for i := range c.materials {
		c.materials[i] = -1
	}
	c.res.Containers++
	for _, m := range c.r.WorldTransforms() {
		c.worlds = append(c.worlds, m)
	}
	if c.opts.Compress {
		c.chooseLattice()
		c.streams.first = c.doc.Count(glb.Accessors)
	}
	roots, err := c.nodes(node)
	if err != nil {
		return nil, err
	}
	return roots, c.flush()
}

// text returns a string of the container, cut to a sane length.
func (c *container) text(offset uint32) string {
	s := c.r.String(offset)
	if len(s) <= maxName {
		return s
	}
	n := maxName
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// mesh returns the glTF mesh of an entity, -1 when it has no triangles, and
// the number of its triangles.
func (c *container) mesh(e *records.Entity, world *geom.Mat4) (mesh, triangles int, err error) {
	out := meshJSON{}
	var key strings.Builder
	for i := e.FirstMesh; i < e.FirstMesh+e.MeshCount; i++ {
		m := &c.r.Meshes()[i]
		if m.IndexCount == 0 || m.VertexCount == 0 || c.opts.Compress && m.IndexCount < 3 {
			c.notes.add("empty-mesh", 1, c.name)
			continue
		}
		p, box, err := c.primitive(m)
		if err == nil && world.IsFinite() {
			c.bounds = c.bounds.Union(box.Transform(world))
		}
		if err != nil {
			return -1, 0, fmt.Errorf("gltfexport: %s: mesh record %d: %w", c.name, i, err)
		}
		if out.Name == "" {
			out.Name = c.text(m.NameOffset)
		}
		out.Primitives = append(out.Primitives, p)
		triangles += int(m.IndexCount / 3)
		for _, v := range []int{p.Attributes.Position, p.Indices, pointed(p.Material)} {
			key.WriteString(strconv.Itoa(v))
			key.WriteByte(' ')
		}
	}
	if len(out.Primitives) == 0 {
		return -1, 0, nil
	}
	if k, ok := c.meshes[key.String()]; ok {
		return k, triangles, nil
	}
	k, err := c.doc.add(glb.Meshes, out)
	c.meshes[key.String()] = k
	return k, triangles, err
}

// pointed returns *p, or -1.
func pointed(p *int) int {
	if p == nil {
		return -1
	}
	return *p
}

// charge counts converted bytes against what the chunks hold, so that a small
// hostile file cannot ask for terabytes.
func (c *container) charge(n uint64) error {
	c.written += n
	if c.written > maxOverlap*uint64(len(c.geo.Vertices)+len(c.geo.Indices))+1<<20 {
		return fmt.Errorf("%w: the vertex and index ranges of the meshes", ErrOverlap)
	}
	return nil
}

// nodes adds a node per entity, below one of the given name or, with "", in
// the scene. It returns the nodes without a parent.
func (c *container) nodes(name string) ([]int, error) {
	entities := c.r.Entities()
	root, wrapped, err := c.root(name)
	if err != nil {
		return nil, err
	}
	// The indices of all nodes are needed before the first is written.
	next := c.doc.Count(glb.Nodes)
	if wrapped {
		next += root.count()
	}
	places := make([]placement, len(entities))
	first := make([]int, len(entities))
	byID := make(map[uint32]int, len(entities))
	parents := make([]bool, len(entities))
	for i := range entities {
		byID[entities[i].ID] = i
	}
	for i := range entities {
		// The reader has checked that the parent exists.
		if p := entities[i].ParentID; p != records.NoIndex {
			parents[byID[p]] = true
		}
	}
	apart := make([]bool, len(entities)) // the mesh has a node of its own
	var total uint64
	for i := range entities {
		e := &entities[i]
		places[i] = c.place(&e.LocalTransform, c.text(e.NameOffset))
		first[i] = next
		next += places[i].count()
		if apart[i] = c.small() && e.MeshCount > 0 && (parents[i] || places[i].inner != nil); apart[i] {
			next++
		}
		if total += uint64(e.MeshCount); total > maxOverlap*uint64(len(c.r.Meshes()))+1<<10 {
			return nil, fmt.Errorf("gltfexport: %s: %w: the mesh ranges of the entities", c.name, ErrOverlap)
		}
	}
	children := make([][]int, len(entities))
	var roots []int
	for i := range entities {
		if p := entities[i].ParentID; p == records.NoIndex {
			roots = append(roots, first[i])
		} else {
			children[byID[p]] = append(children[byID[p]], first[i])
		}
	}
	if wrapped {
		at := c.doc.Count(glb.Nodes)
		if err := c.addNode(root, nodeJSON{Name: name, Children: roots}); err != nil {
			return nil, err
		}
		roots = []int{at}
	}
	for i := range entities {
		if i%256 == 0 && c.ctx.Err() != nil {
			return nil, c.ctx.Err()
		}
		n := nodeJSON{Name: c.text(entities[i].NameOffset), Children: children[i]}
		mesh, triangles, err := c.mesh(&entities[i], &c.worlds[i])
		if err != nil {
			return nil, err
		}
		if mesh >= 0 {
			n.Mesh = &mesh
		}
		c.res.Triangles += triangles
		if err := c.addEntity(places[i], n, apart[i]); err != nil {
			return nil, err
		}
	}
	return roots, nil
}

// small reports whether positions are decoded by the transform of their node.
func (c *container) small() bool { return c.opts.Compress && c.lattice.small }

// addEntity writes an entity's node, and one for its mesh where what decodes positions
// must not move the children.
func (c *container) addEntity(p placement, n nodeJSON, apart bool) error {
	switch {
	case apart:
		inner := nodeJSON{Mesh: n.Mesh}
		n.Mesh, n.Children = nil, append([]int{c.doc.Count(glb.Nodes) + p.count()}, n.Children...)
		if err := c.addNode(p, n); err != nil {
			return err
		}
		return c.addNode(c.lattice.within(placement{q: noRotation, s: noScale}), inner)
	case c.small() && n.Mesh != nil:
		p = c.lattice.within(p)
	}
	return c.addNode(p, n)
}

// root decides about the node around the container's: it is needed for a name
// and for a root transform, which no file of ours has.
func (c *container) root(name string) (p placement, wrapped bool, err error) {
	t := c.r.Header().RootTransform
	p = c.place(&t, c.name)
	return p, name != "" || !p.identity(), nil
}

// place decomposes a transform for glTF.
func (c *container) place(m *[16]float32, where string) placement {
	var w geom.Mat4
	for i, v := range m {
		w[i] = float64(v)
	}
	p, faulty := decompose(w)
	if faulty {
		c.notes.add("transform", 1, where)
	}
	if p.inner != nil {
		c.notes.add("shear", 1, where)
	}
	return p
}

// addNode writes a node with its transform: two where it shears.
func (e *exporter) addNode(p placement, n nodeJSON) error {
	n.Translation, n.Rotation, n.Scale = p.trs()
	if p.inner == nil {
		_, err := e.doc.add(glb.Nodes, n)
		return err
	}
	inner := nodeJSON{Rotation: p.inner[:], Mesh: n.Mesh, Children: n.Children}
	n.Mesh, n.Children = nil, []int{e.doc.Count(glb.Nodes) + 1}
	if _, err := e.doc.add(glb.Nodes, n); err != nil {
		return err
	}
	_, err := e.doc.add(glb.Nodes, inner)
	return err
}
