package render

import (
	"github.com/untoldkit/untold/preview/internal/batch"
)

// BatchOptions says how static meshes are joined (package batch).
type BatchOptions struct {
	// Options are those of the Batcher; Builder and Device are the Renderer's.
	batch.Options
	// Sync merges within Draw, for runs that must not depend on how fast that
	// is; else a goroutine does it.
	Sync bool
	// AssetBytes bounds the decoded geometry that is kept in main memory for
	// merging; 0 means no bound.
	AssetBytes int64
}

// BatchStats are the counters of static batching.
type BatchStats struct {
	// This frame, of what is in view.
	BatchDraws    int // draws of batches, part of Stats.Draws
	BatchedMeshes int // meshes in them

	// Now.
	Batches    int   // that are drawn, in view or not
	BatchWork  int   // cells that wait or are being merged
	BatchBytes int64 // of all batches on the GPU, part of Stats.GeometryBytes
}

// BatchColor returns the colour of a batch in ViewBatches, sRGB.
func BatchColor(id batch.ID) [3]uint8 { return TileColor(0, int32(id)) }

// AloneColor is the colour of meshes that are in no batch in ViewBatches, sRGB.
var AloneColor = [3]uint8{150, 150, 150}
