package batch

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/runtime/payload"
)

// Builder merges meshes outside the owner goroutine.
type Builder interface {
	// Start begins a job and returns at once. It is called on the owner
	// goroutine. Every job is answered exactly once by job.Finish, from any
	// goroutine; Job.Merge makes the answer.
	Start(job *Job)
}

// Source has the geometry of meshes.
type Source interface {
	// Geometry returns the vertices and indices of a mesh as they are in a file,
	// and what gives them back, called once they have been copied. ok is false
	// when they are not there any more: the mesh is drawn alone. It may be
	// called from any goroutine.
	Geometry(ref Ref) (g MeshGeometry, ok bool)
}

// MeshGeometry is the bytes of one mesh. Release may be nil.
type MeshGeometry struct {
	Vertices []byte // vertex.Size bytes each
	Indices  []byte
	Type     vertex.IndexType
	Release  func()
}

// Job asks for the batches of one cell.
type Job struct {
	Token      uint64 // unique and ascending in the order of Start
	Epoch      uint64 // of the Batcher, raised by Reset
	Generation uint64 // of the cell, raised by every change
	Scene      payload.SceneID
	Cell       [3]int32
	Groups     []Group

	answers *answers
}

// Group is a batch to be made.
type Group struct {
	Members           []Member
	Vertices, Indices uint32 // sums over the members
}

// Member is a mesh of a group.
type Member struct {
	Ref
	Vertices, Indices uint32
}

// Result answers a Job.
type Result struct {
	Merged []Merged // by group; the Buffers of one that failed are nil
}

// Merged is a group in one piece.
type Merged struct {
	Buffers *Buffers
	// Ranges are the indices of each member; Count is 0 for one that could not
	// be had.
	Ranges []Range
	Err    error
}

// Range is a range of indices.
type Range struct{ First, Count uint32 }

// Buffers are merged vertices and indices. They belong to whoever has them
// until Release.
type Buffers struct {
	Vertices, Indices []byte // Vertices as Packing says
	Type              vertex.IndexType
	Packing           compact.Packing
	packed            []byte // behind Vertices, where they are packed
	merged            []byte
	pool              *Pool
}

// Pack packs the merged vertices of some meshes, which have vertex.Size bytes each: appended
// to dst, or as they are. It may be called from any goroutine.
type Pack func(dst []byte, members []Member, vertices []byte) (compact.Packing, []byte)

// Release gives the buffers back to their pool. It may be called on nil.
func (b *Buffers) Release() {
	if b == nil || b.pool == nil {
		return
	}
	p := b.pool
	b.pool = nil
	p.out.Add(-1)
	p.free.Put(b)
}

// Pool reuses Buffers. It is safe for concurrent use; the zero value is ready.
type Pool struct {
	Pack Pack // what is merged; nil: nothing. Not changed while the pool is in use
	free sync.Pool
	out  atomic.Int64
}

// Out returns how many Buffers are in use.
func (p *Pool) Out() int { return int(p.out.Load()) }

func (p *Pool) get(vertices, indices int) *Buffers {
	b, _ := p.free.Get().(*Buffers)
	if b == nil {
		b = &Buffers{}
	}
	b.merged, b.Indices, b.Packing = resize(b.merged, vertices), resize(b.Indices, indices), compact.Packing{}
	b.Vertices = b.merged
	b.pool = p
	p.out.Add(1)
	return b
}

func resize(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// Finish gives the answer to the Batcher's next Update.
func (j *Job) Finish(r Result) { j.answers.post(answer{j, r}) }

// Merge makes the batches of a job in the calling goroutine.
func (j *Job) Merge(src Source, pool *Pool) Result {
	r := Result{Merged: make([]Merged, len(j.Groups))}
	for i := range j.Groups {
		r.Merged[i] = j.Groups[i].merge(src, pool)
	}
	return r
}

// wideFrom is the number of vertices from which indices take 32 bits.
const wideFrom = 1<<16 + 1

func (g *Group) merge(src Source, pool *Pool) Merged {
	m := Merged{Ranges: make([]Range, len(g.Members))}
	t := vertex.Index16
	if g.Vertices >= wideFrom {
		t = vertex.Index32
	}
	b := pool.get(int(g.Vertices)*vertex.Size, int(g.Indices)*t.Size())
	vertices, indices := 0, 0 // written so far
	for i := range g.Members {
		x := &g.Members[i]
		mesh, ok := src.Geometry(x.Ref)
		if !ok {
			continue
		}
		if fits(&mesh, x) {
			copy(b.Vertices[vertices*vertex.Size:], mesh.Vertices)
			rebase(b.Indices[indices*t.Size():][:int(x.Indices)*t.Size()], t, mesh.Indices, mesh.Type, uint32(vertices))
			m.Ranges[i] = Range{uint32(indices), x.Indices}
			vertices += int(x.Vertices)
			indices += int(x.Indices)
		} else {
			m.Err = fmt.Errorf("batch: mesh %d of tile %d (%v) is not what was announced: %d + %d bytes", x.Mesh, x.Tile, x.Rep, len(mesh.Vertices), len(mesh.Indices))
		}
		if mesh.Release != nil {
			mesh.Release()
		}
	}
	b.Vertices, b.Indices, b.Type = b.Vertices[:vertices*vertex.Size], b.Indices[:indices*t.Size()], t
	if pool.Pack != nil {
		b.pack(g.Members, pool.Pack)
	}
	m.Buffers = b
	return m
}

// pack packs the vertices.
func (b *Buffers) pack(members []Member, pack Pack) {
	p, vertices := pack(b.packed[:0], members, b.Vertices)
	if p.Layout == compact.Full {
		return
	}
	b.Packing, b.Vertices, b.packed = p, vertices, vertices
}

// fits reports whether the bytes of a mesh are as many as its item says.
func fits(g *MeshGeometry, x *Member) bool {
	size := g.Type.Size()
	return size > 0 && len(g.Vertices) == int(x.Vertices)*vertex.Size && len(g.Indices) == int(x.Indices)*size
}

// rebase copies indices and adds base to each. The sums fit into the type of
// dst: indices are smaller than the vertex count of their mesh. So whole words
// can be added, as no lane carries into the next.
func rebase(dst []byte, to vertex.IndexType, src []byte, from vertex.IndexType, base uint32) {
	le := binary.LittleEndian
	switch {
	case to == from:
		lanes := uint64(base) * 0x0001_0001_0001_0001
		if to == vertex.Index32 {
			lanes = uint64(base)<<32 | uint64(base)
		}
		for ; len(src) >= 8 && len(dst) >= 8; src, dst = src[8:], dst[8:] {
			le.PutUint64(dst, le.Uint64(src)+lanes)
		}
		if to == vertex.Index32 && len(src) >= 4 {
			le.PutUint32(dst, le.Uint32(src)+base)
			return
		}
		for ; to == vertex.Index16 && len(src) >= 2; src, dst = src[2:], dst[2:] {
			le.PutUint16(dst, le.Uint16(src)+uint16(base))
		}
	case to == vertex.Index32:
		for ; len(src) >= 2 && len(dst) >= 4; src, dst = src[2:], dst[4:] {
			le.PutUint32(dst, uint32(le.Uint16(src))+base)
		}
	default:
		for ; len(src) >= 4 && len(dst) >= 2; src, dst = src[4:], dst[2:] {
			le.PutUint16(dst, uint16(le.Uint32(src)+base))
		}
	}
}
