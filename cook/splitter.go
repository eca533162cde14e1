package cook

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/partition"
)

// splitter cuts objects that lie in several tiles, each once: the first tile
// that needs an object cuts it, the last one lets go of the pieces. Those for which there
// is no room wait in a temporary file.
type splitter struct {
	b       *tileBuilder
	room    *room
	plan    *partition.Plan
	entries map[int]*splitEntry // objects in several tiles; the map is fixed
	// What the pieces take that have been cut and that no tile has asked for,
	// in bytes, and how much they may; see scenePlan.countPieces, which comes
	// before and can only estimate.
	held  atomic.Int64
	limit int64
	full  func(held int64) error
	whole func(object int, need int64) error // refuses what cannot be cut but as a whole

	known   cellIndexes            // of a plan
	foreign func(object int) error // says that what was read is not what a plan knows

	kept atomic.Int64 // the part of held that is in memory: at most room.pieces
	file spillFile    // the others
}

type splitEntry struct {
	mu     sync.Mutex
	left   int // tiles that have not asked yet
	cut    bool
	pieces map[[3]int][]piece // by cell of the object's range
	gone   map[[3]int]bool    // cells whose tiles have asked before it was cut
	tiles  map[[3]int]bool    // cells that are tiles, of an object that known has
	file   spilled
	err    error
}

// piece is a part in one cell. Its shape is nil while it waits in the file.
type piece struct {
	part
	bytes int64
	at    spilledMesh
}

// newSplitter finds the objects to cut.
func (c *scenePlan) newSplitter(b *tileBuilder, r *room) (*splitter, error) {
	s := &splitter{b: b, room: r, plan: c.planned, entries: map[int]*splitEntry{}, limit: math.MaxInt64, full: c.piecesFull}
	if p := c.opts.planned; p != nil {
		var err error
		if s.known, err = p.indexes(c); err != nil {
			return nil, err
		}
		s.foreign = func(object int) error {
			return stalePlan(p.path, fmt.Sprintf("the geometry of object %q is not what it was", c.objects[object].name))
		}
	}
	s.whole = func(object int, need int64) error { return r.tooLargeToCut(c.path, "", object, need) }
	if c.opts.MaxTriangles == 0 {
		s.limit = c.mostPieceBytes()
	}
	for i := range c.planned.Tiles {
		for _, o := range c.planned.Tiles[i].Objects {
			if c.isCut(o) {
				if s.entries[o] == nil {
					s.entries[o] = &splitEntry{file: spilled{to: &s.file}}
				}
				e := s.entries[o]
				e.left++
				if n := s.known.search(o, 0); n < len(s.known) && s.known[n].object == o {
					if e.tiles == nil {
						e.tiles = map[[3]int]bool{}
					}
					e.tiles[s.cell(o, &c.planned.Tiles[i].Coord)] = true
				}
			}
		}
	}
	return s, nil
}

// cell returns the number of a tile among the cells of an object.
func (s *splitter) cell(object int, coord *[3]int) (cell [3]int) {
	first := s.plan.Objects[object].Cells.Min
	for a := range cell {
		cell[a] = coord[a] - int(first[a])
	}
	return cell
}

// close removes the temporary file.
func (s *splitter) close() { s.file.close() }

