package cook

import (
	"context"
	"fmt"
	"math"
	"runtime/metrics"

	"golang.org/x/sync/semaphore"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// DefaultMemory is what a cook counts on when nobody says how much memory
// there is: 8 GiB.
const DefaultMemory = 8 << 30

// What a placed triangle takes while its container is built, in bytes by
// vertex and by triangle. They are fitted to the peak of real cooks of 500,000
// and 2,000,000 triangles in one tile (79 bytes a triangle where two of them
// share a vertex, 443 where each has three of its own; 298 and 930 with
// levels) and a tenth below it: what is refused could not be cooked.
const (
	bytesPerVertex        = 130
	bytesPerTriangle      = 6
	levelBytesPerVertex   = 95
	levelBytesPerTriangle = 140
	// Of an object that is cut, with a tenth below what cuts of 0.5 and 2 million
	// triangles took: as it is stored, as it is baked, and what lies in each cell.
	cutBytesPerVertex   = 150
	cutBytesPerTriangle = 30
	// The part of these that is stored.
	storedBytesPerVertex   = 32
	storedBytesPerTriangle = 12
	// What sorting its triangles into rows takes of an object that is cut by rows.
	rowBytesPerVertex   = 20
	rowBytesPerTriangle = 4
	// An entity that shows a mesh again: its record and its name.
	bytesPerInstance = 250
)

// memory returns the bytes that the cook may count on.
func (o *Options) memory() int64 {
	if o.Memory > 0 {
		return o.Memory
	}
	return DefaultMemory
}

// geometryLoad is geometry at its size in a container.
type geometryLoad struct {
	vertices, triangles, instances int64
	decode                         int64 // bytes that decoding takes: one mesh after the other
}

// bytes estimates what a container of this geometry takes while it is built.
func (g geometryLoad) bytes(levels bool) int64 {
	n := g.vertices*bytesPerVertex + g.triangles*bytesPerTriangle + g.instances*bytesPerInstance + g.decode
	if levels {
		n += g.vertices*levelBytesPerVertex + g.triangles*levelBytesPerTriangle
	}
	return n
}

func (g *geometryLoad) add(o geometryLoad) {
	g.vertices += o.vertices
	g.triangles += o.triangles
	g.instances += o.instances
	g.decode = max(g.decode, o.decode)
}

// meshLoads returns the geometry of every mesh of a scene as it is baked:
// without normals each triangle gets vertices of its own.
func meshLoads(s *gltfscene.Scene) []geometryLoad {
	out := make([]geometryLoad, len(s.Meshes))
	for i := range s.Meshes {
		for k := range s.Meshes[i].Parts {
			out[i].add(partLoad(&s.Meshes[i].Parts[k]))
		}
	}
	return out
}

// partLoad is the geometry of one primitive as it is baked.
func partLoad(p *gltfscene.Part) geometryLoad {
	n := geometryLoad{vertices: int64(p.Vertices), triangles: int64(p.Triangles)}
	if !p.Normals {
		n.vertices = 3 * n.triangles
	}
	return n
}

// loadOf is partLoad of a primitive that is decoded.
func loadOf(p *gltfscene.Primitive) geometryLoad {
	return partLoad(&gltfscene.Part{Vertices: len(p.Positions), Triangles: len(p.Indices) / 3, Normals: p.Normals != nil})
}

const (
	// bytesPerTile is what a tile takes from the plan to the manifest, without
	// its geometry.
	bytesPerTile = 3000
	// bytesPerAssignment is what an object in a tile takes while a grid is
	// planned.
	bytesPerAssignment = 24
)

// room shares the memory among the containers that are built at a time.
type room struct {
	opts    *Options
	scene   *gltfscene.Scene
	objects []object
	meshes  []geometryLoad
	size    int64 // of sem
	sem     *semaphore.Weighted
	pieces  int64 // bytes for what waits for its tile in memory; see splitter
	garbage *backstop
}

// rowShare is the part of the room that the cutting of a primitive may take.
const rowShare = 4

// piecesShare is the part of the room that pieces may take which wait for their tiles.
const piecesShare = 4

func newRoom(s *gltfscene.Scene, objects []object, o *Options) *room {
	size := o.spare() * 6 / 10
	r := &room{opts: o, scene: s, objects: objects, meshes: meshLoads(s), size: size, sem: semaphore.NewWeighted(size), garbage: newBackstop(o.memory())}
	for i := range r.meshes {
		r.meshes[i].decode = s.DecodeBytes(i)
	}
	return r
}

// keepForPieces sets some room apart for pieces that take at most so many bytes.
func (r *room) keepForPieces(most int64) {
	r.pieces = min(most, r.size/piecesShare)
	r.size -= r.pieces
	r.sem = semaphore.NewWeighted(r.size)
}

// programBytes is what a program takes that does nothing, with its stacks.
const programBytes = 48 << 20

// spare returns what is left of the memory beside all that is in use now, which is the
// scene and its plan, and what garbage takes before it is collected. Something is always
// left: what is built alone may exceed it.
func (o *Options) spare() int64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	n := o.memory()
	if live[0].Value.Kind() == metrics.KindUint64 {
		n -= int64(min(live[0].Value.Uint64(), math.MaxInt64/2))
	}
	return max(n-n/garbageShare-programBytes, o.memory()/16)
}

