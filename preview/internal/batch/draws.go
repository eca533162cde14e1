package batch

import (
	"slices"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/runtime/payload"
)

// runsOf returns the ranges of a batch that are to be drawn now.
func (n *batch) runsOf() []Range {
	if !n.stale {
		return n.runs
	}
	n.stale, n.runs, n.solid = false, n.runs[:0], 0
	for i := range n.members {
		m := &n.members[i]
		if m.item == nil || !m.item.owner.solid {
			continue
		}
		n.solid++
		if last := len(n.runs) - 1; last >= 0 && n.runs[last].First+n.runs[last].Count == m.First {
			n.runs[last].Count += m.Count
			continue
		}
		n.runs = append(n.runs, m.Range)
	}
	return n.runs
}

// AppendDraws appends what is to be drawn of batches in this frame, in the order
// of their making.
func (b *Batcher) AppendDraws(dst []Draw) []Draw {
	for _, n := range b.live {
		for _, r := range n.runsOf() {
			dst = append(dst, Draw{n.id, r.First, r.Count})
		}
	}
	return dst
}

// AppendSeen is AppendDraws without what is out of view: batches of cells that
// Frame.Sees has not seen are left out, and ranges begin and end with a mesh
// that sees reports, so that they are no more than those of AppendDraws.
func (b *Batcher) AppendSeen(dst []Draw, sees func(scene payload.SceneID, box records.Bounds) bool) []Draw {
	for _, n := range b.live {
		if !n.cell.seen {
			continue
		}
		var open Range // the present one as far as it is seen
		for i := range n.members {
			m := &n.members[i]
			switch {
			case m.item == nil || !m.item.owner.solid:
				dst, open = n.appendRange(dst, open), Range{}
			case !sees(n.scene, m.item.Bounds):
			case open.Count == 0:
				open = m.Range
			default:
				open.Count = m.First + m.Count - open.First
			}
		}
		dst = n.appendRange(dst, open)
	}
	return dst
}

func (n *batch) appendRange(dst []Draw, r Range) []Draw {
	if r.Count == 0 {
		return dst
	}
	return append(dst, Draw{n.id, r.First, r.Count})
}

// AppendAlone appends the meshes that are to be drawn by themselves in this
// frame, in the order of Frame.Drawn: those that are in no batch, and those that
// fade. Representations that were never added are not listed.
func (b *Batcher) AppendAlone(dst []Ref) []Ref {
	for _, o := range b.drawn {
		if o.gone {
			continue
		}
		for i, merged := range o.merged {
			if !merged {
				dst = append(dst, Ref{o.key, int32(i)})
			}
		}
	}
	return dst
}

// Merged says of each mesh of a representation whether a batch draws it in this
// frame. It is nil for one that was never added. The slice holds until the next
// call of a method and must not be changed.
func (b *Batcher) Merged(key payload.Key) []bool {
	if o := b.owners[key]; o != nil {
		return o.merged
	}
	return nil
}

// CellState is what is done for a cell.
type CellState uint8

// The states.
const (
	CellUnbatched CellState = iota // nothing to merge, or not looked at yet
	CellPending                    // changed, or being merged
	CellBatched
	CellRefused // too much for a cell
)

// String returns the state in lower case.
func (s CellState) String() string {
	return [...]string{"unbatched", "pending", "batched", "refused"}[min(s, CellRefused)]
}

// Cell describes a cell for a debug view.
type Cell struct {
	Scene   payload.SceneID
	At      [3]int32
	Bounds  records.Bounds // of its meshes, in the space of the scene
	State   CellState
	Meshes  int
	Visible bool
}

// AppendCells appends all cells, in a repeatable order.
func (b *Batcher) AppendCells(dst []Cell) []Cell {
	for _, c := range b.list {
		x := Cell{Scene: c.key.scene, At: c.key.at, Bounds: c.box, Meshes: len(c.members), Visible: c.seen}
		switch {
		case c.refused:
			x.State = CellRefused
		case c.dirty || c.token != 0 || c.uploading > 0:
			x.State = CellPending
		case slices.ContainsFunc(c.members, func(x *item) bool { return x.batch != nil }):
			x.State = CellBatched
		}
		dst = append(dst, x)
	}
	return dst
}
