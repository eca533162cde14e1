package render

import (
	"errors"
	"fmt"
	"slices"

	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/internal/batch"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
)

// batches joins the static meshes of what is uploaded. It is the Device of a
// batch.Batcher: a batch is a representation of its own with one mesh, in the
// pool like all others, uploaded after what the runtime has asked for.
type batches struct {
	r         *Renderer
	workers   *batch.Workers // nil: merged at once
	pool      batch.Pool     // of that
	assets    *batch.Assets
	materials *batch.Materials
	packings  packings
	secondary bool

	drawnBatches
	queue []*rep // waiting for their upload
}

// SetBatching begins to join static meshes, anew if that is done already; nil
// ends it. What is uploaded before is drawn mesh by mesh.
func (r *Renderer) SetBatching(o *BatchOptions) {
	r.batches.close()
	r.batches = nil
	if o == nil {
		return
	}
	d := &batches{
		r: r, assets: batch.NewAssets(o.AssetBytes), materials: batch.NewMaterials(), secondary: o.Secondary,
		packings: packings{of: map[payload.Key][]compact.Packing{}}, drawnBatches: drawnBatches{have: map[batch.ID]*rep{}},
	}
	d.pool.Pack = d.packings.pack
	options := o.Options
	options.Device, options.Builder, options.WideIndices = d, batch.Builder(d), r.absolute
	if !o.Sync {
		d.workers = batch.NewWorkers(d.assets, 1, d.packings.pack)
		options.Builder = d.workers
	}
	d.batcher = batch.New(options)
	r.batches = d
}

// SetBatchScene tells the edge of a scene's batch cells in metres; 0 draws the
// scene unbatched.
func (r *Renderer) SetBatchScene(id payload.SceneID, cell float64) {
	if r.batches != nil {
		r.batches.batcher.SetScene(id, cell)
	}
}

// LimitBatches bounds the bytes of all batches; 0 means no bound. What is over
// it goes in the next Draw.
func (r *Renderer) LimitBatches(bytes int64) {
	if r.batches != nil {
		r.batches.batcher.SetMaxBytes(bytes)
	}
}

// RelieveBatches answers memory pressure: nothing is merged for some seconds,
// and on a critical signal all batches and the main memory behind them go.
func (r *Renderer) RelieveBatches(level memory.PressureLevel) {
	if r.batches == nil {
		return
	}
	r.batches.batcher.Relieve(level)
	if level >= memory.PressureCritical {
		r.batches.assets.Clear()
	}
}

// AppendBatchCells appends the cells of all scenes.
func (r *Renderer) AppendBatchCells(dst []batch.Cell) []batch.Cell {
	if r.batches == nil {
		return dst
	}
	return r.batches.batcher.AppendCells(dst)
}

// add tells of a representation that was uploaded, while its asset is there.
func (d *batches) add(key payload.Key, asset *payload.Asset) {
	if d == nil || key.Rep != payload.RepFull && !d.secondary {
		return
	}
	d.packings.put(key, d.r.reps[key])
	d.assets.Put(key, asset)
	d.batcher.Add(key, batch.Items(asset, d.materials.Of(asset)))
}

// remove tells of one that is released.
func (d *batches) remove(key payload.Key) {
	if d != nil {
		d.packings.drop(key)
		d.batcher.Remove(key)
		d.assets.Drop(key)
	}
}

// Start is the batch.Builder of Sync.
func (d *batches) Start(job *batch.Job) { job.Finish(job.Merge(d.assets, &d.pool)) }

var errBatchLike = errors.New("render: a batch is like a mesh that is not there or moves")

