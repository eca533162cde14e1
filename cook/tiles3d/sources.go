package tiles3d

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/filestamp"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// tilesetStage is raised whenever other bytes are made of the same scene.
const tilesetStage = 4

// sourceFile is a file of the scene as it was when its content was read. The zero stamp
// is that of a texture which is not there.
type sourceFile struct {
	Name   string `json:"name"` // relative to the manifest's folder, with slashes
	SHA256 string `json:"sha256"`
	Racy   bool   `json:"racy,omitempty"` // the stamp alone is not to be trusted
	filestamp.Stamp
	// Textures are what a container names, relative to its own folder.
	Textures []string `json:"textures,omitempty"`
}

// sources are the files that a tileset is made of.
type sources struct {
	manifest, scene string // the file, and its folder
	began           int64  // nanoseconds since 1970
	verify          bool   // stamps count for nothing
	before          map[string]sourceFile

	mu    sync.Mutex
	files map[string]sourceFile
	once  map[string]*sync.Once
	read  int // whose content had to be looked at
}

// look notes the manifest, the containers and all that these name. What cannot be read has
// no note, and what is made of it no key: the export itself says what is wrong with it.
func (s *sources) look(ctx context.Context, payloads []string, jobs int) error {
	s.files, s.once = map[string]sourceFile{}, map[string]*sync.Once{}
	s.note(path.Base(filepath.ToSlash(s.manifest)), func() (*os.File, error) { return journal.Open(s.manifest) }, false)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(jobs)
	for _, p := range payloads {
		g.Go(func() error {
			s.note(p, func() (*os.File, error) { return payloadpath.Open(s.scene, p) }, true)
			c, _ := s.file(p)
			for _, uri := range c.Textures {
				s.note(path.Join(path.Dir(p), uri), func() (*os.File, error) { return s.texture(p, uri) }, false)
			}
			return ctx.Err()
		})
	}
	return g.Wait()
}

// texture opens what a container names.
func (s *sources) texture(payload, uri string) (*os.File, error) {
	return payloadpath.Open(filepath.Join(s.scene, filepath.FromSlash(path.Dir(payload))), uri)
}

func (s *sources) file(name string) (sourceFile, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.files[name]
	return f, ok
}

// note notes a file, once.
func (s *sources) note(name string, open func() (*os.File, error), container bool) {
	s.mu.Lock()
	once := s.once[name]
	if once == nil {
		once = &sync.Once{}
		s.once[name] = once
	}
	s.mu.Unlock()
	once.Do(func() {
		f, fresh, ok := s.see(name, open, container)
		s.mu.Lock()
		defer s.mu.Unlock()
		if ok {
			s.files[name] = f
		}
		if fresh {
			s.read++
		}
	})
}

// see describes a file; fresh says that its content was read.
func (s *sources) see(name string, open func() (*os.File, error), container bool) (out sourceFile, fresh, ok bool) {
	f, err := open()
	if errors.Is(err, fs.ErrNotExist) && !container {
		return sourceFile{Name: name}, false, true
	}
	if err != nil {
		return out, false, false
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return out, false, false
	}
	stamp := filestamp.Of(st)
	if was, known := s.before[name]; known && was.Stamp == stamp && !was.Racy && !s.verify {
		return was, false, true
	}
	out = sourceFile{Name: name, Racy: stamp.Racy(s.began), Stamp: stamp}
	if container {
		if out.Textures, err = named(f, st.Size()); err != nil {
			return out, true, false
		}
	}
	if out.SHA256, err = hashRead(io.NewSectionReader(f, 0, st.Size())); err != nil {
		return out, true, false
	}
	return out, true, true
}

// named lists the textures that a container names.
func named(f io.ReaderAt, size int64) (names []string, err error) {
	r, err := format.NewReader(f, size)
	if err != nil {
		return nil, err
	}
	for _, t := range r.Textures() {
		uri := r.String(t.URIOffset)
		if err := payloadpath.Check(uri); err != nil {
			return nil, err
		}
		names = append(names, uri)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// still reports whether all files are as they were when they were looked at. A stamp from
// after the beginning, as clocks that run ahead give them too, says nothing: such files are
// read again.
func (s *sources) still() bool {
	for _, f := range s.files {
		name := filepath.Join(s.scene, filepath.FromSlash(f.Name))
		st, err := journal.Stat(name)
		switch {
		case f.SHA256 == "" && errors.Is(err, fs.ErrNotExist):
		case err != nil || filestamp.Of(st) != f.Stamp:
			return false
		case f.Time >= s.began:
			if sum, err := hashOpened(journal.Open(name)); err != nil || sum != f.SHA256 {
				return false
			}
		}
	}
	return true
}

// list returns the files by name.
func (s *sources) list() []sourceFile {
	out := make([]sourceFile, 0, len(s.files))
	for _, f := range s.files {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b sourceFile) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// key returns a hash of all that decides a content's bytes, "" where something cannot be
// read.
func (s *sources) key(o *Options, step float64, c *content) string {
	f, ok := s.file(c.payload)
	if !ok {
		return ""
	}
	h := sha256.New()
	o.write(h)
	fmt.Fprintf(h, "%v %q %q %s\n", step, c.payload, c.uri, f.SHA256)
	for _, uri := range f.Textures {
		t, ok := s.file(path.Join(path.Dir(c.payload), uri))
		if !ok {
			return ""
		}
		fmt.Fprintf(h, "%q %s\n", uri, t.SHA256)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// stages are the numbers of the code that decides the bytes of textures, whose names tell
// only what they were made of.
func stages() string { return fmt.Sprint(tilesetStage, texture.ModeKTX2.Stages()) }

// write writes the options that decide the bytes of contents, and the numbers of the code.
func (o *Options) write(h hash.Hash) {
	used := [2]int{}
	if o.KTX2 {
		used = texture.ModeKTX2.Stages()
	}
	fmt.Fprintf(h, "%d %v %q %t %t\n", tilesetStage, used, o.Generator, o.Plain, o.KTX2)
}

// whole returns a hash of all that decides the bytes of a tileset, "" where something
// cannot be read.
func (s *sources) whole(o *Options, all []*content) string {
	m, ok := s.file(path.Base(filepath.ToSlash(s.manifest)))
	if !ok {
		return ""
	}
	place := Place{}
	if o.Place != nil {
		place = *o.Place
	}
	h := sha256.New()
	o.write(h)
	fmt.Fprintf(h, "%t %v %d %s\n", o.Place != nil, place, o.maxTiles, m.SHA256)
	for _, c := range all {
		if c.key == "" {
			return ""
		}
		fmt.Fprintln(h, c.key)
	}
	return hex.EncodeToString(h.Sum(nil))
}
