package render

import (
	"fmt"
	"time"

	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/runtime/payload"
)

// Upload takes over a decoded representation: it reserves memory at once and
// queues the bytes for Pump. A representation of the same key is replaced. The
// error says what the asset breaks, or that the GPU's memory is exhausted; then
// the asset stays with the caller.
func (r *Renderer) Upload(key payload.Key, asset *payload.Asset) error {
	r.Release(key)
	if asset == nil {
		r.serial++
		r.reps[key] = &rep{key: key, serial: r.serial, resident: true, box: geom.EmptyBox()}
		return nil
	}
	p, err := prepare(asset)
	if err != nil {
		return fmt.Errorf("%w (scene %d, tile %d, %v)", err, key.Scene, key.Tile, key.Rep)
	}
	size := len(p.indices)
	if r.absolute {
		size = p.absoluteSize()
	}
	at, err := r.pool.allocate(len(p.vertices), size)
	if err != nil {
		return err
	}
	if r.absolute {
		p.makeAbsolute(at.vertices.at)
	}
	r.serial++
	n := &rep{
		key: key, serial: r.serial, box: p.box, meshes: p.meshes, objects: p.objects, at: at,
		asset: asset, vertices: p.vertices, indices: p.indices,
		objectStamp: make([]uint64, len(p.objects)), objectSlot: make([]int32, len(p.objects)),
	}
	r.addMaterials(n, p, asset)
	for i := range n.meshes {
		m := &n.meshes[i]
		m.set = n.sets[m.material]
		n.cost += int(m.indexCount/3) + drawCost
		m.material += int32(n.materials.at)
		m.baseVertex += int32(at.vertices.at)
		size := 2
		if m.wide {
			size = 4
		}
		m.firstIndex += uint32(at.indices.at * indexUnit / size)
	}
	r.reps[key] = n
	r.queue = append(r.queue, n)
	if asset.Children == nil { // a batch has no parts
		r.batches.add(key, asset)
	}
	return nil
}

// addMaterials stores the materials of a representation and asks for their
// textures.
func (r *Renderer) addMaterials(n *rep, p *prepared, asset *payload.Asset) {
	n.sets = make([]*textureSet, len(p.materials))
	if !r.options.NoTextures {
		n.sets = r.textures.add(n, p, asset)
	}
	packed := make([]float32, 0, materialFloats*len(p.materials))
	for i := range p.materials {
		packed = packMaterial(packed, &p.materials[i], n.sets[i].has())
	}
	if len(packed) > 0 {
		n.materials = r.materials.write(packed)
	}
}

// Release frees a representation, uploaded or not.
func (r *Renderer) Release(key payload.Key) {
	n := r.reps[key]
	if n == nil {
		return
	}
	delete(r.reps, key)
	r.batches.remove(key)
	n.gone = true
	n.asset.Release()
	n.asset, n.vertices, n.indices = nil, nil, nil
	r.pool.release(n.at)
	r.materials.list.release(n.materials)
	r.textures.remove(n)
}

// Drawable reports whether the geometry of a representation is uploaded, and whether its
// textures are there in some size, for which it waits a second at most. Textures that are
// followed come when they come there.
func (r *Renderer) Drawable(key payload.Key) bool {
	n := r.reps[key]
	return n != nil && n.resident && (n.textured || r.textures.begun(n))
}

// Pump uploads what waits, geometry first and batches last, until the budget is spent, and
// reports whether nothing waits any more. Textures that are being read do not
// count.
func (r *Renderer) Pump(b Budget) (idle bool) {
	start := time.Now()
	spent := int64(0)
	left := func() bool {
		return spent == 0 || (b.Bytes <= 0 || spent < b.Bytes) && (b.Time <= 0 || time.Since(start) < b.Time)
	}
	r.messages.at(stageGeometry)
	for left() {
		n := r.uploadGeometry()
		if n == 0 {
			break
		}
		spent += n
		r.stats.UploadPieces++
	}
	r.messages.at(stageTextures)
	for left() {
		n := r.textures.device.pump()
		if n == 0 {
			break
		}
		spent += n
		r.stats.UploadPieces++
	}
	r.textures.device.arrays.tidy()
	r.messages.at(stageBatches)
	for left() {
		n := r.batches.upload()
		if n == 0 {
			break
		}
		spent += n
		r.stats.UploadPieces++
	}
	r.messages.at(stageGeometry)
	r.pool.ahead()
	r.messages.at(stageBetween)
	r.stats.UploadBytes += spent
	r.stats.UploadTime += time.Since(start)
	return len(r.queue) == 0 && !r.textures.device.busy() && !r.batches.busy()
}

// uploadGeometry uploads one piece and returns its bytes; 0 when nothing
// waits.
func (r *Renderer) uploadGeometry() int64 {
	for len(r.queue) > 0 {
		n := r.queue[0]
		if n.gone {
			r.queue = r.queue[1:]
			continue
		}
		sent := n.piece(r.device)
		if n.sent == len(n.vertices)+len(n.indices) {
			n.resident = true
			n.asset.Release()
			n.asset, n.vertices, n.indices = nil, nil, nil
			r.queue = r.queue[1:]
		}
		if sent > 0 {
			return sent
		}
	}
	r.queue = nil
	return 0
}

// piece uploads the next bytes of a representation.
func (n *rep) piece(d gpu.Device) int64 {
	if len(n.vertices)+len(n.indices) == 0 {
		return 0
	}
	buffer, data, from, at := n.at.page.vertex, n.vertices, n.sent, n.at.vertices.at*vertex.Size
	if n.sent >= len(n.vertices) {
		buffer, data, from, at = n.at.page.index, n.indices, n.sent-len(n.vertices), n.at.indices.at*indexUnit
	}
	k := min(pieceBytes, len(data)-from)
	d.WriteBuffer(buffer, at+from, data[from:from+k])
	n.sent += k
	return int64(k)
}
