package batch

import (
	"sync"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/runtime/payload"
)

// Assets is a Source that keeps the decoded assets of what is resident, the
// newest up to a number of bytes. It is safe for concurrent use.
type Assets struct {
	mu    sync.Mutex
	limit int64
	used  int64
	kept  map[payload.Key]*keptAsset
	order []*keptAsset // the oldest first
}

type keptAsset struct {
	key   payload.Key
	asset *payload.Asset
	bytes int64
	gone  bool
}

// NewAssets returns a Source that keeps up to limit bytes of geometry in main
// memory; 0 means no limit. Meshes of what went for lack of room are drawn
// alone until they are loaded again, unless they are in a batch by then.
func NewAssets(limit int64) *Assets {
	return &Assets{limit: limit, kept: map[payload.Key]*keptAsset{}}
}

// Put keeps an asset that has been uploaded; it takes a handle of its own. It
// must be called before the asset is released.
func (s *Assets) Put(key payload.Key, asset *payload.Asset) {
	s.Drop(key)
	if asset = asset.Retain(); asset == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := &keptAsset{key: key, asset: asset}
	for i := range asset.Meshes { // a view holds a part of the buffers
		k.bytes += int64(min(asset.Meshes[i].VertexSize+asset.Meshes[i].IndexSize, 1<<40))
	}
	s.kept[key] = k
	s.order = append(s.order, k)
	s.used += k.bytes
	n := 0
	for n < len(s.order)-1 && (s.order[n].gone || s.limit > 0 && s.used > s.limit) {
		s.drop(s.order[n])
		n++
	}
	s.order = append(s.order[:0], s.order[n:]...)
}

// Drop forgets an asset.
func (s *Assets) Drop(key payload.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.kept[key]; k != nil {
		s.drop(k)
	}
}

// Clear forgets all assets.
func (s *Assets) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.order {
		s.drop(k)
	}
	s.order = nil
}

func (s *Assets) drop(k *keptAsset) {
	if k.gone {
		return
	}
	k.gone = true
	k.asset.Release()
	k.asset = nil
	s.used -= k.bytes
	delete(s.kept, k.key)
}

// Bytes returns what is kept.
func (s *Assets) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// Geometry returns a mesh of what is kept.
func (s *Assets) Geometry(ref Ref) (MeshGeometry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kept[ref.Key]
	if k == nil || ref.Mesh < 0 || int(ref.Mesh) >= len(k.asset.Meshes) {
		return MeshGeometry{}, false
	}
	m := &k.asset.Meshes[ref.Mesh]
	if !sound(m, &k.asset.Geometry) {
		return MeshGeometry{}, false
	}
	held := k.asset.Retain()
	if held == nil {
		return MeshGeometry{}, false
	}
	return meshOf(m, &held.Geometry, held.Release), true
}

func meshOf(m *records.Mesh, g *format.Geometry, release func()) MeshGeometry {
	return MeshGeometry{
		Vertices: g.Vertices[m.VertexOffset : m.VertexOffset+m.VertexSize],
		Indices:  g.Indices[m.IndexOffset : m.IndexOffset+m.IndexSize],
		Type:     m.IndexType, Release: release,
	}
}
