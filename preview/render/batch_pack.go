package render

import (
	"sync"

	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/preview/internal/batch"
	"github.com/untoldkit/untold/runtime/payload"
)

// packings is how the vertices of meshes are stored that batches may have, by record. It is
// safe for concurrent use.
type packings struct {
	mu sync.Mutex
	of map[payload.Key][]compact.Packing
}

func (x *packings) put(key payload.Key, n *rep) {
	var list []compact.Packing
	for i := range n.meshes {
		m := &n.meshes[i]
		for int(m.record) >= len(list) {
			list = append(list, compact.Packing{})
		}
		list[m.record] = n.bundles[m.bundle].packing
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.of[key] = list
}

func (x *packings) drop(key payload.Key) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.of, key)
}

// pack is the batch.Pack: a batch has the vertices of its members where they are, so that
// nothing moves when it takes over from them.
func (x *packings) pack(dst []byte, members []batch.Member, vertices []byte) (compact.Packing, []byte) {
	p := compact.Join(vertices, x.joined(members))
	if p.Layout == compact.Full {
		return p, vertices
	}
	if size := len(vertices) / vertex.Size * p.Layout.Size(); cap(dst) < size {
		dst = make([]byte, 0, size)
	}
	return p, p.Append(dst, vertices)
}

func (x *packings) joined(members []batch.Member) (p compact.Packing) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range members {
		of := compact.Packing{} // of what is gone
		if list, k := x.of[members[i].Key], int(members[i].Mesh); k < len(list) {
			of = list[k]
		}
		if i == 0 {
			p = of
		}
		p = p.With(of)
	}
	return p
}
