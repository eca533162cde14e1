package format

import (
	"fmt"
	"slices"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format/records"
)

// Salvaged is what could be read of a container that Open refuses: tables whose
// chunks are whole, with records that may hold anything, and what is wrong. It
// reads nothing more from the file.
type Salvaged struct {
	p      parser
	report *Report
}

// Salvage reads of the file at path what is whole. Of the geometry it hands out
// nothing. The error is about reading; what is wrong with the content is in the
// report.
func Salvage(path string, opts ValidateOptions) (*Salvaged, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("untold: %s is not a regular file", path)
	}
	s := &Salvaged{}
	s.p, s.report = examine(f, nil, st.Size(), "", opts)
	s.p.src = nil
	return s, nil
}

// Report is what is wrong. Textures beside the file are not looked for.
func (s *Salvaged) Report() *Report { return s.report }

// Header returns the header, the zero Header where the file is too short for one or
// begins with something else.
func (s *Salvaged) Header() Header { return s.p.header }

// Size is the size of the file in bytes.
func (s *Salvaged) Size() int64 { return int64(s.p.size) }

// Chunks returns the chunk table, empty where it is not whole. Places and sizes may be
// outside of the file.
func (s *Salvaged) Chunks() []Chunk { return s.p.chunks }

// Sound reports whether no error was found in the i-th chunk of Chunks.
func (s *Salvaged) Sound(i int) bool {
	t := s.p.chunks[i].Type
	if t <= lastRequiredChunk && !s.p.usable[t] {
		return false
	}
	return !slices.ContainsFunc(s.report.Findings, func(f finding.Finding) bool {
		return f.Severity == finding.Error && f.Chunk == t.String()
	})
}

// Entities returns the entities, none where their table is not whole.
func (s *Salvaged) Entities() []records.Entity { return whole(s, ChunkEntities, s.p.entities) }

// Meshes returns the meshes, none where their table is not whole.
func (s *Salvaged) Meshes() []records.Mesh { return whole(s, ChunkMeshes, s.p.meshes) }

// Materials returns the materials, none where their table is not whole.
func (s *Salvaged) Materials() []records.Material { return whole(s, ChunkMaterials, s.p.materials) }

// Textures returns the textures, none where their table is not whole.
func (s *Salvaged) Textures() []records.Texture { return whole(s, ChunkTextures, s.p.textures) }

// String returns a string by its offset, "" where there is none.
func (s *Salvaged) String(offset uint32) string {
	if !s.p.usable[ChunkStrings] {
		return ""
	}
	return s.p.strings.get(offset)
}

func whole[T any](s *Salvaged, t ChunkType, list []T) []T {
	if !s.p.usable[t] {
		return nil
	}
	return list
}
