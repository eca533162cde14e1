package payload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"sync"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/filemap"
	"github.com/untoldkit/untold/internal/plainfile"
	"github.com/untoldkit/untold/internal/workpool"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// ErrPayload is matched by errors about payload files that are not what the
// manifest declares.
var ErrPayload = errors.New("the payload does not match the manifest")

// defaultWorkers is the sum of the default caps on concurrent loads, so that
// no request waits for a worker.
const defaultWorkers = 10

// FileLoader is the Loader of .untold files on the local disk. It reads and
// decodes in a bounded number of goroutines, which exist only while there is
// work, and reuses the buffers that released assets give back. A file is compared
// with the size and the SHA-256 that the manifest declares, and with its own
// content hash, the first time it is loaded and whenever it has changed since.
type FileLoader struct {
	// Prepare is called with each asset that was read, in the goroutine that has read it,
	// to set its Ready for the Device; nil: not. It is set before the first request.
	Prepare func(*Asset)

	pool    *workpool.Pool[Request]
	mu      sync.Mutex
	sound   map[string]checked // by path
	buffers sync.Pool          // of *format.Geometry
	blocks  sync.Pool          // of *[]byte, to hash files with
}

// NewFileLoader returns a loader with at most so many workers; 0 means as many
// as the default caps on concurrent loads need.
func NewFileLoader(workers int) *FileLoader {
	if workers <= 0 {
		workers = defaultWorkers
	}
	l := &FileLoader{sound: map[string]checked{}}
	l.pool = workpool.New(workers, func(req Request) { req.Done.Loaded(req.Token, l.load(req)) })
	return l
}

// Start queues a request.
func (l *FileLoader) Start(req Request) {
	if !l.pool.Start(req) {
		refuse(req)
	}
}

// Close answers what is queued with ErrClosed and waits for the workers.
func (l *FileLoader) Close() error {
	l.pool.Close(refuse)
	return nil
}

func refuse(req Request) { req.Done.Loaded(req.Token, Result{Err: ErrClosed}) }

func (l *FileLoader) load(req Request) Result {
	asset, err := l.read(req)
	if err != nil {
		return Result{Err: fmt.Errorf("tile %s, %v: %w", req.TileID, req.Key.Rep, err)}
	}
	if l.Prepare != nil && asset.Parts == nil {
		l.Prepare(asset)
	}
	return ResultOf(asset)
}

// ResultOf returns the answer that an asset is.
func ResultOf(a *Asset) Result {
	return Result{Asset: a, GeometryBytes: int64(len(a.Geometry.Vertices) + len(a.Geometry.Indices)), Nodes: len(a.Layout().Nodes)}
}

func (l *FileLoader) read(req Request) (*Asset, error) {
	if err := req.Context.Err(); err != nil {
		return nil, err
	}
	if req.Local.Ranges != nil {
		return l.readRecords(req)
	}
	f, err := openPayload(req)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := l.verifyFile(&req, f, info); err != nil {
		return nil, err
	}
	if k := req.Kept; k != nil && (&checked{info: k.file}).fits(info) {
		if a := k.Retain(); a != nil {
			return a, nil
		}
	}
	r, err := format.NewReader(cancellable{req.Context, f}, info.Size())
	if err != nil {
		return nil, err
	}
	if err := l.verifyContent(&req, info, r); err != nil {
		return nil, err
	}
	if k := req.Kept; k != nil && k.Version != ([32]byte{}) && k.Version == r.Header().ContentHash {
		if a := k.Retain(); a != nil { // written again, with the same in it
			return a, nil
		}
	}
	buffer, _ := l.buffers.Get().(*format.Geometry)
	if buffer == nil {
		buffer = new(format.Geometry)
	}
	geometry, err := r.ReadGeometry(*buffer)
	if err != nil {
		l.buffers.Put(buffer)
		return nil, err
	}
	*buffer = geometry
	a := RecordsOf(r)
	a.buffers.release = func() { l.buffers.Put(buffer) }
	a.Dir, a.Geometry, a.file = textureDir(req), geometry, info
	return a, nil
}

// textureDir returns the folder that the texture URIs of a payload are relative
// to.
func textureDir(req Request) string {
	switch {
	case req.Local.Dir != "":
		return req.Local.Dir
	case req.Local.File != "":
		return filepath.Dir(req.Local.File)
	}
	return filepath.Join(req.Dir, filepath.FromSlash(path.Dir(req.Path)))
}

func openPayload(req Request) (*os.File, error) {
	if req.Local.File != "" {
		f, _, err := plainfile.Open(req.Local.File)
		return f, err
	}
	return payloadpath.Open(req.Dir, req.Path)
}

// cancellable is a file whose reads end with the request.
type cancellable struct {
	ctx context.Context
	io.ReaderAt
}

func (c cancellable) ReadAt(p []byte, off int64) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.ReaderAt.ReadAt(p, off)
}

// LendAt is the format.Lender: compressed geometry is decoded straight from the
// page cache.
func (c cancellable) LendAt(off, n int64) ([]byte, func(), error) {
	if err := c.ctx.Err(); err != nil {
		return nil, nil, err
	}
	if f, ok := c.ReaderAt.(*os.File); ok {
		return filemap.Range(f, off, n)
	}
	return nil, nil, errors.ErrUnsupported
}
