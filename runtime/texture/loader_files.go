package texture

import (
	"github.com/untoldkit/untold/internal/workpool"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// FileLoader is the Loader of files on the local disk: images, which are
// decoded and filtered, and cooked textures, of which only the levels that are
// wanted are read. It works in a bounded number of goroutines, which exist only
// while there is work.
type FileLoader struct {
	options FileOptions
	pool    *workpool.Pool[Request]
}

// FileOptions configures a FileLoader. The zero value is useful.
type FileOptions struct {
	// Workers is how many files are read at a time; 0 means 2. An image of the
	// largest size accepted takes about 6 bytes per pixel while it is decoded.
	Workers int
	// MaxPixels is the largest image to decode; 0 means texfile.DefaultMaxPixels.
	MaxPixels int
	// Blocks leaves the blocks of cooked textures as they are, for devices that
	// take BC7 and BC5, and ASTC does for devices that take ASTC; else they become
	// RGBA8.
	Blocks, ASTC bool
}

// NewFileLoader returns a loader.
func NewFileLoader(o FileOptions) *FileLoader {
	if o.Workers <= 0 {
		o.Workers = 2
	}
	l := &FileLoader{options: o}
	l.pool = workpool.New(o.Workers, func(req Request) {
		img, err := l.Read(req)
		req.Done.Loaded(req.Token, img, err)
	})
	return l
}

// Start queues a request.
func (l *FileLoader) Start(req Request) {
	if !l.pool.Start(req) {
		refuse(req)
	}
}

// Close answers what is queued with ErrClosed and waits for the workers, who
// finish what they are at unless its Context ends.
func (l *FileLoader) Close() error {
	l.pool.Close(refuse)
	return nil
}

func refuse(req Request) { req.Done.Loaded(req.Token, nil, ErrClosed) }

// Read answers a request at once, in the calling goroutine; it does not use
// its Token and Done. Errors are those of ReadFile of runtime/texture/texfile.
func (l *FileLoader) Read(req Request) (*texfile.Image, error) {
	return texfile.ReadFile(req.Context, req.Dir, req.URI, texfile.Options{
		Use: req.Use, MaxSize: req.MaxSize, MaxPixels: l.options.MaxPixels, Blocks: l.options.Blocks, ASTC: l.options.ASTC,
	})
}
