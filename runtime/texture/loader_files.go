package texture

import (
	"context"

	"github.com/untoldkit/untold/internal/workpool"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// FileLoader is the Loader of files on the local disk, and of those of a Source:
// images, which are decoded and filtered, and cooked textures, of which only the
// levels that are wanted are read. It decodes in a bounded number of goroutines,
// which exist only while there is work; beside them each file that a Source opens
// waits in one of its own.
type FileLoader struct {
	options FileOptions
	pool    *workpool.Pool[openRequest]
}

// openRequest is a request whose file is open, nil where it is still to be.
type openRequest struct {
	Request
	file texfile.File
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
	// WebGL keeps them only as WebGL 2 takes them: see texfile.Options.
	WebGL bool
	// Source, if set, opens the files of folders that it knows, such as those of a
	// remote.Fetcher with TexturesOnDemand.
	Source texfile.Source
	// Reader, if set, does the reading and decoding, and Source is not asked. Workers
	// is then how many files it is asked for at a time.
	Reader Reader
}

// Reader finds, reads and decodes the files of textures elsewhere than in the calling
// program, such as in workers of a browser. It is called from several goroutines.
type Reader interface {
	// ReadTexture is texfile.ReadFile.
	ReadTexture(ctx context.Context, dir, uri string, o texfile.Options) (*texfile.Image, error)
}

// NewFileLoader returns a loader.
func NewFileLoader(o FileOptions) *FileLoader {
	if o.Workers <= 0 {
		o.Workers = 2
	}
	l := &FileLoader{options: o}
	l.pool = workpool.New(o.Workers, func(x openRequest) {
		img, err := l.read(x)
		x.Done.Loaded(x.Token, img, err)
	})
	return l
}

// Start queues a request.
func (l *FileLoader) Start(req Request) {
	ok := false
	if l.options.Source == nil || l.options.Reader != nil {
		ok = l.pool.Start(openRequest{Request: req})
	} else {
		ok = l.pool.Beside(func() { l.open(req) })
	}
	if !ok {
		refuse(openRequest{Request: req})
	}
}

// open opens the file of a request, which may have to come first, and queues it.
func (l *FileLoader) open(req Request) {
	f, err := texfile.OpenFile(req.Context, req.Dir, req.URI, req.MaxSize, l.options.Source)
	if err != nil {
		req.Done.Loaded(req.Token, nil, err)
		return
	}
	if x := (openRequest{req, f}); !l.pool.Start(x) {
		refuse(x)
	}
}

// Close answers what is queued with ErrClosed and waits for the workers, who
// finish what they are at unless its Context ends.
func (l *FileLoader) Close() error {
	l.pool.Close(refuse)
	return nil
}

func refuse(x openRequest) {
	if x.file != nil {
		x.file.Close()
	}
	x.Done.Loaded(x.Token, nil, ErrClosed)
}

// Read answers a request at once, in the calling goroutine; it does not use
// its Token and Done. Errors are those of OpenFile and DecodeFile of
// runtime/texture/texfile.
func (l *FileLoader) Read(req Request) (*texfile.Image, error) {
	return l.read(openRequest{Request: req})
}

func (l *FileLoader) read(x openRequest) (*texfile.Image, error) {
	o := texfile.Options{
		Use: x.Use, Cutoff: x.Cutoff, MaxSize: x.MaxSize, MaxPixels: l.options.MaxPixels, Blocks: l.options.Blocks, ASTC: l.options.ASTC, WebGL: l.options.WebGL,
	}
	if l.options.Reader != nil {
		return l.options.Reader.ReadTexture(x.Context, x.Dir, x.URI, o)
	}
	if x.file == nil {
		var err error
		if x.file, err = texfile.OpenFile(x.Context, x.Dir, x.URI, x.MaxSize, l.options.Source); err != nil {
			return nil, err
		}
	}
	return texfile.DecodeFile(x.Context, x.URI, x.file, o)
}
