package runtime

import (
	"sync/atomic"

	"github.com/untoldkit/untold/format"
)

// Asset is a decoded representation, ready for upload. The slices are shared
// and must not be changed; after Release they must not be read.
type Asset struct {
	Type format.FileType
	// Dir is the folder that the URIs of Textures are relative to; they are not
	// to be trusted.
	Dir       string
	Bounds    format.Bounds // world box of the geometry
	Entities  []format.Entity
	Meshes    []format.Mesh
	Materials []format.Material
	Textures  []format.Texture
	// Strings resolves name and uri offsets of the records.
	Strings func(offset uint32) string
	// Geometry holds vertices of format.VertexSize bytes and indices at the
	// offsets that Meshes name.
	Geometry format.Geometry

	release  func()
	released atomic.Bool
}

// NewAsset returns an asset whose buffers go back by release, which may be nil.
func NewAsset(release func()) *Asset { return &Asset{release: release} }

// Release gives the buffers back. It may be called on a nil Asset, from any
// goroutine and more than once.
func (a *Asset) Release() {
	if a == nil || a.released.Swap(true) {
		return
	}
	a.Geometry = format.Geometry{}
	if a.release != nil {
		a.release()
	}
}
