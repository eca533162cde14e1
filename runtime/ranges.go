package runtime

import (
	"context"
	"errors"
	"io"

	"github.com/untoldkit/untold/format"
)

// ErrReplaced is matched by errors about a file that has been replaced while it
// was read in parts: what has come of it and what would come now do not belong
// together.
var ErrReplaced = errors.New("the file was replaced")

// Span is a range of bytes of a file; To is exclusive.
type Span struct{ From, To int64 }

// Ranges is a payload file that a Fetcher brings in parts. Its methods may be
// called concurrently. It needs no closing.
type Ranges interface {
	// ReaderAt reads what has been brought, and fails for the rest. It does not
	// wait for the network.
	io.ReaderAt
	// Size returns the size of the whole file in bytes.
	Size() int64
	// Bring returns when the spans, which may overlap, can be read, or with an
	// error. It may take as long as a download.
	Bring(ctx context.Context, spans []Span) error
	// Distrust forgets what has been brought of some spans: it makes no sense, and
	// the next Bring shall bring it anew.
	Distrust(spans []Span)
}

// Split says of which full tiles a Fetcher need bring no more than the tables:
// those that stream mesh by mesh.
type Split struct {
	Always bool  // all that have nodes
	Nodes  int   // renderable nodes from which it is so
	Bytes  int64 // GPU memory above which it is so, 0: however much
}

// Admits reports whether a tile streams mesh by mesh. LOD groups always do, for
// they can only be switched part by part.
func (p *Split) Admits(r *format.Reader) bool { return p.admits(RecordsOf(r).layout()) }

func (p *Split) admits(n *nodes) bool {
	return len(n.stubs) > 0 && (p.Always || n.groups > 0 || len(n.list) >= p.Nodes || p.Bytes > 0 && n.bytes > p.Bytes)
}

// PartLoader loads the geometry of an Asset that came without any.
type PartLoader interface {
	// LoadParts begins to load some of the meshes of the Asset, as places in its
	// Meshes, and returns at once. It is called on the owner goroutine. Every
	// request is answered exactly once by req.Done.Loaded, from any goroutine,
	// with an Asset that has these Meshes, in this order, and their Geometry. It
	// has deadlines of its own, as a Fetcher.
	LoadParts(req Request, meshes []int)
}

// RecordsOf makes an asset of a file's records, without its geometry.
func RecordsOf(r *format.Reader) *Asset {
	a := NewAsset(nil)
	h := r.Header()
	a.Type, a.Strings, a.version = h.FileType, r.String, h.ContentHash
	a.Entities, a.Bounds = r.Placed()
	a.Meshes, a.Materials, a.Textures = r.Meshes(), r.Materials(), r.Textures()
	return a
}
