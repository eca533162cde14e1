// Package batch merges static meshes by cell, so that a frame has fewer draw
// calls. It decides what is merged and what is
// drawn alone; it knows no graphics API.
//
// Meshes of one scene whose centres lie in the same cell, with the same
// representation and level, material and channels, make a group; a group of two
// or more becomes a batch. The owner of a Batcher tells it what comes and goes,
// calls Update once per frame with the streamer's list, and draws what it says:
//
//	func (d *device) Upload(key payload.Key, asset *payload.Asset) error {
//		d.assets.Put(key, asset)                                    // for the merging
//		d.batcher.Add(key, batch.Items(asset, d.materials.Of(asset)))
//		...
//	}
//	func (d *device) Release(key payload.Key) {
//		d.batcher.Remove(key)
//		d.assets.Drop(key)
//		...
//	}
//	...
//	streamer.Update(camera, dt)
//	drawn = streamer.AppendDrawn(drawn[:0])
//	batcher.Update(batch.Frame{Drawn: drawn, Sees: inView})
//	draws = batcher.AppendDraws(draws[:0]) // index ranges of batches; AppendSeen: of those in view
//	alone = batcher.AppendAlone(alone[:0]) // meshes to draw by themselves
//
// In every frame each mesh of what the streamer draws is in exactly one of the
// two lists, whatever loads, fades, fails or leaves. A mesh of a batch that is
// not to be drawn, or fades, is left out of the batch's ranges, so nothing has
// to be rebuilt for it to be right.
//
// Merging is done by a Builder, in goroutines outside: Workers is one. Answers
// carry the epoch of the Batcher and the generation of the cell; late ones are
// dropped. Vertices are in scene space already (the cooker bakes transforms),
// so merging is concatenation, with the indices counted on and widened to 32
// bits where a batch has more than 65,536 vertices.
//
// Batches take memory beside the meshes: Stats.Bytes, to be added to what the
// MemoryProbe reports as used (memory.ProbeOptions.Used), and bounded by
// Options.MaxBytes. Relieve gives it back.
package batch
