package gltfscene

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/untoldkit/untold/internal/filestamp"
	"github.com/untoldkit/untold/internal/scratch"
)

// Open is Load for scenes whose geometry need not fit into memory: meshes have no
// primitives, and Scene.Geometry decodes those of a mesh when they are needed. Each mesh
// is decoded once here, which finds what is wrong with it, and handed to look, which may
// be nil. look is called by several goroutines, once for each mesh, when all of the scene
// is known but Mesh.Parts and Notes; it must not keep the slices, unless they may stay in
// memory. Decoded geometry is kept for later up to about so many bytes.
//
// The files stay open, or are opened again, until Scene.Close; a file that changes
// meanwhile is an error where it is noticed.
func Open(ctx context.Context, name string, opts Options, keep int64, look func(s *Scene, mesh int, list []Primitive) error) (*Scene, error) {
	f, info, src, err := openMain(name, &opts)
	if err != nil {
		return nil, err
	}
	if err := opts.fits(name, info.Size()); err != nil {
		f.Close()
		return nil, err
	}
	if look == nil {
		look = func(*Scene, int, []Primitive) error { return nil }
	}
	base := filepath.Base(name)
	main := &inFile{counted(f, opts.Read), base}
	s, err := load(ctx, name, main, info.Size(), src, opts, keep, look)
	if err != nil {
		f.Close()
		return nil, err
	}
	s.geometry.own, s.geometry.main, s.geometry.stamp = main, f, filestamp.Of(info)
	s.listFiles(src.path(base))
	return s, nil
}

// DecodeBytes estimates what decoding Meshes[mesh] takes beside the primitives: the tables
// and the result of a Draco stream, or the view of a meshopt stream, the largest of those
// that it needs. It is 0 for what is stored as it is.
func (s *Scene) DecodeBytes(mesh int) int64 {
	switch {
	case s.joined != nil:
		k := part(s.joined.meshes, mesh)
		return s.joined.parts[k].DecodeBytes(mesh - s.joined.meshes[k])
	case s.geometry == nil:
		return 0
	}
	return s.geometry.decodeBytes(mesh)
}

// Geometry returns the primitives of Meshes[mesh] with their geometry, in the same order.
// Their slices must not be modified. It is safe for use by several goroutines. The error
// is an *Error: a file that cannot be read any more, or has changed.
func (s *Scene) Geometry(mesh int) ([]Primitive, error) {
	if s.joined != nil {
		return s.joined.mesh(mesh)
	}
	m := &s.Meshes[mesh]
	if s.geometry == nil {
		return m.Primitives, nil
	}
	list, err := s.geometry.mesh(mesh)
	if err != nil {
		return nil, named(s.Source, err)
	}
	kept := make([]Primitive, 0, len(list))
	for i := range list {
		if len(list[i].Indices) > 0 {
			kept = append(kept, list[i])
		}
	}
	if len(kept) != len(m.Parts) {
		return nil, named(s.Source, at(fmt.Sprintf("meshes[%d]", m.Index), changed(s.Source)))
	}
	for i := range kept {
		if kept[i].Material = m.Parts[i].Material; kept[i].part() != m.Parts[i] {
			return nil, named(s.Source, at(fmt.Sprintf("meshes[%d]", m.Index), changed(s.Source)))
		}
	}
	if g := s.geometry; g.check != nil && !g.checked[mesh].Load() {
		if err := g.check(mesh, kept); err != nil {
			return nil, named(s.Source, at(fmt.Sprintf("meshes[%d]", m.Index), err))
		}
		g.checked[mesh].Store(true)
	}
	return kept, nil
}

// Close closes the files of a scene that was opened, and lets go of its geometry. It may
// be called more than once.
func (s *Scene) Close() error {
	if s.joined != nil {
		return s.joined.close()
	}
	if s.geometry == nil || s.geometry.main == nil {
		return nil
	}
	s.geometry.mu.Lock()
	defer s.geometry.mu.Unlock()
	scratch.Close(s.geometry.spills...)
	err := s.geometry.main.Close()
	s.geometry.main = nil
	return err
}

// Unchanged returns an error that matches ErrChanged if the main file of an open scene was
// written to since Open, so that what was read of it may not belong together. A file that
// has taken its place does no harm: the first one is still read.
func (s *Scene) Unchanged() error {
	if s.joined != nil {
		return s.joined.unchanged()
	}
	if s.geometry == nil || s.geometry.main == nil {
		return nil
	}
	info, err := s.geometry.main.Stat()
	if err != nil {
		return named(s.Source, sceneError(err))
	}
	if filestamp.Of(info) != s.geometry.stamp {
		return named(s.Source, changed(s.Source))
	}
	return nil
}
