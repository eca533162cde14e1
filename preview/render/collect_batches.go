package render

import (
	"cmp"
	"slices"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/internal/batch"
	"github.com/untoldkit/untold/runtime/payload"
)

// drawnBatches is what collecting needs of static batches.
type drawnBatches struct {
	batcher *batch.Batcher
	have    map[batch.ID]*rep
	draws   []batch.Draw
	list    []drawnRep // of this frame
}

// collectBatches brings the batches up to this frame and lists what is drawn of
// them, near to far. It comes after collectReps, so that a mesh that a batch
// draws and one that it does not draw are told apart by the same list.
func (c *collected) collectBatches(d *drawnBatches, f *Frame) {
	c.batches = nil
	if d == nil {
		return
	}
	sees := c.seesBox
	d.batcher.Update(batch.Frame{Drawn: f.Drawn, Sees: sees})
	if f.View == ViewTiles {
		return // a batch has no one tile
	}
	for i := range c.reps {
		c.reps[i].merged = d.batcher.Merged(c.reps[i].key)
	}
	d.draws = d.batcher.AppendSeen(d.draws[:0], sees)
	d.list = d.list[:0]
	for rest := d.draws; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Batch == rest[0].Batch {
			n++
		}
		d.list = append(d.list, c.batchOf(d, f, rest[:n]))
		rest = rest[n:]
	}
	slices.SortFunc(d.list, func(a, b drawnRep) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.serial, b.serial))
	})
	c.batches = d.list
}

// batchOf makes a representation of the ranges of a batch that are drawn.
func (c *collected) batchOf(d *drawnBatches, f *Frame, ranges []batch.Draw) drawnRep {
	n := d.have[ranges[0].Batch]
	n.meshes = n.meshes[:0]
	for _, g := range ranges {
		m := n.whole
		m.firstIndex += g.First
		m.indexCount = g.Count
		n.meshes = append(n.meshes, m)
	}
	out := drawnRep{rep: n, scene: c.sceneOf(f, n.key.Scene), mask: allPixels, batch: true}
	s := &c.scenes[out.scene]
	out.distance = n.box.Distance(s.eye) * s.stretch
	switch f.View {
	case ViewLOD:
		out.color = rgba(LODColor(n.key.Rep))
	case ViewBatches:
		out.color = rgba(BatchColor(ranges[0].Batch))
	}
	return out
}

// seesBox reports whether a box in the space of a scene is in view.
func (c *collected) seesBox(id payload.SceneID, b records.Bounds) bool {
	i := slices.IndexFunc(c.scenes, func(s sceneView) bool { return s.id == id })
	if i < 0 {
		return false
	}
	box := geom.Box{Min: geom.FromF32(b.Min), Max: geom.FromF32(b.Max)}
	center, half := [3]float64(box.Center()), [3]float64(box.Size().Scale(0.5))
	return c.scenes[i].view.sees(&center, &half)
}
