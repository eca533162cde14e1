package batch

import (
	"cmp"
	"slices"
)

// SetMaxBytes changes Options.MaxBytes; 0 means no bound. What is over a smaller
// one is given up in the next Update: batches out of view first, those not seen
// for the longest, then the latest ones. Their meshes are drawn alone from then
// on, and merged again when there is room.
func (b *Batcher) SetMaxBytes(n int64) {
	b.options.MaxBytes = n
	b.options = b.options.withDefaults()
}

// shrink gives up what is over the bound. Batches that are being made or
// uploaded are left until they are there.
func (b *Batcher) shrink() {
	over := b.stats.Bytes - b.retiring - b.options.MaxBytes
	if over <= 0 {
		return
	}
	order := slices.Clone(b.live)
	slices.SortFunc(order, func(x, y *batch) int {
		return cmp.Or(cmp.Compare(x.cell.lastVisible, y.cell.lastVisible), cmp.Compare(y.id, x.id))
	})
	for _, n := range order {
		if over <= 0 {
			return
		}
		over -= n.bytes
		for i := range n.members {
			if x := n.members[i].item; x != nil {
				b.detach(x)
			}
			if !n.live {
				break // with its last member
			}
		}
		b.touch(n.cell, false)
	}
}
