// Package manifestbuild makes the manifest of a scene out of the containers on disk.
//
// Names say where a tile is (tile_1_0_3, F01_Q_0_SI), which tile a level
// belongs to (<id>_lod1, <id>_hlod) and which file is the shared bucket;
// headers and tables say the rest of what files know: bounds, triangles,
// memory. Radii and switch distances follow from the formulas of package
// partition and manifest. What no file can tell, such as lights, cameras and
// the names of objects, comes from an older manifest, a plan of a dry run
// included, or is lost.
package manifestbuild

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/internal/workpool"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/partition"
)

// The reasons why containers make no manifest, for errors.Is.
var (
	// ErrNoTiles: there is neither a tile nor a shared bucket.
	ErrNoTiles = errors.New("manifestbuild: no tiles")
	// ErrMixed: the names are those of several scenes or partitions, or of
	// another one than the older manifest's.
	ErrMixed = errors.New("manifestbuild: files of different scenes")
)

// Options controls Build. The zero value takes everything from the files in
// the current folder.
type Options struct {
	// Dir is the manifest's folder; all files must lie in or below it.
	Dir string
	// From is an older manifest of the scene; nil: none.
	From *manifest.Manifest
	// TileSide is the edge of a grid's tiles in metres. 0 takes From's, else
	// the longest horizontal side of a tile's content. It decides about the
	// default radii when there is no older manifest.
	TileSide float64
	// Profile is indoor or outdoor and decides about the radii of tiers; empty
	// takes From's, else indoor.
	Profile string
	// Generator is what the manifest names as its program; empty keeps From's.
	Generator string
	// Jobs is how many files are read at a time; 0 means all processors.
	Jobs int
	// Progress, when set, is called after each file, by one goroutine at a
	// time.
	Progress func(done, total int)
}

// Result is a manifest and what there is to say about it.
type Result struct {
	Manifest *manifest.Manifest
	Notes    []Note
	// Lost names what the manifest lacks, or has a guess for, because no file
	// tells it and there was no older manifest.
	Lost []string
}

// Note is a remark about the input.
type Note struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Where   string `json:"where,omitempty"` // a file or tile
	Warning bool   `json:"warning"`
}

// Build reads the files, which must be containers, and makes the manifest of
// Options.Dir out of them. It does not write it; see manifest.Manifest.Save.
//
// A file outside Dir, also by a link, is an error that matches
// payloadpath.ErrEscapes; a damaged one is the error of package format. The
// result does not depend on the order of the files or on Jobs.
func Build(ctx context.Context, files []string, opts Options) (*Result, error) {
	switch opts.Profile {
	case "", partition.ProfileIndoor, partition.ProfileOutdoor:
	default:
		return nil, fmt.Errorf("manifestbuild: the profile is %q: use indoor or outdoor", opts.Profile)
	}
	if opts.TileSide != 0 && !(opts.TileSide >= 1e-3 && opts.TileSide <= 1e9) {
		return nil, fmt.Errorf("manifestbuild: the tile side %v m is not between 0.001 and 1e9", opts.TileSide)
	}
	if opts.Dir == "" {
		opts.Dir = "."
	}
	payloads, err := readAll(ctx, files, &opts)
	if err != nil {
		return nil, err
	}
	b := &builder{opts: &opts, result: &Result{}}
	if err := b.sort(payloads); err != nil {
		return nil, err
	}
	if err := b.chooseMode(); err != nil {
		return nil, err
	}
	b.assemble()
	return b.result, nil
}

// readAll reads all files, in the order of their paths.
func readAll(ctx context.Context, files []string, opts *Options) ([]*payload, error) {
	out := make([]*payload, 0, len(files))
	seen := map[string]bool{}
	for _, f := range files {
		rel, err := relative(opts.Dir, f)
		if err != nil {
			return nil, err
		}
		if !seen[rel] {
			seen[rel] = true
			out = append(out, &payload{path: rel})
		}
	}
	slices.SortFunc(out, func(a, b *payload) int { return strings.Compare(a.path, b.path) })
	jobs := opts.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(jobs)
	errs := make([]error, len(out))
	var mu sync.Mutex // progress comes from one goroutine at a time
	done := 0
	for i, p := range out {
		g.Go(func() error {
			if errs[i] = ctx.Err(); errs[i] != nil {
				return errs[i]
			}
			if errs[i] = p.read(opts.Dir); errs[i] != nil || opts.Progress == nil {
				return errs[i]
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			opts.Progress(done, len(out))
			return nil
		})
	}
	if err := workpool.FirstFailure(errs, g.Wait()); err != nil {
		return nil, err
	}
	return out, nil
}
