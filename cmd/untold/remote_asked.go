package main

import (
	"context"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/remote"
)

// completeTime is how long the end of a run waits for files that a second one
// would ask for.
const completeTime = 30 * time.Second

// askedFor notes what a run asks a Fetcher for. Its methods belong to the
// goroutine of the streamer, but for complete.
type askedFor struct {
	*remote.Fetcher
	tiles  map[tileAt]bool
	files  map[string]wanted // by address
	mu     sync.Mutex
	scenes map[string]*manifest.Manifest // by base address
}

type tileAt struct{ base, id string }

// wanted is a file that a run could use; parts of it may be enough.
type wanted struct {
	remote.Expected
	parts bool
}

func newAskedFor(f *remote.Fetcher) *askedFor {
	return &askedFor{Fetcher: f, tiles: map[tileAt]bool{}, files: map[string]wanted{}, scenes: map[string]*manifest.Manifest{}}
}

// scene tells of a scene, from any goroutine.
func (f *askedFor) scene(base string, m *manifest.Manifest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.scenes[base] = m
}

// Fetch passes a request on.
func (f *askedFor) Fetch(req payload.Request) {
	f.tiles[tileAt{req.Dir, req.TileID}] = true
	f.note(req.Dir, req.Path, wanted{remote.Expected{Size: req.Size, SHA256: req.SHA256}, req.Split != nil})
	f.Fetcher.Fetch(req)
}

func (f *askedFor) note(base, path string, want wanted) {
	if b, err := url.Parse(base); err == nil {
		if u, err := payloadpath.URL(b, path); err == nil {
			f.files[u.String()] = want
		}
	}
}

// complete brings what the run has asked for and given up, the other levels of
// the tiles that it was asked for, and the textures: which level comes first
// depends on how fast they come, and the same flight is to find everything in
// the cache.
func (f *askedFor) complete(ctx context.Context, a *app) {
	ctx, stop := context.WithTimeout(ctx, completeTime)
	defer stop()
	for base, m := range f.scenes {
		for i := range m.Tiles {
			t := &m.Tiles[i]
			if !f.tiles[tileAt{base, t.ID}] {
				continue
			}
			for _, levels := range [][]manifest.Level{t.HLODLevels, t.LODLevels} {
				for k := range levels {
					f.note(base, levels[k].Path, wanted{Expected: remote.Expected{Size: levels[k].FileSizeBytes, SHA256: levels[k].SHA256}})
				}
			}
		}
	}
	have, begun := map[string]bool{}, map[string]bool{}
	for _, e := range f.Cache().Entries() {
		have[e.URL] = have[e.URL] || e.Whole == 0 && !e.Old
		begun[e.URL] = true
	}
	var g errgroup.Group
	g.SetLimit(8)
	var missing atomic.Int64
	for address, want := range f.files {
		if stored := remote.Redact(address); have[stored] || want.parts && begun[stored] {
			continue
		}
		g.Go(func() error {
			if _, err := f.Local(ctx, address, want.Expected); err != nil {
				missing.Add(1)
			}
			return nil
		})
	}
	_ = g.Wait()
	_ = f.WaitTextures(ctx)
	if n := missing.Load() + f.Metrics().TexturesPending; n > 0 {
		a.info("%d files have not come", n)
	}
}
