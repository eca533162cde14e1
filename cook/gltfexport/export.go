package gltfexport

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/glb"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// Levels says which representation of a tile is exported.
type Levels string

// The representations. A tile without the wanted level is exported in full,
// and so is the shared bucket, which has no levels.
const (
	LevelsFull Levels = "full" // the tiles themselves
	LevelsLOD1 Levels = "lod1" // the first entry of lod_levels
	LevelsHLOD Levels = "hlod" // the first entry of hlod_levels
)

// ParseLevels returns the Levels of that name; the empty string is LevelsFull.
func ParseLevels(s string) (Levels, error) {
	switch l := Levels(s); l {
	case "":
		return LevelsFull, nil
	case LevelsFull, LevelsLOD1, LevelsHLOD:
		return l, nil
	}
	return "", fmt.Errorf("gltfexport: levels are %q; use full, lod1 or hlod", s)
}

// Options control Export. The zero value is useful.
type Options struct {
	// Levels chooses the representation of a manifest's tiles; empty means
	// LevelsFull. It has no meaning for single containers.
	Levels Levels
	// PyramidLevel, when above 0, exports the nodes of that level of a manifest's pyramid
	// in place of the tiles below them; where a branch has no node of it, the highest
	// one below, or the tile, by Levels.
	PyramidLevel int
	// Compress quantizes the geometry (KHR_mesh_quantization) and compresses it
	// (EXT_meshopt_compression), which what reads the output has to know: positions to
	// multiples of Step, normals and tangents to 8 bits, texture coordinates to 16 bits.
	Compress bool
	// Step is the distance in metres between the positions of Compress, a power of two;
	// containers that reach too far for 24 bits of it have a larger one. 0 means StepFor
	// the manifest, or what suits the container.
	Step float64
	// KTX2 makes every texture a KTX2 file of Basis Universal (UASTC, with all mip levels,
	// in which cutouts keep their coverage), by KHR_texture_basisu, which what reads the
	// output has to know.
	KTX2 bool
	// FitCutoffs lowers the cutoff of cutouts to one with which they keep about their coverage
	// in mip levels that a viewer makes by averaging. It has no meaning with KTX2.
	FitCutoffs bool
	// Textures, when set, gets the textures, which are then files beside the output.
	Textures *TextureFolder
	// Generator is written as asset.generator; empty means "untold".
	Generator string
	// Progress, when set, is called as containers are done.
	Progress func(stage string, done, total int)

	// In tests: another limit than maxGLB, and how files are written.
	maxBytes int64
	files    atomicfile.Options
}

// Result tells what Export wrote.
type Result struct {
	Path         string `json:"path"`
	Bytes        int64  `json:"bytes"` // of the .glb, or of the .gltf and its .bin
	Containers   int    `json:"containers"`
	Nodes        int    `json:"nodes"`
	Meshes       int    `json:"meshes"`
	Triangles    int    `json:"triangles"` // drawn: those of a shared mesh count once per node
	Vertices     int    `json:"vertices"`  // stored
	Materials    int    `json:"materials"`
	Textures     int    `json:"textures"`
	TextureBytes int64  `json:"texture_bytes"`
	// Bounds is the box of what is drawn, in metres, before an origin_offset is put
	// back; nil when nothing is. It may be larger than what entities draw that are
	// turned or share their vertices.
	Bounds *manifest.Bounds `json:"bounds,omitempty"`
	Notes  []Note           `json:"notes"`
	// Shared are the files of Options.Textures that the output names; one may stand
	// there more than once.
	Shared []string `json:"-"`
}

// Errors that callers may want to tell apart.
var (
	// ErrTooLarge says that the output would exceed the 4 GiB that a .glb, and
	// the offsets of many loaders, can address.
	ErrTooLarge = errors.New("gltfexport: the output exceeds 4 GiB")
	// ErrNoPayload says that a manifest names no files: it is a dry run.
	ErrNoPayload = errors.New("gltfexport: the manifest is of a dry run, its files were never written")
	// ErrOverlap says that the records of a container name the same bytes many
	// times over, as no writer does.
	ErrOverlap = errors.New("gltfexport: ranges overlap many times over")
)

