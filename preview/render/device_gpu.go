package render

import (
	"fmt"
	"time"

	"github.com/untoldkit/untold/format/vertex/compact"
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
	p, err := readyOf(asset)
	if err != nil {
		return fmt.Errorf("%w (scene %d, tile %d, %v)", err, key.Scene, key.Tile, key.Rep)
	}
	if err := r.placeBundles(p); err != nil {
		return err
	}
	r.serial++
	n := &rep{
		key: key, serial: r.serial, box: p.box, meshes: p.meshes, objects: p.objects, bundles: p.bundles, asset: asset, made: p.made,
	}
	r.addMaterials(n, p, asset)
	for i := range n.meshes {
		m := &n.meshes[i]
		m.set = n.sets[m.material]
		n.cost += int(m.indexCount/3) + drawCost
		m.material += int32(n.materials.at)
		at := &n.bundles[m.bundle].at
		m.baseVertex += int32(at.vertices.at)
		m.firstIndex += uint32(at.indices.at * indexUnit / m.indexSize())
	}
	r.reps[key] = n
	r.queue = append(r.queue, n)
	if asset.Children == nil { // a batch has no parts
		r.batches.add(key, asset)
	}
	return nil
}

// placeBundles finds room for all bundles.
func (r *Renderer) placeBundles(p *prepared) error {
	for i := range p.bundles {
		b := &p.bundles[i]
		size := len(b.indices)
		if r.absolute {
			size = p.absoluteSize(int32(i))
		}
		at, err := r.pool.allocate(b.packing.Layout, len(b.vertices), size)
		if err != nil {
			r.pool.give(p.bundles[:i])
			return err
		}
		if b.at = at; r.absolute {
			p.makeAbsolute(int32(i))
		}
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

// Packed is of the runtime.Packer: what the vertices and indices of a representation take
// of the pool.
func (r *Renderer) Packed(key payload.Key, _ int64) (bytes int64) {
	if n := r.reps[key]; n != nil {
		for i := range n.bundles {
			bytes += n.bundles[i].at.bytes()
		}
	}
	return bytes
}

// Estimate is of the runtime.Packer. Where indices of 16 bits become such of 32, they take
// most of what vertices leave.
func (r *Renderer) Estimate(bytes int64) int64 {
	if r.absolute {
		return bytes - bytes/8
	}
	return compact.Estimate(bytes)
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
	n.forget()
	r.pool.give(n.bundles)
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
		if n.sent == n.pending() {
			n.resident = true
			n.forget()
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
	done := n.sent
	for i := range n.bundles {
		b := &n.bundles[i]
		buffer, data, at := b.at.page.vertex, b.vertices, b.at.vertices.at*b.at.page.layout.Size()
		if done >= len(b.vertices) {
			done -= len(b.vertices)
			buffer, data, at = b.at.page.index, b.indices, b.at.indices.at*indexUnit
			if done >= len(b.indices) {
				done -= len(b.indices)
				continue
			}
		}
		k := min(pieceBytes, len(data)-done)
		d.WriteBuffer(buffer, at+done, data[done:done+k])
		n.sent += k
		return int64(k)
	}
	return 0
}
