// Package texture brings a scene's images into the Textures folder beside the
// tiles: sniffed, converted where a loader could not read them, each content
// once, under names that every file system takes.
//
// Stage does that. Cook then resizes the images, or compresses them to BC7 and
// BC5 with full mip chains, each by the roles that the materials give it:
// colours are filtered in linear light and by their alpha, normal maps as
// directions, cut-outs keep their share of texels. The bytes depend neither on
// the number of jobs nor on the processor.
package texture

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
)

// Folder is the folder of the staged textures, beside the container files.
const Folder = "Textures"

// Source is an image to stage.
type Source struct {
	Index int    // in the scene file, for names and messages
	Name  string // may be empty
	URI   string // decoded, empty when embedded
	Size  int64  // of what Bytes returns, as far as it is known
	Bytes func() ([]byte, error)
	// Sum, when set, gets the SHA-256 of what Bytes returned.
	Sum *[sha256.Size]byte
	// Optional images that are damaged do not fail the call: their result has
	// Err set.
	Optional bool
	// Normal images serve as normal maps: KTX2 may keep two of their coordinates alone.
	Normal bool
}

// Staged is the result for one source.
type Staged struct {
	File          string // file name inside the folder, empty when Err is set
	Width, Height int    // pixels
	Size          int64  // bytes of the file
	Change        string // what was done to the image, empty for a plain copy
	Err           error  // ErrFormat, ErrTooLarge, or ErrDamaged for optional images: the slot has to stay empty

	Cooked [uses]*Cooked // by use; nil: the file itself serves
	Kept   error         // why the image could not be cooked and stays as it is
}

// Stage writes the images into dir (created when needed) and returns one
// result per source, in order. Sources with the same content share one file,
// named after the first of them. A format that cannot be staged, and an image
// that needs too much memory to be converted, is reported in the result; damaged
// or unreadable images fail the whole call, unless they are optional. With an
// empty dir nothing is written, but judged and named all the same. The outcome
// does not depend on jobs.
func Stage(ctx context.Context, dir string, sources []Source, limits Limits, jobs int) ([]Staged, error) {
	out := make([]Staged, len(sources))
	if len(sources) == 0 {
		return out, nil
	}
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	type result struct {
		converted
		hash string
	}
	results := make([]result, len(sources))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(jobs, 1))
	memory := limits.budget()
	errs := make([]error, len(sources))
	for i, s := range sources {
		g.Go(func() error {
			free, err := memory.Take(ctx, s.Size)
			if err != nil {
				return err
			}
			defer func() { free() }()
			data, err := s.Bytes()
			if err != nil {
				errs[i] = err
				return nil
			}
			read := sha256.Sum256(data)
			if s.Sum != nil {
				*s.Sum = read
			}
			c, err := convertFor(s.Normal, data, func(need int64) error {
				// Given back before more is taken: what waits must hold nothing.
				free()
				free = func() {}
				more, err := memory.Take(ctx, s.Size+need)
				if err == nil {
					free = more
				}
				return err
			}, limits)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if errors.Is(err, ErrFormat) || errors.Is(err, ErrTooLarge) || s.Optional && errors.Is(err, ErrDamaged) {
				out[i].Err = err
				return nil
			}
			if err != nil {
				errs[i] = fmt.Errorf("images[%d] (%s): %w", s.Index, describe(s), err)
				return nil
			}
			sum := read
			if len(c.data) != len(data) || &c.data[0] != &data[0] { // else it is as it was
				sum = sha256.Sum256(c.data)
			}
			results[i] = result{c, hex.EncodeToString(sum[:])}
			out[i] = Staged{Width: c.width, Height: c.height, Size: int64(len(c.data)), Change: c.change}
			// Written under its hash, so that memory holds one image per job;
			// names are given below, in order.
			results[i].data = nil
			if dir == "" {
				return nil
			}
			return writeOnce(filepath.Join(dir, ".sha-"+results[i].hash), c.data)
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	var names namer
	byHash := map[string]string{}
	for i, r := range results {
		if r.hash == "" {
			continue
		}
		name, ok := byHash[r.hash]
		if !ok {
			s := sources[i]
			key := s.Name
			if key == "" {
				key = s.URI
			}
			name = names.pick(stemOf(s.URI, s.Name, s.Index), r.ext, key)
			byHash[r.hash] = name
			if dir == "" {
				out[i].File = name
				continue
			}
			if err := os.Rename(filepath.Join(dir, ".sha-"+r.hash), filepath.Join(dir, name)); err != nil {
				return nil, err
			}
		}
		out[i].File = name
	}
	return out, nil
}

// describe names a source in messages.
func describe(s Source) string {
	switch {
	case s.URI != "":
		return s.URI
	case s.Name != "":
		return s.Name
	}
	return "embedded"
}

// writeOnce writes a file unless it exists; two jobs with the same content
// write the same bytes, so the loser of the race loses nothing.
func writeOnce(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