// Export writes the container, the manifest or the folder with one manifest
// at path to out, whose extension, .glb or .gltf, says in which form. A .gltf
// gets its geometry as a .bin of the same name beside it; textures that lie
// below its folder are referenced, others are copied to the folder
// <name>_textures, or decoded to PNG there when they are .utex or KTX2 files.
//
// Textures that are missing, or in a format that glTF lacks and that is not decoded,
// leave their slots empty and are counted in Result.Notes. Faults of a container are errors of
// type *format.Error, those of a manifest of type *manifest.DecodeError.
func Export(ctx context.Context, path, out string, opts Options) (*Result, error) {
	if opts.Generator == "" {
		opts.Generator = "untold"
	}
	levels, err := ParseLevels(string(opts.Levels))
	if err != nil {
		return nil, err
	}
	opts.Levels = levels
	if err := checkOutput(out); err != nil {
		return nil, err
	}
	file, err := locate(path)
	if err != nil {
		return nil, err
	}
	e, err := newExporter(ctx, out, opts)
	if err != nil {
		return nil, err
	}
	defer e.drop()
	if strings.EqualFold(filepath.Ext(file), ".json") {
		err = e.manifest(file)
	} else {
		err = e.single(file)
	}
	if err != nil {
		return nil, err
	}
	return e.finish()
}

// Part writes one container of a scene, whose path from the folder dir comes from a
// manifest, to out, as Export does with a container. It cannot lead out of dir.
func Part(ctx context.Context, dir, path, out string, opts Options) (*Result, error) {
	if opts.Generator == "" {
		opts.Generator = "untold"
	}
	if err := checkOutput(out); err != nil {
		return nil, err
	}
	e, err := newExporter(ctx, out, opts)
	if err != nil {
		return nil, err
	}
	defer e.drop()
	if err := e.part(dir, part{path: path}); err != nil {
		return nil, err
	}
	return e.finish()
}

// checkOutput refuses output names before anything is read.
func checkOutput(out string) error {
	if ext := filepath.Ext(out); !strings.EqualFold(ext, ".glb") && !strings.EqualFold(ext, ".gltf") {
		return fmt.Errorf("gltfexport: output %q must end in .glb or .gltf", out)
	}
	if st, err := os.Stat(out); err == nil && st.IsDir() {
		return fmt.Errorf("gltfexport: output %s is a folder; name a file such as %s", out, filepath.Join(out, "model.glb"))
	}
	if err := atomicfile.Replaceable(out); err != nil {
		return fmt.Errorf("gltfexport: output: %w", err)
	}
	return nil
}