// besideProgram is what is left of the memory beside a program that does nothing, and some
// garbage. Who counts on less than two programs take means what is to be had beside one.
func (o *Options) besideProgram() int64 {
	n := o.memory()
	if n < 2*programBytes {
		return n
	}
	return n - n/leastGarbage - programBytes
}

// withProgram is the memory that leaves so many bytes beside a program; see besideProgram.
func (o *Options) withProgram(n int64) int64 {
	if o.memory() < 2*programBytes {
		return n
	}
	n += programBytes
	return n + n/(leastGarbage-1)
}

// leastGarbage is the part of the memory that garbage takes however often it is collected.
const leastGarbage = 16

// garbageShare is the part of the memory that is left to garbage.
const garbageShare = 8

// load sums up the members of a container: at least, and as they are likely to be. cells
// tells in how many tiles an object is cut, 1 for none; pieces are the triangles that cutting makes of
// objects, where they have been counted.
func (r *room) load(members []int, cells func(object int) int64, pieces []int64) (whole, share geometryLoad) {
	stored := map[int]bool{}
	for _, i := range members {
		o := &r.objects[i]
		n := max(1, cells(i))
		if r.opts.Instances && n == 1 && canInstance(r.scene, o) {
			if stored[o.placed[0].mesh] {
				whole.instances++
				share.instances++
				continue
			}
			stored[o.placed[0].mesh] = true
		}
		for _, at := range o.placed {
			g := r.meshes[at.mesh]
			part := geometryLoad{vertices: g.vertices/n + 1, triangles: g.triangles/n + 1}
			if n > 1 { // it comes from the splitter
				g = part
			} else {
				part.decode = g.decode
			}
			g.decode = 0 // what is allocated in all is no reason to refuse it
			whole.add(g)
			share.add(part)
		}
		if n > 1 && pieces != nil {
			share.add(geometryLoad{vertices: pieces[i] / n, triangles: pieces[i] / n})
		}
	}
	return whole, share
}

// cutBytes estimates what geometry takes while it is cut, without the pieces.
func cutBytes(g geometryLoad) int64 {
	return g.vertices*cutBytesPerVertex + g.triangles*cutBytesPerTriangle
}

// storedBytes estimates what geometry takes as it is stored.
func storedBytes(g geometryLoad) int64 {
	return g.vertices*storedBytesPerVertex + g.triangles*storedBytesPerTriangle
}

// cutShare is what the cutting of one primitive may take beside what is stored. One that
// takes more is cut some rows at a time.
func (r *room) cutShare() int64 { return r.size / rowShare }

// decodeBytes is what decoding takes of an object.
func (r *room) decodeBytes(object int) (most int64) {
	for _, at := range r.objects[object].placed {
		most = max(most, r.meshes[at.mesh].decode)
	}
	return most
}

// cutBytes estimates what an object takes while it is cut, without the pieces and what
// decoding takes. Its meshes are cut one after the other, and so are their primitives.
func (r *room) cutBytes(object int) (most int64) {
	for _, at := range r.objects[object].placed {
		list := r.scene.Meshes[at.mesh].Parts
		part := int64(0)
		for k := range list {
			g := partLoad(&list[k])
			rows := g.vertices*rowBytesPerVertex + g.triangles*rowBytesPerTriangle + r.cutShare()
			if whole := cutBytes(g) - storedBytes(g); whole <= r.cutShare() {
				part = max(part, whole)
			} else {
				part = max(part, min(whole, rows))
			}
		}
		most = max(most, storedBytes(r.meshes[at.mesh])+part)
	}
	return most
}