// prepare cuts those of a tile's objects that are to be cut and have not been. It waits
// for room: who calls it must hold none.
func (s *splitter) prepare(ctx context.Context, objects []int, coord *[3]int) error {
	if coord == nil {
		return nil
	}
	for _, o := range objects {
		if e := s.entries[o]; e != nil {
			if err := s.ready(ctx, e, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// ready cuts an object unless it has been.
func (s *splitter) ready(ctx context.Context, e *splitEntry, object int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cut {
		return e.err
	}
	run, need := cutRun{e: e, object: object}, s.room.cutBytes(object)
	for {
		free, err := s.room.takeBytes(ctx, need+s.room.decodeBytes(object))
		if err != nil {
			if e.cut {
				e.err = err
			}
			return err
		}
		if !e.cut {
			e.cut, e.pieces = true, map[[3]int][]piece{}
		}
		err = s.cut(&run)
		if free(); err != errWhole {
			e.err = err
			return err
		}
		run.whole, need = true, s.room.size // for one that is cut in one go it waits until nothing else is made
	}
}

// parts returns what an object contributes to the tile at coord: its piece of
// an object that lies in several tiles, which prepare has cut, then cut is true, else all
// of it.
func (s *splitter) parts(object int, coord *[3]int) (list []part, cut bool, err error) {
	e := s.entries[object]
	if e == nil || coord == nil {
		list, err := s.b.bake(object)
		return list, false, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	list, err = s.release(e, object, coord, true)
	return list, true, err
}

// skip tells that a tile will not ask for its objects.
func (s *splitter) skip(objects []int, coord *[3]int) {
	if coord == nil {
		return
	}
	for _, o := range objects {
		if e := s.entries[o]; e != nil {
			e.mu.Lock()
			s.release(e, o, coord, false)
			e.mu.Unlock()
		}
	}
}

// release lets go of what an object contributes to a tile, and of all of it with the
// last tile. It returns the pieces if they are wanted.
func (s *splitter) release(e *splitEntry, object int, coord *[3]int, wanted bool) (out []part, err error) {
	key := s.cell(object, coord)
	if !e.cut {
		if e.gone == nil {
			e.gone = map[[3]int]bool{}
		}
		e.gone[key] = true
	}
	list := e.pieces[key]
	delete(e.pieces, key)
	for i := range list {
		p := &list[i]
		s.forget(p)
		if wanted && p.shape == nil && err == nil {
			p.shape, err = e.file.read(&p.at)
		}
		out = append(out, p.part)
	}
	if e.left--; e.left == 0 {
		for _, rest := range e.pieces { // in cells that are no tiles
			for i := range rest {
				s.forget(&rest[i])
			}
		}
		e.pieces, e.gone = nil, nil
		e.file.drop()
	}
	return out, err
}

// forget counts a piece no longer.
func (s *splitter) forget(p *piece) {
	s.held.Add(-p.bytes)
	if p.shape != nil {
		s.kept.Add(-p.bytes)
	}
}

// cutRun is the cutting of one object.
type cutRun struct {
	e      *splitEntry
	object int
	done   int  // primitives that have been cut
	whole  bool // all of the room is there for the next ones
}

// errWhole says that the next primitive needs more room than there is now.
var errWhole = errors.New("cook: a primitive cannot be cut by rows")

// cut bakes an object, one primitive at a time, and splits it at the planes between its
// tiles. It goes on where it was.
func (s *splitter) cut(run *cutRun) error {
	grid := mesh.NewClipGrid(s.plan, s.plan.Objects[run.object].Cells)
	n := 0
	for i, at := range s.b.objects[run.object].placed {
		if known := s.known.of(run.object, i); len(known) > 0 && len(run.e.gone) > 0 {
			for k := range known {
				if n++; n <= run.done {
					continue
				}
				if err := s.cutKnown(run, at, &known[k], grid); err != nil {
					return err
				}
				run.done = n
			}
			continue
		}
		list, err := s.b.scene.Geometry(at.mesh)
		if err != nil {
			return err
		}
		for k := range list {
			if len(list[k].Indices) == 0 {
				continue
			}
			if n++; n <= run.done {
				continue
			}
			if err := s.cutPrimitive(run, at, &list[k], grid); err != nil {
				return err
			}
			run.done = n
		}
	}
	return nil
}

// cutPrimitive bakes and splits a primitive of an object, all of it or some rows at a time.
func (s *splitter) cutPrimitive(run *cutRun, at placed, p *gltfscene.Primitive, grid mesh.ClipGrid) error {
	return s.cutCells(run, at, p, grid, nil)
}

// cutCells is cutPrimitive for the wanted cells of a primitive that has the triangles
// alone that these need. Without wanted, all are there.
func (s *splitter) cutCells(run *cutRun, at placed, p *gltfscene.Primitive, grid mesh.ClipGrid, wanted func(cell [3]int) bool) error {
	s.room.garbage.check()
	world := &s.b.scene.Nodes[at.node].World
	keep := func(made *part, piece *mesh.Piece) error {
		if wanted != nil && !wanted(piece.Cell) {
			return nil // it may lack triangles
		}
		s.room.garbage.check()
		return s.keep(run.e, made, piece)
	}
	if need := cutBytes(loadOf(p)); need > s.room.cutShare() {
		if c := newRowCut(s.b, at, p, world, grid); c.divides() {
			s.room.garbage.check()
			return c.each(s.room.cutShare(), keep)
		}
		switch {
		case !s.room.carriesCut(need):
			return s.whole(run.object, need)
		case !run.whole:
			return errWhole
		}
	}
	made := s.b.bakePrimitive(at, p, world)
	m := made.shape
	made.shape = nil
	each := func(piece mesh.Piece) error {
		err := keep(&made, &piece)
		made.normals, made.tangents = 0, 0 // the first piece counts for all
		return err
	}
	if wanted != nil {
		return m.SplitCells(grid, wanted, each)
	}
	return m.SplitEach(grid, each)
}

// keep stores a piece of a part, in memory or in the file.
func (s *splitter) keep(e *splitEntry, of *part, made *mesh.Piece) (err error) {
	if e.gone[made.Cell] {
		return nil
	}
	q := piece{part: *of, bytes: made.Mesh.Bytes()}
	if held := s.held.Add(q.bytes); held > s.limit {
		return s.full(held)
	}
	if s.kept.Add(q.bytes) <= s.room.pieces {
		q.shape = made.Mesh
	} else {
		s.kept.Add(-q.bytes)
		if q.at, err = e.file.write(made.Mesh); err != nil {
			return err
		}
	}
	e.pieces[made.Cell] = append(e.pieces[made.Cell], q)
	return nil
}