// locate returns the file to export: path itself, or the manifest in it.
func locate(path string) (string, error) {
	st, err := journal.Stat(path)
	if err != nil {
		return "", fmt.Errorf("gltfexport: %w", err)
	}
	if st.Mode().IsRegular() {
		return path, nil
	}
	if !st.IsDir() {
		// A pipe would block.
		return "", fmt.Errorf("gltfexport: %s is neither a plain file nor a folder", path)
	}
	list, err := journal.Names(path)
	if err != nil {
		return "", fmt.Errorf("gltfexport: %w", err)
	}
	var found []string
	for _, name := range list {
		if strings.EqualFold(filepath.Ext(name), ".json") {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("gltfexport: %s holds no manifest (*.json); name a container or a manifest", path)
	case 1:
		return filepath.Join(path, found[0]), nil
	}
	return "", fmt.Errorf("gltfexport: %s holds %d manifests; name one of them, such as %s", path, len(found), filepath.Join(path, found[0]))
}

// exporter is the state of one Export.
type exporter struct {
	ctx   context.Context
	opts  Options
	doc   document
	tex   *textures
	mats  materialSet
	notes notes
	res   Result
	geo   format.Geometry // buffers, reused from container to container
	block []byte          // scratch for converted vertices

	bounds geom.Box       // of what is drawn
	own    *TextureFolder // of this output alone; nil for none
}

// drop removes what is not finished.
func (e *exporter) drop() {
	e.doc.Drop()
	if e.own != nil {
		e.own.drop()
	}
}

func newExporter(ctx context.Context, out string, opts Options) (*exporter, error) {
	doc, err := newDocument(out, &opts)
	if err != nil {
		return nil, err
	}
	var own *TextureFolder
	if opts.KTX2 && opts.Textures == nil && !doc.Binary() {
		if own, err = stagedFolder(doc.Stem() + "_textures"); err != nil {
			doc.Drop()
			return nil, err
		}
		opts.Textures = own
	}
	e := &exporter{ctx: ctx, opts: opts, own: own, doc: doc, bounds: geom.EmptyBox()}
	e.res.Path = out
	e.tex = newTextures(e)
	return e, nil
}

// finish writes the document around what has been added.
func (e *exporter) finish() (*Result, error) {
	if err := e.ctx.Err(); err != nil {
		return nil, err
	}
	if err := e.tex.commit(); err != nil {
		return nil, err
	}
	if e.own != nil {
		if err := e.own.commit(); err != nil {
			return nil, err
		}
	}
	n, err := e.doc.finish(e.opts.Generator)
	if err != nil {
		return nil, err
	}
	r := e.res
	r.Bytes, r.Nodes, r.Meshes = n, e.doc.Count(glb.Nodes), e.doc.Count(glb.Meshes)
	if !e.bounds.IsEmpty() {
		b := manifest.BoundsOf(e.bounds)
		r.Bounds = &b
	}
	r.Materials, r.Textures = e.doc.Count(glb.Materials), e.doc.Count(glb.Textures)
	r.Notes = e.notes.list()
	return &r, nil
}

// single exports one container into the scene itself.
func (e *exporter) single(path string) error {
	r, err := format.Open(path, format.WithMapping())
	if err != nil {
		return fmt.Errorf("gltfexport: %w", err)
	}
	defer r.Close()
	e.opts.progress(0, 1)
	c := container{exporter: e, r: r, dir: filepath.Dir(path), name: filepath.Base(path)}
	roots, err := c.export("")
	if err != nil {
		return err
	}
	e.doc.roots = append(e.doc.roots, roots...)
	e.opts.progress(1, 1)
	return nil
}

// part is one container of a manifest.
type part struct{ id, path string }

// manifest exports all tiles, the shared bucket, the lights and the cameras.
func (e *exporter) manifest(path string) error {
	m, err := manifest.Load(path)
	if err != nil {
		return fmt.Errorf("gltfexport: %w", err)
	}
	if m.DryRun {
		return fmt.Errorf("%w: %s", ErrNoPayload, path)
	}
	if n := len(m.FailedTiles); n > 0 {
		e.notes.add("failed-tiles", n, m.FailedTiles[0].ID)
	}
	if e.opts.Step <= 0 {
		e.opts.Step = StepFor(m)
	}
	parts, err := e.parts(m, path)
	if err != nil {
		return err
	}
	e.opts.progress(0, len(parts))
	for i, p := range parts {
		if err := e.ctx.Err(); err != nil {
			return err
		}
		if err := e.part(filepath.Dir(path), p); err != nil {
			return err
		}
		e.opts.progress(i+1, len(parts))
	}
	e.lights(m.SceneLights)
	e.cameras(m.SceneCameras)
	return e.moveBack(m.OriginOffset)
}

// moveBack puts back what cook took off the source's coordinates: one node above
// all others has it, whose translation glTF keeps in double precision, while
// positions have single.
func (e *exporter) moveBack(offset *[3]float64) error {
	if offset == nil || *offset == [3]float64{} || len(e.doc.roots) == 0 {
		return nil
	}
	at := e.doc.Count(glb.Nodes)
	if err := e.addNode(placement{*offset, noRotation, noScale, nil}, nodeJSON{Name: "origin_offset", Children: e.doc.roots}); err != nil {
		return err
	}
	e.doc.roots = []int{at}
	return nil
}

// parts lists the files that stand for the scene at the chosen level.
func (e *exporter) parts(m *manifest.Manifest, path string) ([]part, error) {
	var out []part
	var tiles []*manifest.Tile
	for i := range m.Tiles {
		tiles = append(tiles, &m.Tiles[i])
	}
	if e.opts.PyramidLevel > 0 {
		var err error
		if out, tiles, err = e.pyramidParts(m, path); err != nil {
			return nil, err
		}
	}
	for _, t := range tiles {
		p := part{t.ID, t.Path}
		levels := t.LODLevels
		if e.opts.Levels == LevelsHLOD {
			levels = t.HLODLevels
		}
		if e.opts.Levels != LevelsFull {
			if len(levels) > 0 {
				p.path = levels[0].Path
			} else {
				e.notes.add("level-missing", 1, t.ID)
			}
		}
		out = append(out, p)
	}
	if m.SharedBucket != nil {
		id := m.SharedBucket.ID
		if id == "" {
			id = manifest.SharedTileID
		}
		out = append(out, part{id, m.SharedBucket.Path})
	}
	return out, nil
}

// part exports one container of a manifest in the folder dir. The file is
// opened within the folder, so that no link can lead out of it.
func (e *exporter) part(dir string, p part) error {
	f, err := payloadpath.Open(dir, p.path)
	if err != nil {
		return fmt.Errorf("gltfexport: tile %q: %w", p.id, err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return fmt.Errorf("gltfexport: tile %q: %w", p.id, err)
	}
	r, err := format.NewReader(f, st.Size())
	if err != nil {
		return fmt.Errorf("gltfexport: tile %q: %s: %w", p.id, p.path, err)
	}
	c := container{exporter: e, r: r, dir: filepath.Join(dir, filepath.Dir(filepath.FromSlash(p.path))), name: p.path}
	roots, err := c.export(p.id)
	if err != nil {
		return err
	}
	e.geo = c.geo // no view of the file, which is not mapped: it serves the next container
	e.doc.roots = append(e.doc.roots, roots...)
	return nil
}

func (o *Options) progress(done, total int) {
	if o.Progress != nil {
		o.Progress("export", done, total)
	}
}