// check refuses a container whose geometry cannot fit into the memory, unless
// the caller has set a limit of their own. What it is about to hold is known
// here, and nothing of it is allocated yet.
func (r *room) check(path, name string, members []int, load geometryLoad, levels bool) error {
	need := load.bytes(levels)
	if r.carries(need) {
		return nil
	}
	return r.tooLarge(path, name, fmt.Sprintf("%d objects place %d triangles in it", len(members), load.triangles), need)
}

// checkCut refuses an object that cannot be cut within the memory.
func (r *room) checkCut(path, name string, object int) error {
	need := r.cutBytes(object)
	if r.carriesCut(need) {
		return nil
	}
	return r.tooLargeToCut(path, name, object, need)
}

// tooLargeToCut is the refusal of an object whose cutting takes so many bytes.
func (r *room) tooLargeToCut(path, name string, object int, need int64) error {
	o := &r.objects[object]
	all, have := r.opts.withProgram(need), r.opts.memory()
	if all > have {
		all = have + (all-have)*7/6 // of what is added, a seventh goes to larger rows; see cutShare
	}
	const mb = 1e6
	return r.tooLarge(path, name, fmt.Sprintf("object %q has %d triangles, which are cut together", o.name, o.triangles), (all+mb-1)/mb*mb)
}

func (r *room) carries(need int64) bool { return r.opts.MaxTriangles != 0 || need <= r.opts.memory() }

// carriesCut is carries for what cutting takes, which is known more exactly: with what a
// program takes that does nothing.
func (r *room) carriesCut(need int64) bool {
	return r.opts.MaxTriangles != 0 || need <= r.opts.besideProgram()
}

func (r *room) tooLarge(path, name, what string, need int64) error {
	const mb = 1e6
	return &gltfscene.Error{
		File: path, Place: name,
		Reason: fmt.Sprintf("%s, which takes some %.0f MB, and %.0f MB of memory can be had", what, float64(need)/mb, float64(r.opts.memory())/mb),
		Hint:   "divide the scene or its meshes, make tiles smaller, store repeated meshes once (Options.Instances), cook where there is more memory, or allow as many by Options.MaxTriangles",
		Err:    gltfscene.ErrTooLarge,
	}
}

// take waits until the memory has room for a container and returns what gives
// it back. One that needs all of it is built alone.
func (r *room) take(ctx context.Context, share geometryLoad, levels bool) (func(), error) {
	return r.takeBytes(ctx, share.bytes(levels))
}

// takeBytes is take for a number of bytes.
func (r *room) takeBytes(ctx context.Context, need int64) (func(), error) {
	need = min(need, r.size)
	if err := r.sem.Acquire(ctx, need); err != nil {
		return nil, err
	}
	r.garbage.check()
	return func() { r.sem.Release(need) }, nil
}

// weigh finds what every payload takes and refuses what cannot be built.
func (c *scenePlan) weigh(payloads []payload) (*room, error) {
	r := newRoom(c.scene, c.objects, c.opts)
	for i := range payloads {
		p := &payloads[i]
		cells := c.cells(p)
		var whole geometryLoad
		whole, p.share = r.load(p.members, cells, nil)
		p.predicted = p.share.triangles
		if err := r.check(c.path, p.name, p.members, whole, p.simplified()); err != nil {
			return nil, err
		}
		for _, o := range p.members {
			if cells(o) > 1 {
				if err := r.checkCut(c.path, p.name, o); err != nil {
					return nil, err
				}
			}
		}
	}
	pieces, held, err := c.knownPieces()
	if err != nil {
		return nil, err
	}
	r.keepForPieces(2 * held) // an estimate
	for i := range payloads {
		p := &payloads[i]
		if pieces != nil {
			_, p.share = r.load(p.members, c.cells(p), pieces)
		}
	}
	return r, nil
}

// cells tells in how many tiles the members of a payload are cut.
func (c *scenePlan) cells(p *payload) func(object int) int64 {
	return func(o int) int64 {
		if p.coord == nil || !c.isCut(o) {
			return 1
		}
		return c.cellsOf(o)
	}
}
