package payload

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
func (p *Split) Admits(l *Layout) bool {
	return len(l.Stubs) > 0 && (p.Always || l.Groups > 0 || len(l.Nodes) >= p.Nodes || p.Bytes > 0 && l.Bytes > p.Bytes)
}

// RecordsOf makes an asset of a file's records, without its geometry.
func RecordsOf(r *format.Reader) *Asset {
	a := NewAsset(nil)
	h := r.Header()
	a.Type, a.Strings, a.Version = h.FileType, r.String, h.ContentHash
	a.Entities, a.Bounds = r.Placed()
	a.Meshes, a.Materials, a.Textures = r.Meshes(), r.Materials(), r.Textures()
	return a
}
