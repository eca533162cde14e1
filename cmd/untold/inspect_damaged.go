package main

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/human"
)

// inspectDamaged shows what is whole of a container that cannot be opened, for the
// error err, and what is wrong with it. What shows one thing of a container
// (--chunk and the like) wants a sound one.
func inspectDamaged(a *app, path string, f *inspectFlags, err error) error {
	if !errors.As(err, new(*format.Error)) || f.onePart() {
		return asInputError(err)
	}
	s, e := format.Salvage(path, format.ValidateOptions{})
	if e != nil {
		return asInputError(err)
	}
	if s.Header().FormatVersion == 0 { // nothing of a container
		return asInputError(err)
	}
	if f.asJSON {
		err = writeJSON(a.stdout, damagedJSON(path, s))
	} else {
		showDamaged(a, path, s, f)
		err = nil
	}
	if err != nil {
		return err
	}
	return errFindings
}

func showDamaged(a *app, path string, s *format.Salvaged, f *inspectFlags) {
	showHeader(a, path, s)
	if len(s.Chunks()) > 0 {
		showChunks(a, s, f)
	}
	if len(s.Entities()) > 0 {
		showEntities(a, s, f)
	}
	if len(s.Meshes()) > 0 {
		showMeshes(a, s, f)
	}
	showMaterials(a, s, f)
	showTextures(a, s, f)
	showDamage(a, s, f)
}

// damagedBelow says, below the tables of a container, that the rest of it is damaged.
func damagedBelow(a *app, path string, f *inspectFlags, err error) error {
	s, e := format.Salvage(path, format.ValidateOptions{})
	if e != nil || !errors.As(err, new(*format.Error)) {
		return asInputError(err)
	}
	fmt.Fprintln(a.stdout)
	showChunks(a, s, f)
	showDamage(a, s, f)
	return errFindings
}

// showDamage lists what is wrong.
func showDamage(a *app, s *format.Salvaged, f *inspectFlags) {
	r := s.Report()
	fmt.Fprintf(a.stdout, "\n%s: %s\n", a.paintResult(red, "damaged"), human.Plural(r.Errors, "error"))
	t, shown := newTable(f.limit, "error", "place", "what is wrong"), 0
	for _, x := range r.Findings {
		if x.Severity == finding.Error {
			t.add(x.Code, x.Place, x.Message)
			shown++
		}
	}
	if shown > 0 {
		t.print(a.stdout)
	}
}

// stateOf says whether a chunk is whole: what is not is not shown below.
func stateOf(s *format.Salvaged, i int) string {
	if s.Sound(i) {
		return "sound"
	}
	return "damaged"
}

// damagedContainer is what inspect prints of it as JSON. It has no records: numbers in
// them may be none that JSON has.
type damagedContainer struct {
	Path     string            `json:"path"`
	Bytes    int64             `json:"bytes"`
	Damaged  bool              `json:"damaged"` // true
	Findings []finding.Finding `json:"findings"`
	Header   damagedHeader     `json:"header"`
	Chunks   []damagedChunk    `json:"chunks"`
}

// damagedHeader is what the header says, which need not be so.
type damagedHeader struct {
	FormatVersion uint32 `json:"format_version"`
	FileType      string `json:"file_type"`
	ChunkCount    uint32 `json:"chunk_count"`
	MeshCount     uint32 `json:"mesh_count"`
	MaterialCount uint32 `json:"material_count"`
	TextureCount  uint32 `json:"texture_count"`
	EntityCount   uint32 `json:"entity_count"`
	VertexLayout  string `json:"vertex_layout"`
	ContentHash   string `json:"content_hash"`
}

// damagedChunk is an entry of the chunk table, with its state: sound or damaged.
type damagedChunk struct {
	Name         string `json:"name"`
	Type         uint32 `json:"type"`
	Compression  string `json:"compression"`
	Offset       uint64 `json:"offset"`
	StoredSize   uint64 `json:"stored_size"`
	Size         uint64 `json:"size"`
	ElementCount uint32 `json:"element_count"`
	State        string `json:"state"`
}

func damagedJSON(path string, s *format.Salvaged) *damagedContainer {
	h := s.Header()
	d := &damagedContainer{
		Path: path, Bytes: s.Size(), Damaged: true, Findings: s.Report().Findings, Chunks: []damagedChunk{},
		Header: damagedHeader{
			h.FormatVersion, h.FileType.String(), h.ChunkCount, h.MeshCount, h.MaterialCount, h.TextureCount, h.EntityCount,
			h.VertexLayout.String(), hex.EncodeToString(h.ContentHash[:]),
		},
	}
	for i, c := range s.Chunks() {
		d.Chunks = append(d.Chunks, damagedChunk{
			c.Type.String(), uint32(c.Type), c.Compression.String(), c.Offset, c.CompressedSize, c.UncompressedSize, c.ElementCount, stateOf(s, i),
		})
	}
	return d
}
