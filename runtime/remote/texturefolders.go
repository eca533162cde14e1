package remote

import (
	"context"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
)

// textureFolders are the folders whose textures OpenTexture brings, and those that were
// asked for and have not come.
type textureFolders struct {
	mu     sync.Mutex
	list   map[string]*textureFolder // by their places on the disk
	wanted map[string]wantedTexture  // by names in the cache
}

// textureFolder is a folder of the cache, in which the texture URIs of containers
// resolve.
type textureFolder struct {
	url    *url.URL // of a container
	folder string   // its name in the cache
	whole  atomic.Bool
	shapes map[string]shape // by URI, as containers say
}

// wantedTexture is a call of OpenTexture.
type wantedTexture struct {
	dir, uri string
	maxSize  int
}

// covers reports whether what one call brings is all that another one asks for.
func (w wantedTexture) covers(o wantedTexture) bool {
	return w.maxSize <= 0 || o.maxSize > 0 && o.maxSize <= w.maxSize
}

// noteTextures remembers the textures of a container that has come.
func (f *Fetcher) noteTextures(c *containerFile) {
	textures := f.textures.texturesOf(c)
	x := &f.onDemand
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.list == nil {
		x.list, x.wanted = map[string]*textureFolder{}, map[string]wantedTexture{}
	}
	dir := f.cache.Path(c.folder)
	at := x.list[dir]
	if at == nil {
		at = &textureFolder{url: c.url, folder: c.folder, shapes: map[string]shape{}}
		x.list[dir] = at
	}
	for _, t := range textures {
		at.shapes[t.uri] = t.shape
	}
}

// find returns a folder, nil for an unknown one, and what is known of a texture in it.
func (x *textureFolders) find(dir, uri string) (*textureFolder, shape) {
	x.mu.Lock()
	defer x.mu.Unlock()
	at := x.list[dir]
	if at == nil {
		at = x.list[filepath.Clean(dir)]
	}
	if at == nil {
		return nil, shape{}
	}
	return at, at.shapes[uri]
}

// begin notes what is asked for.
func (x *textureFolders) begin(name string, w wantedTexture) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if before, ok := x.wanted[name]; !ok || !before.covers(w) {
		x.wanted[name] = w
	}
}

// end notes that it has come, or will not.
func (x *textureFolders) end(name string, w wantedTexture) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if w.covers(x.wanted[name]) {
		delete(x.wanted, name)
	}
}

// finishTextures brings what was asked for and given up.
func (f *Fetcher) finishTextures(ctx context.Context) {
	f.onDemand.mu.Lock()
	list := make([]wantedTexture, 0, len(f.onDemand.wanted))
	for _, w := range f.onDemand.wanted {
		list = append(list, w)
	}
	f.onDemand.mu.Unlock()
	var g errgroup.Group
	g.SetLimit(f.opts.HostRequests)
	for _, w := range list {
		g.Go(func() error {
			if file, _, err := f.OpenTexture(ctx, w.dir, w.uri, w.maxSize); err == nil && file != nil {
				file.Close()
			}
			return nil
		})
	}
	_ = g.Wait()
}

// shape is what a container's record says of a texture: not to be trusted, but enough to
// guess how much of its file is wanted.
type shape struct {
	format        records.TextureFormat
	width, height uint32
	levels        uint32
	ktx2          bool // UASTC, BC7 or BC5, whose blocks are of one size before compression
}

// wholeBytes is how much more than what is wanted of a texture is fetched with it, where
// that is all of the file.
const wholeBytes = 16 << 10

// head returns how many bytes the first request for a texture should ask for: its file
// up to the level of maxSize texels, in whole blocks of the cache; 0 where nothing is
// known.
func (s shape) head(maxSize int) int64 {
	f, ok := pixelFormats[s.format]
	more := int64(0)
	if s.ktx2 {
		f, ok, more = utex.BC7, true, ktx2More
	}
	if !ok || s.width < 1 || s.height < 1 || s.width > utex.MaxEdge || s.height > utex.MaxEdge {
		return 0
	}
	info := utex.NewInfo(int(s.width), int(s.height), f, 0)
	if int(s.levels) != len(info.Levels) {
		return 0
	}
	all, n := info.Prefix(0)+more, info.Prefix(info.StartLevel(maxSize))+more
	if s.ktx2 && n > plainKTX2 {
		n = plainKTX2 + (n-plainKTX2)/2 // compressed; what is missing takes a second request
	}
	if all-n <= wholeBytes {
		return all
	}
	return (n + diskcache.BlockSize - 1) / diskcache.BlockSize * diskcache.BlockSize
}

// plainKTX2 is up to how many bytes of blocks a KTX2 file is asked for as if nothing were
// compressed.
const plainKTX2 = 4 << 10

// ktx2More is how much longer the head of a KTX2 file may be than that of .utex, with what
// compression adds to small levels.
const ktx2More = 512

// pixelFormats are formats with the blocks of record formats.
var pixelFormats = map[records.TextureFormat]utex.PixelFormat{
	records.TextureBC7: utex.BC7, records.TextureBC5: utex.BC5,
	records.TextureASTC4x4: utex.ASTC4x4, records.TextureASTC5x5: 206, records.TextureASTC6x6: utex.ASTC6x6, records.TextureASTC8x8: 212,
}
