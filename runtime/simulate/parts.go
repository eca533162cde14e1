package simulate

import (
	"context"
	"errors"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/runtime/internal/hostqueue"
	"github.com/untoldkit/untold/runtime/payload"
)

// The model of files that come in parts: the tables cost their bytes on the
// network, and each request for geometry those of its meshes.

// minParts is the size of a file from which that is done, as in package remote.
const minParts = 256 << 10

// tables returns how many bytes of a file come first when it comes in parts, 0
// when it comes whole.
func (w *model) tables(req *payload.Request) int64 {
	x := w.sizes[req.TileID]
	if !w.ranges || req.Split == nil || req.Size < minParts || len(x.Meshes) > 0 || x.Nodes > 0 {
		return 0
	}
	r, _ := w.recordsOf(req.TileID, payload.RepFull)
	if r == nil || !req.Split.Admits(payload.RecordsOf(r).Layout()) {
		return 0
	}
	size := int64(records.HeaderSize + len(r.Chunks())*records.ChunkSize)
	for _, c := range r.Chunks() {
		if c.Type != format.ChunkVertices && c.Type != format.ChunkIndices {
			size += int64(c.CompressedSize)
		} else if c.Compression != format.CompressNone {
			return 0
		}
	}
	if size > req.Size/2 {
		return 0
	}
	return size
}

// tablesOnly is what the model's Fetcher brings of such a file.
type tablesOnly struct{ size int64 }

var errModel = errors.New("a modelled file has no bytes")

// ReadAt fails: the model's Loader does not read.
func (tablesOnly) ReadAt([]byte, int64) (int, error) { return 0, errModel }

// Size returns the bytes that have come.
func (t tablesOnly) Size() int64 { return t.size }

// Bring does nothing.
func (tablesOnly) Bring(context.Context, []payload.Span) error { return nil }

// Distrust does nothing.
func (tablesOnly) Distrust([]payload.Span) {}

// partLoader loads the meshes of an asset over the network.
type partLoader struct {
	w     *model
	asset *payload.Asset
}

// LoadParts begins a download of the meshes' bytes.
func (p partLoader) LoadParts(req payload.Request, meshes []int) {
	req.TileID = p.w.nameOf(&req)
	p.w.requested += req.Size
	p.w.net.start(req.Token, req.Size, hostqueue.Request{Size: req.Size})
	p.w.waiting = append(p.w.waiting, job{req: req, rep: "mesh", fetch: true, parts: append([]int{}, meshes...), records: p.asset.Meshes, due: never})
}

// deliverParts answers such a request.
func (w *model) deliverParts(j *job) {
	a := payload.NewAsset(nil)
	a.Meshes = make([]records.Mesh, len(j.parts))
	for i, k := range j.parts {
		a.Meshes[i] = j.records[k]
	}
	w.loaded += j.req.Size
	j.req.Done.Loaded(j.req.Token, payload.Result{Asset: a})
}
