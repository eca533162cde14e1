package batch

import (
	"slices"

	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/runtime/payload"
)

// batch is merged meshes on the device.
type batch struct {
	id       ID
	scene    payload.SceneID
	rep      payload.Rep
	cell     *cell
	round    uint64 // generation of the cell that it is right for
	bytes    int64
	members  []piece
	attached int  // members whose mesh is there
	live     bool // drawn; else it is being uploaded, or retired
	stale    bool // runs have to be made anew
	runs     []Range
	solid    int // members in runs
	retired  uint64
}

// piece is a member's part of the indices. A mesh that is gone leaves a hole.
type piece struct {
	item *item
	Range
}

// takeAnswers turns results into uploads, a few per Update.
func (b *Batcher) takeAnswers() {
	b.ready = b.answers.drain(b.ready)
	taken := 0
	for taken < len(b.ready) && b.stats.Applied < b.limits.Results {
		b.take(b.ready[taken])
		taken++
	}
	b.ready = slices.Delete(b.ready, 0, taken)
}

// take uploads the batches of a result, unless it is late: another epoch, or a
// cell that has changed.
func (b *Batcher) take(a answer) {
	b.inFlight--
	c := b.cells[cellKey{a.job.Scene, a.job.Cell}]
	b.pending -= a.job.bytes()
	if c == nil || a.job.Epoch != b.epoch || c.token != a.job.Token || c.generation != a.job.Generation {
		if c != nil && c.token == a.job.Token && a.job.Epoch == b.epoch {
			c.token = 0
		}
		a.result.release()
		b.stats.Discarded++
		return
	}
	b.stats.Applied++
	c.token, c.dirty, c.round = 0, false, c.generation
	b.plan(c, &b.planned) // the same as when the job was started
	b.keep(c, &b.planned)
	for i, group := range b.planned.groups {
		if i < len(a.result.Merged) {
			b.upload(c, group, &a.result.Merged[i])
		}
	}
	for i := len(b.planned.groups); i < len(a.result.Merged); i++ {
		a.result.Merged[i].Buffers.Release()
	}
	if c.uploading == 0 {
		b.settle(c, c.round)
	}
}

// bytes returns what the groups of a job take.
func (j *Job) bytes() (n int64) {
	for i := range j.Groups {
		n += bytesOf(int64(j.Groups[i].Vertices), int64(j.Groups[i].Indices))
	}
	return n
}

// bytes returns what merged buffers take on the device, whose indices may all be wide.
func (b *Buffers) bytes(wide bool) int64 {
	indices := len(b.Indices)
	if wide {
		indices = indices / b.Type.Size() * vertex.Index32.Size()
	}
	return int64(len(b.Vertices) + indices)
}

// upload gives a merged group to the device.
func (b *Batcher) upload(c *cell, group []*item, m *Merged) {
	usable := 0
	for i := range m.Ranges {
		if i < len(group) && m.Ranges[i].Count > 0 {
			usable++
		}
	}
	b.stats.Unavailable += len(group) - usable
	if m.Buffers == nil || usable < 2 {
		m.Buffers.Release()
		stay(group, c.round)
		return
	}
	n := &batch{
		scene: c.key.scene, rep: group[0].owner.key.Rep, cell: c, round: c.round,
		bytes: m.Buffers.bytes(b.options.WideIndices), members: make([]piece, 0, usable), stale: true,
	}
	u := Upload{Scene: n.scene, Rep: n.rep, Buffers: m.Buffers}
	for i, x := range group {
		if i >= len(m.Ranges) || m.Ranges[i].Count == 0 {
			stay(group[i:i+1], c.round)
			continue
		}
		if len(n.members) == 0 {
			u.Like, u.Bounds = x.ref(), x.Bounds
		}
		u.Bounds = union(u.Bounds, x.Bounds)
		n.members = append(n.members, piece{x, m.Ranges[i]})
	}
	b.lastID++
	n.id = b.lastID
	if err := b.options.Device.Upload(n.id, u); err != nil {
		m.Buffers.Release()
		b.stats.Failed++
		stay(group, c.round)
		return
	}
	for i := range n.members {
		x := n.members[i].item
		x.next, x.place = n, int32(i)
	}
	n.attached = len(n.members)
	c.uploading++
	b.stats.Bytes += n.bytes
	b.uploading = append(b.uploading, n)
}

// stay leaves meshes that could not be merged anew in the batches that they are
// in.
func stay(group []*item, round uint64) {
	for _, x := range group {
		if x.batch != nil {
			x.batch.round = round
		}
	}
}

// promoteUploads lets what the device can draw take over.
func (b *Batcher) promoteUploads() {
	b.uploading = slices.DeleteFunc(b.uploading, func(n *batch) bool {
		if n.attached > 0 {
			if !b.options.Device.Drawable(n.id) {
				return false
			}
			b.goLive(n)
		} else {
			b.retire(n)
		}
		if n.cell.uploading--; n.cell.uploading == 0 && !n.cell.gone {
			b.settle(n.cell, n.cell.round)
		}
		return true
	})
}

// goLive moves the meshes of a batch into it, all in the same frame.
func (b *Batcher) goLive(n *batch) {
	n.live, n.stale = true, true
	b.live = append(b.live, n)
	for i := range n.members {
		x := n.members[i].item
		if x == nil {
			continue
		}
		b.detach(x)
		x.next = nil
		x.batch, x.at = n, int32(i)
		x.owner.merged[x.mesh] = x.owner.solid
	}
}

// detach takes a mesh out of the batch that draws it: it is drawn alone.
func (b *Batcher) detach(x *item) {
	n := x.batch
	if n == nil {
		return
	}
	x.batch = nil
	x.owner.merged[x.mesh] = false
	n.members[x.at].item = nil
	n.stale = true
	if n.attached--; n.attached == 0 {
		b.live = slices.DeleteFunc(b.live, func(o *batch) bool { return o == n })
		b.retire(n)
	}
}

// detachNext takes a mesh out of a batch that is being uploaded.
func (b *Batcher) detachNext(x *item) {
	if n := x.next; n != nil {
		x.next = nil
		n.members[x.place].item = nil
		n.attached--
	}
}

// retire puts a batch that is not drawn any more on the way out.
func (b *Batcher) retire(n *batch) {
	n.live = false
	n.members, n.runs = nil, nil
	n.retired = b.frame
	b.retiring += n.bytes
	b.retired = append(b.retired, n)
}

// releaseRetired frees batches that the GPU is done with.
func (b *Batcher) releaseRetired() {
	n := 0
	for n < len(b.retired) && n < b.limits.Releases && b.frame-b.retired[n].retired >= uint64(b.options.RetireFrames) {
		b.options.Device.Release(b.retired[n].id)
		b.stats.Bytes -= b.retired[n].bytes
		b.retiring -= b.retired[n].bytes
		n++
	}
	b.retired = slices.Delete(b.retired, 0, n)
	b.stats.Released = n
}