// Upload is the batch.Device: it reserves memory and queues the bytes for Pump.
// The material is a copy, since the mesh that it is taken from may go first; the
// textures are those of every member, so they last as long as the batch is
// drawn.
func (d *batches) Upload(id batch.ID, u batch.Upload) error {
	r := d.r
	like := meshOfRecord(r.reps[u.Like.Key], u.Like.Mesh)
	if like == nil || like.object != 0 {
		return errBatchLike
	}
	kind, indices := u.Buffers.Type, u.Buffers.Indices
	packing, vertices := u.Buffers.Packing, u.Buffers.Vertices
	bytes := len(indices)
	if r.absolute {
		bytes = len(indices) / kind.Size() * vertex.Index32.Size()
	}
	at, err := r.pool.allocate(packing.Layout, len(vertices), bytes)
	if err != nil {
		return fmt.Errorf("%w (batch %d)", err, id)
	}
	m := *like
	m.bundle = 0
	first := int32(at.vertices.at)
	if r.absolute {
		kind, indices, first = vertex.Index32, absoluteOf(indices, kind, at.vertices.at), 0
	}
	size := kind.Size()
	box := geom.Box{Min: geom.FromF32(u.Bounds.Min), Max: geom.FromF32(u.Bounds.Max)}
	m.center, m.half = [3]float64(box.Center()), [3]float64(box.Size().Scale(0.5))
	m.wide, m.entity = kind == vertex.Index32, 0
	m.firstIndex, m.baseVertex = uint32(at.indices.at*indexUnit/size), first
	m.indexCount = uint32(len(indices) / size)
	if m.set != nil {
		m.set = r.textures.sets.acquire(m.set.key)
	}
	r.serial++
	n := &rep{
		serial: r.serial, key: payload.Key{Scene: u.Scene, Rep: u.Rep}, box: box, materials: r.materials.duplicate(int(m.material)),
		bundles: []bundle{{packing: packing, at: at, vertices: vertices, indices: indices}}, sets: []*textureSet{m.set}, asset: payload.NewAsset(u.Buffers.Release),
	}
	m.material = int32(n.materials.at)
	n.whole = m
	d.have[id] = n
	d.queue = append(d.queue, n)
	return nil
}

// meshOfRecord returns the mesh that a record of an asset has become.
func meshOfRecord(n *rep, record int32) *mesh {
	if n == nil {
		return nil
	}
	i := slices.IndexFunc(n.meshes, func(m mesh) bool { return m.record == record })
	if i < 0 {
		return nil
	}
	return &n.meshes[i]
}

// Drawable is the batch.Device.
func (d *batches) Drawable(id batch.ID) bool { return d.have[id].resident }

// Release is the batch.Device.
func (d *batches) Release(id batch.ID) {
	n := d.have[id]
	delete(d.have, id)
	n.gone = true
	n.forget()
	d.r.pool.give(n.bundles)
	d.r.materials.list.release(n.materials)
	d.r.textures.sets.release(n.whole.set)
}

// upload uploads one piece and returns its bytes; 0 when nothing waits.
func (d *batches) upload() int64 {
	if d == nil {
		return 0
	}
	for len(d.queue) > 0 {
		n := d.queue[0]
		sent := int64(0)
		if !n.gone {
			sent = n.piece(d.r.device)
		}
		if n.gone || n.sent == n.pending() {
			n.resident = true
			n.forget()
			d.queue = d.queue[1:]
		}
		if sent > 0 {
			return sent
		}
	}
	d.queue = nil
	return 0
}

// collectable returns what collecting a frame needs; nil without batches.
func (d *batches) collectable() *drawnBatches {
	if d == nil {
		return nil
	}
	return &d.drawnBatches
}

// busy reports whether a batch waits for its upload.
func (d *batches) busy() bool { return d != nil && len(d.queue) > 0 }

// count fills in the counters.
func (d *batches) count(s *Stats) {
	if d == nil {
		return
	}
	st := d.batcher.Stats()
	s.Batches, s.BatchBytes = st.Batches, st.Bytes
	s.BatchWork = st.Jobs + st.Busy + st.DeferredByQuiescence + st.DeferredByWork + st.Waiting + st.Uploading
}

// close frees everything. Representations stay and are drawn mesh by mesh.
func (d *batches) close() {
	if d == nil {
		return
	}
	if d.workers != nil {
		_ = d.workers.Close() // it has no errors
	}
	d.batcher.Close()
	d.assets.Clear()
}
