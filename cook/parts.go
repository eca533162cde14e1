package cook

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/partition"
)

// part is what one primitive of one object contributes to one tile.
type part struct {
	placed
	slot     int // of the primitive in its glTF mesh
	material int // index into tileBuilder.materials
	shape    *mesh.Mesh
	instance *instancePart // of a mesh that the container stores once, else nil

	// Vertices that had no usable normal or tangent and got one: for the notes.
	normals, tangents int
}

// pack quantises the part; instances of one mesh do it once.
func (p *part) pack(o mesh.PackOptions) (*mesh.Packed, error) {
	if p.instance == nil {
		return p.shape.Pack(o)
	}
	if p.instance.packed == nil {
		var err error
		if p.instance.packed, err = p.shape.Pack(o); err != nil {
			return nil, err
		}
	}
	return p.instance.packed, nil
}

// bake returns the parts of an object in world space, with normals and, where
// there are texture coordinates, tangents.
func (b *tileBuilder) bake(i int) ([]part, error) {
	var out []part
	for _, at := range b.objects[i].placed {
		list, err := b.bakeMesh(at, &b.scene.Nodes[at.node].World)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// bakeMesh returns the parts of one placed mesh, moved by world.
func (b *tileBuilder) bakeMesh(at placed, world *geom.Mat4) ([]part, error) {
	var out []part
	list, err := b.scene.Geometry(at.mesh)
	if err != nil {
		return nil, err
	}
	for k := range list {
		p := &list[k]
		if len(p.Indices) == 0 {
			continue
		}
		material := b.material(p.Material)
		m := meshOf(p, &b.plans[material])
		m.Transform(world)
		made := part{placed: at, slot: p.Slot, material: material, shape: m}
		if m.Normals == nil {
			m.FlatNormals()
		} else {
			made.normals = m.RepairNormals()
		}
		if m.Tangents == nil {
			m.GenerateTangents()
		} else {
			made.tangents = m.RepairTangents()
		}
		out = append(out, made)
	}
	return out, nil
}

// meshOf copies a primitive's positions into double precision and puts the UV
// set that the material samples first, its transform baked in.
func meshOf(p *gltfscene.Primitive, plan *uvPlan) *mesh.Mesh {
	m := &mesh.Mesh{
		Positions: make([]geom.Vec3, len(p.Positions)), Normals: p.Normals, Tangents: p.Tangents,
		UV: p.UV, Colors: p.Colors, Indices: p.Indices,
	}
	for i, v := range p.Positions {
		m.Positions[i] = geom.FromF32(v)
	}
	if plan.set == 1 && p.UV[1] != nil {
		m.UV[0], m.UV[1] = p.UV[1], p.UV[0]
	}
	if !plan.transform.IsIdentity() {
		m.UV[0] = plan.transform.Apply(m.UV[0])
		if t := &plan.transform; t.Rot != 0 || t.Scale[0] <= 0 || t.Scale[1] <= 0 {
			m.Tangents = nil // u grows in another direction now
		}
	}
	return m
}

// splitter cuts objects that lie in several tiles, each once: the first tile
// that needs an object cuts it, the last one lets go of the pieces.
type splitter struct {
	b       *tileBuilder
	plan    *partition.Plan
	entries map[int]*splitEntry // objects in several tiles; the map is fixed
	// What the pieces take that have been cut and that no tile has asked for,
	// in bytes, and how much they may; see scenePlan.countPieces, which comes
	// before and can only estimate.
	held  atomic.Int64
	limit int64
	full  func(held int64) error
}

type splitEntry struct {
	mu     sync.Mutex
	left   int // tiles that have not asked yet
	cut    bool
	pieces map[[3]int][]part // by cell of the object's range
	err    error
}

// newSplitter finds the objects to cut.
func (c *scenePlan) newSplitter(b *tileBuilder) *splitter {
	s := &splitter{b: b, plan: c.planned, entries: map[int]*splitEntry{}, limit: math.MaxInt64, full: c.piecesFull}
	if c.opts.MaxTriangles == 0 {
		s.limit = c.opts.memory()
	}
	for i := range c.planned.Tiles {
		for _, o := range c.planned.Tiles[i].Objects {
			if c.isCut(o) {
				if s.entries[o] == nil {
					s.entries[o] = &splitEntry{}
				}
				s.entries[o].left++
			}
		}
	}
	return s
}

// parts returns what an object contributes to the tile at coord: its piece of
// an object that lies in several tiles, then cut is true, else all of it.
func (s *splitter) parts(object int, coord *[3]int) (list []part, cut bool, err error) {
	e := s.entries[object]
	if e == nil || coord == nil {
		list, err := s.b.bake(object)
		return list, false, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.cut {
		e.cut = true
		e.pieces, e.err = s.cut(object)
	}
	return s.release(e, object, coord), true, e.err
}

// skip tells that a tile will not ask for its objects.
func (s *splitter) skip(objects []int, coord *[3]int) {
	if coord == nil {
		return
	}
	for _, o := range objects {
		if e := s.entries[o]; e != nil {
			e.mu.Lock()
			s.release(e, o, coord)
			e.mu.Unlock()
		}
	}
}

// release lets go of what an object contributes to a tile, and of all of it with the
// last tile.
func (s *splitter) release(e *splitEntry, object int, coord *[3]int) []part {
	first := s.plan.Objects[object].Cells.Min
	var key [3]int
	for a := range key {
		key[a] = coord[a] - int(first[a])
	}
	out := e.pieces[key]
	delete(e.pieces, key)
	s.held.Add(-bytesOf(out))
	if e.left--; e.left == 0 {
		for _, rest := range e.pieces { // in cells that are no tiles
			s.held.Add(-bytesOf(rest))
		}
		e.pieces = nil
	}
	return out
}

// cut bakes an object and splits it at the planes between its tiles.
func (s *splitter) cut(object int) (map[[3]int][]part, error) {
	grid := mesh.NewClipGrid(s.plan, s.plan.Objects[object].Cells)
	out := map[[3]int][]part{}
	list, err := s.b.bake(object)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		for _, piece := range p.shape.Split(grid) {
			q := p
			q.shape = piece.Mesh
			p.normals, p.tangents = 0, 0 // the first piece counts for all
			out[piece.Cell] = append(out[piece.Cell], q)
			if held := s.held.Add(piece.Mesh.Bytes()); held > s.limit {
				return nil, s.full(held)
			}
		}
	}
	return out, nil
}

// bytesOf returns what parts take.
func bytesOf(list []part) (n int64) {
	for i := range list {
		n += list[i].shape.Bytes()
	}
	return n
}
